//! Difference of brightness between the two images, and its effect on matching.

use stereopsis_base::image::Luma;
use stereopsis_stereo::CostKind;
use stereopsis_stereo::cost::ExposureTolerance;

/// Brightness of the right image compared with the left one, over their common middle.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct LumaDifference {
    /// Right minus left, grey levels of 8 bits.
    pub levels: f64,
    /// Ratio of right to left; 1 if the left one is black.
    pub ratio: f64,
}

/// Compares the middle three fifths of both images, which show nearly the same; `None` for images of different sizes.
pub fn luma_difference(left: &Luma, right: &Luma) -> Option<LumaDifference> {
    if left.size() != right.size() {
        return None;
    }
    let [left, right] = [left, right].map(mean);
    let ratio = if left > 0.5 { right / left } else { 1.0 };
    Some(LumaDifference { levels: right - left, ratio })
}

/// Largest difference for absolute differences, grey levels: on the built-in scene with noise 2 the share of wrong pixels rises from 5.7 %
/// to 9.2 % at 3.5 levels, 30 % at 6 and 57 % at 8 levels.
const SAD_LEVELS: f64 = 3.0;
/// Largest ratios for census and rank, which compare only order: there census 5x5 goes from 12.4 % to 15.1 % at a ratio of 0.71 and to
/// 17.8 % at 0.51, where noise exceeds the texture of the darker image; up to 1.5 it equals that at 1, and at 1.86 pixels saturate.
const ORDER_RATIO: std::ops::RangeInclusive<f64> = 0.6..=1.8;

impl LumaDifference {
    /// Whether the difference makes matching with this cost clearly worse, so that equal exposure or another cost would help.
    pub fn hurts(&self, cost: CostKind) -> bool {
        match cost.description().exposure {
            ExposureTolerance::Equal => self.levels.abs() > SAD_LEVELS,
            ExposureTolerance::Similar => !ORDER_RATIO.contains(&self.ratio),
            ExposureTolerance::Any => false,
        }
    }
}

fn mean(luma: &Luma) -> f64 {
    let image = luma.to_u8();
    let (width, height) = image.size();
    let (columns, rows) = (width / 5..width - width / 5, height / 5..height - height / 5);
    let count = columns.len() * rows.len();
    let sum: u64 = rows.flat_map(|y| &image.row(y)[columns.clone()]).map(|&v| u64::from(v)).sum();
    sum as f64 / count.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth_error;
    use stereopsis_base::image::Image;
    use stereopsis_frame::SceneOptions;
    use stereopsis_scene::render;
    use stereopsis_stereo::{StereoParams, match_pair};

    fn measured(cost: CostKind, exposure: f64) -> (bool, f64) {
        let options = SceneOptions { width: 160, height: 120, noise: 2.0, exposure, ..SceneOptions::default() };
        let pair = render(&options, 3, false);
        let params = StereoParams { num_disparities: 24, ..StereoParams::for_cost(cost) };
        let map = match_pair(&pair.left.luma, &pair.right.luma, &params);
        let error = truth_error(&map, &pair.truth.unwrap()).unwrap();
        let difference = luma_difference(&pair.left.luma, &pair.right.luma).unwrap();
        (difference.hurts(cost), error.nonocc.bad_1_percent)
    }

    #[test]
    fn hurts_exactly_where_errors_rise() {
        for (cost, exposure, hurts) in [
            (CostKind::Sad, 0.9, true),
            (CostKind::Sad, 1.06, true),
            (CostKind::Sad, 0.98, false),
            (CostKind::Census5x5, 1.3, false),
            (CostKind::Census5x5, 0.8, false),
            (CostKind::Rank, 1.2, false),
            (CostKind::Rank, 0.45, true),
            (CostKind::Census5x5, 0.45, true),
        ] {
            let ((said, wrong), (equal_said, equal)) = (measured(cost, exposure), measured(cost, 1.0));
            assert!(!equal_said, "{cost} with equal exposure");
            assert_eq!(said, hurts, "{cost} at {exposure}");
            let more = wrong - equal;
            assert!(if hurts { more > 3.0 } else { more < 3.0 }, "{cost} at {exposure}: {more:.1} % more");
        }
    }

    #[test]
    fn levels_are_signed_and_of_eight_bits() {
        let flat = |value| Luma::U16 { image: Image::filled(50, 40, value), bits: 10 };
        let found = luma_difference(&flat(400), &flat(300)).unwrap();
        assert!((found.levels + 25.0).abs() < 1e-9 && (found.ratio - 0.75).abs() < 1e-9, "{found:?}");
        assert_eq!(luma_difference(&flat(1), &Luma::U8(Image::filled(40, 40, 1))), None);
    }
}
