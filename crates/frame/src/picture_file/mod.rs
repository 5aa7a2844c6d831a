//! Content of an image file by its first bytes and its tags: both views of a pair, or a format that is not read. Nothing is decoded.

mod heif;
mod jpeg_parts;
pub mod tiff;
mod unread;

pub use unread::{UNREAD_EXTENSIONS, UnreadImage};

use crate::Arrangement;
use crate::source::names::has_extension;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::ops::Range;
use std::path::Path;
use stereopsis_base::files::plain;

/// Place of both views in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BothViews {
    /// Halves of one image.
    Halves {
        /// Which halves.
        arrangement: Arrangement,
        /// Whether the left or upper half is the right view.
        is_right_first: bool,
    },
    /// Two JPEG images, the left one first, by the places of their bytes.
    Jpegs([Range<u64>; 2]),
    /// Two pages of a TIFF, the left one first, by the places of their directories.
    Pages([u64; 2]),
}

/// File with both views.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOfBoth {
    /// Place of the views.
    pub views: BothViews,
    /// Description of the file and of how it is read, which continues a sentence after "is"; `None` where the user says it.
    pub what: Option<String>,
}

impl FileOfBoth {
    /// Creates the description of an image whose halves the user names.
    pub fn of_halves(arrangement: Arrangement) -> Self {
        Self { views: BothViews::Halves { arrangement, is_right_first: false }, what: None }
    }

    /// Returns the places of both views in an MPO, a JPS or a TIFF of two pages; `None` for other files.
    pub fn of_file(path: &Path) -> Option<Self> {
        Self::of_reader(BufReader::new(plain::open(path).ok()?), has_extension(path, &["jps"]))
    }

    /// Returns the places of both views in a file as [`Self::of_file`] does; `is_jps` is whether its name says that it is JPS.
    pub(crate) fn of_reader(mut file: impl Read + Seek, is_jps: bool) -> Option<Self> {
        let (views, what) = if let Some(mut tiff) = tiff::Tiff::open(&mut file) {
            let pages = tiff.pages()?;
            let [left, right] = pages.alike[..] else { return None };
            let what = "a TIFF of two pages, of which the first is taken as the left image".to_owned();
            (BothViews::Pages([left, right]), what)
        } else {
            let bytes = jpeg_parts::jpeg_head(&mut file)?;
            jpeg_parts::of_jps(&bytes, is_jps).or_else(|| jpeg_parts::of_mpo(&mut file, &bytes))?
        };
        Some(Self { views, what: Some(what) })
    }

    /// Returns the whole range of bytes or the directory of a view, where each has its own.
    pub fn is_of_images(&self) -> bool {
        !matches!(self.views, BothViews::Halves { .. })
    }
}

/// Returns whether the right view of a photo lies in its XMP, as in photos of VR180 (Google's `GImage`).
pub(crate) fn has_view_in_xmp(path: &Path) -> bool {
    let head = |mut file: File| jpeg_parts::jpeg_head(&mut file);
    plain::open(path).ok().and_then(head).is_some_and(|bytes| jpeg_parts::says(&bytes, b"GImage:Mime"))
}

#[cfg(test)]
mod tests;
