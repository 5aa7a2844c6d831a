//! Scan directions as sweeps over the rows, passes along each row, and the predecessor of each pixel.
//!
//! One sweep goes down and one up. In each, the predecessor lies in the row above (in the sweep's own sense) or in the same row, so
//! that one sweep follows all directions of half the circle. Directions whose predecessor lies to the right in the same row need a
//! pass from right to left; several passes over a row follow each other while it lies in the cache.

use super::input::MAX_DIRECTIONS;
use stereopsis_stereo::aggregate::{Axis, Direction, directions};
use stereopsis_stereo::params::StereoParams;

/// Predecessor of a pixel on a path, in the axes of the sweep and the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Predecessor {
    Left,
    AboveLeft,
    Above,
    AboveRight,
}

impl Predecessor {
    /// Predecessors of the four directions of a sweep with eight paths.
    pub(super) const ALL: [Self; 4] = [Self::Left, Self::AboveLeft, Self::Above, Self::AboveRight];
}

pub(super) struct Sweep {
    pub(super) down: bool,
    pub(super) passes: Vec<Pass>,
}

impl Sweep {
    /// Returns the row of the image with number `v` in the order of the sweep.
    #[inline(always)]
    pub(super) fn y(&self, v: usize, height: usize) -> usize {
        if self.down { v } else { height - 1 - v }
    }
}

/// Pass along each row, for up to [`MAX_DIRECTIONS`] directions.
pub(super) struct Pass {
    pub(super) mirrored: bool,
    pub(super) directions: Vec<ScanDirection>,
}

pub(super) struct ScanDirection {
    direction: Direction,
    /// Whether a minor-axis step lies before each column of the pass, for a direction whose major axis is x.
    minor_steps: Option<Vec<bool>>,
}

#[derive(Clone, Copy)]
pub(super) enum Predecessors<'a> {
    /// Predecessor in the same direction for all pixels.
    Same(Predecessor),
    /// Predecessor above left where there is a minor-axis step, else left.
    ByMinorStep(&'a [bool]),
}

impl ScanDirection {
    fn new(direction: Direction, width: usize) -> Self {
        let by_column = direction.major == Axis::X && direction.slope > 0;
        let minor_steps = by_column.then(|| (0..width).map(|k| direction.has_minor_step(k)).collect());
        Self { direction, minor_steps }
    }

    pub(super) fn predecessors(&self, v: usize, mirrored: bool) -> Predecessors<'_> {
        if let Some(minor_steps) = &self.minor_steps {
            return Predecessors::ByMinorStep(minor_steps);
        }
        if self.direction.major == Axis::X {
            return Predecessors::Same(Predecessor::Left);
        }
        Predecessors::Same(match (self.direction.has_minor_step(v), (self.direction.dx > 0) != mirrored) {
            (false, _) => Predecessor::Above,
            (true, true) => Predecessor::AboveLeft,
            (true, false) => Predecessor::AboveRight,
        })
    }
}

/// Returns the sweeps for `params`, without empty ones. Without paths there is one, with an empty pass.
pub(super) fn sweeps(params: &StereoParams, width: usize) -> Vec<Sweep> {
    let all = directions(params.paths, params.start_angle_deg);
    if all.is_empty() {
        return vec![Sweep { down: true, passes: vec![Pass { mirrored: false, directions: Vec::new() }] }];
    }
    let sweep =
        |down| Sweep { down, passes: passes(all.iter().copied().filter(|&d| goes_down(d) == down), down, width) };
    [true, false].map(sweep).into_iter().filter(|sweep| !sweep.passes.is_empty()).collect()
}

/// Returns the largest number of directions whose sums lie in a volume at a time: all except those of the last pass over a row.
pub(super) fn stored_directions(sweeps: &[Sweep]) -> usize {
    let of = |pass: &Pass| pass.directions.len();
    let all: usize = sweeps.iter().flat_map(|sweep| &sweep.passes).map(of).sum();
    // either sweep may be the last one over a row
    let last = sweeps.iter().filter_map(|sweep| sweep.passes.last()).map(of).min();
    all - last.unwrap_or(0)
}

