//! Semi-global matching: path costs from several directions and their sum (Hirschmüller 2008, eqs. 13 and 14), for any number of
//! directions (Frommholz 2020, eqs. 1 and 2).
//!
//! `L_r(p, d) = C(p, d) + min(L_r(p-r, d), L_r(p-r, d-1) + P1, L_r(p-r, d+1) + P1, min_k L_r(p-r, k) + P2) - min_k L_r(p-r, k)`
//!
//! At the first pixel of a line, L is C. Candidates outside the range or outside a pixel's gate take no part. P2 depends on the
//! brightness step `|I(p) - I(p-r)|` of the left image through a table.

use super::direction::Direction;
use crate::params::words::{AdaptiveP2, Penalties};
use crate::volume::Volume;
use stereopsis_base::image::Image;

/// Returns P2 for each brightness step of 0 to 255. All engines take the table from here.
pub fn penalty_table(adaptive: AdaptiveP2, penalties: &Penalties) -> [u32; 256] {
    let &Penalties { p2, p2_min, p2_alpha, .. } = penalties;
    std::array::from_fn(|step| {
        let step = step as u32;
        match adaptive {
            AdaptiveP2::Off => p2,
            AdaptiveP2::Linear => p2.saturating_sub((p2_alpha * step) >> 4).max(p2_min),
            AdaptiveP2::Inverse => (p2 / step.max(1)).max(p2_min),
        }
    })
}

/// Computes `L_r` for one direction, with P2 for each brightness step; at most the largest cost plus the largest P2.
pub fn path_costs(
    costs: &Volume<u8>,
    left: &Image<u8>,
    direction: Direction,
    p1: u32,
    p2_of_step: &[u32; 256],
) -> Volume<u16> {
    let (width, height) = left.size();
    let mut result = Volume::<u16>::like(costs);
    for line in direction.lines(width, height) {
        let mut before = None;
        for (x, y) in line {
            let cost = costs.at(x, y);
            let Some((x_before, y_before)) = before.replace((x, y)) else {
                for (slot, &c) in result.at_mut(x, y).iter_mut().zip(cost) {
                    *slot = u16::from(c);
                }
                continue;
            };
            let previous: Vec<u32> = result.at(x_before, y_before).iter().map(|&v| u32::from(v)).collect();
            let gate_before = costs.gate(x_before, y_before);
            let smallest = previous[gate_before.range()].iter().copied().min().unwrap_or(0);
            let from = |i: usize, penalty| if gate_before.contains(i) { previous[i] + penalty } else { u32::MAX };
            let p2 = p2_of_step[usize::from(left.at(x, y).abs_diff(left.at(x_before, y_before)))];
            for i in costs.gate(x, y).range() {
                let beside = from(i.wrapping_sub(1), p1).min(from(i + 1, p1));
                let best = from(i, 0).min(beside).min(smallest + p2);
                result.at_mut(x, y)[i] = (u32::from(cost[i]) + best - smallest) as u16;
            }
        }
    }
    result
}

