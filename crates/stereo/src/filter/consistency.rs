//! Left-right check: a disparity is kept if the partner in the right image has the same one (Hirschmüller 2008, eq. 17).

use crate::map::{DisparityMap, INVALID, reason, rounded_px};

/// Checks each map against the other one, see [`check_left_right`].
pub(super) fn check_both(left: &mut DisparityMap, right: &mut DisparityMap, tolerance_px: u32) {
    let unchecked = left.clone();
    check_left_right(left, right, tolerance_px);
    let mut mirrored = right.mirrored();
    check_left_right(&mut mirrored, &unchecked.mirrored(), tolerance_px);
    *right = mirrored.mirrored();
}

/// Invalidates left pixels whose partner lies outside (range), has no disparity, or one that differs by more than `tolerance_px`
/// (left-right). The partner of `x` is `x - round(d)`.
pub fn check_left_right(left: &mut DisparityMap, right: &DisparityMap, tolerance_px: u32) {
    let (width, height) = left.size();
    for y in 0..height {
        for x in 0..width {
            let d16 = i32::from(left.values.at(x, y));
            if d16 == i32::from(INVALID) {
                continue;
            }
            let right_x = x as i32 - rounded_px(d16);
            match right.values.get(right_x as isize, y as isize) {
                None => left.invalidate(x, y, reason::RANGE),
                Some(back) if back != INVALID && (d16 - i32::from(back)).unsigned_abs() <= 16 * tolerance_px => {}
                Some(_) => left.invalidate(x, y, reason::LEFT_RIGHT),
            }
        }
    }
}
