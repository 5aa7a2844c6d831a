//! Random settings around the values of the presets.

use stereopsis_metrics::Random;
use stereopsis_stereo::{AdaptiveP2, CostKind, Fill, Median, StereoParams, Subpixel};

// repeated values are drawn more often

/// Costs that work without local aggregation.
const COSTS: [CostKind; 7] = [
    CostKind::Census5x5,
    CostKind::Census7x7,
    CostKind::Census9x7,
    CostKind::Census9x7Symmetric,
    CostKind::Rank,
    CostKind::Sad,
    CostKind::GradientCensus,
];
const RANK_WINDOWS: [u32; 3] = [5, 7, 9];
const SAD_WINDOWS: [u32; 3] = [3, 5, 7];
const PATHS: [u32; 3] = [4, 8, 16];
const ADAPTIVE_P2: [AdaptiveP2; 3] = [AdaptiveP2::Off, AdaptiveP2::Linear, AdaptiveP2::Inverse];
const SUBPIXEL: [Subpixel; 3] = [Subpixel::Parabola, Subpixel::Parabola, Subpixel::Off];
const MEDIANS: [Median; 3] = [Median::Off, Median::Three, Median::Five];
const LEFT_RIGHT: [Option<u32>; 5] = [Some(0), Some(1), Some(1), Some(2), Some(4)];
const UNIQUENESS: [u32; 6] = [0, 0, 0, 3, 6, 10];
const SPECKLE_SIZES: [u32; 4] = [0, 50, 100, 400];
const SPATIAL: [Option<u32>; 3] = [None, None, Some(2)];
/// Largest factor or divisor of the cost's default penalties.
const MAX_PENALTY_FACTOR: f64 = 4.0;

/// Returns random settings for this number of disparities, without local aggregation, filling and depth edge shifts.
/// The left-right check is on, because the score without truth needs it.
pub(super) fn draw(random: &mut Random, num_disparities: u32) -> StereoParams {
    loop {
        let mut params = StereoParams::for_cost(random.one_of(&COSTS));
        let mut scaled =
            |value: u32| (f64::from(value) * MAX_PENALTY_FACTOR.powf(2.0 * random.share() - 1.0)).round() as u32;
        (params.p1, params.p2) = (scaled(params.p1), scaled(params.p2));
        (params.p2_min, params.p2_alpha) = (scaled(params.p2_min), scaled(params.p2_alpha));
        params.num_disparities = num_disparities;
        params.adaptive_p2 = random.one_of(&ADAPTIVE_P2);
        params.paths = random.one_of(&PATHS);
        params.rank_window = random.one_of(&RANK_WINDOWS);
        params.sad_window = random.one_of(&SAD_WINDOWS);
        params.subpixel = random.one_of(&SUBPIXEL);
        params.median = random.one_of(&MEDIANS);
        params.left_right = random.one_of(&LEFT_RIGHT);
        params.uniqueness = random.one_of(&UNIQUENESS);
        params.speckle_size = random.one_of(&SPECKLE_SIZES);
        params.spatial = random.one_of(&SPATIAL);
        (params.weighted_median, params.fill) = (false, Fill::None);
        params.repair(|_| false);
        params.p2_min = params.p2_min.min(params.p2);
        if params.validate().is_ok() {
            return params;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_valid_distinct_and_reproducible() {
        let drawn = |seed| {
            let mut random = Random::with_seed(seed);
            (0..50).map(|_| draw(&mut random, 60)).collect::<Vec<_>>()
        };
        let (first, again) = (drawn(1), drawn(1));
        assert_eq!(first, again);
        assert_ne!(first, drawn(2));
        for params in &first {
            params.validate().unwrap();
            assert!(params.left_right.is_some() && params.fill == Fill::None, "{params:?}");
        }
        let costs: std::collections::BTreeSet<_> = first.iter().map(|params| params.cost.word()).collect();
        assert!(costs.len() > 4, "{costs:?}");
    }
}
