//! Detection of swapped sides by the disparities of a pair, and the search range that a pair needs.

use super::matches::{EXCHANGED, Match, STEREO, VERGED, search};
use std::fmt;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::Luma;
use stereopsis_base::quantile::quantile;

/// Evidence that left and right are swapped.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Exchanged {
    /// Share of the matches that lie behind the farthest points, 0 to 1.
    pub share: f64,
    /// Number of matches.
    pub matches: usize,
    /// Disparity of the farthest matches, px.
    pub lowest_px: f64,
}

impl fmt::Display for Exchanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { share, matches, .. } = self;
        write!(f, "left and right look exchanged: {:.0} % of {matches} matches lie on the wrong side", 100.0 * share)
    }
}

/// Smallest number of matches for a decision.
const MIN_MATCHES: usize = 24;
/// Smallest share of matches behind the farthest points for swapped images.
const MIN_SHARE: f64 = 0.8;
/// Tolerance of the limit behind which a match counts, as a share of the width.
const MARGIN: f64 = 0.004;

/// Detects whether left and right are swapped in a pair whose farthest points have disparity `farthest_px`. `found` are the matches in the
/// window for the right order; the other window is searched only if these are few or lie behind that limit.
pub fn exchanged(left: &Luma, right: &Luma, found: &[Match], farthest_px: f64) -> Option<Exchanged> {
    let limit_px = farthest_px - (MARGIN * left.size().0 as f64).max(1.0);
    let is_behind = |found: &&Match| found.disparity_px() < limit_px;
    if found.len() >= 2 * MIN_MATCHES && 2 * found.iter().filter(is_behind).count() < found.len() {
        return None;
    }
    let mirrored = search(left, right, EXCHANGED);
    let behind = mirrored.iter().filter(is_behind).count();
    let before = found.iter().filter(|found| !is_behind(found)).count();
    let share = behind as f64 / (behind + before).max(1) as f64;
    (behind >= MIN_MATCHES && share >= MIN_SHARE).then(|| {
        let mut disparities: Vec<_> = mirrored.iter().map(Match::disparity_px).collect();
        Exchanged { share, matches: behind + before, lowest_px: quantile(&mut disparities, OUTLIERS) }
    })
}

/// Smallest disparity of infinity below 0, as a share of the width, of cameras that look towards each other: cameras of a lens of 40 degrees
/// have it from 4 degrees on. Middlebury's parallel ones (Motorcycle, 2014) have 0.04.
const MIN_VERGED: f64 = 0.1;

/// Whether a rig's cameras look towards each other, so that what they look at has disparities far above that of infinity, and around 0;
/// `extent_px` is that of the images along the baseline.
pub fn is_verged(geometry: &Geometry, extent_px: usize) -> bool {
    geometry.doffs_px > MIN_VERGED * extent_px as f64
}

/// Finds matches of rectified images for [`range_of`]: of cameras that look towards each other also far below disparity 0.
pub fn matches_for_range(left: &Luma, right: &Luma, infinity_px: f64) -> Vec<Match> {
    let is_verged = -infinity_px > MIN_VERGED * left.size().0 as f64;
    search(left, right, if is_verged { VERGED } else { STEREO })
}

/// Margin around the disparities of the matches, as a share of their span, and px.
const RANGE_MARGIN: (f64, f64) = (0.25, 2.0);
/// Step of the size of a range, px.
const RANGE_STEP: i32 = 8;
/// Share of the matches at each end that may be wrong.
const OUTLIERS: f64 = 0.005;

/// Returns the search range, as smallest disparity and count, that contains the disparities of these matches of rectified images; `None`
/// with too few matches.
pub fn range_of(found: &[Match], infinity_px: f64) -> Option<(i32, u32)> {
    if found.len() < MIN_MATCHES {
        return None;
    }
    let mut disparities: Vec<_> = found.iter().map(Match::disparity_px).collect();
    let [low, high] = [OUTLIERS, 1.0 - OUTLIERS].map(|share| quantile(&mut disparities, share));
    let margin = RANGE_MARGIN.0 * (high - low) + RANGE_MARGIN.1;
    // most images show points at infinity, often without matches; nothing lies behind them
    let infinity = infinity_px.floor() as i32;
    let mut first = ((low - margin).floor() as i32).max(infinity);
    if first - infinity <= RANGE_STEP {
        first = infinity;
    }
    let count = (high + margin).ceil() as i32 - first + 1;
    let steps = (count + RANGE_STEP - 1) / RANGE_STEP;
    Some((first, (steps.max(1) * RANGE_STEP) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matches::matches;
    use glam::DVec2;
    use stereopsis_frame::SceneOptions;
    use stereopsis_scene::render;

    fn pair() -> [Luma; 2] {
        let raw = render(&SceneOptions { width: 320, height: 240, ..SceneOptions::default() }, 0, false);
        [raw.left.luma, raw.right.luma]
    }

    #[test]
    fn swapped_sides_are_detected() {
        let [left, right] = pair();
        assert_eq!(exchanged(&left, &right, &matches(&left, &right), 0.0), None);
        let found = exchanged(&right, &left, &matches(&right, &left), 0.0).expect("exchanged");
        assert!(found.share > 0.9 && found.matches > 40, "{found}");
        let dark = Luma::U8(stereopsis_base::image::Image::filled(320, 240, 3));
        assert_eq!(exchanged(&dark, &dark, &[], 0.0), None);
    }

    #[test]
    fn the_range_holds_all_disparities_and_near_infinity() {
        let matches = |range: std::ops::RangeInclusive<i32>| -> Vec<Match> {
            let at = |d: i32| Match { left: DVec2::new(f64::from(d), 1.0), right: DVec2::new(0.0, 1.0), score: 1.0 };
            range.map(at).collect()
        };
        assert_eq!(range_of(&matches(6..=50), 0.0), Some((0, 64)));
        assert_eq!(range_of(&matches(100..=140), 0.0), Some((88, 72)));
        assert_eq!(range_of(&matches(-20..=40), -24.5), Some((-25, 88)));
        assert_eq!(range_of(&matches(0..=9), 0.0), None);
    }
}
