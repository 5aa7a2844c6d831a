//! Codes of square markers of black and white cells: one bit per inner cell, 1 for black, row by row from the lowest bit.

use calib_targets_charuco::Dictionary;

/// Width of the border of OpenCV's markers, black cells.
pub(crate) const BORDER: usize = 1;
/// Width of the border of AprilGrid tags, black cells.
pub(crate) const TAG_BORDER: usize = 2;
pub(crate) const TAGS: &str = "DICT_APRILTAG_36h11";

/// Returns the codes of AprilGrids, which are OpenCV's of the same name rotated by 180 degrees.
pub(crate) fn tag_codes(tags: &Dictionary) -> impl Iterator<Item = u64> {
    tags.codes().iter().map(|code| tag_code(*code, tags))
}

/// Turns a code of a dictionary of tags as boards have it.
pub(crate) fn tag_code(code: u64, tags: &Dictionary) -> u64 {
    turned(code, tags.marker_size(), 2)
}

/// Rotates a code of `bits` x `bits` cells by quarter turns; after one, cell `(x, y)` is `(y, -x)` of `code`.
pub(crate) fn turned(code: u64, bits: usize, turn: usize) -> u64 {
    let last = bits - 1;
    moved(code, bits, |x, y| match turn {
        0 => (x, y),
        1 => (y, last - x),
        2 => (last - x, last - y),
        _ => (last - y, x),
    })
}

pub(crate) fn mirrored(code: u64, bits: usize) -> u64 {
    moved(code, bits, |x, y| (bits - 1 - x, y))
}

/// Permutes the cells of a code, so that `(x, y)` of the result is `from(x, y)` of `code`.
fn moved(code: u64, bits: usize, from: impl Fn(usize, usize) -> (usize, usize)) -> u64 {
    let bit = |x: usize, y: usize| {
        let (from_x, from_y) = from(x, y);
        (code >> (from_y * bits + from_x) & 1) << (y * bits + x)
    };
    (0..bits).flat_map(|y| (0..bits).map(move |x| (x, y))).fold(0, |moved, (x, y)| moved | bit(x, y))
}
