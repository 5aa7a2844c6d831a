//! Solution for both cameras from views of the board.

pub(super) mod adjust;
pub(super) mod agreement;
mod start;

use super::lens_kind::MAX_PARAMETERS;
use super::pose::Pose;
use super::{Board, CalibrateError, Corner, LensKind, View};
use adjust::{Bundle, FreeParameters, State};
use glam::DVec2;
use stereopsis_base::quantile::quantile;
use stereopsis_calibration::{Camera, StereoRig};
use stereopsis_frame::Side;

/// Solved cameras and their views.
#[derive(Clone, Debug)]
pub struct Solution {
    /// Lens model of both cameras.
    pub kind: LensKind,
    /// Cameras with lengths in metres, scaled by the board's squares.
    pub rig: StereoRig,
    /// Estimated standard deviation of a corner along each axis, px.
    pub sigma_px: f64,
    /// Used views in their order with their residuals.
    pub views: Vec<ViewFit>,
    pub(super) state: State,
    pub(super) free: FreeParameters,
}

/// Residuals of a view.
#[derive(Clone, Debug)]
pub struct ViewFit {
    /// View with these residuals.
    pub view: View,
    /// Pose of the board in the left camera's axes.
    pub pose: Pose,
    /// Re-projection errors of each corner in the left and the right image, px.
    pub errors: [Vec<DVec2>; 2],
    /// Whether the sides contradict each other about the board's pose, so that the view counts for each side alone.
    pub is_split: bool,
}

impl ViewFit {
    /// Computes the root mean square of a side's re-projection errors, px; `None` without corners.
    pub fn rms_px(&self, side: Side) -> Option<f64> {
        rms(self.errors[side as usize].iter().copied())
    }
}

impl Solution {
    /// Computes the root mean square of a side's re-projection errors over all views, px; `None` without corners.
    pub fn rms_px(&self, side: Side) -> Option<f64> {
        rms(self.views.iter().flat_map(|fit| fit.errors[side as usize].iter().copied()))
    }
}

pub(super) fn rms(errors: impl Iterator<Item = DVec2>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0usize);
    for error in errors {
        sum += error.length_squared();
        count += 1;
    }
    (count > 0).then(|| (sum / count as f64).sqrt())
}

const MIN_SIGMA_PX: f64 = 0.02;
/// Smallest error of an outlier, in standard deviations.
const MIN_OUTLIER: f64 = 5.0;
/// Smallest ratio of the disagreement between a view's sides to that of other views at which the view is split.
const MIN_SPLIT_RATIO: f64 = 3.0;

/// Solves for both cameras, or only for their relative pose with fixed `kept` ones.
///
/// # Errors
/// The views are too few for a start.
pub fn solve(
    board: &Board,
    views: &[View],
    size: (usize, usize),
    kind: LensKind,
    kept: Option<[Camera; 2]>,
) -> Result<Solution, CalibrateError> {
    let kept = kept.and_then(|[left, right]| Some([kind.vector(&left)?, kind.vector(&right)?]));
    let mut used: Vec<(View, bool)> =
        views.iter().filter(|view| is_useful(view)).map(|view| (view.clone(), false)).collect();
    let state = start::start(board, &used.iter().map(|(view, _)| view).collect::<Vec<_>>(), size, kind, kept)?;
    let cameras_free = kept.is_none();
    let solver =
        Solver { board, size, kind, free: FreeParameters { cameras: cameras_free, between: true, aspect: false } };
    let (mut state, mut sigma_px) = solver.settled(&used, state);
    let apart = solver.contradicting(&used, &state, sigma_px);
    if !apart.is_empty() {
        let mut split = Vec::new();
        let mut poses = Vec::new();
        for (i, (view, _)) in used.drain(..).enumerate() {
            let pose = state.poses[i];
            if apart.contains(&i) {
                for side in Side::ALL {
                    let mut alone = view.clone();
                    alone.corners[1 - side as usize].clear();
                    split.push((alone, true));
                    poses.push(pose);
                }
            } else {
                split.push((view, false));
                poses.push(pose);
            }
        }
        (used, state.poses) = (split, poses);
        (state, sigma_px) = solver.settled(&used, state);
    }
    for _ in 0..2 {
        let removed = solver.without_outliers(&mut used, &state, sigma_px);
        if removed == 0 {
            break;
        }
        (state, sigma_px) = solver.settled(&used, state);
    }
    Ok(solver.solution(used, state, sigma_px))
}

/// Whether a view determines more than its pose.
fn is_useful(view: &View) -> bool {
    view.corners.iter().any(|corners| corners.len() >= 6)
}

struct Solver<'a> {
    board: &'a Board,
    size: (usize, usize),
    kind: LensKind,
    free: FreeParameters,
}

