//! Bundle adjustment: both cameras, their relative pose and the board's poses, from all corners at once.
//!
//! Levenberg-Marquardt on the sum of Huber costs of the re-projection errors, with the board poses eliminated by Schur's complement
//! (Triggs et al. 2000, sections 4 and 6). The joint solution of both cameras makes rows agree; separate ones keep their own errors.

use crate::lens_kind::MAX_PARAMETERS;
use crate::{Board, Corner, LensKind, Pose, View};
use glam::{DMat3, DVec2, DVec3};
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;
use stereopsis_calibration::Camera;

/// Parameters to solve.
#[derive(Clone, Debug)]
pub struct State {
    /// Parameters of the left and the right camera ([`LensKind::camera`]).
    pub cameras: [[f64; MAX_PARAMETERS]; 2],
    /// Pose from the left camera's axes to the right one's.
    pub between: Pose,
    /// Height of the board's squares relative to their width.
    pub aspect: f64,
    /// Pose of the board in each view, in the left camera's axes.
    pub poses: Vec<Pose>,
}

/// Free parameters besides the board poses.
#[derive(Clone, Copy, Debug)]
pub struct FreeParameters {
    pub cameras: bool,
    pub between: bool,
    pub aspect: bool,
}

/// Views and priors.
#[derive(Clone, Copy, Debug)]
pub struct Bundle<'a> {
    pub board: &'a Board,
    pub kind: LensKind,
    /// Image size, px.
    pub size: (usize, usize),
    pub views: &'a [&'a View],
    pub free: FreeParameters,
    /// Standard deviation of a corner along each axis, px; errors above [`HUBER`] times it count less.
    pub sigma_px: f64,
}

/// Error at which Huber's cost becomes linear, in standard deviations.
const HUBER: f64 = 2.5;
/// Error of a corner that its camera cannot see, px.
const UNSEEN_PX: f64 = 1e3;
/// Standard deviation of the ratio of both focal lengths, for pixels that are square or slightly squeezed by the mode.
const PIXEL_ASPECT: f64 = 0.01;
const BOARD_ASPECT: f64 = 0.03;

/// Normal equations of one view.
struct NormalEquations {
    /// Blocks of the shared parameters.
    shared: DMatrix<f64>,
    shared_right: DVector<f64>,
    /// Blocks of the pose.
    pose: DMatrix<f64>,
    pose_right: DVector<f64>,
    /// Block between shared parameters and pose.
    mixed: DMatrix<f64>,
    cost: f64,
}

