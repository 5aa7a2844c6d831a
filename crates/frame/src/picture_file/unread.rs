//! Image files of formats that are not read, with the command of another program that converts them and keeps every view.
//!
//! The commands were run on Debian 12: heif-convert of libheif 1.15.1, opj_decompress of OpenJPEG 2.5.0, djxl of libjxl 0.7.0, dcraw 9.28
//! and convert of ImageMagick 6.9.11.

use super::heif::Heif;
use crate::source::names::has_extension;
use std::io::Read as _;
use std::path::Path;
use stereopsis_base::console::quoted;
use stereopsis_base::files::plain;

/// Extensions of such files.
pub const UNREAD_EXTENSIONS: &[&str] = &[
    "gif", "heic", "heif", "hif", "avif", "jp2", "j2k", "jpx", "jxl", "exr", "tga", "dng", "cr2", "cr3", "nef", "arw",
    "orf", "raf", "rw2", "pef", "raw", "qoi", "hdr", "fits", "dcm", "pcx", "sgi", "npz",
];

/// Format with a mark of its own near the beginning of its files.
#[derive(Debug, PartialEq, Eq)]
pub struct Marked {
    at: usize,
    mark: &'static [u8],
    name: &'static str,
    cure: Cure,
}

/// Way to make a file that is not read a readable one.
#[derive(Debug, PartialEq, Eq)]
enum Cure {
    /// ImageMagick converts it.
    Convert,
    /// Python unpacks it.
    Unzip,
    /// gzip unpacks it.
    Gunzip,
    /// Words.
    Words(&'static str),
}

const MARKED: &[Marked] = &[
    Marked { at: 0, mark: b"\x01\xda", name: "an SGI image", cure: Cure::Convert },
    Marked { at: 0, mark: b"\x0a\x05\x01", name: "a PCX image", cure: Cure::Convert },
    Marked { at: 0, mark: b"PK\x03\x04", name: "an archive (.zip, or .npz of NumPy)", cure: Cure::Unzip },
    Marked { at: 0, mark: b"\x1f\x8b\x08", name: "packed by gzip", cure: Cure::Gunzip },
    Marked { at: 0, mark: b"qoif", name: "a QOI image", cure: Cure::Words("save it as PNG") },
    Marked {
        at: 0,
        mark: b"#?RADIANCE",
        name: "a Radiance HDR image",
        cure: Cure::Words("save it as TIFF of 32-bit floats"),
    },
    Marked { at: 0, mark: b"SIMPLE  =", name: "a FITS image", cure: Cure::Words("save it as TIFF of 32-bit floats") },
    Marked { at: 128, mark: b"DICM", name: "a DICOM image", cure: Cure::Words("save it as PNG of 16 bits") },
    Marked {
        at: 0,
        mark: b"\x89HDF\r\n\x1a\n",
        name: "an HDF5 file",
        cure: Cure::Words(
            "save its arrays as .npy or TIFF (of Spring's .dsp5 every second row and column: it has twice the size of the images)",
        ),
    },
    Marked {
        at: 0,
        mark: b"MATLAB 5.0 MAT",
        name: "a MATLAB file",
        cure: Cure::Words("write its arrays as TIFF, or as PFM"),
    },
    Marked {
        at: 0,
        mark: b"PIEH",
        name: "an optical flow (.flo)",
        cure: Cure::Words(
            "save minus the first of its two numbers, which is the disparity of a rectified pair, as PFM or TIFF",
        ),
    },
];

/// Number of bytes that are read of a file.
const HEAD_BYTES: u64 = 1 << 16;

/// Format of an image file that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreadImage {
    /// HEIC or AVIF.
    Heif(Heif),
    /// JPEG 2000.
    Jpeg2000,
    /// JPEG XL.
    JpegXl,
    /// Image or animation as GIF.
    Gif,
    /// Animation in WebP.
    WebPAnimation,
    /// Values of a sensor before their development.
    Raw,
    /// OpenEXR.
    OpenExr,
    /// Truevision TGA.
    Tga,
    /// Format with a mark of its own.
    Marked(&'static Marked),
    /// Another format, by the ending of its files.
    Other(&'static str),
}

impl UnreadImage {
    /// Returns the format of a file by its first bytes; `None` for formats that are read and for other files.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let has = |at: usize, word: &[u8]| bytes.get(at..).is_some_and(|rest| rest.starts_with(word));
        Some(match () {
            () if has(0, b"GIF8") => Self::Gif,
            () if has(8, b"WEBPVP8X") && bytes.get(20).is_some_and(|flags| flags & 2 != 0) => Self::WebPAnimation,
            () if has(4, b"jP  \r\n") || has(0, b"\xff\x4f\xff\x51") => Self::Jpeg2000,
            () if has(4, b"JXL \r\n") || has(0, b"\xff\x0a") => Self::JpegXl,
            () if has(0, b"\x76\x2f\x31\x01") => Self::OpenExr,
            () if has(4, b"ftypcrx ") || has(8, b"CR\x02") || has(0, b"FUJIFILMCCD-RAW") || has(0, b"IIU\0") => {
                Self::Raw
            }
            () => match MARKED.iter().find(|marked| has(marked.at, marked.mark)) {
                Some(marked) => Self::Marked(marked),
                None => Self::Heif(Heif::of_bytes(bytes)?),
            },
        })
    }

    /// Returns the format of a file by its first bytes, or by the ending of its name.
    pub fn of_file(path: &Path) -> Option<Self> {
        let mut bytes = Vec::new();
        plain::open(path).ok()?.take(HEAD_BYTES).read_to_end(&mut bytes).ok()?;
        let of_name = || {
            let ending = UNREAD_EXTENSIONS.iter().find(|ending| has_extension(path, &[ending]))?;
            Some(match *ending {
                "tga" => Self::Tga,
                "exr" => Self::OpenExr,
                "jp2" | "j2k" | "jpx" => Self::Jpeg2000,
                "jxl" => Self::JpegXl,
                "gif" => Self::Gif,
                "heic" | "heif" | "hif" | "avif" | "qoi" | "hdr" | "fits" | "dcm" | "pcx" | "sgi" | "npz" => {
                    return None;
                } // damaged, or something else
                _ => Self::Raw,
            })
        };
        Self::of_bytes(&bytes).or_else(of_name)
    }

    /// Returns what the file is, and the command that converts it.
    pub fn words(self, path: &Path) -> String {
        let ([input, png], out) = self.places(path);
        match self {
            Self::Heif(heif) => {
                let kind = if heif.is_avif { "an AVIF" } else { "a HEIC" };
                let (what, which) = match heif.left_is_first {
                    None => ("image", format!("writes all its images, of two views {} and {}", out("-1"), out("-2"))),
                    Some(left_is_first) => {
                        let [left, right] = if left_is_first { ["-1", "-2"] } else { ["-2", "-1"] };
                        (
                            "image of two views",
                            format!("writes both, the left one {} and the right one {}", out(left), out(right)),
                        )
                    }
                };
                format!("{kind} {what}, which is not read: `heif-convert {input} {png}` {which}")
            }
            Self::Jpeg2000 => {
                format!("a JPEG 2000 image, which is not read: convert it with `opj_decompress -i {input} -o {png}`")
            }
            Self::JpegXl => format!("a JPEG XL image, which is not read: convert it with `djxl {input} {png}`"),
            Self::Gif => format!("a GIF, which is not read: write its images with `convert {input} {}`", out("-%03d")),
            Self::WebPAnimation => {
                format!("an animation, which is not read: write its images with `convert {input} {}`", out("-%03d"))
            }
            Self::Raw => format!(
                "a raw photo, the values of a sensor, which are not read: develop the images of both cameras alike, \
                 `dcraw -w -W -6 -T {input}` writes {}",
                quoted(&path.with_extension("tiff").to_string_lossy())
            ),
            Self::OpenExr => "an OpenEXR image, which is not read: save it as TIFF of 32-bit floats".to_owned(),
            Self::Tga => format!("a TGA image, which is not read: convert it with `convert {input} {png}`"),
            Self::Marked(Marked { name, cure, .. }) => {
                let cure = match cure {
                    Cure::Convert => format!("convert it with `convert {input} {png}`"),
                    Cure::Unzip => {
                        let folder =
                            path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                        format!("unpack it with `python3 -m zipfile -e {input} {}`", quoted(&folder.to_string_lossy()))
                    }
                    Cure::Gunzip => format!("unpack it with `gunzip -k {input}`"),
                    Cure::Words(words) => (*words).to_owned(),
                };
                format!("{name}, which is not read: {cure}")
            }
            Self::Other(ending) => format!("a {} image, which is not read: save it as PNG", ending.to_uppercase()),
        }
    }

    /// Returns the command that converts all files of this ending in a folder, one PNG for each view; `None` where there is none.
    pub fn command_of_all(self, ending: &str) -> Option<String> {
        let each = |command: &str| format!("`for f in *.{ending}; do {command}; done`");
        let png = r#""${f%.*}.png""#;
        Some(match self {
            Self::Heif(heif) => {
                let [left, right] = if heif.left_is_first == Some(false) { [2, 1] } else { [1, 2] };
                each(&format!(
                    r#"heif-convert "$f" {png}; mv "${{f%.*}}-{left}.png" "${{f%.*}}_left.png"; mv "${{f%.*}}-{right}.png" "${{f%.*}}_right.png""#
                ))
            }
            Self::Jpeg2000 => each(&format!(r#"opj_decompress -i "$f" -o {png}"#)),
            Self::JpegXl => each(&format!(r#"djxl "$f" {png}"#)),
            Self::Gif | Self::WebPAnimation => each(r#"convert "$f" "${f%.*}-%03d.png""#),
            Self::Raw => format!("`dcraw -w -W -6 -T *.{ending}`"),
            Self::Tga => format!("`mogrify -format png *.{ending}`"),
            Self::Marked(Marked { cure: Cure::Convert, .. }) => format!("`mogrify -format png *.{ending}`"),
            Self::OpenExr | Self::Marked(_) | Self::Other(_) => return None,
        })
    }

    /// Returns the words of a shell for a file and its PNG, and the function that names one of several PNGs.
    fn places(self, path: &Path) -> ([String; 2], impl Fn(&str) -> String) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let beside = path.to_owned();
        let named = move |ending: &str| quoted(&beside.with_file_name(format!("{stem}{ending}.png")).to_string_lossy());
        ([quoted(&path.to_string_lossy()), named("")], named)
    }
}
