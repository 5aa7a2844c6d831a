//! Reads and applies the orientation tag of image files: Exif in JPEG, PNG and WebP, and tag 274 in TIFF. Viewers apply it too, and OpenCV's
//! `imread` to JPEG, so calibrations and truth belong to the upright image.

use super::jpeg;
use super::memory_limits::limits;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader};
use std::io::Cursor;

/// Turn that makes the image of a file upright.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn(Orientation);

impl Turn {
    pub(super) const NONE: Self = Self(Orientation::NoTransforms);

    /// Reads the turn from the header of a file; [`Self::NONE`] without a valid tag.
    pub(super) fn of_file(bytes: &[u8], format: ImageFormat) -> Self {
        let tag = match format {
            ImageFormat::Jpeg => jpeg::exif(bytes).and_then(|exif| Orientation::from_exif_chunk(&exif)),
            ImageFormat::Tiff => {
                let tag = tiff::decoder::Decoder::new(Cursor::new(bytes))
                    .and_then(|mut decoder| decoder.find_tag_unsigned::<u8>(tiff::tags::Tag::Orientation));
                tag.ok().flatten().and_then(Orientation::from_exif)
            }
            ImageFormat::Png | ImageFormat::WebP => {
                let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
                reader.limits(limits(0));
                reader.into_decoder().and_then(|mut decoder| decoder.orientation()).ok()
            }
            _ => None,
        };
        tag.map_or(Self::NONE, Self)
    }

    /// Returns the size of the upright image.
    pub(super) fn size(self, (width, height): (u32, u32)) -> (u32, u32) {
        if self.is_quarter() { (height, width) } else { (width, height) }
    }

    /// Returns whether rows become columns, which takes memory for a second image.
    pub(super) fn is_quarter(self) -> bool {
        use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
        matches!(self.0, Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH)
    }

    pub(super) fn apply(self, picture: &mut DynamicImage) {
        picture.apply_orientation(self.0);
    }

    /// Returns a description that continues a sentence after "is"; `None` for no turn.
    pub(crate) fn words(self) -> Option<&'static str> {
        Some(match self.0 {
            Orientation::NoTransforms => return None,
            Orientation::Rotate90 => "turned by 90 degrees to the right",
            Orientation::Rotate180 => "turned by 180 degrees",
            Orientation::Rotate270 => "turned by 90 degrees to the left",
            Orientation::FlipHorizontal => "mirrored left to right",
            Orientation::FlipVertical => "mirrored top to bottom",
            Orientation::Rotate90FlipH => "turned by 90 degrees to the right and mirrored left to right",
            Orientation::Rotate270FlipH => "turned by 90 degrees to the left and mirrored left to right",
        })
    }
}
