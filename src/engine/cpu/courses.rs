//! Directions as the two sweeps see them: which pixel a path comes from, in the order in which a sweep goes.
//!
//! One sweep goes down and one up. In each, a path comes from the row above (in the sweep's own sense) or from beside, so
//! that all directions of half the circle are followed in one sweep. Those that come from the right in the row itself
//! need a pass from right to left; every row is then passed over more than once, while it lies in the cache.

use super::walk::{From, TOGETHER};
use crate::stereo::aggregate::{Axis, Direction, directions};
use crate::stereo::params::StereoParams;

/// A way over the rows, down or up.
pub(super) struct Sweep {
    pub(super) down: bool,
    pub(super) passes: Vec<Pass>,
}

/// A way along each row, for a few directions at once.
pub(super) struct Pass {
    /// From right to left.
    pub(super) mirrored: bool,
    pub(super) courses: Vec<Course>,
}

/// One direction.
pub(super) struct Course {
    direction: Direction,
    /// For a direction whose major axis is x: whether its line steps aside before each column of the pass.
    columns: Option<Vec<bool>>,
}

/// Where the paths of one direction come from in a row.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// The same everywhere.
    Fixed(From),
    /// From the left, or where this says so from above left.
    ByColumn(&'a [bool]),
}

impl Course {
    fn new(direction: Direction, width: usize) -> Self {
        let by_column = direction.major == Axis::X && direction.slope > 0;
        let columns = by_column.then(|| (0..width).map(|k| direction.steps_aside(k)).collect());
        Self { direction, columns }
    }

    /// Where paths come from in row `v` of the sweep.
    pub(super) fn source(&self, v: usize, mirrored: bool) -> Source<'_> {
        if let Some(columns) = &self.columns {
            return Source::ByColumn(columns);
        }
        if self.direction.major == Axis::X {
            return Source::Fixed(From::Left);
        }
        Source::Fixed(match (self.direction.steps_aside(v), (self.direction.dx > 0) != mirrored) {
            (false, _) => From::Above,
            (true, true) => From::AboveLeft,
            (true, false) => From::AboveRight,
        })
    }
}

/// The sweeps for `params`; those with nothing to do are left out. Without paths there is one, with an empty pass.
pub(super) fn sweeps(params: &StereoParams, width: usize) -> Vec<Sweep> {
    let all = directions(params.paths, params.start_angle_deg);
    if all.is_empty() {
        return vec![Sweep { down: true, passes: vec![Pass { mirrored: false, courses: Vec::new() }] }];
    }
    let sweep =
        |down| Sweep { down, passes: passes(all.iter().copied().filter(|&d| goes_down(d) == down), down, width) };
    [true, false].map(sweep).into_iter().filter(|sweep| !sweep.passes.is_empty()).collect()
}

/// Most directions whose sums lie in a volume at a time: all but those of the last pass over a row.
pub(super) fn stored_directions(sweeps: &[Sweep]) -> usize {
    let of = |pass: &Pass| pass.courses.len();
    let all: usize = sweeps.iter().flat_map(|sweep| &sweep.passes).map(of).sum();
    // either sweep may be the last one over a row
    let last = sweeps.iter().filter_map(|sweep| sweep.passes.last()).map(of).min();
    all - last.unwrap_or(0)
}

/// Paths to the right go with the sweep down, paths to the left with the one up.
fn goes_down(direction: Direction) -> bool {
    if direction.major == Axis::X && direction.slope == 0 { direction.dx > 0 } else { direction.dy > 0 }
}

/// Directions in groups that are followed together. The first in a group comes from the left, if any does.
fn passes(directions: impl Iterator<Item = Direction>, down: bool, width: usize) -> Vec<Pass> {
    // paths that come from beside need their own way along the row, the others go with any
    let (beside, mut above): (Vec<_>, Vec<_>) = directions.partition(|d| d.major == Axis::X);
    let mut passes = Vec::new();
    for mirrored in [!down, down] {
        let mut rest: Vec<_> = beside.iter().copied().filter(|d| (d.dx < 0) == mirrored).collect();
        rest.sort_by_key(|d| d.slope);
        while !rest.is_empty() {
            let mut group: Vec<_> = rest.drain(..rest.len().min(TOGETHER)).collect();
            group.extend(above.drain(..above.len().min(TOGETHER - group.len())));
            passes.push((mirrored, group));
        }
    }
    for group in above.chunks(TOGETHER) {
        passes.push((!down, group.to_vec()));
    }
    let pass = |(mirrored, group): (bool, Vec<Direction>)| Pass {
        mirrored,
        courses: group.into_iter().map(|direction| Course::new(direction, width)).collect(),
    };
    passes.into_iter().map(pass).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a sweep does at each pixel is what [`Direction::previous`] says, for each direction exactly once.
    #[test]
    fn sweeps_follow_every_direction_once() {
        for (width, height) in [(1, 1), (7, 5), (2, 9), (33, 20)] {
            for paths in (1..=64).chain([383]) {
                for start_angle_deg in [0, 7, 45, 350] {
                    let params = StereoParams { paths, start_angle_deg, ..StereoParams::default() };
                    let mut left = directions(paths, start_angle_deg);
                    for sweep in sweeps(&params, width) {
                        for pass in &sweep.passes {
                            assert!((1..=TOGETHER).contains(&pass.courses.len()));
                            for course in &pass.courses {
                                check(&sweep, pass, course, (width, height));
                                let at = left.iter().position(|d| *d == course.direction).expect("asked for");
                                left.swap_remove(at);
                            }
                        }
                    }
                    assert!(left.is_empty(), "{paths} paths from {start_angle_deg}: without {left:?}");
                }
            }
        }
    }

    fn check(sweep: &Sweep, pass: &Pass, course: &Course, (width, height): (usize, usize)) {
        for (v, u) in (0..height).flat_map(|v| (0..width).map(move |u| (v, u))) {
            let from = match course.source(v, pass.mirrored) {
                Source::Fixed(from) => from,
                Source::ByColumn(columns) => [From::Left, From::AboveLeft][usize::from(columns[u])],
            };
            let (du, dv) = match from {
                From::Left => (-1, 0),
                From::AboveLeft => (-1, -1),
                From::Above => (0, -1),
                From::AboveRight => (1, -1),
            };
            let place = |u: usize, v: usize| {
                let x = if pass.mirrored { width - 1 - u } else { u };
                (x, if sweep.down { v } else { height - 1 - v })
            };
            let before = u.checked_add_signed(du).filter(|&u| u < width).zip(v.checked_add_signed(dv));
            let (x, y) = place(u, v);
            let expected = course.direction.previous(x, y, width, height);
            assert_eq!(before.map(|(u, v)| place(u, v)), expected, "{:?} at {x}, {y}", course.direction);
        }
    }
}
