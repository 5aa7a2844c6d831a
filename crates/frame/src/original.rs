//! Encoded camera pictures before decoding, splitting and turning; recorders store them without loss.

use super::decode_camera::{Damage, DecodeError, Layout, decode};
use super::{Orientation, Pixels};
use crate::image::{Image, Luma, Picture};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The encoded pictures of a pair: two, or one that shows both views.
#[derive(Clone, Debug, PartialEq)]
pub struct Original {
    /// Left and right picture, or one of both views.
    pub images: Vec<EncodedImage>,
    /// How they become the left and the right view.
    pub layout: StereoLayout,
}

/// How encoded pictures become the left and the right view: split, then swapped, then turned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StereoLayout {
    /// One picture shows both views, the left one in its left half.
    pub side_by_side: bool,
    /// The right view is in the left half.
    pub swapped: bool,
    /// Orientation of the left and the right camera; a side-by-side picture is turned by the first one before it is split.
    pub orientation: [Orientation; 2],
}

impl StereoLayout {
    /// Whether the encoded pictures are the two views unchanged.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Whether this view's picture is not turned.
    pub fn is_upright(&self, view: usize) -> bool {
        self.orientation[view] == Orientation::default()
    }

    /// Layout of a pair.
    pub fn of(original: Option<&Original>) -> Self {
        original.map(|original| original.layout.clone()).unwrap_or_default()
    }
}

/// One encoded picture of a camera.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedImage {
    /// Its memory layout.
    pub layout: Layout,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
}

impl Original {
    /// Decodes the left and the right view.
    ///
    /// # Errors
    /// As [`decode`]; also if the number of pictures does not fit the layout.
    pub fn pictures(&self, pixels: Pixels) -> Result<(Picture, Picture), DecodeError> {
        let turned = |image: &EncodedImage, view: usize| {
            let mut picture = decode(image.layout, &image.bytes, pixels)?;
            self.layout.orientation[view].turn(&mut picture);
            Ok::<_, DecodeError>(picture)
        };
        match (&self.images[..], self.layout.side_by_side) {
            ([left, right], false) => Ok((turned(left, 0)?, turned(right, 1)?)),
            ([both], true) => Ok(halves(&turned(both, 0)?, self.layout.swapped)),
            (images, _) => Err(DecodeError::new(Damage::Size, format!("a pair of {} pictures", images.len()))),
        }
    }
}

/// The left and the right half of a picture of even width; `swapped` if the left view is in the right half.
pub fn halves(both: &Picture, swapped: bool) -> (Picture, Picture) {
    let half = |right: bool| Picture {
        luma: match &both.luma {
            Luma::U8(image) => Luma::U8(half_of(image, right)),
            Luma::U16 { image, bits } => Luma::U16 { image: half_of(image, right), bits: *bits },
        },
        rgb: both.rgb.as_ref().map(|image| half_of(image, right)),
    };
    (half(swapped), half(!swapped))
}

fn half_of<T: Copy>(image: &Image<T>, right: bool) -> Image<T> {
    let width = image.width() / 2;
    let start = if right { width } else { 0 };
    let pixels = (0..image.height()).flat_map(|y| &image.row(y)[start..start + width]).copied().collect();
    Image::new(width, image.height(), pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn left_half_is_the_left_eye() {
        let image = Image::from_fn(6, 2, |x, y| (10 * y + x) as u8);
        let both = Picture { luma: Luma::U8(image), rgb: None };
        let (left, right) = halves(&both, false);
        assert_eq!(left.luma, Luma::U8(Image::new(3, 2, vec![0, 1, 2, 10, 11, 12])));
        assert_eq!(right.luma, Luma::U8(Image::new(3, 2, vec![3, 4, 5, 13, 14, 15])));
        assert_eq!(halves(&both, true), (right, left));
    }
}
