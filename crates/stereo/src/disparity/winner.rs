//! Winner of each left pixel: the sums of a pair in, the left map before the filters out.

use super::{confidence, is_unique, whole};
use crate::map::{DisparityMap, INVALID, SUBPIXEL_STEPS, reason};
use crate::params::words::Subpixel;
use crate::volume::Volume;
use std::ops::RangeInclusive;
use stereopsis_base::image::Image;

/// Range, tests and refinement of winners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WinnerRules {
    /// Searched disparities, px.
    pub disparities: RangeInclusive<i32>,
    /// Distance from a pixel to the edge of its window, px along rows and columns; `None` where the border is kept.
    pub border: Option<(usize, usize)>,
    /// Largest sum that is accepted; `None` where each is.
    pub largest_sum: Option<u32>,
    /// Margin to the sums of other disparities, per cent.
    pub uniqueness: u32,
    /// Curve through the sums around the winner.
    pub subpixel: Subpixel,
    /// Whether winners get a confidence.
    pub with_confidence: bool,
}

/// Computes the left map: the smallest sum wins, ties go to the smaller disparity. The order of the tests is border, match threshold,
/// uniqueness; a pixel has the reason of the first one that it fails.
pub fn winner_takes_all(sums: &Volume<u32>, rules: &WinnerRules) -> DisparityMap {
    let mut map = DisparityMap {
        values: Image::filled(sums.width, sums.height, INVALID),
        reasons: Image::filled(sums.width, sums.height, 0),
        confidence: rules.with_confidence.then(|| Image::filled(sums.width, sums.height, 0)),
    };
    let inside = rules.border.map(|reach| whole((sums.width, sums.height), reach, &rules.disparities));
    for y in 0..sums.height {
        for x in 0..sums.width {
            if inside.as_ref().is_some_and(|(columns, rows)| !(columns.contains(&x) && rows.contains(&y))) {
                map.invalidate(x, y, reason::BORDER);
                continue;
            }
            let (first, sums) = (usize::from(sums.gate(x, y).first), sums.existing(x, y));
            let winner = smallest(sums.iter().copied());
            if rules.largest_sum.is_some_and(|largest| sums[winner] > largest) {
                map.invalidate(x, y, reason::MATCH);
                continue;
            }
            if !is_unique(sums, winner, rules.uniqueness) {
                map.invalidate(x, y, reason::UNIQUENESS);
                continue;
            }
            let whole = SUBPIXEL_STEPS * (rules.disparities.start() + (first + winner) as i32);
            map.values.set(x, y, (whole + rules.subpixel.refine(sums, winner)) as i16);
            if let Some(confidences) = &mut map.confidence {
                confidences.set(x, y, confidence(sums, winner));
            }
        }
    }
    map
}

fn smallest(values: impl Iterator<Item = u32>) -> usize {
    let first_smallest = values.enumerate().min_by_key(|&(_, value)| value);
    first_smallest.map_or(0, |(index, _)| index)
}
