//! Semi-global matching: path costs from several directions, summed (Hirschmüller 2008, eqs. 13 and 14).
//!
//! `L_r(p, d) = C(p, d) + min(L_r(p-r, d), L_r(p-r, d-1) + P1, L_r(p-r, d+1) + P1, min_k L_r(p-r, k) + P2) - min_k L_r(p-r, k)`
//!
//! At the first pixel of a line L is C. Candidates beside the range do not exist. P2 follows the brightness step
//! `|I(p) - I(p-r)|` of the left picture through a table.

use crate::image::Image;
use crate::stereo::Volume;
use crate::stereo::params::{AdaptiveP2, Paths, StereoParams};

/// Step `(dx, dy)` along each direction, clockwise from +x with y down, in steps of 45 degrees.
pub const DIRECTIONS: [(isize, isize); 8] = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];

/// The directions that are summed.
pub fn directions(paths: Paths) -> impl Iterator<Item = (isize, isize)> {
    let step = if paths == Paths::Four { 2 } else { 1 };
    DIRECTIONS.into_iter().step_by(step).take(paths.count())
}

/// P2 for each brightness step of 0 to 255: the one place where it is computed, for all engines.
pub fn penalty_table(params: &StereoParams) -> [u32; 256] {
    std::array::from_fn(|step| {
        let step = step as u32;
        match params.adaptive_p2 {
            AdaptiveP2::Off => params.p2,
            AdaptiveP2::Linear => params.p2.saturating_sub((params.p2_alpha * step) >> 4).max(params.p2_min),
            AdaptiveP2::Inverse => (params.p2 / step.max(1)).max(params.p2_min),
        }
    })
}

/// `L_r` for the direction `(dx, dy)`; at most `largest_cost + largest_p2`.
pub fn path_costs(
    costs: &Volume<u8>,
    left: &Image<u8>,
    (dx, dy): (isize, isize),
    params: &StereoParams,
) -> Volume<u16> {
    let (width, height) = left.size();
    let p1 = params.p1;
    let p2_of_step = penalty_table(params);
    let mut result = Volume::<u16>::zero(width, height, costs.candidates);
    // Any order in which p - r comes before p will do.
    let backwards = dy < 0 || (dy == 0 && dx < 0);
    for n in 0..width * height {
        let n = if backwards { width * height - 1 - n } else { n };
        let (x, y) = (n % width, n / width);
        let cost = costs.at(x, y);
        let Some(step_from) = left.get(x as isize - dx, y as isize - dy) else {
            for (slot, &c) in result.at_mut(x, y).iter_mut().zip(cost) {
                *slot = u16::from(c);
            }
            continue;
        };
        let previous: Vec<u32> =
            result.at((x as isize - dx) as usize, (y as isize - dy) as usize).iter().map(|&v| u32::from(v)).collect();
        let smallest = previous.iter().copied().min().unwrap_or(0);
        let p2 = p2_of_step[usize::from(left.at(x, y).abs_diff(step_from))];
        for (i, slot) in result.at_mut(x, y).iter_mut().enumerate() {
            let mut best = previous[i].min(smallest + p2);
            if i > 0 {
                best = best.min(previous[i - 1] + p1);
            }
            if i + 1 < previous.len() {
                best = best.min(previous[i + 1] + p1);
            }
            *slot = (u32::from(cost[i]) + best - smallest) as u16;
        }
    }
    result
}

/// Sum of the path costs over all directions; fits in 16 bits for valid parameters.
pub fn sum_paths(costs: &Volume<u8>, left: &Image<u8>, params: &StereoParams) -> Volume<u32> {
    let mut sums = Volume::<u32>::zero(costs.width, costs.height, costs.candidates);
    for direction in directions(params.paths) {
        let path = path_costs(costs, left, direction, params);
        for (sum, &l) in sums.data.iter_mut().zip(&path.data) {
            *sum += u32::from(l);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stereo::CostKind;

    fn line(costs: &[[u8; 3]]) -> Volume<u8> {
        Volume { width: costs.len(), height: 1, candidates: 3, data: costs.concat() }
    }

    #[test]
    fn a_path_follows_the_recursion_by_hand() {
        let params = StereoParams { p1: 2, p2: 5, adaptive_p2: AdaptiveP2::Off, ..StereoParams::default() };
        let costs = line(&[[0, 4, 9], [7, 1, 3], [2, 2, 2]]);
        let flat = Image::filled(3, 1, 100);
        let right = path_costs(&costs, &flat, (1, 0), &params);
        // second pixel: [7 + 0, 1 + min(4, 0 + 2), 3 + min(9, 4 + 2, 0 + 5)]; third: minus the minimum 3 of the second
        assert_eq!(right.data, [0, 4, 9, 7, 3, 8, 2 + 2, 2, 2 + 2]);
        let left = path_costs(&costs, &flat, (-1, 0), &params);
        assert_eq!(left.at(2, 0), [2, 2, 2]);
        assert_eq!(left.at(1, 0), [7, 1, 3]);
        assert_eq!(left.at(0, 0), [2, 4, 11]);
    }

    #[test]
    fn a_brightness_step_makes_a_large_step_cheaper() {
        let params = StereoParams {
            p1: 2,
            p2: 60,
            p2_min: 3,
            p2_alpha: 16,
            adaptive_p2: AdaptiveP2::Linear,
            ..StereoParams::default()
        };
        let table = penalty_table(&params);
        assert_eq!((table[0], table[1], table[20], table[255]), (60, 59, 40, 3));
        let inverse = penalty_table(&StereoParams { adaptive_p2: AdaptiveP2::Inverse, ..params.clone() });
        assert_eq!((inverse[0], inverse[1], inverse[7], inverse[100]), (60, 60, 8, 3));
        let costs = line(&[[0, 9, 9], [9, 9, 0], [0, 0, 0]]);
        let step = Image::new(3, 1, vec![0, 255, 255]);
        assert_eq!(path_costs(&costs, &step, (1, 0), &params).at(1, 0), [9, 11, 3]);
    }

    #[test]
    fn every_direction_starts_with_the_cost_and_stays_within_the_bound() {
        let params = StereoParams::for_cost(CostKind::Census5x5);
        let costs = Volume::from_fn(7, 5, 6, |x, y, i| ((x * 31 + y * 17 + i * 23) % 25) as u8);
        let image = Image::from_fn(7, 5, |x, y| (x * 40 + y * 9) as u8);
        for direction in directions(Paths::Eight) {
            let path = path_costs(&costs, &image, direction, &params);
            for y in 0..5_usize {
                for x in 0..7_usize {
                    let first = image.get(x as isize - direction.0, y as isize - direction.1).is_none();
                    let cost: Vec<u16> = costs.at(x, y).iter().map(|&c| u16::from(c)).collect();
                    assert!(!first || path.at(x, y) == cost, "{direction:?} at {x}, {y}");
                }
            }
            assert!(path.data.iter().all(|&l| u32::from(l) <= params.largest_cost() + params.largest_p2()));
        }
        let four: Vec<_> = directions(Paths::Four).collect();
        assert_eq!(four, [(1, 0), (0, 1), (-1, 0), (0, -1)]);
    }
}
