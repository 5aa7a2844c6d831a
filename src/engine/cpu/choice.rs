//! The learned choice on the CPU: [`crate::stereo::filter::choice`] row by row on all threads, compiled for the vector instructions.

use super::simd::{SimdLevel, on_level};
use crate::image::Image;
use crate::image::PictureRef;
use crate::stereo::filter::choice::Chooser;
use crate::stereo::{DisparityMap, StereoParams};
use rayon::prelude::*;

/// Chooses among the disparities around each pixel.
pub(super) fn run(level: SimdLevel, map: &mut DisparityMap, pictures: [PictureRef<'_>; 2], params: &StereoParams) {
    let chooser = Chooser::new(map, pictures, params.confidence);
    let (width, height) = map.size();
    let mut chances = Image::filled(width, height, 0);
    let rows = map.values.pixels_mut().par_chunks_mut(width).zip(chances.pixels_mut().par_chunks_mut(width));
    rows.enumerate().for_each(|(y, (values, chances))| {
        on_level!(level, _ => choose_row(&chooser, y, values, chances));
    });
    map.confidence = params.confidence.then_some(chances);
}

#[inline(always)]
fn choose_row(chooser: &Chooser<'_>, y: usize, values: &mut [i16], chances: &mut [u8]) {
    for x in 0..values.len() {
        (values[x], chances[x]) = chooser.chosen(x, y);
    }
}
