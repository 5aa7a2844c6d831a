//! Encoded camera images before decoding, splitting and turning; recorders store them without loss.

use super::decode_camera::{DecodeError, Layout, decode};
use super::{Arrangement, Orientation, Pixels};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_base::remedy::option;

/// Encoded images of a pair: two, or one that shows both views.
#[derive(Clone, Debug, PartialEq)]
pub struct Original {
    /// Left and right image, or one of both views.
    pub images: Vec<EncodedImage>,
    /// Conversion to the left and the right view.
    pub layout: StereoLayout,
}

/// Conversion of encoded images to the left and the right view: split, then swapped, then turned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StereoLayout {
    /// Whether one image shows both views, the left one in its left half.
    pub side_by_side: bool,
    /// Whether the right view is in the left half.
    pub swapped: bool,
    /// Orientation of the left and the right camera; a side-by-side image is turned by the first one before it is split.
    pub orientation: [Orientation; 2],
}

impl StereoLayout {
    /// Whether the encoded images are the two views unchanged.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Whether this view's image is not turned.
    pub fn is_upright(&self, view: usize) -> bool {
        self.orientation[view] == Orientation::default()
    }

    /// Returns the layout of a pair.
    pub fn of(original: Option<&Original>) -> Self {
        original.map(|original| original.layout.clone()).unwrap_or_default()
    }
}

/// One encoded image of a camera.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedImage {
    /// Memory layout of the image.
    pub layout: Layout,
    /// Bytes of the image.
    pub bytes: Arc<[u8]>,
}

impl Original {
    /// Decodes the left and the right view.
    ///
    /// # Errors
    /// Errors of [`decode`]; also if the number of images does not fit the layout.
    pub fn pictures(&self, pixels: Pixels) -> Result<(Picture, Picture), DecodeError> {
        let turned = |image: &EncodedImage, view: usize| {
            let mut picture = decode(image.layout, &image.bytes, pixels)?;
            self.layout.orientation[view].turn(&mut picture);
            Ok::<_, DecodeError>(picture)
        };
        match (&self.images[..], self.layout.side_by_side) {
            ([left, right], false) => Ok((turned(left, 0)?, turned(right, 1)?)),
            ([both], true) => Ok(halves(&turned(both, 0)?, self.layout.swapped)),
            (images, _) => Err(DecodeError::Images(images.len())),
        }
    }
}

/// Splits an image of even width into left and right half; `swapped` if the left view is in the right half.
pub fn halves(both: &Picture, swapped: bool) -> (Picture, Picture) {
    let (left, right) = split(both, Arrangement::SideBySide);
    if swapped { (right, left) } else { (left, right) }
}

/// Splits an image of both views into left and right; a last column or row that belongs to neither is left out.
pub fn split(both: &Picture, arrangement: Arrangement) -> (Picture, Picture) {
    let (width, height) = both.size();
    let (size, right) = match arrangement {
        Arrangement::SideBySide => ((width / 2, height), (width / 2, 0)),
        Arrangement::TopBottom => ((width, height / 2), (0, height / 2)),
    };
    let view = |start| Picture {
        luma: match &both.luma {
            Luma::U8(image) => Luma::U8(part_of(image, start, size)),
            Luma::U16 { image, bits } => Luma::U16 { image: part_of(image, start, size), bits: *bits },
        },
        rgb: both.rgb.as_ref().map(|image| part_of(image, start, size)),
    };
    (view((0, 0)), view(right))
}

/// Returns a doubt about the arrangement if views of this size, px, are unusually narrow or low.
pub fn doubtful_arrangement((width, height): (usize, usize), arrangement: Arrangement) -> Option<String> {
    let (is_doubtful, how, other) = match arrangement {
        Arrangement::SideBySide => (5 * width < 3 * height, "one is above the other", Arrangement::TopBottom),
        Arrangement::TopBottom => (width > 4 * height, "they are side by side", Arrangement::SideBySide),
    };
    is_doubtful.then(|| format!("each view has {width}x{height} px: if {how}, give {}", option(other.word())))
}

fn part_of<T: Copy>(image: &Image<T>, (left, top): (usize, usize), (width, height): (usize, usize)) -> Image<T> {
    let mut pixels = Vec::with_capacity(width * height);
    (top..top + height).for_each(|y| pixels.extend_from_slice(&image.row(y)[left..left + width]));
    Image::new(width, height, pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn left_half_is_the_left_view() {
        let image = Image::from_fn(6, 2, |x, y| (10 * y + x) as u8);
        let both = Picture { luma: Luma::U8(image), rgb: None };
        let (left, right) = halves(&both, false);
        assert_eq!(left.luma, Luma::U8(Image::new(3, 2, vec![0, 1, 2, 10, 11, 12])));
        assert_eq!(right.luma, Luma::U8(Image::new(3, 2, vec![3, 4, 5, 13, 14, 15])));
        assert_eq!(halves(&both, true), (right, left));
    }

    #[test]
    fn the_upper_half_is_the_left_view_with_its_colours() {
        let image = Image::from_fn(2, 4, |x, y| (10 * y + x) as u8);
        let both = Picture { luma: Luma::U8(image.clone()), rgb: Some(image.map(|&v| [v, 1, 2])) };
        let (left, right) = split(&both, Arrangement::TopBottom);
        assert_eq!(left.luma, Luma::U8(Image::new(2, 2, vec![0, 1, 10, 11])));
        assert_eq!(right.luma, Luma::U8(Image::new(2, 2, vec![20, 21, 30, 31])));
        assert_eq!(right.rgb.unwrap().at(1, 1), [31, 1, 2]);
    }

    #[test]
    fn narrow_and_low_views_are_doubtful() {
        let doubt = |size, arrangement| doubtful_arrangement(size, arrangement).unwrap_or_default();
        assert!(
            doubt((320, 960), Arrangement::SideBySide)
                .ends_with("320x960 px: if one is above the other, give top-bottom")
        );
        assert!(doubt((1280, 240), Arrangement::TopBottom).ends_with("side by side, give side-by-side"));
        for (size, arrangement) in [
            ((640, 480), Arrangement::SideBySide),
            ((480, 640), Arrangement::SideBySide),
            ((960, 1080), Arrangement::SideBySide),
            ((1920, 540), Arrangement::TopBottom),
        ] {
            assert_eq!(doubt(size, arrangement), "", "{size:?}");
        }
    }
}
