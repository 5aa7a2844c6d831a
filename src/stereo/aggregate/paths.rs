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
