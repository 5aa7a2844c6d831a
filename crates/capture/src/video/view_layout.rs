//! Layout of the views in the images of videos.

use crate::video::error::VideoError;
use stereopsis_base::image::Picture;
use stereopsis_frame::{Arrangement, SourceOptions, split};

#[derive(Clone, Copy)]
pub(super) struct ViewLayout {
    arrangement: Arrangement,
    /// Whether the left view is in the second half.
    swapped: bool,
}

impl ViewLayout {
    pub(super) fn of(options: &SourceOptions) -> Self {
        let arrangement = options.both_views.unwrap_or(Arrangement::SideBySide);
        Self { arrangement, swapped: options.cameras.swapped_halves }
    }
}

/// Splits the image of one stream, or takes the images of two, into left and right.
pub(super) fn views(mut pictures: Vec<Picture>, views: ViewLayout) -> Result<(Picture, Picture), VideoError> {
    match (pictures.pop(), pictures.pop()) {
        (Some(right), Some(left)) if left.size() == right.size() => Ok((left, right)),
        (Some(right), Some(left)) => Err(VideoError::Sizes { left: left.size(), right: right.size() }),
        (Some(both), None) => {
            let (size, arrangement) = (both.size(), views.arrangement);
            let length = if arrangement == Arrangement::SideBySide { size.0 } else { size.1 };
            if length % 2 != 0 {
                return Err(VideoError::Halves { size, arrangement });
            }
            let (first, second) = split(&both, arrangement);
            Ok(if views.swapped { (second, first) } else { (first, second) })
        }
        (None, _) => Err(VideoError::NoVideo),
    }
}
