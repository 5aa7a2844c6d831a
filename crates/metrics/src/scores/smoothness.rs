//! Smoothness score: steps of the disparity are expected only where the brightness steps too.

use super::measured::is_measured;
use stereopsis_base::image::Luma;
use stereopsis_stereo::DisparityMap;

/// Step of the brightness at which a step of the disparity counts by 1/e, grey levels of 8 bits.
const EDGE_LEVELS: f64 = 10.0;
/// Upper bound of a step of the disparity, px: an edge of an object is one step, however deep.
const MAX_STEP_PX: f64 = 4.0;

/// Computes the mean step of the disparity between neighbouring measured pixels, px, at most 4 each, weighted by `exp(-|dI| / 10)` of their
/// step in brightness (the edge-aware smoothness of Heise et al. 2013). Flat walls in front of the camera have 0. `None` without measured
/// neighbours, or if the sizes differ.
pub fn smoothness_px(left: &Luma, map: &DisparityMap) -> Option<f64> {
    if left.size() != map.size() {
        return None;
    }
    let image = left.to_u8();
    let weights: Vec<f64> = (0..256).map(|levels| (-f64::from(levels) / EDGE_LEVELS).exp()).collect();
    let (width, height) = map.size();
    let measured = |x, y| is_measured(map.values.at(x, y), map.reasons.at(x, y));
    let (mut steps, mut sum) = (0.0, 0.0);
    for y in 0..height {
        for x in 0..width {
            if !measured(x, y) {
                continue;
            }
            for (nx, ny) in [(x + 1, y), (x, y + 1)] {
                if nx < width && ny < height && measured(nx, ny) {
                    let step16 = (i32::from(map.values.at(x, y)) - i32::from(map.values.at(nx, ny))).abs();
                    let weight = weights[usize::from(image.at(x, y).abs_diff(image.at(nx, ny)))];
                    steps += weight * (f64::from(step16) / 16.0).min(MAX_STEP_PX);
                    sum += weight;
                }
            }
        }
    }
    (sum > 0.0).then(|| steps / sum)
}
