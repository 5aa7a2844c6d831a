//! The dropped border (Leu et al. 2010, relation 4): what cannot be compared whole is not compared at all.

use crate::stereo::params::StereoParams;

/// False where the window of pixel `(x, y)`, or that of one of its candidates in the right picture, leaves a picture of this
/// size.
pub fn is_whole((x, y): (usize, usize), (width, height): (usize, usize), params: &StereoParams) -> bool {
    let (rx, ry) = params.window_reach();
    let (x, y, width, height) = (x as i64, y as i64, width as i64, height as i64);
    let (rx, ry) = (rx as i64, ry as i64);
    let (first, last) =
        (i64::from(params.min_disparity), i64::from(params.min_disparity) + i64::from(params.num_disparities) - 1);
    let from = rx + last.max(0);
    let to = width - 1 - rx + first.min(0);
    (from..=to).contains(&x) && (ry..height - ry).contains(&y)
}
