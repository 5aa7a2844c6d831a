//! Scores and errors of many settings on one scene.

use stereopsis_images::picture_files::truth::PairWithTruth;
use stereopsis_metrics::scores::{NUM_PARTS, View, parts, scores};
use stereopsis_metrics::{Random, rank_correlation, truth_error};
use stereopsis_stereo::{DisparityMap, StereoParams};

#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub(super) struct Sample {
    /// Scores in the order of [`stereopsis_metrics::scores::PARTS`].
    pub(super) parts: [f64; NUM_PARTS],
    /// Share of pixels with truth off by more than 1 px or without a disparity, %.
    pub(super) bad_1_percent: f64,
    /// Share of pixels with truth off by more than 2 px or without a disparity, %.
    pub(super) bad_2_percent: f64,
}

#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct Study {
    pub(super) scene: String,
    pub(super) group: String,
    /// Number of settings that were matched for these samples.
    pub(super) drawn: usize,
    pub(super) samples: Vec<Sample>,
}

/// Smallest number of settings before the best is assumed known, and the largest number.
const MIN_DRAWN: usize = 120;
const MAX_DRAWN: usize = 400;
/// Largest bad-1.0 as a multiple of the best setting's.
const MAX_ERROR_RATIO: f64 = 2.0;

/// Matches random settings until `wanted` of them have a bad-1.0 of at most twice the best one.
///
/// # Errors
/// The matcher fails.
pub(super) fn study(
    scene: &PairWithTruth,
    seed: u64,
    wanted: usize,
    matcher: &mut dyn FnMut(&StereoParams) -> anyhow::Result<DisparityMap>,
) -> anyhow::Result<Study> {
    let mut random = Random::with_seed(seed);
    let mut all = Vec::new();
    let mut drawn = 0;
    loop {
        let params = super::settings::draw(&mut random, scene.num_disparities);
        all.extend(sample(scene, &matcher(&params)?));
        drawn += 1;
        let best = all.iter().map(|s: &Sample| s.bad_1_percent).fold(f64::INFINITY, f64::min);
        let samples: Vec<_> =
            all.iter().copied().filter(|s| s.bad_1_percent <= MAX_ERROR_RATIO * best).take(wanted).collect();
        if (drawn >= MIN_DRAWN && samples.len() == wanted) || drawn == MAX_DRAWN {
            return Ok(Study { scene: scene.name.clone(), group: scene.group().to_owned(), drawn, samples });
        }
    }
}

/// Computes scores and errors of a map, unless it is too sparse.
fn sample(scene: &PairWithTruth, map: &DisparityMap) -> Option<Sample> {
    let found = scores(View { left: &scene.raw.left.luma, map }, &scene.raw.right.luma, true, None);
    let error = truth_error(map, &scene.truth)?.all;
    Some(Sample { parts: parts(&found).ok()?, bad_1_percent: error.bad_1_percent, bad_2_percent: error.bad_2_percent })
}

impl Study {
    /// Computes rank correlations of a number of each sample with the 1 px and 2 px errors.
    pub(super) fn correlations(&self, number: impl Fn(&Sample) -> f64) -> [Option<f64>; 2] {
        [|s: &Sample| s.bad_1_percent, |s: &Sample| s.bad_2_percent].map(|error| {
            let pairs: Vec<_> = self.samples.iter().map(|sample| (number(sample), error(sample))).collect();
            rank_correlation(&pairs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::UNIX_EPOCH;
    use stereopsis_base::image::{Image, Luma, Picture, Truth};
    use stereopsis_frame::RawPair;
    use stereopsis_metrics::Regions;
    use stereopsis_stereo::{INVALID, match_pair};

    fn scene() -> PairWithTruth {
        let texture = |x: usize, y: usize| ((x * 73) ^ (y * 151) ^ (x * y * 7)) as u8;
        let picture =
            |shift: usize| Picture { luma: Luma::U8(Image::from_fn(40, 20, |x, y| texture(x + shift, y))), rgb: None };
        PairWithTruth {
            name: "s".into(),
            layout: "made",
            raw: Arc::new(RawPair::new("s", 0, UNIX_EPOCH, picture(0), picture(3))),
            truth: Arc::new(Truth { left_px: Image::filled(40, 20, 3.0), right_px: None, occluded: None, scale: None }),
            regions: Regions::default(),
            num_disparities: 8,
        }
    }

    #[test]
    fn only_settings_within_twice_the_best_error_count() {
        let scene = scene();
        let mut calls = 0;
        // every fourth map has three more wrong columns
        let mut matcher = |_: &StereoParams| {
            calls += 1;
            let wrong = if calls % 4 == 0 { 5 } else { 1 };
            let values = Image::from_fn(40, 20, |x, _| if x < wrong { 16 * 7 } else { 16 * 3 });
            Ok(DisparityMap { values, reasons: Image::filled(40, 20, 0), confidence: None })
        };
        let found = study(&scene, 1, 20, &mut matcher).unwrap();
        assert_eq!((found.samples.len(), found.drawn), (20, MIN_DRAWN));
        assert!(found.samples.iter().all(|sample| (sample.bad_1_percent - 2.5).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn a_map_with_holes_has_larger_scores_and_errors() {
        let scene = scene();
        let params = StereoParams { num_disparities: 8, ..StereoParams::default() };
        let good = match_pair(&scene.raw.left.luma, &scene.raw.right.luma, &params);
        let mut bad = good.clone();
        for (x, y) in (10..20).flat_map(|x| (0..20).map(move |y| (x, y))) {
            bad.invalidate(x, y, stereopsis_stereo::reason::LEFT_RIGHT);
        }
        assert!(bad.values.pixels().contains(&INVALID));
        let [good, bad] = [good, bad].map(|map| sample(&scene, &map).unwrap());
        assert!(bad.parts[0] > good.parts[0] && bad.parts[4] > good.parts[4], "{good:?} {bad:?}");
        assert!(bad.bad_1_percent > good.bad_1_percent, "{good:?} {bad:?}");
    }
}
