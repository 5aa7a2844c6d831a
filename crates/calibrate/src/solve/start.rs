//! Initial solution: focal length from a list, poses from homographies, each camera adjusted separately.

use super::adjust::{Bundle, FreeParameters, State, project};
use crate::lens_kind::MAX_PARAMETERS;
use crate::pose::{Pose, board_pose};
use crate::{Board, CalibrateError, Corner, LensKind, View};
use glam::{DQuat, DVec2, DVec3};
use stereopsis_base::quantile::quantile;
use stereopsis_calibration::Camera;

/// Smallest number of corners that determines a pose.
const MIN_CORNERS: usize = 6;
/// Candidate fields of view along a row, degrees.
const FIELDS_DEG: [f64; 12] = [25.0, 35.0, 45.0, 55.0, 65.0, 75.0, 85.0, 95.0, 110.0, 125.0, 145.0, 170.0];

/// Computes the initial solution; `kept` cameras stay fixed.
///
/// # Errors
/// The views are too few.
pub(super) fn start(
    board: &Board,
    views: &[&View],
    size: (usize, usize),
    kind: LensKind,
    kept: Option<[[f64; MAX_PARAMETERS]; 2]>,
) -> Result<State, CalibrateError> {
    let mut cameras = [[0.0; MAX_PARAMETERS]; 2];
    let mut poses: [Vec<Option<Pose>>; 2] = [Vec::new(), Vec::new()];
    for side in 0..2 {
        let corners: Vec<&[Corner]> = views.iter().map(|view| view.corners[side].as_slice()).collect();
        let alone = SingleCamera { board, size, kind, corners, side };
        cameras[side] = match kept {
            Some(kept) => kept[side],
            None => alone.camera()?,
        };
        poses[side] = alone.poses(&cameras[side]);
    }
    let both: Vec<Pose> = poses[0]
        .iter()
        .zip(&poses[1])
        .filter_map(|(left, right)| Some(right.as_ref()?.after(&left.as_ref()?.inverse())))
        .collect();
    let between = middle(&both).ok_or(CalibrateError::NoCommonView)?;
    let poses = poses[0]
        .iter()
        .zip(&poses[1])
        .map(|(left, right)| left.or_else(|| Some(between.inverse().after(right.as_ref()?))).unwrap_or(Pose::IDENTITY))
        .collect();
    Ok(State { cameras, between, aspect: 1.0, poses })
}

/// Camera with its corners in each view.
struct SingleCamera<'a> {
    board: &'a Board,
    size: (usize, usize),
    kind: LensKind,
    corners: Vec<&'a [Corner]>,
    side: usize,
}

