//! Error estimation of a solution by the jackknife.
//!
//! The covariance of the equations ignores blur, bent boards and wrong lens models. The jackknife (Efron & Tibshirani 1993, section 11.5)
//! includes them: the rig is solved again without each group of views, and the spread of these solutions is the error.

use super::solve::adjust::{FreeParameters, State, project};
use super::solve::agreement::spread;
use super::solve::{Solution, rig_of, rms};
use super::{Board, View};
use glam::{DMat3, DVec2, DVec3};
use rayon::prelude::*;
use serde::Serialize;
use stereopsis_base::geometry::Axis;
use stereopsis_base::quantile::quantile;
use stereopsis_calibration::{Camera, Rectification, StereoRig};

const MAX_GROUPS: usize = 20;
/// Distances at which depth errors are predicted, m.
pub const DISTANCES_M: [f64; 3] = [1.0, 2.0, 5.0];
/// Error of a good matcher on texture, added to predictions, px.
pub(crate) const MATCHING_PX: f64 = 0.25;
/// Depth error sufficient for most uses, per cent.
pub(super) const GOOD_PERCENT: f64 = 1.0;
/// Largest distance with a depth prediction, m.
pub(super) const MAX_DISTANCE_M: f64 = 20.0;
/// Standard deviations of a parameter's error bound (95 %).
const BOUND: f64 = 2.0;
/// Standard deviations of the depth error bound, smaller because the error is a mean over the image (by 300 simulated rigs).
const DEPTH_BOUND: f64 = 1.8;

/// Quality of a solution.
#[derive(Clone, Debug, Serialize)]
pub struct Judgement {
    /// Re-projection error of held-out views, root mean square, px.
    pub left_out_px: f64,
    /// Row distance of corners in held-out views, root mean square, px of the left camera.
    pub left_out_rows_px: f64,
    /// Measured size of the board in held-out views relative to its named size.
    pub board_size: f64,
    /// Expected depth errors.
    pub depth: [DepthError; 3],
    /// Error bound of the focal length, per cent.
    pub focal_percent: f64,
    /// Error bound of the baseline, per cent.
    pub baseline_percent: f64,
}

impl Judgement {
    /// Returns the distance in m up to which the depth error is at most `percent`, limited to [`MAX_DISTANCE_M`]; `None` below 0.2 m.
    pub(crate) fn good_to_m(&self, percent: f64) -> Option<f64> {
        let known = self.depth.map(|depth| (depth.distance_m, depth.percent()));
        // the disparity error is independent of distance, so the relative error grows linearly
        let at = |distance: f64| {
            let [a, b, c] = known;
            let (from, to) = if distance < b.0 { (a, b) } else { (b, c) };
            from.1 + (to.1 - from.1) * (distance - from.0) / (to.0 - from.0)
        };
        (2..=(10.0 * MAX_DISTANCE_M) as u32)
            .rev()
            .map(|tenth| f64::from(tenth) / 10.0)
            .find(|&distance| at(distance) <= percent)
    }
}

/// Expected depth error at a distance, exceeded by 5 of 100 calibrations of this quality.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DepthError {
    /// Distance, m.
    pub distance_m: f64,
    /// Error by the calibration, per cent of the distance, root mean square over the inner four fifths of the image.
    pub calibration_percent: f64,
    /// Error by [`MATCHING_PX`] of matching, per cent.
    pub matching_percent: f64,
}

impl DepthError {
    /// Returns the combined error, per cent.
    pub fn percent(&self) -> f64 {
        self.calibration_percent.hypot(self.matching_percent)
    }

    /// Returns the combined error, m.
    pub fn error_m(&self) -> f64 {
        self.percent() * 1e-2 * self.distance_m
    }
}

struct Fold {
    state: State,
    /// Indices of the views in the group.
    left_out: Vec<usize>,
}

/// Judges a solution of at least four views.
pub fn judge(board: &Board, solution: &Solution, size: (usize, usize)) -> Option<Judgement> {
    let folds = folds(board, solution, size);
    if folds.len() < 4 {
        return None;
    }
    let unseen: Vec<HeldOutView> = folds.par_iter().flat_map_iter(|fold| unseen(board, solution, size, fold)).collect();
    let rigs: Vec<StereoRig> = folds.iter().map(|fold| rig_of(solution.kind, &fold.state, size)).collect();
    let depth = DISTANCES_M.map(|distance_m| DepthError {
        distance_m,
        calibration_percent: 100.0 * DEPTH_BOUND * depth_spread(&solution.rig, &rigs, size, distance_m),
        matching_percent: 100.0 * MATCHING_PX * distance_m / (solution.rig.left.fx * solution.rig.baseline_m()),
    });
    let relative = |of: &dyn Fn(&StereoRig) -> f64| {
        let whole = of(&solution.rig);
        100.0 * BOUND * spread(rigs.iter().map(|rig| of(rig) / whole))
    };
    let mut sizes: Vec<f64> = unseen.iter().flat_map(|view| view.sizes.iter().copied()).collect();
    Some(Judgement {
        left_out_px: rms(unseen.iter().flat_map(|view| view.errors.iter().copied()))?,
        left_out_rows_px: rms(unseen.iter().flat_map(|view| view.rows.iter().map(|row| DVec2::Y * *row)))?,
        board_size: if sizes.is_empty() { 1.0 } else { quantile(&mut sizes, 0.5) },
        depth,
        focal_percent: relative(&|rig| rig.left.fx),
        baseline_percent: relative(&StereoRig::baseline_m),
    })
}

