//! The dropped border (Leu et al. 2010, relation 4): pixels whose windows leave a picture are invalid.

use crate::params::StereoParams;
use std::ops::Range;

/// Columns and rows of the pixels for which [`is_whole`] is true; empty ranges if there are none.
pub fn whole(size: (usize, usize), params: &StereoParams) -> (Range<usize>, Range<usize>) {
    let (width, height) = (size.0 as i64, size.1 as i64);
    let (rx, ry) = params.window_reach();
    let (rx, ry) = (rx as i64, ry as i64);
    let (first, last) =
        (i64::from(params.min_disparity), i64::from(params.min_disparity) + i64::from(params.num_disparities) - 1);
    let columns = (rx + last.max(0)).min(width)..(width - rx + first.min(0)).max(0);
    let rows = ry.min(height)..(height - ry).max(0);
    let whole_numbers = |range: Range<i64>| range.start as usize..range.end as usize;
    (whole_numbers(columns), whole_numbers(rows))
}

/// False where the window of pixel `(x, y)`, or that of one of its candidates in the right picture, leaves a picture of this
/// size.
pub fn is_whole((x, y): (usize, usize), size: (usize, usize), params: &StereoParams) -> bool {
    let (columns, rows) = whole(size, params);
    columns.contains(&x) && rows.contains(&y)
}
