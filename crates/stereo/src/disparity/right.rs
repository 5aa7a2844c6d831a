//! Map of the right image from the same sums: the partner of right `(x, y)` is left `(x + d, y)`.

use crate::map::{DisparityMap, INVALID, SUBPIXEL_STEPS, reason};
use crate::volume::Volume;
use stereopsis_base::image::Image;

/// Computes the right map in whole pixels: the d with the smallest `S(x + d, d)`, where `x + d` lies inside and `d` in its gate. Ties go
/// to the smaller disparity; without a candidate the pixel is invalid (range).
pub fn right_map(sums: &Volume<u32>, min_disparity: i32) -> DisparityMap {
    let mut map = DisparityMap {
        values: Image::filled(sums.width, sums.height, INVALID),
        reasons: Image::filled(sums.width, sums.height, reason::RANGE),
        confidence: None,
    };
    for y in 0..sums.height {
        for x in 0..sums.width {
            let mut best: Option<(u32, i32)> = None;
            for i in 0..sums.candidates {
                let d = min_disparity + i as i32;
                let left_x = x as i64 + i64::from(d);
                let inside = left_x >= 0 && left_x < sums.width as i64;
                if !inside || !sums.gate(left_x as usize, y).contains(i) {
                    continue;
                }
                let sum = sums.at(left_x as usize, y)[i];
                if best.is_none_or(|(smallest, _)| sum < smallest) {
                    best = Some((sum, d));
                }
            }
            if let Some((_, d)) = best {
                map.values.set(x, y, (SUBPIXEL_STEPS * d) as i16);
                map.reasons.set(x, y, 0);
            }
        }
    }
    map
}
