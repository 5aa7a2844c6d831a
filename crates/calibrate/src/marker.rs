//! Square markers of black and white cells, and their codes: a bit for each inner cell that is black, row by row from the lowest one.

use calib_targets_charuco::Dictionary;

/// Black cells between the rim of a marker and its code: OpenCV's markers.
pub(crate) const BORDER: usize = 1;
/// The same of the tags of AprilGrids.
pub(crate) const TAG_BORDER: usize = 2;
/// The dictionary of the tags of AprilGrids.
pub(crate) const TAGS: &str = "DICT_APRILTAG_36h11";

/// Codes as AprilGrids show them: upside down beside OpenCV's of the same name.
pub(crate) fn tag_codes(tags: &Dictionary) -> impl Iterator<Item = u64> {
    let bits = tags.marker_size();
    tags.codes().iter().map(move |code| turned(*code, bits, 2))
}

/// The code of `bits` x `bits` cells as it is read in a lattice that is turned against the board by quarter turns: its cell `(x, y)` is
/// the board's `(y, -x)` after one.
pub(crate) fn turned(code: u64, bits: usize, turn: usize) -> u64 {
    let last = bits - 1;
    moved(code, bits, |x, y| match turn {
        0 => (x, y),
        1 => (y, last - x),
        2 => (last - x, last - y),
        _ => (last - y, x),
    })
}

/// The code in a picture with left and right exchanged.
pub(crate) fn mirrored(code: u64, bits: usize) -> u64 {
    moved(code, bits, |x, y| (bits - 1 - x, y))
}

/// The code whose cell `(x, y)` is the cell `from(x, y)` of this one.
fn moved(code: u64, bits: usize, from: impl Fn(usize, usize) -> (usize, usize)) -> u64 {
    let bit = |x: usize, y: usize| {
        let (from_x, from_y) = from(x, y);
        (code >> (from_y * bits + from_x) & 1) << (y * bits + x)
    };
    (0..bits).flat_map(|y| (0..bits).map(move |x| (x, y))).fold(0, |moved, (x, y)| moved | bit(x, y))
}
