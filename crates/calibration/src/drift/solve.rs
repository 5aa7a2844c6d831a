//! Robust least squares of the six numbers of a correction on the row offsets of matches.

use super::correction::turn;
use crate::linear::solve;
use glam::{DVec2, DVec3};
use stereopsis_base::quantile::quantile;

/// Pitch, yaw and roll of the right camera against the left one, rad; yaw and roll of both against the baseline, rad; how much longer the
/// right lens is, as a share. Yaw of the right camera is what moves depth most, and what rows show least.
pub(super) type Change = [f64; COUNT];
pub(super) const COUNT: usize = 6;
pub(super) const YAW: usize = 1;
pub(super) const FOCAL: usize = 5;
pub(super) type Square = [[f64; COUNT]; COUNT];

/// Standard deviations of the changes of usual rigs: 1 degree, 0.3 degrees of both cameras, 2 %.
const PRIOR: Change = [0.0175, 0.0175, 0.0175, 0.005, 0.005, 0.02];
/// Smallest standard deviation to be expected of row offsets, px.
const MIN_SIGMA_PX: f64 = 0.05;
/// Largest effective number of points: neighbours share the errors of the calibration.
const MAX_EFFECTIVE: f64 = 1500.0;
/// Number of parts along each side of the image, and of groups of views, that are left out in turn.
const PARTS: usize = 3;
const GROUPS: usize = 8;

/// Rays of one point, in the axes of the rectified images, with the baseline along x.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) left: DVec3,
    pub(super) right: DVec3,
    /// Change of the right ray with the length of the lens.
    pub(super) right_by_focal: DVec3,
    /// Place in the left image, 0 to 1.
    pub(super) place: DVec2,
    pub(super) view: usize,
}

impl Point {
    /// Returns the points at distance 1 that both rays meet after a change: parallax and row offset are their difference.
    pub(super) fn seen(&self, change: &Change) -> [DVec2; 2] {
        let [pitch, yaw, roll, both_yaw, both_roll, longer] = *change;
        let both = turn(DVec3::new(0.0, both_yaw, both_roll));
        let right = both * turn(DVec3::new(pitch, yaw, roll));
        let at = |ray: DVec3| ray.truncate() / ray.z;
        [at(both * self.left), at(right * (self.right + longer * self.right_by_focal))]
    }

    fn row_offset(&self, change: &Change) -> f64 {
        let [left, right] = self.seen(change);
        right.y - left.y
    }

    pub(super) fn parallax(&self, change: &Change) -> f64 {
        let [left, right] = self.seen(change);
        left.x - right.x
    }
}

/// Returns the derivatives of a value by each number of a change.
pub(super) fn derivatives(change: &Change, value: impl Fn(&Change) -> f64) -> Change {
    const H: f64 = 1e-6;
    std::array::from_fn(|i| {
        let (mut more, mut less) = (*change, *change);
        more[i] += H;
        less[i] -= H;
        (value(&more) - value(&less)) / (2.0 * H)
    })
}

/// Row offset of a point, px, and its derivatives.
#[derive(Clone, Copy)]
struct Row {
    offset: f64,
    by: Change,
    part: usize,
    group: usize,
}

/// Points whose row offsets were made linear about a change.
struct Rows {
    about: Change,
    rows: Vec<Row>,
}

impl Rows {
    fn about(about: Change, points: &[Point], focal_px: f64) -> Self {
        let row = |point: &Point| {
            let place = (point.place * PARTS as f64).floor().clamp(DVec2::ZERO, DVec2::splat(PARTS as f64 - 1.0));
            Row {
                offset: focal_px * point.row_offset(&about),
                by: derivatives(&about, |change| focal_px * point.row_offset(change)),
                part: place.y as usize * PARTS + place.x as usize,
                group: point.view % GROUPS,
            }
        };
        Self { about, rows: points.iter().map(row).collect() }
    }

    /// Fits those numbers of the change that are free by least squares with Cauchy's weights. Returns the change and the standard
    /// deviation of the row offsets that it leaves, px.
    fn fit(&self, free: [bool; COUNT], kept: impl Fn(&Row) -> bool) -> Option<(Change, f64)> {
        const ROUNDS: usize = 8;
        let rows: Vec<&Row> = self.rows.iter().filter(|row| kept(row)).collect();
        if rows.is_empty() {
            return None;
        }
        let mut change: Change = std::array::from_fn(|i| if free[i] { self.about[i] } else { 0.0 });
        let mut sigma = self.sigma(&change, &rows);
        for _ in 0..ROUNDS {
            let (mut normal, mut target) = (prior(free), [0.0; COUNT]);
            for i in 0..COUNT {
                target[i] = -change[i] * normal[i][i];
            }
            for row in &rows {
                let by: Change = std::array::from_fn(|i| if free[i] { row.by[i] } else { 0.0 });
                let rest = self.rest(row, &change);
                let weight = 1.0 / (sigma * sigma + rest * rest);
                add(&mut normal, &by, weight);
                for (sum, by) in target.iter_mut().zip(by) {
                    *sum -= weight * by * rest;
                }
            }
            let step = solve(normal, target)?;
            change = std::array::from_fn(|i| change[i] + step[i]);
            sigma = self.sigma(&change, &rows);
        }
        Some((change, sigma))
    }

