//! Attack on a folder of board images, one of which has any bytes.

use std::sync::atomic::{AtomicUsize, Ordering};
use stereopsis_calibrate::{Board, PairFiles, gather};
use stereopsis_frame::MaxPixels;
use stereopsis_images::picture_files::FilePair;

/// Largest image, above the size of the other images, px.
const MOST_PIXELS: MaxPixels = MaxPixels(1 << 12);
/// Valid image, too small for a board search.
const GOOD: &[u8] = b"P5 8 6 255\n012345678901234567890123456789012345678901234567";

/// Attacks one image of a folder; the others must still be examined.
pub(crate) fn views(input: &[u8]) {
    let board: Board = "chessboard:9x6:25mm".parse().expect("a board");
    let pair = |number: u8, left: &[u8]| {
        let [left, right] = [("left", left), ("right", GOOD)]
            .map(|(side, bytes)| super::inputs::file(&format!("{side}{number}.png"), bytes));
        PairFiles::of(FilePair { left, right, name: number.to_string(), both_views: None }, false, MOST_PIXELS)
    };
    let looked = AtomicUsize::new(0);
    let gathered = gather(&board, vec![pair(0, GOOD), pair(1, input), pair(2, GOOD)], &|picture| {
        assert_eq!(picture.size(), (8, 6), "all have the size of the first one");
        looked.fetch_add(1, Ordering::Relaxed);
    });
    let why = gathered.expect_err("there is no board").to_string();
    assert!(why.starts_with("no image shows the board"), "{why}");
    assert!(looked.into_inner() >= 5, "an image costs others");
}
