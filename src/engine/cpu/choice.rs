//! The learned choice on the CPU: [`crate::stereo::filter::choice`] row by row on all threads, compiled for the vector instructions.

use super::simd::{SimdLevel, on_level};
use crate::image::PictureRef;
use crate::stereo::DisparityMap;
use crate::stereo::filter::choice::{Chooser, Side};
use rayon::prelude::*;

/// Chooses among the disparities around each pixel.
pub(super) fn run(level: SimdLevel, map: &mut DisparityMap, pictures: [PictureRef<'_>; 2], side: Side) {
    let chooser = Chooser::new(map, pictures, side);
    let width = map.values.width();
    map.values.pixels_mut().par_chunks_mut(width).enumerate().for_each(|(y, row)| {
        on_level!(level, _ => choose_row(&chooser, y, row));
    });
}

#[inline(always)]
fn choose_row(chooser: &Chooser<'_>, y: usize, row: &mut [i16]) {
    for x in 0..row.len() {
        row[x] = chooser.chosen(x, y);
    }
}
