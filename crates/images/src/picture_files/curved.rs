//! Recognises files of images that are not flat: by their XMP, or by the words that players of such files read from names.

use std::io::Read as _;
use std::path::Path;
use stereopsis_base::console;
use stereopsis_base::files::plain;
use stereopsis_calibration::{Curve, CurvedImages};

/// Largest number of bytes of a file that are searched for XMP, which is in front of the image.
const XMP_BYTES: u64 = 1 << 20;
/// Words in names, in the form of players of VR180 (Google's VR180 Creator, DeoVR, Skybox), of images in the shape of equirectangular ones.
const EQUIRECTANGULAR: [&str; 6] = ["vr180", "180vr", "180x180", "hequirect", "equirect", "equirectangular"];
/// Angles in such names; beside one of [`ARRANGEMENTS`] only, as 180 alone is a number.
const ANGLES: [&str; 2] = ["180", "360"];
const ARRANGEMENTS: [&str; 9] = ["sbs", "lr", "rl", "tb", "bt", "ou", "3dh", "3dv", "mono360"];
/// Words of fisheyes of about 180 degrees and more, by their angle or lens.
const FISHEYES: [&str; 6] = ["fisheye180", "fisheye190", "fisheye200", "mkx200", "mkx220", "rf52"];

/// Returns what tells that the images of a file are not flat; `size` is that of one view, px.
pub fn curved(path: &Path, size: (usize, usize)) -> Option<CurvedImages> {
    let of_shape = Curve::of_shape(size);
    if has_xmp(path) {
        let why = "its XMP says (GPano:ProjectionType equirectangular)".to_owned();
        return Some(CurvedImages { curve: of_shape.unwrap_or(Curve::Equirectangular), why });
    }
    let name = path.file_stem()?.to_string_lossy().to_lowercase();
    let words: Vec<&str> = name.split(|letter: char| !letter.is_alphanumeric()).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    let why = || format!("the name of {} says", console::path(path));
    if has(&FISHEYES) {
        return Some(CurvedImages { curve: Curve::Fisheye, why: why() });
    }
    let is_named = has(&EQUIRECTANGULAR) || has(&ANGLES) && has(&ARRANGEMENTS);
    of_shape.filter(|_| is_named).map(|curve| CurvedImages { curve, why: why() })
}

fn has_xmp(path: &Path) -> bool {
    const NAME: &[u8] = b"GPano:ProjectionType";
    let mut bytes = Vec::new();
    let read = plain::open(path).and_then(|file| file.take(XMP_BYTES).read_to_end(&mut bytes));
    let behind = bytes.windows(NAME.len()).position(|window| window == NAME).map(|at| &bytes[at + NAME.len()..]);
    let value = behind.map(|behind| &behind[..behind.len().min(40)]);
    read.is_ok() && value.is_some_and(|value| value.windows(15).any(|window| window == b"equirectangular"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_xmp_tell_and_ordinary_images_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str, bytes: &[u8], size| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            curved(&path, size).map(|found| found.curve)
        };
        let square = (480, 480);
        for name in ["vr180.jpg", "Garden_180_LR.png", "a-180x180-3dh.jpg"] {
            assert_eq!(of(name, b"", square), Some(Curve::HalfEquirectangular), "{name}");
            assert_eq!(of(name, b"", (640, 480)), None, "{name}: another shape");
        }
        assert_eq!(of("pano_360_TB.jpg", b"", (960, 480)), Some(Curve::Equirectangular));
        assert_eq!(of("clip_FISHEYE190.png", b"", (960, 540)), Some(Curve::Fisheye));
        for name in ["180.png", "left_180.png", "sbs.png", "fisheye_left.png", "frame_360.png", "lr_1180.png"] {
            assert_eq!(of(name, b"", square), None, "{name}");
        }
        let xmp = b"<x GPano:ProjectionType=\"equirectangular\" />";
        assert_eq!(of("a.jpg", xmp, square), Some(Curve::HalfEquirectangular));
        assert_eq!(of("a.jpg", xmp, (800, 300)), Some(Curve::Equirectangular), "a part of one");
        assert_eq!(of("a.jpg", b"<x GPano:ProjectionType=\"flat\" />", square), None);
    }
}