/// Solves without each group of views; views of one name are halves of a split view.
fn folds(board: &Board, solution: &Solution, size: (usize, usize)) -> Vec<Fold> {
    let mut names: Vec<&str> = solution.views.iter().map(|fit| fit.view.name.as_str()).collect();
    names.dedup();
    let groups = names.len().min(MAX_GROUPS);
    let group_of =
        |fit: &super::ViewFit| names.iter().position(|name| *name == fit.view.name).map(|place| place % groups);
    let numbers: Vec<Option<usize>> = solution.views.iter().map(group_of).collect();
    let fold = |group: usize| {
        let (left_out, kept): (Vec<usize>, Vec<usize>) =
            (0..numbers.len()).partition(|&view| numbers[view] == Some(group));
        let views: Vec<&View> = kept.iter().map(|&view| &solution.views[view].view).collect();
        let mut state =
            State { poses: kept.iter().map(|&view| solution.state.poses[view]).collect(), ..solution.state.clone() };
        solution.bundle(board, size, &views, solution.free).improve(&mut state, 12);
        Fold { state, left_out }
    };
    (0..groups).map(fold).collect()
}

struct HeldOutView {
    errors: Vec<DVec2>,
    /// Row differences, left minus right (columns if the cameras are stacked), px.
    rows: Vec<f64>,
    /// Measured sides of squares relative to their named size.
    sizes: Vec<f64>,
}

fn unseen(board: &Board, solution: &Solution, size: (usize, usize), fold: &Fold) -> Vec<HeldOutView> {
    let rig = rig_of(solution.kind, &fold.state, size);
    let rays = RectifiedRays::of(&rig, size);
    let fixed = FreeParameters { cameras: false, between: false, aspect: false };
    let of_view = |&number: &usize| {
        let view = &solution.views[number].view;
        let views = [view];
        let bundle = solution.bundle(board, size, &views, fixed);
        let mut state = State { poses: vec![solution.state.poses[number]], ..fold.state.clone() };
        bundle.improve(&mut state, 15);
        let errors = [0, 1].into_iter().flat_map(|side| bundle.errors(&state, 0, side)).collect();
        let Some(rays) = &rays else { return HeldOutView { errors, rows: Vec::new(), sizes: Vec::new() } };
        let seen: Vec<(usize, DVec2, DVec2)> = view
            .common()
            .filter_map(|(left, right)| Some((left.id, rays.left(left.at)?, rays.right(right.at)?)))
            .collect();
        let rows = seen.iter().map(|(_, left, right)| rays.across(*left - *right) * rig.left.fy).collect();
        let point = |&(id, left, right): &(usize, DVec2, DVec2)| {
            (id, left.extend(1.0) * rays.baseline_m / rays.along(left - right))
        };
        let points: Vec<(usize, DVec3)> = seen.iter().map(point).collect();
        let (across, _) = board.inner();
        let mut sizes = Vec::new();
        // the longest distances along rows and columns of the board, since neighbours are too noisy
        for step in [1, across] {
            let longest =
                points.iter().flat_map(|(id, at)| points.iter().map(move |(other, there)| (*id, *at, *other, *there)));
            let same_line =
                |a: usize, b: usize| if step == 1 { a / across == b / across } else { a % across == b % across };
            let found = longest
                .filter(|&(a, _, b, _)| a < b && same_line(a, b) && (b - a) / step >= 4)
                .map(|(a, at, b, there)| (at - there).length() / (board.point_m(a) - board.point_m(b)).length());
            let mut found: Vec<f64> = found.filter(|size| size.is_finite()).collect();
            if !found.is_empty() {
                sizes.push(quantile(&mut found, 0.5));
            }
        }
        HeldOutView { errors, rows, sizes }
    };
    fold.left_out.iter().map(of_view).collect()
}

/// Rays of both cameras in their common rectified axes.
pub(super) struct RectifiedRays<'a> {
    rig: &'a StereoRig,
    rotations: [DMat3; 2],
    pub baseline_m: f64,
    axis: Axis,
}