/// Whether a direction belongs to the sweep down. Paths to the right go with it, paths to the left with the sweep up.
fn goes_down(direction: Direction) -> bool {
    if direction.major == Axis::X && direction.slope == 0 { direction.dx > 0 } else { direction.dy > 0 }
}

/// Groups directions into passes. The predecessor of the first of a group is the left one, if there is such a direction.
fn passes(directions: impl Iterator<Item = Direction>, down: bool, width: usize) -> Vec<Pass> {
    // directions with a predecessor in the same row need a pass of their own sense, the others go with any
    let (along_row, mut above): (Vec<_>, Vec<_>) = directions.partition(|d| d.major == Axis::X);
    let mut passes = Vec::new();
    for mirrored in [!down, down] {
        let mut rest: Vec<_> = along_row.iter().copied().filter(|d| (d.dx < 0) == mirrored).collect();
        rest.sort_by_key(|d| d.slope);
        while !rest.is_empty() {
            let mut group: Vec<_> = rest.drain(..rest.len().min(MAX_DIRECTIONS)).collect();
            group.extend(above.drain(..above.len().min(MAX_DIRECTIONS - group.len())));
            passes.push((mirrored, group));
        }
    }
    for group in above.chunks(MAX_DIRECTIONS) {
        passes.push((!down, group.to_vec()));
    }
    let pass = |(mirrored, group): (bool, Vec<Direction>)| Pass {
        mirrored,
        directions: group.into_iter().map(|direction| ScanDirection::new(direction, width)).collect(),
    };
    passes.into_iter().map(pass).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the predecessors with [`Direction::previous`].
    #[test]
    fn sweeps_follow_every_direction_once() {
        for (width, height) in [(1, 1), (7, 5), (2, 9), (33, 20)] {
            for paths in (1..=64).chain([383]) {
                for start_angle_deg in [0, 7, 45, 350] {
                    let params = StereoParams { paths, start_angle_deg, ..StereoParams::default() };
                    let mut left = directions(paths, start_angle_deg);
                    for sweep in sweeps(&params, width) {
                        for pass in &sweep.passes {
                            assert!((1..=MAX_DIRECTIONS).contains(&pass.directions.len()));
                            for scan in &pass.directions {
                                check(&sweep, pass, scan, (width, height));
                                let at = left
                                    .iter()
                                    .position(|d| *d == scan.direction)
                                    .expect("a direction of the parameters");
                                left.swap_remove(at);
                            }
                        }
                    }
                    assert!(left.is_empty(), "{paths} paths from {start_angle_deg}: without {left:?}");
                }
            }
        }
    }

    fn check(sweep: &Sweep, pass: &Pass, scan: &ScanDirection, (width, height): (usize, usize)) {
        for (v, u) in (0..height).flat_map(|v| (0..width).map(move |u| (v, u))) {
            let from = match scan.predecessors(v, pass.mirrored) {
                Predecessors::Same(from) => from,
                Predecessors::ByMinorStep(minor_steps) => {
                    [Predecessor::Left, Predecessor::AboveLeft][usize::from(minor_steps[u])]
                }
            };
            let (du, dv) = match from {
                Predecessor::Left => (-1, 0),
                Predecessor::AboveLeft => (-1, -1),
                Predecessor::Above => (0, -1),
                Predecessor::AboveRight => (1, -1),
            };
            let place = |u: usize, v: usize| {
                let x = if pass.mirrored { width - 1 - u } else { u };
                (x, sweep.y(v, height))
            };
            let before = u.checked_add_signed(du).filter(|&u| u < width).zip(v.checked_add_signed(dv));
            let (x, y) = place(u, v);
            let expected = scan.direction.previous(x, y, width, height);
            assert_eq!(before.map(|(u, v)| place(u, v)), expected, "{:?} at {x}, {y}", scan.direction);
        }
    }
}
