//! Temporal score: agreement of two successive maps, where nothing moved.

use super::measured::is_measured;
use stereopsis_base::image::{Image, Luma};
use stereopsis_stereo::DisparityMap;

/// Left image with its map.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Left image.
    pub left: &'a Luma,
    /// Disparity map.
    pub map: &'a DisparityMap,
}

/// Radius of the window whose brightness reveals motion, px.
const RADIUS: usize = 2;
/// Largest mean difference of brightness in a window without motion, grey levels of 8 bits: above the noise of a camera in a lit room.
const STILL_LEVELS: u32 = 4;
/// Largest difference of agreeing disparities, 1/16 px.
const AGREEING_STEP: i32 = 16;
/// Smallest share of the image without motion.
const MIN_STILL_SHARE: f64 = 0.02;

/// Returns the pixels whose disparities agree within 1 px, % of the pixels without motion for which at least one of the maps has a
/// measured disparity. Motion is detected by the brightness of windows of 5x5 px, which misses motion of plain surfaces. `None` with
/// too few pixels without motion, or if the sizes differ.
pub(crate) fn temporal_agreement_percent(previous: View<'_>, next: View<'_>) -> Option<f64> {
    let size = next.map.size();
    if [previous.left.size(), next.left.size(), previous.map.size()].iter().any(|&other| other != size) {
        return None;
    }
    let still = still(&previous.left.to_u8(), &next.left.to_u8());
    let measured = |map: &DisparityMap, i: usize| is_measured(map.values.pixels()[i], map.reasons.pixels()[i]);
    let (mut unmoved, mut known, mut agreeing) = (0_usize, 0_usize, 0_usize);
    for i in (0..still.pixels().len()).filter(|&i| still.pixels()[i]) {
        unmoved += 1;
        let (before, now) = (measured(previous.map, i), measured(next.map, i));
        known += usize::from(before || now);
        let step = i32::from(previous.map.values.pixels()[i]) - i32::from(next.map.values.pixels()[i]);
        agreeing += usize::from(before && now && step.abs() <= AGREEING_STEP);
    }
    let enough = unmoved as f64 >= MIN_STILL_SHARE * still.pixels().len() as f64;
    (enough && known > 0).then(|| 100.0 * agreeing as f64 / known as f64)
}

fn still(previous: &Image<u8>, next: &Image<u8>) -> Image<bool> {
    let (width, height) = next.size();
    let differences = Image::from_fn(width, height, |x, y| u32::from(previous.at(x, y).abs_diff(next.at(x, y))));
    // sums along rows, then along columns, of the part of the window inside the image
    let range = |at: usize, end: usize| at.saturating_sub(RADIUS)..(at + RADIUS + 1).min(end);
    let rows = Image::from_fn(width, height, |x, y| differences.row(y)[range(x, width)].iter().sum::<u32>());
    Image::from_fn(width, height, |x, y| {
        let sum: u32 = range(y, height).map(|y| rows.at(x, y)).sum();
        sum <= STILL_LEVELS * (range(x, width).len() * range(y, height).len()) as u32
    })
}