impl Bundle<'_> {
    fn shared_count(&self) -> usize {
        2 * self.kind.count() + 7
    }

    /// Computes the re-projection error of a corner (observed minus computed), px.
    pub fn error(&self, state: &State, view: usize, side: usize, corner: &Corner) -> DVec2 {
        let camera = self.kind.camera(&state.cameras[side]);
        let point = self.point(state, corner.id);
        let in_left = state.poses[view].at(point);
        let seen = if side == 0 { in_left } else { state.between.at(in_left) };
        corner.at - project(&camera, seen).unwrap_or(corner.at + UNSEEN_PX)
    }

    /// Computes the errors of all corners of a view in one image, px.
    pub fn errors(&self, state: &State, view: usize, side: usize) -> impl Iterator<Item = DVec2> {
        self.views[view].corners[side].iter().map(move |corner| self.error(state, view, side, corner))
    }

    fn point(&self, state: &State, id: usize) -> DVec3 {
        self.board.point_m(id) * DVec3::new(1.0, state.aspect, 1.0)
    }

    /// Computes the sum of all costs, in variances.
    pub fn cost(&self, state: &State) -> f64 {
        let of_view = |view: usize| -> f64 {
            let of_eye = |side: usize| -> f64 {
                self.errors(state, view, side).map(|error| huber(error.length() / self.sigma_px).0).sum()
            };
            of_eye(0) + of_eye(1)
        };
        let corners: f64 = (0..self.views.len()).into_par_iter().map(of_view).sum();
        let priors = self.priors(state);
        corners + priors.iter().map(|prior| prior.error * prior.error).sum::<f64>()
    }

    /// Improves a state until convergence or for this many steps, and returns its cost.
    pub(crate) fn improve(&self, state: &mut State, steps: usize) -> f64 {
        let mut damping = 1e-3;
        let mut cost = self.cost(state);
        for _ in 0..steps {
            let equations = self.equations(state);
            let before = cost;
            while damping < 1e10 {
                if let Some(next) = self.step(state, &equations, damping) {
                    let reached = self.cost(&next);
                    if reached < cost {
                        (*state, cost) = (next, reached);
                        damping = (damping * 0.1).max(1e-12);
                        break;
                    }
                }
                damping *= 10.0;
            }
            if before - cost <= 1e-9 * before {
                break;
            }
        }
        cost
    }

    /// Computes the information matrix of the shared parameters without poses in units of [`Self::sigma_px`].
    pub fn information(&self, state: &State) -> DMatrix<f64> {
        let equations = self.equations(state);
        let mut shared = self.prior_equations(state).0;
        for normal in &equations {
            shared += &normal.shared;
            if let Some(inverse) = inverse(normal.pose.clone()) {
                shared -= normal.mixed.transpose() * inverse * &normal.mixed;
            }
        }
        shared
    }

    fn equations(&self, state: &State) -> Vec<NormalEquations> {
        (0..self.views.len()).into_par_iter().map(|view| self.of_view(state, view)).collect()
    }

    /// Computes the state after one step if the equations have a solution.
    fn step(&self, state: &State, equations: &[NormalEquations], damping: f64) -> Option<State> {
        let (mut shared, mut right) = self.prior_equations(state);
        for normal in equations {
            shared += &normal.shared;
            right += &normal.shared_right;
        }
        for i in 0..shared.nrows() {
            shared[(i, i)] += damping * shared[(i, i)].max(1e-12);
        }
        let mut inverses = Vec::with_capacity(equations.len());
        for normal in equations {
            let mut pose = normal.pose.clone();
            for i in 0..6 {
                pose[(i, i)] += damping * pose[(i, i)].max(1e-12);
            }
            let inverse = inverse(pose)?;
            let across = normal.mixed.transpose() * &inverse;
            shared -= &across * &normal.mixed;
            right -= &across * &normal.pose_right;
            inverses.push(inverse);
        }
        let change = self.solved(shared, right)?;
        let mut next = state.clone();
        let count = self.kind.count();
        for (side, camera) in next.cameras.iter_mut().enumerate() {
            for (i, number) in camera.iter_mut().enumerate().take(count) {
                *number += change[side * count + i];
            }
        }
        let at = 2 * count;
        let three = |at: usize| DVec3::new(change[at], change[at + 1], change[at + 2]);
        next.between = state.between.moved(three(at), three(at + 3));
        next.aspect += change[at + 6];
        for ((pose, normal), inverse) in next.poses.iter_mut().zip(equations).zip(&inverses) {
            let change = inverse * (&normal.pose_right - &normal.mixed * &change);
            *pose =
                pose.moved(DVec3::new(change[0], change[1], change[2]), DVec3::new(change[3], change[4], change[5]));
        }
        Some(next)
    }

    /// Solves for the free parameters and leaves the others.
    fn solved(&self, mut shared: DMatrix<f64>, mut right: DVector<f64>) -> Option<DVector<f64>> {
        for i in 0..shared.nrows() {
            if !self.is_free(i) {
                shared.row_mut(i).fill(0.0);
                shared.column_mut(i).fill(0.0);
                shared[(i, i)] = 1.0;
                right[i] = 0.0;
            }
        }
        Some(shared.cholesky()?.solve(&right))
    }

    fn is_free(&self, i: usize) -> bool {
        let count = 2 * self.kind.count();
        match i {
            i if i < count => self.free.cameras,
            i if i < count + 6 => self.free.between,
            _ => self.free.aspect,
        }
    }

    fn of_view(&self, state: &State, view: usize) -> NormalEquations {
        let (count, all) = (self.kind.count(), self.shared_count());
        let mut normal = NormalEquations {
            shared: DMatrix::zeros(all, all),
            shared_right: DVector::zeros(all),
            pose: DMatrix::zeros(6, 6),
            pose_right: DVector::zeros(6),
            mixed: DMatrix::zeros(6, all),
            cost: 0.0,
        };
        let pose = state.poses[view];
        for side in 0..2 {
            let slopes = CameraSlopes::new(self.kind, &state.cameras[side]);
            // columns that affect this side: its camera, and for the right one the relative pose
            let mut columns: Vec<usize> = (side * count..(side + 1) * count).collect();
            if side == 1 {
                columns.extend(2 * count..2 * count + 6);
            }
            columns.push(2 * count + 6);
            let own = columns.len();
            let mut jacobian = vec![DVec2::ZERO; own];
            let mut local = DMatrix::<f64>::zeros(own, own);
            let mut local_right = DVector::<f64>::zeros(own);
            let mut mixed = DMatrix::<f64>::zeros(6, own);
            for corner in &self.views[view].corners[side] {
                let point = self.point(state, corner.id);
                let turned = pose.rotation * point;
                let in_left = turned + pose.translation_m;
                let (seen, to_eye) = match side {
                    0 => (in_left, DMat3::IDENTITY),
                    _ => (state.between.at(in_left), state.between.rotation),
                };
                let Some((at, by_point)) = slopes.at(seen, &mut jacobian[..count]) else {
                    normal.cost += huber(UNSEEN_PX / self.sigma_px).0;
                    continue;
                };
                let error = (corner.at - at) / self.sigma_px;
                let (cost, weight) = huber(error.length());
                normal.cost += cost;
                let slope = |direction: DVec3| {
                    by_point[0] * direction.x + by_point[1] * direction.y + by_point[2] * direction.z
                };
                if side == 1 {
                    let around = state.between.rotation * in_left;
                    for (i, axis) in DVec3::AXES.into_iter().enumerate() {
                        jacobian[count + i] = slope(axis.cross(around));
                        jacobian[count + 3 + i] = slope(axis);
                    }
                }
                jacobian[own - 1] = slope(to_eye * (pose.rotation.y_axis * self.board.point_m(corner.id).y));
                let mut by_pose = [DVec2::ZERO; 6];
                for (i, axis) in DVec3::AXES.into_iter().enumerate() {
                    by_pose[i] = slope(to_eye * axis.cross(turned));
                    by_pose[i + 3] = slope(to_eye * axis);
                }
                let scale = 1.0 / self.sigma_px;
                for i in 0..own {
                    let row = jacobian[i] * (weight * scale);
                    local_right[i] += row.dot(error);
                    let row = row * scale;
                    for j in 0..=i {
                        local[(i, j)] += row.dot(jacobian[j]);
                    }
                }
                for i in 0..6 {
                    let row = by_pose[i] * (weight * scale);
                    normal.pose_right[i] += row.dot(error);
                    let row = row * scale;
                    for (j, other) in by_pose.iter().enumerate() {
                        normal.pose[(i, j)] += row.dot(*other);
                    }
                    for j in 0..own {
                        mixed[(i, j)] += row.dot(jacobian[j]);
                    }
                }
            }
            for (i, &row) in columns.iter().enumerate() {
                normal.shared_right[row] += local_right[i];
                for (j, &column) in columns.iter().enumerate() {
                    normal.shared[(row, column)] += if j <= i { local[(i, j)] } else { local[(j, i)] };
                }
                for k in 0..6 {
                    normal.mixed[(k, row)] += mixed[(k, i)];
                }
            }
        }
        // a view without corners leaves its pose undetermined
        for i in 0..6 {
            normal.pose[(i, i)] += 1e-9;
        }
        normal
    }

    fn priors(&self, state: &State) -> Vec<Prior> {
        let count = self.kind.count();
        let known = self.kind.prior(self.size);
        let mut priors = Vec::new();
        for (side, camera) in state.cameras.iter().enumerate() {
            for i in 0..count {
                let (mean, sigma) = known[i];
                priors.push(Prior::of((camera[i] - mean) / sigma, [(side * count + i, 1.0 / sigma)]));
            }
            let (fx, fy) = (camera[0], camera[1]);
            let slopes =
                [(side * count, -fy / (fx * fx * PIXEL_ASPECT)), (side * count + 1, 1.0 / (fx * PIXEL_ASPECT))];
            priors.push(Prior::of((fy / fx - 1.0) / PIXEL_ASPECT, slopes));
        }
        for i in 0..6 {
            // a weak prior on the relative pose keeps the equations regular
            priors.push(Prior::of(0.0, [(2 * count + i, 1e-3)]));
        }
        priors.push(Prior::of((state.aspect - 1.0) / BOARD_ASPECT, [(2 * count + 6, 1.0 / BOARD_ASPECT)]));
        priors
    }

    fn prior_equations(&self, state: &State) -> (DMatrix<f64>, DVector<f64>) {
        let all = self.shared_count();
        let (mut shared, mut right) = (DMatrix::zeros(all, all), DVector::zeros(all));
        for Prior { error, slopes } in self.priors(state) {
            for &(i, slope) in &slopes {
                right[i] -= slope * error;
                for &(j, other) in &slopes {
                    shared[(i, j)] += slope * other;
                }
            }
        }
        (shared, right)
    }
}

