//! Partner of a pixel in the right image, with the partner's own winner: the other half of the left-right check.

use super::lines::line_to;
use super::{Explainer, Side, TestedWinner, Unexplained, partner_column};
use crate::aggregate::{Axis, Direction};
use crate::map::SUBPIXEL_STEPS;
use crate::params::StereoParams;

/// Partner of a pixel in the right image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partner {
    /// Column in the right image; it may lie outside.
    pub column: i64,
    /// Winner of the partner in the right image; `None` where it lies outside.
    pub right: Option<Winner>,
}

/// Winner of a pixel, before the filters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Winner {
    /// Disparity, 1/16 px; `None` without a winner.
    pub disparity_16th: Option<i32>,
    /// Sum of the winner; `None` where no candidate lies inside.
    pub sum: Option<u32>,
}

impl Explainer {
    pub(super) fn partner(
        &self,
        (x, y): (usize, usize),
        sums: &[u32],
        disparity_16th: i32,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Partner, Unexplained> {
        let (width, _) = self.left.size();
        let column = partner_column(x, disparity_16th);
        if !(0..width as i64).contains(&column) {
            return Ok(Partner { column, right: None });
        }
        let at = (column as usize, y);
        let right = self.right_winner(at, Some((x, sums)), goes_on);
        Ok(Partner { column, right: Some(right.ok_or(Unexplained::Abandoned)?) })
    }

    /// Computes the winner of right pixel `(x, y)`; `None` if abandoned. `known` has the column and the sums of an explained left pixel.
    pub(super) fn right_winner(
        &self,
        (x, y): (usize, usize),
        known: Option<(usize, &[u32])>,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<Winner> {
        if let Some(side) = &self.right {
            return winner(side, (side.size().0 - 1 - x, y), goes_on);
        }
        let winner = diagonal_winner(&self.left, (x, y), known, goes_on)?;
        Some(winner.within_borders(&self.left, (x, y)))
    }
}

pub(super) fn winner(side: &Side, pixel: (usize, usize), goes_on: &dyn Fn() -> bool) -> Option<Winner> {
    let sums = side.candidates(pixel, goes_on)?.sums;
    let choice = TestedWinner::of(&sums, pixel, side);
    Some(Winner {
        disparity_16th: (choice.reasons == 0).then_some(choice.disparity_16th),
        sum: Some(sums[choice.winner]),
    })
}

/// Candidate of a right pixel: left pixel `x + d` at disparity `d`.
struct Candidate {
    left_x: usize,
    index: usize,
    /// Cost that enters the paths; a lower bound of each path cost.
    cost: u32,
    /// Lower bound of the sum.
    at_least: u32,
}

/// Computes the smallest sum over d of `S(x + d, d)`. Most lines need not be followed: a path cost is at least the pixel's own cost, so a
/// candidate whose lower bound exceeds the best sum so far cannot win.
fn diagonal_winner(
    side: &Side,
    (x, y): (usize, usize),
    known: Option<(usize, &[u32])>,
    goes_on: &dyn Fn() -> bool,
) -> Option<Winner> {
    let (width, params) = (side.size().0, &side.params);
    let weights = side.weights();
    let inside = (0..side.num_candidates()).filter_map(|index| {
        let left_x = usize::try_from(x as i64 + i64::from(params.disparity(index))).ok()?;
        (left_x < width && side.gate((left_x, y)).contains(index)).then_some((left_x, index))
    });
    if params.paths == 0 {
        let sums = inside.map(|(left_x, index)| (side.local_sum((left_x, y), index, &weights), index));
        return Some(Winner::of(sums.min(), params));
    }
    let mut candidates = Vec::new();
    for (left_x, index) in inside {
        if !goes_on() {
            return None;
        }
        let cost = u32::from(side.path_input((left_x, y), index, &weights));
        candidates.push(Candidate { left_x, index, cost, at_least: params.paths * cost });
    }
    let (along, others): (Vec<_>, Vec<_>) = side.directions.iter().partition(|direction| runs_along_rows(direction));
    for direction in along {
        add_path_along_row(side, y, direction, &mut candidates, goes_on)?;
    }
    candidates.sort_by_key(|candidate| (candidate.at_least, candidate.index));
    let mut best: Option<(u32, usize)> = None;
    for candidate in candidates {
        let may_win = |at_least| best.is_none_or(|best| (at_least, candidate.index) < best);
        if !may_win(candidate.at_least) {
            continue;
        }
        let mut sum = candidate.at_least;
        if let Some((column, sums)) = known.filter(|known| known.0 == candidate.left_x) {
            let first = usize::from(side.gate((column, y)).first);
            sum = sums[candidate.index - first];
        } else {
            for direction in &others {
                if !may_win(sum) {
                    break;
                }
                let pixel = (candidate.left_x, y);
                let mut own = 0;
                let line = line_to(pixel, *direction, side.size());
                let is_whole = side.follow(&line, goes_on, |at, _, path| {
                    if at == pixel {
                        own = path[candidate.index] as u32;
                    }
                });
                if !is_whole {
                    return None;
                }
                sum = sum + own - candidate.cost;
            }
        }
        if may_win(sum) {
            best = Some((sum, candidate.index));
        }
    }
    Some(Winner::of(best, params))
}

fn runs_along_rows(direction: &Direction) -> bool {
    direction.major == Axis::X && direction.slope == 0
}

/// Adds the path costs of a direction along row `y`: one line passes all candidates.
fn add_path_along_row(
    side: &Side,
    y: usize,
    direction: Direction,
    candidates: &mut [Candidate],
    goes_on: &dyn Fn() -> bool,
) -> Option<()> {
    let width = side.size().0;
    let mut of_column = vec![None; width];
    for (k, candidate) in candidates.iter().enumerate() {
        of_column[candidate.left_x] = Some(k);
    }
    let end = if direction.dx > 0 { width - 1 } else { 0 };
    let line = line_to((end, y), direction, side.size());
    let is_whole = side.follow(&line, goes_on, |(column, _), _, path| {
        if let Some(candidate) = of_column[column].map(|k| &mut candidates[k]) {
            candidate.at_least = candidate.at_least + path[candidate.index] as u32 - candidate.cost;
        }
    });
    is_whole.then_some(())
}

impl Winner {
    /// Removes the disparity where right pixel `(x, y)`, or its partner, lies in a black border.
    fn within_borders(self, side: &Side, (x, y): (usize, usize)) -> Self {
        let is_seen = |d16: &i32| {
            let left_x = x as i64 + i64::from(d16 / SUBPIXEL_STEPS);
            !side.is_black(true, x as i64, y) && !side.is_black(false, left_x, y)
        };
        Self { disparity_16th: self.disparity_16th.filter(is_seen), ..self }
    }

    fn of(best: Option<(u32, usize)>, params: &StereoParams) -> Self {
        Self {
            disparity_16th: best.map(|(_, index)| SUBPIXEL_STEPS * params.disparity(index)),
            sum: best.map(|(sum, _)| sum),
        }
    }
}