impl SingleCamera<'_> {
    /// Calibrates the camera from its own views by the best candidate, adjusted first in the centre, where distortion is small.
    fn camera(&self) -> Result<[f64; MAX_PARAMETERS], CalibrateError> {
        let side = ["left", "right"][self.side];
        let useful = self.corners.iter().filter(|corners| corners.len() >= MIN_CORNERS).count();
        if useful < 3 {
            return Err(CalibrateError::FewViews { side, views: useful });
        }
        let mut found: Option<(f64, [f64; MAX_PARAMETERS])> = None;
        for half in [true, false] {
            for (start, _) in self.starts(half).into_iter().take(3) {
                let mut camera = start;
                let mut cost = f64::INFINITY;
                for share in [0.5, 1.0] {
                    (cost, camera) = self.adjusted(&camera, share);
                }
                if found.is_none_or(|(least, _)| cost < least) {
                    found = Some((cost, camera));
                }
            }
            if found.is_some() {
                break;
            }
        }
        found.map(|(_, camera)| camera).ok_or(CalibrateError::NoFocalLength(side))
    }

    /// Returns undistorted candidate cameras with their errors, the best first.
    fn starts(&self, only_middle: bool) -> Vec<([f64; MAX_PARAMETERS], f64)> {
        let (width, height) = (self.size.0 as f64, self.size.1 as f64);
        let mut starts: Vec<_> = FIELDS_DEG
            .iter()
            .filter_map(|degrees| {
                let half = degrees.to_radians() / 2.0;
                let focal = match self.kind {
                    LensKind::Fisheye => width / 2.0 / half,
                    LensKind::Radtan | LensKind::Pinhole | LensKind::Rational if half < 1.3 => width / 2.0 / half.tan(),
                    LensKind::Radtan | LensKind::Pinhole | LensKind::Rational => return None,
                };
                let mut camera = [0.0; MAX_PARAMETERS];
                camera[..4].copy_from_slice(&[focal, focal, (width - 1.0) / 2.0, (height - 1.0) / 2.0]);
                let share = if only_middle { 0.6 } else { 1.0 };
                Some((camera, self.error(&camera, share)?))
            })
            .collect();
        starts.sort_by(|a, b| a.1.total_cmp(&b.1));
        starts
    }

    /// Computes the median re-projection error of central corners with poses from homographies, px.
    fn error(&self, camera: &[f64; MAX_PARAMETERS], share: f64) -> Option<f64> {
        let model = self.kind.camera(camera);
        let mut lengths = Vec::new();
        for (inner, pose) in self.posed(&model, share) {
            let error = |corner: &Corner| {
                project(&model, pose.at(self.board.point_m(corner.id))).map_or(1e3, |at| (at - corner.at).length())
            };
            lengths.extend(inner.iter().map(error));
        }
        (!lengths.is_empty()).then(|| quantile(&mut lengths, 0.5))
    }

    /// Returns the corners nearer to the centre than a share of the half diagonal.
    fn inner(&self, corners: &[Corner], share: f64) -> Vec<Corner> {
        let middle = DVec2::new(self.size.0 as f64 - 1.0, self.size.1 as f64 - 1.0) / 2.0;
        let reach = middle.length() * share;
        corners.iter().filter(|corner| share >= 1.0 || (corner.at - middle).length() <= reach).copied().collect()
    }

    /// Adjusts the camera to central corners, and returns its cost too.
    fn adjusted(&self, camera: &[f64; MAX_PARAMETERS], share: f64) -> (f64, [f64; MAX_PARAMETERS]) {
        let model = self.kind.camera(camera);
        let mut views = Vec::new();
        let mut poses = Vec::new();
        for (inner, pose) in self.posed(&model, share) {
            views.push(View { name: String::new(), corners: [inner, Vec::new()] });
            poses.push(pose);
        }
        // the other camera has no corners and stays
        let mut state = State { cameras: [*camera; 2], between: Pose::IDENTITY, aspect: 1.0, poses };
        let views: Vec<&View> = views.iter().collect();
        let free = FreeParameters { cameras: true, between: false, aspect: false };
        let mut cost = f64::INFINITY;
        for sigma_px in [2.0, 0.5] {
            let bundle = Bundle { board: self.board, kind: self.kind, size: self.size, views: &views, free, sigma_px };
            cost = bundle.improve(&mut state, 20);
        }
        (cost, state.cameras[0])
    }

    fn poses(&self, camera: &[f64; MAX_PARAMETERS]) -> Vec<Option<Pose>> {
        let model = self.kind.camera(camera);
        self.corners.iter().map(|corners| self.pose(&model, corners)).collect()
    }

    fn pose(&self, model: &Camera, corners: &[Corner]) -> Option<Pose> {
        (corners.len() >= MIN_CORNERS).then(|| board_pose(self.board, model, corners)).flatten()
    }

    /// Iterates over the views whose central corners have a pose.
    fn posed(&self, model: &Camera, share: f64) -> impl Iterator<Item = (Vec<Corner>, Pose)> {
        self.corners.iter().filter_map(move |corners| {
            let inner = self.inner(corners, share);
            self.pose(model, &inner).map(|pose| (inner, pose))
        })
    }
}

/// Returns the component-wise median of motions.
fn middle(poses: &[Pose]) -> Option<Pose> {
    let vectors: Vec<(DVec3, DVec3)> = poses
        .iter()
        .map(|pose| (DQuat::from_mat3(&pose.rotation).normalize().to_scaled_axis(), pose.translation_m))
        .collect();
    if vectors.is_empty() {
        return None;
    }
    let median = |number: &dyn Fn(&(DVec3, DVec3)) -> f64| {
        let mut numbers: Vec<f64> = vectors.iter().map(number).collect();
        quantile(&mut numbers, 0.5)
    };
    let turn = DVec3::new(median(&|v| v.0.x), median(&|v| v.0.y), median(&|v| v.0.z));
    let shift = DVec3::new(median(&|v| v.1.x), median(&|v| v.1.y), median(&|v| v.1.z));
    Some(Pose::IDENTITY.moved(turn, shift))
}