impl Solver<'_> {
    fn bundle<'b>(&'b self, views: &'b [&'b View], sigma_px: f64) -> Bundle<'b> {
        Bundle { board: self.board, kind: self.kind, size: self.size, views, free: self.free, sigma_px }
    }

    /// Solves until the corners' standard deviation converges.
    fn settled(&self, used: &[(View, bool)], mut state: State) -> (State, f64) {
        let views: Vec<&View> = used.iter().map(|(view, _)| view).collect();
        let mut sigma_px = self.sigma(&self.bundle(&views, 1.0), &state).max(MIN_SIGMA_PX);
        for _ in 0..6 {
            let bundle = self.bundle(&views, sigma_px);
            bundle.improve(&mut state, 30);
            let found = self.sigma(&bundle, &state).max(MIN_SIGMA_PX);
            let is_same = (found / sigma_px - 1.0).abs() < 0.02;
            sigma_px = found;
            if is_same {
                break;
            }
        }
        (state, sigma_px)
    }

    /// Estimates the corners' standard deviation along an axis by the median error, which is robust to wrong corners.
    fn sigma(&self, bundle: &Bundle<'_>, state: &State) -> f64 {
        let views = (0..bundle.views.len()).flat_map(|number| [(number, 0), (number, 1)]);
        let mut lengths: Vec<f64> =
            views.flat_map(|(number, side)| bundle.errors(state, number, side)).map(DVec2::length).collect();
        // the median length of errors along two axes is sqrt(2 ln 2) of their standard deviation
        quantile(&mut lengths, 0.5) / (2.0 * 2f64.ln()).sqrt()
    }

    /// Finds common views with errors far above those of the others.
    fn contradicting(&self, used: &[(View, bool)], state: &State, sigma_px: f64) -> Vec<usize> {
        let views: Vec<&View> = used.iter().map(|(view, _)| view).collect();
        let bundle = self.bundle(&views, sigma_px);
        let errors: Vec<Option<f64>> = used
            .iter()
            .enumerate()
            .map(|(number, (view, _))| {
                let both = view.corners.iter().all(|corners| !corners.is_empty());
                let of_eye = |side: usize| {
                    let mut lengths: Vec<f64> = bundle.errors(state, number, side).map(DVec2::length).collect();
                    quantile(&mut lengths, 0.5)
                };
                both.then(|| of_eye(0).max(of_eye(1)))
            })
            .collect();
        let mut known: Vec<f64> = errors.iter().flatten().copied().collect();
        if known.len() < 5 {
            return Vec::new();
        }
        let limit = MIN_SPLIT_RATIO * quantile(&mut known, 0.5);
        errors
            .iter()
            .enumerate()
            .filter(|(_, error)| error.is_some_and(|error| error > limit.max(0.3)))
            .map(|(i, _)| i)
            .collect()
    }

    /// Removes corners with errors far above the others', and returns their number.
    fn without_outliers(&self, used: &mut [(View, bool)], state: &State, sigma_px: f64) -> usize {
        let mut removed = 0;
        for number in 0..used.len() {
            for side in 0..2 {
                let view = used[number].0.clone();
                let views: Vec<&View> = used.iter().map(|(view, _)| view).collect();
                let bundle = self.bundle(&views, sigma_px);
                let is_good = |corner: &Corner| {
                    bundle.error(state, number, side, corner).length() <= MIN_OUTLIER * sigma_px.max(0.05)
                };
                let kept: Vec<Corner> = view.corners[side].iter().filter(|corner| is_good(corner)).copied().collect();
                removed += view.corners[side].len() - kept.len();
                used[number].0.corners[side] = kept;
            }
        }
        removed
    }

    fn solution(&self, used: Vec<(View, bool)>, state: State, sigma_px: f64) -> Solution {
        let views: Vec<&View> = used.iter().map(|(view, _)| view).collect();
        let bundle = self.bundle(&views, sigma_px);
        let fits = views.iter().enumerate().map(|(number, view)| {
            let errors = [0, 1].map(|side| bundle.errors(&state, number, side).collect());
            ViewFit { view: (*view).clone(), pose: state.poses[number], errors, is_split: used[number].1 }
        });
        Solution {
            kind: self.kind,
            rig: rig_of(self.kind, &state, self.size),
            sigma_px,
            views: fits.collect(),
            state,
            free: self.free,
        }
    }
}

pub(super) fn rig_of(kind: LensKind, state: &State, size: (usize, usize)) -> StereoRig {
    let [left, right] = state.cameras.map(|camera: [f64; MAX_PARAMETERS]| kind.camera(&camera));
    StereoRig::new(left, right, state.between.rotation, state.between.translation_m, Some(size))
}
