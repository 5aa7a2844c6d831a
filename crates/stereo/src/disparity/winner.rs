//! Winner of each left pixel: the sums of a pair in, the left map before the filters out.

use super::{confidence, is_unique, whole};
use crate::map::{DisparityMap, INVALID, SUBPIXEL_STEPS, reason};
use crate::params::StereoParams;
use crate::volume::Volume;
use stereopsis_base::image::Image;

/// Computes the left map: the smallest sum wins, ties go to the smaller disparity. The order of the tests is border, match threshold,
/// uniqueness; a pixel has the reason of the first one that it fails.
pub fn winner_takes_all(sums: &Volume<u32>, params: &StereoParams) -> DisparityMap {
    let mut map = DisparityMap {
        values: Image::filled(sums.width, sums.height, INVALID),
        reasons: Image::filled(sums.width, sums.height, 0),
        confidence: params.winners_have_confidence().then(|| Image::filled(sums.width, sums.height, 0)),
    };
    let largest_sum = params.largest_accepted_sum();
    let (columns, rows) = whole((sums.width, sums.height), params.window_reach(), &params.disparities());
    for y in 0..sums.height {
        for x in 0..sums.width {
            if params.drop_border && !(columns.contains(&x) && rows.contains(&y)) {
                map.invalidate(x, y, reason::BORDER);
                continue;
            }
            let (first, sums) = (usize::from(sums.gate(x, y).first), sums.existing(x, y));
            let winner = smallest(sums.iter().copied());
            if largest_sum.is_some_and(|largest| sums[winner] > largest) {
                map.invalidate(x, y, reason::MATCH);
                continue;
            }
            if !is_unique(sums, winner, params.uniqueness) {
                map.invalidate(x, y, reason::UNIQUENESS);
                continue;
            }
            let whole = SUBPIXEL_STEPS * params.disparity(first + winner);
            map.values.set(x, y, (whole + params.subpixel.refine(sums, winner)) as i16);
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
