//! Layout of the views in the images of videos.

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
pub(super) fn views(mut pictures: Vec<Picture>, views: ViewLayout) -> Result<(Picture, Picture), String> {
    let size = |picture: &Picture| {
        let (width, height) = picture.size();
        format!("{width}x{height}")
    };
    match (pictures.pop(), pictures.pop()) {
        (Some(right), Some(left)) if left.size() == right.size() => Ok((left, right)),
        (Some(right), Some(left)) => Err(format!(
            "the left video has {} and the right one {} pixels: scale one of them",
            size(&left),
            size(&right)
        )),
        (Some(both), None) => {
            let (width, height) = both.size();
            let length = if views.arrangement == Arrangement::SideBySide { width } else { height };
            if length % 2 != 0 {
                let size = size(&both);
                return Err(format!(
                    "a video of {size} pixels cannot be halved into two views ({})",
                    views.arrangement
                ));
            }
            let (first, second) = split(&both, views.arrangement);
            Ok(if views.swapped { (second, first) } else { (first, second) })
        }
        (None, _) => Err("no video".to_owned()),
    }
}