impl<'a> RectifiedRays<'a> {
    /// Creates the rays if the rig can be rectified.
    pub fn of(rig: &'a StereoRig, size: (usize, usize)) -> Option<Self> {
        let found = Rectification::compute(rig, size.0, size.1, 0.0).ok()?;
        let Rectification { rotation_left, rotation_right, baseline_m, axis, .. } = found;
        Some(Self { rig, rotations: [rotation_left, rotation_right], baseline_m, axis })
    }

    fn ray(camera: &Camera, rotation: DMat3, at: DVec2) -> Option<DVec2> {
        let ray = rotation * camera.direction(at)?;
        (ray.z > 0.1).then(|| ray.truncate() / ray.z)
    }

    fn along(&self, apart: DVec2) -> f64 {
        match self.axis {
            Axis::Horizontal => apart.x,
            Axis::Vertical => apart.y,
        }
    }

    /// Returns the component of a ray difference across the baseline, ideally 0.
    fn across(&self, apart: DVec2) -> f64 {
        self.along(DVec2::new(apart.y, apart.x))
    }

    /// Returns the ray of a left pixel at z = 1.
    pub fn left(&self, at: DVec2) -> Option<DVec2> {
        Self::ray(&self.rig.left, self.rotations[0], at)
    }

    /// Returns the ray of a right pixel at z = 1.
    pub fn right(&self, at: DVec2) -> Option<DVec2> {
        Self::ray(&self.rig.right, self.rotations[1], at)
    }

    /// Returns the inverse distance of two matching pixels by their rays, 1/m.
    pub(crate) fn nearness(&self, left: DVec2, right: DVec2) -> Option<f64> {
        let (left, right) = (self.left(left)?, self.right(right)?);
        Some(self.along(left - right) / self.baseline_m / left.extend(1.0).length())
    }
}

/// Computes the relative depth error at a distance from the spread of the folds' solutions, root mean square over the image.
fn depth_spread(rig: &StereoRig, folds: &[StereoRig], size: (usize, usize), distance_m: f64) -> f64 {
    let Some(whole) = RectifiedRays::of(rig, size) else { return f64::INFINITY };
    let folds: Vec<Option<RectifiedRays<'_>>> = folds.iter().map(|rig| RectifiedRays::of(rig, size)).collect();
    let pairs = pixel_pairs(&whole, size, distance_m);
    let variances = pairs.iter().filter_map(|&(left, right)| {
        let full = whole.nearness(left, right)?;
        let values: Option<Vec<f64>> =
            folds.iter().map(|rays| Some(rays.as_ref()?.nearness(left, right)? / full)).collect();
        Some(spread(values?.into_iter()).powi(2))
    });
    let variances: Vec<f64> = variances.collect();
    if variances.is_empty() { f64::INFINITY } else { (variances.iter().sum::<f64>() / variances.len() as f64).sqrt() }
}

/// Returns matching pixels of a plane at a distance, from 9 x 7 positions of the inner four fifths visible to both cameras.
pub(super) fn pixel_pairs(
    rays: &RectifiedRays<'_>,
    (width, height): (usize, usize),
    distance_m: f64,
) -> Vec<(DVec2, DVec2)> {
    // a tenth at each side is excluded, because lenses are worst there and no board reaches it
    let place = |i: usize| 0.1 + 0.8 * DVec2::new((i % 9) as f64 + 0.5, (i / 9) as f64 + 0.5) / DVec2::new(9.0, 7.0);
    let size = DVec2::new(width as f64, height as f64);
    let pair = |i: usize| {
        let left = place(i) * size - 0.5;
        let ray = rays.left(left)?;
        // in the right camera's rectified axes the point is shifted by the baseline
        let along = if rays.axis == Axis::Horizontal { DVec3::X } else { DVec3::Y };
        let point = ray.extend(1.0) * distance_m - along * rays.baseline_m;
        let right = project(&rays.rig.right, rays.rotations[1].transpose() * point)?;
        let is_inside = right.cmpge(DVec2::ZERO).all() && right.cmple(size - 1.0).all();
        is_inside.then_some((left, right))
    };
    (0..63).filter_map(pair).collect()
}

/// Computes the relative depth difference between two rigs at a distance, root mean square over the image.
pub fn depth_difference(found: &StereoRig, truth: &StereoRig, size: (usize, usize), distance_m: f64) -> f64 {
    let Some((found, truth)) = RectifiedRays::of(found, size).zip(RectifiedRays::of(truth, size)) else {
        return f64::INFINITY;
    };
    let pairs = pixel_pairs(&truth, size, distance_m);
    let errors: Vec<f64> = pairs
        .iter()
        .filter_map(|&(left, right)| Some((found.nearness(left, right)? / truth.nearness(left, right)? - 1.0).powi(2)))
        .collect();
    (errors.iter().sum::<f64>() / errors.len() as f64).sqrt()
}
