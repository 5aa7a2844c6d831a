//! Limits on the sizes of the images that are read, checked before anything is decoded.

use crate::error::MessageError;

/// Maximum pixels of an image of a live source whose size is unknown.
const MAX_UNKNOWN_PIXELS: u64 = 1 << 26;

/// Columns and rows of the views that are read, besides [`stereopsis_frame::MaxPixels`]. The size of a live rig is known before its
/// images arrive; anyone on its network may send others, of which a few bytes claim gigabytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sizes {
    /// Any size, for files.
    #[default]
    Any,
    /// This size alone, for a rig that is described or has given a pair.
    Only((usize, usize)),
    /// This size and smaller ones, for a camera of ROS 2 by its `camera_info`: its driver may send a part, or every second pixel.
    Within((usize, usize)),
    /// Any size up to 64 megapixels, for a live source before its first pair.
    Unknown,
}

impl Sizes {
    /// Checks the size of an image that shows one view, or two of them side by side.
    pub(super) fn check(self, views: usize, width: u64, height: u64) -> Result<(), MessageError> {
        let both = |(columns, rows): (usize, usize)| ((columns as u64).saturating_mul(views as u64), rows as u64);
        let fault = match self {
            Self::Any => None,
            Self::Only(size) => {
                let (columns, rows) = both(size);
                let fault = MessageError::OtherSize(width, height, columns, rows);
                ((width, height) != (columns, rows)).then_some(fault)
            }
            Self::Within(size) => {
                let (columns, rows) = both(size);
                let fault = MessageError::LargerThanCamera(width, height, columns, rows);
                (width > columns || height > rows).then_some(fault)
            }
            Self::Unknown => {
                let fault = MessageError::TooManyPixels { width, height, limit: MAX_UNKNOWN_PIXELS };
                width.checked_mul(height).is_none_or(|pixels| pixels > MAX_UNKNOWN_PIXELS).then_some(fault)
            }
        };
        fault.map_or(Ok(()), Err)
    }
}