/// Prior as an error in standard deviations with its gradient by shared parameters.
struct Prior {
    error: f64,
    slopes: Vec<(usize, f64)>,
}

impl Prior {
    fn of<const N: usize>(error: f64, slopes: [(usize, f64); N]) -> Self {
        Self { error, slopes: slopes.to_vec() }
    }
}

/// Inverts a positive definite matrix with dynamic sizes and Cholesky, since other ways of nalgebra take minutes to compile.
pub fn inverse(matrix: DMatrix<f64>) -> Option<DMatrix<f64>> {
    matrix.cholesky().map(|found| found.inverse())
}

/// Returns Huber's cost of an error in standard deviations, and its weight.
fn huber(error: f64) -> (f64, f64) {
    if error <= HUBER { (error * error, 1.0) } else { (HUBER * (2.0 * error - HUBER), HUBER / error) }
}

/// Projects a point in the camera's axes if the camera sees it.
pub fn project(camera: &Camera, point: DVec3) -> Option<DVec2> {
    let is_fisheye = matches!(camera.distortion, stereopsis_calibration::Distortion::Fisheye(_));
    if !is_fisheye && point.z <= 1e-6 {
        return None;
    }
    Some(camera.project(point)).filter(|at| at.is_finite())
}

/// Derivatives of a camera's pixels by central differences, which suit every lens model.
struct CameraSlopes {
    camera: Camera,
    /// Cameras with one parameter increased and decreased, and the difference.
    changed: Vec<(Camera, Camera, f64)>,
}