    fn rest(&self, row: &Row, change: &Change) -> f64 {
        row.offset + (0..COUNT).map(|i| row.by[i] * (change[i] - self.about[i])).sum::<f64>()
    }

    fn sigma(&self, change: &Change, rows: &[&Row]) -> f64 {
        let mut amounts: Vec<f64> = rows.iter().map(|row| self.rest(row, change).abs()).collect();
        (1.4826 * quantile(&mut amounts, 0.5)).max(MIN_SIGMA_PX)
    }

    /// Returns the covariance of the change: that of independent errors, and that by which the change differs without parts of the image,
    /// and without some of the views. The latter two tell of errors that neighbours or a whole view have in common.
    fn covariance(&self, change: &Change, sigma: f64) -> Option<Square> {
        let free = [true; COUNT];
        let share = (MAX_EFFECTIVE / self.rows.len() as f64).min(1.0);
        let mut normal = prior(free);
        for row in &self.rows {
            let rest = self.rest(row, change);
            add(&mut normal, &row.by, share / (sigma * sigma + rest * rest));
        }
        let mut covariance = [[0.0; COUNT]; COUNT];
        for (i, row) in covariance.iter_mut().enumerate() {
            *row = solve(normal, std::array::from_fn(|j| f64::from(u8::from(i == j))))?;
        }
        let without: [&dyn Fn(usize) -> Option<Change>; 2] =
            [&|left_out| self.fit(free, |row| row.part != left_out).map(|(change, _)| change), &|left_out| {
                self.fit(free, |row| row.group != left_out).map(|(change, _)| change)
            }];
        for (count, without) in [PARTS * PARTS, GROUPS].into_iter().zip(without) {
            let changes: Vec<Change> = (0..count).filter_map(without).collect();
            let mean: Change =
                std::array::from_fn(|i| changes.iter().map(|c| c[i]).sum::<f64>() / changes.len() as f64);
            let factor = (changes.len() as f64 - 1.0) / changes.len() as f64;
            for change in &changes {
                add(&mut covariance, &std::array::from_fn(|i| change[i] - mean[i]), factor);
            }
        }
        Some(covariance)
    }
}

/// Adds the product of numbers with each other.
fn add(square: &mut Square, by: &Change, weight: f64) {
    for (row, a) in square.iter_mut().zip(by) {
        for (sum, b) in row.iter_mut().zip(by) {
            *sum += weight * a * b;
        }
    }
}

fn prior(free: [bool; COUNT]) -> Square {
    let mut normal = [[0.0; COUNT]; COUNT];
    for (i, row) in normal.iter_mut().enumerate() {
        row[i] = if free[i] { PRIOR[i].powi(-2) } else { 1.0 };
    }
    normal
}

/// Solution of a gathered rig.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    /// Most likely change.
    pub(super) likely: Change,
    pub(super) covariance: Square,
    /// Change by those numbers alone whose own error says that they help; the others are 0.
    pub(super) applied: Change,
}

/// Least ratio of a number to its standard deviation with which it is taken as more than an error.
pub(super) const MIN_RATIO: f64 = 3.0;

/// Solves for the change with these matches; `None` if they do not determine it.
pub(super) fn solution(points: &[Point], focal_px: f64) -> Option<Solution> {
    const ROUNDS: usize = 3;
    let mut likely = [0.0; COUNT];
    for _ in 0..ROUNDS {
        likely = Rows::about(likely, points, focal_px).fit([true; COUNT], |_| true)?.0;
    }
    let rows = Rows::about(likely, points, focal_px);
    let (likely, sigma) = rows.fit([true; COUNT], |_| true)?;
    let covariance = rows.covariance(&likely, sigma)?;
    // numbers below their own error are taken out one by one, the least certain one first
    let mut free = [true; COUNT];
    let mut applied = likely;
    loop {
        let ratio = |i: &usize| applied[*i].abs() / covariance[*i][*i].sqrt();
        let least = (0..COUNT).filter(|&i| free[i]).min_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        let Some(least) = least.filter(|i| ratio(i) < MIN_RATIO) else { break };
        free[least] = false;
        applied = rows.fit(free, |_| true)?.0;
    }
    Some(Solution { likely, covariance, applied })
}
