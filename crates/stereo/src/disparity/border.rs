//! Dropped border (Leu et al. 2010, relation 4): pixels whose windows leave an image are invalid.

use std::ops::{Range, RangeInclusive};

/// Returns columns and rows of the pixels for which [`is_whole`] is true. `reach` is the distance from a pixel to its window's edge, px.
pub fn whole(
    size: (usize, usize),
    reach: (usize, usize),
    disparities: &RangeInclusive<i32>,
) -> (Range<usize>, Range<usize>) {
    let (width, height) = (size.0 as i64, size.1 as i64);
    let (rx, ry) = (reach.0 as i64, reach.1 as i64);
    let (first, last) = (i64::from(*disparities.start()), i64::from(*disparities.end()));
    let columns = (rx + last.max(0)).min(width)..(width - rx + first.min(0)).max(0);
    let rows = ry.min(height)..(height - ry).max(0);
    let whole_numbers = |range: Range<i64>| range.start as usize..range.end as usize;
    (whole_numbers(columns), whole_numbers(rows))
}

/// Whether the window of pixel `(x, y)`, and those of all its candidates in the right image, lie inside images of this size.
pub fn is_whole(
    (x, y): (usize, usize),
    size: (usize, usize),
    reach: (usize, usize),
    disparities: &RangeInclusive<i32>,
) -> bool {
    let (columns, rows) = whole(size, reach, disparities);
    columns.contains(&x) && rows.contains(&y)
}
