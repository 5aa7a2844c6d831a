//! Settings drawn by a seed, around those that the presets have.

use crate::metrics::Random;
use crate::stereo::{AdaptiveP2, CostKind, Fill, Median, StereoParams};

/// Costs that are drawn: those that work without local aggregation.
const COSTS: [CostKind; 7] = [
    CostKind::Census5x5,
    CostKind::Census7x7,
    CostKind::Census9x7,
    CostKind::Census9x7Symmetric,
    CostKind::Rank,
    CostKind::Sad,
    CostKind::GradientCensus,
];

/// The next settings for this number of disparities: cost, penalties from a quarter to four times those of the cost, paths, filters. The
/// left-right check is on, because a score needs it; nothing is filled.
pub(super) fn draw(random: &mut Random, num_disparities: u32) -> StereoParams {
    loop {
        let mut params = StereoParams::for_cost(random.one_of(&COSTS));
        let mut scaled = |value: u32| (f64::from(value) * 4.0_f64.powf(2.0 * random.share() - 1.0)).round() as u32;
        (params.p1, params.p2) = (scaled(params.p1), scaled(params.p2));
        (params.p2_min, params.p2_alpha) = (scaled(params.p2_min), scaled(params.p2_alpha));
        params.num_disparities = num_disparities;
        params.adaptive_p2 = random.one_of(&[AdaptiveP2::Off, AdaptiveP2::Linear, AdaptiveP2::Inverse]);
        params.paths = random.one_of(&[4, 8, 16]);
        params.rank_window = random.one_of(&[5, 7, 9]);
        params.sad_window = random.one_of(&[3, 5, 7]);
        params.subpixel = random.one_of(&[true, true, false]);
        params.median = random.one_of(&[Median::Off, Median::Three, Median::Five]);
        params.left_right = random.one_of(&[Some(0), Some(1), Some(1), Some(2), Some(4)]);
        params.uniqueness = random.one_of(&[0, 0, 0, 3, 6, 10]);
        params.speckle_size = random.one_of(&[0, 50, 100, 400]);
        params.spatial = random.one_of(&[None, None, Some(2)]);
        params.fill = Fill::None;
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
    fn settings_are_valid_and_differ_and_come_again_with_the_seed() {
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
