//! Disparity and depth as numbers in files: PFM, float TIFF, 16-bit PNG. Each format has its own value for invalid pixels.

use super::file::{Endings, ExportError};
use super::picture::write_picture;
use std::io::Cursor;
use std::path::Path;
use stereopsis_base::console::counted;
use stereopsis_base::files;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_stereo::{DisparityMap, depth};

const DISPARITY: Endings =
    Endings(&["pfm", "png", "tif", "tiff"], "name it .pfm (float), .tiff (float) or .png (16 bits, 256 steps per px)");

const DEPTH: Endings =
    Endings(&["png", "tif", "tiff"], "name it .png (16 bits, millimetres) or .tiff (32-bit float, metres)");
/// Depth below which a step of 1 mm is more than 1 %, m.
const MIN_FINE_M: f32 = 0.1;
/// Share of depths below [`MIN_FINE_M`] from which on it is said: half.
const MAX_NEAR_SHARE: (usize, usize) = (1, 2);

/// Writes disparity in px in the format of the ending, and returns losses in sentences.
///
/// - `.pfm`: 32-bit float, rows from the bottom, little-endian; invalid is +infinity.
/// - `.tif`, `.tiff`: 32-bit float; invalid is NaN.
/// - `.png`: 16 bits, 256 steps per px; invalid is 0. Values are clamped to 1/256 and 65535/256 px, each with a warning.
///
/// # Errors
/// Another ending, or the file cannot be written.
pub fn write_disparity(path: &Path, map: &DisparityMap) -> Result<Vec<String>, ExportError> {
    write_disparity_px(path, &map.to_px())
}

/// Writes a map in px, NaN where there is none, like [`write_disparity`].
///
/// # Errors
/// Errors of [`write_disparity`].
pub fn write_disparity_px(path: &Path, px: &Image<f32>) -> Result<Vec<String>, ExportError> {
    let mut warnings = Vec::new();
    match DISPARITY.find(path)? {
        "pfm" => files::write(path, &pfm(px))?,
        "png" => write_u16(path, disparity_x256(px, &mut warnings))?,
        _ => files::write(path, &tiff(px).map_err(|err| ExportError::encode(path, err))?)?,
    }
    Ok(warnings)
}

/// Checks the name of a file for [`write_disparity`].
///
/// # Errors
/// The ending belongs to none of the formats.
pub fn check_disparity_name(path: &Path) -> Result<(), ExportError> {
    DISPARITY.find(path).map(|_| ())
}

/// Writes depth, `z = f T / (d + doffs)`, in the format of the ending, and returns losses in sentences.
///
/// - `.png`: 16 bits, whole millimetres, rounded half up; 0 where there is none and beyond 65.535 m.
/// - `.tif`, `.tiff`: 32-bit float, metres; NaN where there is none.
///
/// # Errors
/// Another ending, or the file cannot be written.
pub fn write_depth(path: &Path, map: &DisparityMap, geometry: &Geometry) -> Result<Vec<String>, ExportError> {
    write_depth_m(path, &depth::depth_map(map, geometry))
}

/// Writes depth in metres, NaN where there is none, like [`write_depth`].
///
/// # Errors
/// Errors of [`write_depth`].
pub fn write_depth_m(path: &Path, depth_m: &Image<f32>) -> Result<Vec<String>, ExportError> {
    if DEPTH.find(path)? == "png" {
        write_millimetres(path, &depth_m.map(|&z| depth::millimetres(z)))?;
        return Ok(losses_of_millimetres(depth_m));
    }
    files::write(path, &tiff(depth_m).map_err(|err| ExportError::encode(path, err))?)?;
    Ok(Vec::new())
}

/// Checks the name of a file for [`write_depth`].
///
/// # Errors
/// The ending belongs to none of the formats.
pub fn check_depth_name(path: &Path) -> Result<(), ExportError> {
    DEPTH.find(path).map(|_| ())
}