/// Sums the path costs of the directions. Parameters that are valid keep each sum within 16 bits.
pub fn sum_paths(
    costs: &Volume<u8>,
    left: &Image<u8>,
    directions: &[Direction],
    p1: u32,
    p2_of_step: &[u32; 256],
) -> Volume<u32> {
    let mut sums = Volume::<u32>::like(costs);
    for &direction in directions {
        let path = path_costs(costs, left, direction, p1, p2_of_step);
        for (sum, &l) in sums.data.iter_mut().zip(&path.data) {
            *sum += u32::from(l);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::directions;
    use crate::params::words::MAX_PATHS;
    use crate::{CostKind, StereoParams};

    fn line(costs: &[[u8; 3]]) -> Volume<u8> {
        Volume { width: costs.len(), height: 1, candidates: 3, data: costs.concat(), gates: None }
    }

    fn straight() -> Vec<Direction> {
        directions(4, 0)
    }

    fn example(width: usize, height: usize) -> (Volume<u8>, Image<u8>, StereoParams) {
        let params = StereoParams::for_cost(CostKind::Census5x5);
        let rng = &mut fastrand::Rng::with_seed(9);
        let costs = Volume::from_fn(width, height, 6, |_, _, _| rng.u8(..25));
        let image = Image::from_fn(width, height, |x, y| (x * 40 + y * 9) as u8);
        (costs, image, params)
    }

    fn table_of(params: &StereoParams) -> [u32; 256] {
        penalty_table(params.adaptive_p2, &Penalties::of(params))
    }

    fn path_of(costs: &Volume<u8>, image: &Image<u8>, direction: Direction, params: &StereoParams) -> Volume<u16> {
        path_costs(costs, image, direction, params.p1, &table_of(params))
    }

    fn sums_of(costs: &Volume<u8>, image: &Image<u8>, params: &StereoParams) -> Volume<u32> {
        let directions = directions(params.paths, params.start_angle_deg);
        sum_paths(costs, image, &directions, params.p1, &table_of(params))
    }

    #[test]
    fn a_path_follows_the_recursion_by_hand() {
        let params = StereoParams { p1: 2, p2: 5, adaptive_p2: AdaptiveP2::Off, ..StereoParams::default() };
        let costs = line(&[[0, 4, 9], [7, 1, 3], [2, 2, 2]]);
        let flat = Image::filled(3, 1, 100);
        let right = path_of(&costs, &flat, straight()[0], &params);
        // second pixel: [7 + 0, 1 + min(4, 0 + 2), 3 + min(9, 4 + 2, 0 + 5)]; third: minus the minimum 3 of the second
        assert_eq!(right.data, [0, 4, 9, 7, 3, 8, 2 + 2, 2, 2 + 2]);
        let left = path_of(&costs, &flat, straight()[2], &params);
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
        let table = table_of(&params);
        assert_eq!((table[0], table[1], table[20], table[255]), (60, 59, 40, 3));
        let inverse = table_of(&StereoParams { adaptive_p2: AdaptiveP2::Inverse, ..params.clone() });
        assert_eq!((inverse[0], inverse[1], inverse[7], inverse[100]), (60, 60, 8, 3));
        let costs = line(&[[0, 9, 9], [9, 9, 0], [0, 0, 0]]);
        let step = Image::new(3, 1, vec![0, 255, 255]);
        assert_eq!(path_of(&costs, &step, straight()[0], &params).at(1, 0), [9, 11, 3]);
    }

    #[test]
    fn every_direction_starts_with_the_cost_and_stays_within_the_bound() {
        let (costs, image, params) = example(7, 5);
        for direction in [directions(8, 0), directions(16, 7), directions(5, 300)].concat() {
            let path = path_of(&costs, &image, direction, &params);
            for (x, y) in (0..5).flat_map(|y| (0..7).map(move |x| (x, y))) {
                let first = direction.previous(x, y, 7, 5).is_none();
                let cost: Vec<u16> = costs.at(x, y).iter().map(|&c| u16::from(c)).collect();
                assert!(!first || path.at(x, y) == cost, "{direction:?} at {x}, {y}");
            }
            assert!(path.data.iter().all(|&l| u32::from(l) <= params.largest_cost() + params.largest_p2()));
        }
    }

    /// Computes the path costs of one pixel by the paper's recursion; the pixel before is `(x - dx, y - dy)`.
    fn stepwise(
        of: &(Volume<u8>, Image<u8>, StereoParams),
        (x, y): (isize, isize),
        (dx, dy): (isize, isize),
    ) -> Vec<u32> {
        let (costs, image, params) = of;
        let own = costs.at(x as usize, y as usize).iter().map(|&cost| u32::from(cost));
        let Some(before) = image.get(x - dx, y - dy) else { return own.collect() };
        let last = stepwise(of, (x - dx, y - dy), (dx, dy));
        let least = *last.iter().min().unwrap();
        let p2 = table_of(params)[usize::from(before.abs_diff(image.at(x as usize, y as usize)))];
        let step = |from: usize, to: usize| [0, params.p1, p2][from.abs_diff(to).min(2)];
        let reach = |to: usize| (0..last.len()).map(|from| last[from] + step(from, to)).min().unwrap();
        own.enumerate().map(|(i, cost)| cost + reach(i) - least).collect()
    }

    #[test]
    fn four_and_eight_paths_are_straight_steps_and_diagonals() {
        let steps = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];
        for (width, height) in [(1, 1), (1, 9), (7, 5), (20, 3), (6, 11)] {
            let of = example(width, height);
            let mut four = Volume::<u32>::zero(width, height, 6);
            let mut eight = four.clone();
            for (k, step) in steps.into_iter().enumerate() {
                for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
                    for (i, l) in stepwise(&of, (x as isize, y as isize), step).into_iter().enumerate() {
                        eight.at_mut(x, y)[i] += l;
                        four.at_mut(x, y)[i] += if k % 2 == 0 { l } else { 0 };
                    }
                }
            }
            let (costs, image, params) = of;
            let sums = |paths| sums_of(&costs, &image, &StereoParams { paths, ..params.clone() });
            assert_eq!((sums(4), sums(8)), (four, eight), "{width}x{height}");
            assert_eq!(sums(0), Volume::zero(width, height, 6));
        }
    }

    #[test]
    fn opposite_directions_equal_the_turned_image() {
        let (width, height) = (13, 8);
        let (costs, image, params) = example(width, height);
        let turned_costs = Volume::from_fn(width, height, 6, |x, y, i| costs.at(width - 1 - x, height - 1 - y)[i]);
        let turned_image = Image::from_fn(width, height, |x, y| image.at(width - 1 - x, height - 1 - y));
        let all = directions(24, 7);
        for (there, back) in all.iter().zip(&all[12..]) {
            let (path, turned) =
                (path_of(&costs, &image, *there, &params), path_of(&turned_costs, &turned_image, *back, &params));
            for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
                assert_eq!(path.at(x, y), turned.at(width - 1 - x, height - 1 - y), "{there:?} at {x}, {y}");
            }
        }
    }

    #[test]
    fn the_most_paths_with_the_largest_penalty_fit_into_16_bits() {
        let mut params = StereoParams { paths: MAX_PATHS, p1: 1, p2: 2, ..StereoParams::default() };
        params.adaptive_p2 = AdaptiveP2::Off;
        params.p2 = 65534 / MAX_PATHS - params.largest_cost();
        params.validate().unwrap();
        let costs = Volume::from_fn(9, 9, 5, |x, _, i| if (x + i) % 4 == 0 { 0 } else { 24 });
        let sums = sums_of(&costs, &Image::filled(9, 9, 0), &params);
        assert!(sums.data.iter().all(|&sum| sum < 65535), "{:?}", sums.data.iter().max());
        params.p2 += 1;
        let text = params.validate().unwrap_err().to_string();
        assert!(text.contains("at most 383 paths") && text.contains("p2 up to 146"), "{text}");
        // 255 times 257 is 65535, which marks missing candidates
        let one_too_many = StereoParams { paths: 255, p2: 257 - params.largest_cost(), ..params };
        let text = one_too_many.validate().unwrap_err().to_string();
        assert!(text.contains("at most 254 paths") && text.contains("p2 up to 232"), "{text}");
    }
}
