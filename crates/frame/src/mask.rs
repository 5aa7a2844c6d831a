//! Masks: parts of the views that are no scene, such as bars, a clock or dirt. Matching leaves their pixels out like a black border.

use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_stereo::filter::BlackBorder;

/// Brightness of a mask where the view shows the scene; all darker pixels are left out.
pub const SCENE: u8 = u8::MAX;

/// Masks of both views, in the pixels of a raw pair: [`SCENE`], or 0 where the view is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masks {
    left: Picture,
    right: Picture,
}

impl Masks {
    /// Creates masks of the left and the right view.
    pub fn new([left, right]: [Image<u8>; 2]) -> Self {
        Self { left: Luma::U8(left).into(), right: Luma::U8(right).into() }
    }

    /// Returns the masks of both views, `is_swapped` with left and right exchanged.
    pub(super) fn of_sides(&self, is_swapped: bool) -> [&Picture; 2] {
        if is_swapped { [&self.right, &self.left] } else { [&self.left, &self.right] }
    }
}

/// Makes the pixels that a mask of this size leaves out black, and others at least 1 bright, so that brightness 0 tells them apart. Those of
/// a black border stay black.
pub(super) fn leave_out(picture: &mut Picture, mask: &Picture) {
    let border = BlackBorder::of(&picture.luma);
    let mask = mask.luma.to_u8();
    let is_out =
        |x: usize, y: usize| mask.at(x, y) < SCENE || border.as_ref().is_some_and(|border| border.contains(x, y));
    for y in 0..mask.height() {
        match &mut picture.luma {
            Luma::U8(image) => image.row_mut(y).iter_mut().enumerate().for_each(|(x, v)| {
                *v = if is_out(x, y) { 0 } else { (*v).max(1) };
            }),
            Luma::U16 { image, .. } => image.row_mut(y).iter_mut().enumerate().for_each(|(x, v)| {
                *v = if is_out(x, y) { 0 } else { (*v).max(1) };
            }),
        }
        for (x, color) in picture.rgb.iter_mut().flat_map(|rgb| rgb.row_mut(y)).enumerate() {
            *color = if is_out(x, y) { [0; 3] } else { *color };
        }
    }
}