/// Returns what whole millimetres in 16 bits lose of these depths, m, in sentences.
fn losses_of_millimetres(depth_m: &Image<f32>) -> Vec<String> {
    let (mut pixels, mut far, mut near) = (0, 0, 0);
    for &z in depth_m.pixels().iter().filter(|z| z.is_finite()) {
        pixels += 1;
        far += usize::from(depth::millimetres(z) == 0);
        near += usize::from(z < MIN_FINE_M);
    }
    let percent = |part: usize| 100.0 * part as f64 / pixels as f64;
    let mut losses = Vec::new();
    if far > 0 {
        losses.push(format!(
            "{:.1} % of the depths lie beyond 65.535 m and are 0 in 16-bit millimetres; a .tiff (32-bit float, metres) keeps them",
            percent(far)
        ));
    }
    if near > MAX_NEAR_SHARE.0 * pixels / MAX_NEAR_SHARE.1 {
        losses.push(format!(
            "{:.1} % of the depths are below {MIN_FINE_M} m, where steps of 1 mm are more than 1 %; a .tiff (32-bit float, metres) has \
             finer ones",
            percent(near)
        ));
    }
    losses
}

/// Writes depth in millimetres as a 16-bit PNG, unchanged.
///
/// # Errors
/// An ending other than `.png`, or the file cannot be written.
pub fn write_millimetres(path: &Path, mm: &Image<u16>) -> Result<(), ExportError> {
    Endings(&["png"], "depth in millimetres is a 16-bit .png").find(path)?;
    write_u16(path, mm.clone())
}

fn pfm(px: &Image<f32>) -> Vec<u8> {
    let (width, height) = px.size();
    let head = format!("Pf\n{width} {height}\n-1.0\n");
    let mut bytes = Vec::with_capacity(head.len() + 4 * width * height);
    bytes.extend_from_slice(head.as_bytes());
    for y in (0..height).rev() {
        for &d in px.row(y) {
            let d = if d.is_nan() { f32::INFINITY } else { d };
            bytes.extend_from_slice(&d.to_le_bytes());
        }
    }
    bytes
}

fn tiff(px: &Image<f32>) -> tiff::TiffResult<Vec<u8>> {
    let mut bytes = Cursor::new(Vec::new());
    tiff::encoder::TiffEncoder::new(&mut bytes)?.write_image::<tiff::encoder::colortype::Gray32Float>(
        px.width() as u32,
        px.height() as u32,
        px.pixels(),
    )?;
    Ok(bytes.into_inner())
}

fn disparity_x256(px: &Image<f32>, warnings: &mut Vec<String>) -> Image<u16> {
    let (mut too_small, mut too_large) = (0, 0);
    let stored = px.map(|&px| match (256.0 * px).round() {
        v if v.is_nan() => 0,
        v if v < 1.0 => {
            too_small += 1;
            1
        }
        v if v > f32::from(u16::MAX) => {
            too_large += 1;
            u16::MAX
        }
        v => v as u16,
    });
    if too_small > 0 {
        warnings.push(format!(
            "{} below 1/256 px, stored as 1/256 px, because 0 means invalid in a 16-bit PNG; .pfm and .tiff keep them",
            counted(too_small, "disparity")
        ));
    }
    if too_large > 0 {
        warnings.push(format!(
            "{} above 255.996 px, stored as 255.996 px, the most that a 16-bit PNG holds; .pfm and .tiff keep them",
            counted(too_large, "disparity")
        ));
    }
    stored
}