impl CameraSlopes {
    fn new(kind: LensKind, vector: &[f64; MAX_PARAMETERS]) -> Self {
        let changed = (0..kind.count()).map(|i| {
            let step = if i < 4 { 1e-4 * vector[0].abs().max(1.0) } else { 1e-5 };
            let with = |step: f64| {
                let mut changed = *vector;
                changed[i] += step;
                kind.camera(&changed)
            };
            (with(step), with(-step), 2.0 * step)
        });
        Self { camera: kind.camera(vector), changed: changed.collect() }
    }

    /// Returns the pixel of a point and its derivatives by x, y and z, and writes those by the camera's parameters to `by_camera`.
    fn at(&self, point: DVec3, by_camera: &mut [DVec2]) -> Option<(DVec2, [DVec2; 3])> {
        let at = project(&self.camera, point)?;
        for (slope, (more, less, step)) in by_camera.iter_mut().zip(&self.changed) {
            *slope = (project(more, point)? - project(less, point)?) / *step;
        }
        let h = 1e-5 * point.length();
        let mut by_point = [DVec2::ZERO; 3];
        for (slope, axis) in by_point.iter_mut().zip(DVec3::AXES) {
            *slope = (project(&self.camera, point + axis * h)? - project(&self.camera, point - axis * h)?) / (2.0 * h);
        }
        Some((at, by_point))
    }
}
