//! The learned choice on the CPU: [`crate::stereo::filter::choice`] row by row on all threads, compiled for the vector instructions.

use super::simd::{SimdLevel, on_level};
use crate::image::Image;
use crate::image::PictureRef;
use crate::stereo::filter::choice::Chooser;
use crate::stereo::{DisparityMap, StereoParams};
use rayon::prelude::*;

/// Chooses among the disparities around each pixel.
pub(super) fn run(
    level: SimdLevel,
    map: &mut DisparityMap,
    pictures: [PictureRef<'_>; 2],
    last: Option<&DisparityMap>,
    params: &StereoParams,
) {
    let chooser = Chooser::new(map, pictures, last, params);
    let (width, height) = map.size();
    let mut chances = Image::filled(width, height, 0);
    let rows = map.values.pixels_mut().par_chunks_mut(width).zip(map.reasons.pixels_mut().par_chunks_mut(width));
    rows.zip(chances.pixels_mut().par_chunks_mut(width)).enumerate().for_each(|(y, ((values, reasons), chances))| {
        on_level!(level, _ => choose_row(&chooser, y, values, reasons, chances));
    });
    map.confidence = params.confidence.then_some(chances);
}

#[inline(always)]
fn choose_row(chooser: &Chooser<'_>, y: usize, values: &mut [i16], reasons: &mut [u8], chances: &mut [u8]) {
    for x in 0..values.len() {
        let chosen = chooser.chosen(x, y);
        (values[x], reasons[x], chances[x]) = (chosen.value, chosen.reasons, chosen.chance);
    }
}