fn write_u16(path: &Path, image: Image<u16>) -> Result<(), ExportError> {
    write_picture(path, &Picture { luma: Luma::U16 { image, bits: 16 }, rgb: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_stereo::INVALID;

    /// Map of 3x2 px: measured, zero, invalid / negative, beyond a PNG, one sixteenth.
    fn map() -> DisparityMap {
        let values = vec![16 * 10 + 8, 0, INVALID, -16, 16 * 300, 1];
        DisparityMap { values: Image::new(3, 2, values), reasons: Image::filled(3, 2, 0), confidence: None }
    }

    fn written(name: &str) -> (Vec<u8>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let warnings = write_disparity(&path, &map()).unwrap();
        (std::fs::read(path).unwrap(), warnings)
    }

    #[test]
    fn pfm_has_rows_from_the_bottom_and_infinity_for_invalid() {
        let (bytes, warnings) = written("a.pfm");
        let body = bytes.strip_prefix(b"Pf\n3 2\n-1.0\n").unwrap();
        let px: Vec<f32> = body.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
        assert_eq!(px, [-1.0, 300.0, 0.0625, 10.5, 0.0, f32::INFINITY]);
        assert_eq!(warnings, [""; 0]);
    }

    #[test]
    fn tiff_holds_floats_with_nan_for_invalid() {
        let (bytes, _) = written("a.TIFF");
        let decoded = tiff::decoder::Decoder::new(Cursor::new(bytes)).unwrap().read_image().unwrap();
        let tiff::decoder::DecodingResult::F32(px) = decoded else { panic!("not float") };
        assert_eq!(px[..2], [10.5, 0.0]);
        assert!(px[2].is_nan());
        assert_eq!(px[3..], [-1.0, 300.0, 0.0625]);
    }

    #[test]
    fn png_has_256_steps_and_warns_of_clamped_values() {
        let (bytes, warnings) = written("a.png");
        let stored = image::load_from_memory(&bytes).unwrap();
        assert_eq!(stored.as_luma16().unwrap().as_raw(), &[2688, 1, 0, 1, 65535, 16]);
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].starts_with("2 disparities below 1/256 px"), "{}", warnings[0]);
        assert!(warnings[1].starts_with("1 disparity above 255.996 px"), "{}", warnings[1]);
    }

    #[test]
    fn other_endings_name_the_three_formats() {
        for name in ["a.jpg", "a"] {
            let text = write_disparity(Path::new(name), &map()).unwrap_err().to_string();
            assert!([".pfm", ".tiff", ".png"].iter().all(|format| text.contains(format)), "{text}");
        }
    }

    #[test]
    fn depth_is_in_rounded_millimetres() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let geometry = Geometry::new(500.0, 0.1, 0.0, [1.0, 1.0]);
        let losses = write_depth(&path, &map(), &geometry).unwrap();
        let stored = image::open(path).unwrap();
        // 50 m px: / 10.5, infinity, none, behind, / 300, / 0.0625 beyond 65.535 m
        assert_eq!(stored.as_luma16().unwrap().as_raw(), &[4762, 0, 0, 0, 167, 0]);
        assert!(losses.len() == 1 && losses[0].starts_with("33.3 % of the depths lie beyond 65.535 m"), "{losses:?}");
        let text = write_depth(Path::new("a.pfm"), &map(), &geometry).unwrap_err().to_string();
        assert!(text.contains(".png") && text.contains(".tiff"), "{text}");
    }

    #[test]
    fn depth_in_metres_keeps_what_is_far_and_near() {
        let folder = tempfile::tempdir().unwrap();
        let depth = Image::new(4, 1, vec![80.0_f32, 0.0105, f32::NAN, 0.012]);
        let path = folder.path().join("z.tiff");
        assert_eq!(write_depth_m(&path, &depth).unwrap(), [""; 0]);
        let stored = tiff::decoder::Decoder::new(std::fs::File::open(&path).unwrap()).unwrap().read_image().unwrap();
        let tiff::decoder::DecodingResult::F32(metres) = stored else { panic!("not float") };
        assert!(metres[..2] == [80.0, 0.0105] && metres[2].is_nan() && metres[3..] == [0.012]);
        let losses = write_depth_m(&folder.path().join("z.png"), &depth).unwrap();
        assert!(
            losses[0].starts_with("33.3 %") && losses[1].starts_with("66.7 % of the depths are below 0.1 m"),
            "{losses:?}"
        );
    }
}
