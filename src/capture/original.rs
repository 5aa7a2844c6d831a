//! What cameras gave before it was decoded, split and turned: what a recorder keeps, so that nothing is lost.

use super::Orientation;
use super::decode_camera::{Damage, DecodeError, Layout, decode};
use crate::image::{Image, Luma, Picture};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The pictures of a pair as they came: two, or one that shows both eyes.
#[derive(Clone, Debug, PartialEq)]
pub struct Original {
    /// Left and right, or one of both eyes.
    pub images: Vec<EncodedImage>,
    /// How they become the left and the right eye's picture.
    pub rule: StereoLayout,
}

/// How raw pictures become the left and the right eye's: first split, then swapped, then turned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StereoLayout {
    /// One picture shows both eyes, the left half is the left one.
    pub side_by_side: bool,
    /// The halves are the other way round.
    pub swapped: bool,
    /// How the left and the right camera's picture is turned; a picture of both eyes by the first, before it is split.
    pub orientation: [Orientation; 2],
}

impl StereoLayout {
    /// Whether raw pictures are the eyes' pictures as they are.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Whether this eye's raw picture is not turned.
    pub fn is_upright(&self, eye: usize) -> bool {
        self.orientation[eye] == Orientation::default()
    }

    /// The rule of a pair.
    pub fn of(original: Option<&Original>) -> Self {
        original.map(|original| original.rule.clone()).unwrap_or_default()
    }
}

/// One picture as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedImage {
    /// How it lies in memory.
    pub layout: Layout,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
}

impl Original {
    /// The left and the right eye's picture.
    ///
    /// # Errors
    /// As [`decode`]; and if there is not the number of pictures that the rule needs.
    pub fn pictures(&self, color: bool) -> Result<(Picture, Picture), DecodeError> {
        let turned = |shot: &EncodedImage, eye: usize| {
            let mut picture = decode(shot.layout, &shot.bytes, color)?;
            self.rule.orientation[eye].turn(&mut picture);
            Ok::<_, DecodeError>(picture)
        };
        match (&self.images[..], self.rule.side_by_side) {
            ([left, right], false) => Ok((turned(left, 0)?, turned(right, 1)?)),
            ([both], true) => Ok(halves(&turned(both, 0)?, self.rule.swapped)),
            (shots, _) => Err(DecodeError::new(Damage::Size, format!("a pair of {} pictures", shots.len()))),
        }
    }
}

/// The left and the right eye's half of a picture of even width; `swapped` where the left eye's is on the right.
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
