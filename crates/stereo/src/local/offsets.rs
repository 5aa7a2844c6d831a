//! Regions of pixels for local aggregation: square windows and crosses.

use super::LocalSettings;
use stereopsis_base::image::Image;

/// Lengths of the arms of a pixel's cross, px.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arms {
    /// Arm to the left.
    pub left: u8,
    /// Arm to the right.
    pub right: u8,
    /// Arm upwards.
    pub up: u8,
    /// Arm downwards.
    pub down: u8,
}

impl Arms {
    /// Returns the shorter of each pair of arms.
    #[must_use]
    pub fn both(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            right: self.right.min(other.right),
            up: self.up.min(other.up),
            down: self.down.min(other.down),
        }
    }
}

/// Computes the cross of each pixel (Fang et al. 2012, eq. 4; Zhang et al. 2009): an arm extends while the brightness differs from the
/// pixel's own by at most `tau`, over at most `longest` px, and within the image.
pub fn arms(picture: &Image<u8>, tau: u32, longest: u32) -> Image<Arms> {
    Image::from_fn(picture.width(), picture.height(), |x, y| {
        let own = picture.at(x, y);
        let reach = |dx: isize, dy: isize| {
            let goes_on = |&k: &isize| {
                let other = picture.get(x as isize + k * dx, y as isize + k * dy);
                other.is_some_and(|other| u32::from(other.abs_diff(own)) <= tau)
            };
            (1..=longest as isize).take_while(goes_on).count() as u8
        };
        Arms { left: reach(-1, 0), right: reach(1, 0), up: reach(0, -1), down: reach(0, 1) }
    })
}

/// Regions of all pixels.
pub enum Offsets {
    /// Square with this many pixels from the centre to its edge.
    Window(isize),
    /// Crosses of both images.
    Cross {
        /// Arms in the left image.
        left: Image<Arms>,
        /// Arms in the right image.
        right: Image<Arms>,
    },
}

impl Offsets {
    /// Computes the regions.
    pub fn new(left: &Image<u8>, right: &Image<u8>, settings: &LocalSettings) -> Self {
        if settings.aggregation.has_arms() {
            let [left, right] = [left, right].map(|picture| arms(picture, settings.tau, settings.arms));
            return Self::Cross { left, right };
        }
        Self::Window(settings.reach() as isize)
    }

    /// Calls `visit` for every offset of the region of left pixel `(x, y)` and its partner `(partner, y)`.
    ///
    /// The region of a cross is the horizontal arms of each pixel of its vertical arms. An arm is as long as both images allow; those of
    /// the right image start in the partner's column.
    pub fn for_each(&self, (x, partner, y): (usize, usize, usize), mut visit: impl FnMut(isize, isize)) {
        match self {
            &Self::Window(r) => (-r..=r).for_each(|dy| (-r..=r).for_each(|dx| visit(dx, dy))),
            Self::Cross { left, right } => {
                let own = left.at(x, y).both(right.at(partner, y));
                for dy in -isize::from(own.up)..=isize::from(own.down) {
                    let row = (y as isize + dy) as usize;
                    let arms = left.at(x, row).both(right.at(partner, row));
                    (-isize::from(arms.left)..=isize::from(arms.right)).for_each(|dx| visit(dx, dy));
                }
            }
        }
    }
}

pub(super) fn clamped(
    (x, y): (usize, usize),
    (dx, dy): (isize, isize),
    (width, height): (usize, usize),
) -> (usize, usize) {
    let at = |v: usize, dv: isize, len: usize| (v as isize + dv).clamp(0, len as isize - 1) as usize;
    (at(x, dx, width), at(y, dy, height))
}
