//! Checks of a calibration, with advice for the user: an unusable one is an error, an implausible one gets a warning.

mod error;
mod fisheye;
mod mode;
mod typed;

use super::camera_model::off_centre;
use super::projection::to_right;
use super::{Camera, Projection, Rectification, StereoRig};
use error::Order;
pub(crate) use error::RigError;
pub(super) use fisheye::doubt as fisheye_doubt;
use glam::{DMat3, DQuat, DVec2};
use stereopsis_base::geometry::Axis;
pub use typed::doubts_of_typed;

impl StereoRig {
    /// Returns the direction of the baseline: horizontal or vertical.
    pub fn axis(&self) -> Axis {
        match &self.rectification {
            Some(rectification) => rectification.axis,
            None => standing(self).unwrap_or_default(),
        }
    }
}

/// Largest axis skew of an ordinary camera, in focal lengths: rows and columns 1 degree off a right angle.
const MAX_SKEW: f64 = 0.0175;

/// Whether a matrix is a rotation, with a tolerance of 0.001.
pub(super) fn is_rotation(matrix: DMat3) -> bool {
    let off = (matrix * matrix.transpose() - DMat3::IDENTITY).to_cols_array();
    off.iter().all(|v| v.abs() < 1e-3) && matrix.determinant() > 0.0
}

pub(super) fn check(rig: &StereoRig) -> Result<(), RigError> {
    let [left_size, right_size] = rig.sizes();
    for (width, height) in [left_size, right_size].into_iter().flatten() {
        if !(2..=65_536).contains(&width) || !(2..=65_536).contains(&height) {
            return Err(RigError::Size { width, height });
        }
    }
    let sides = [("left", &rig.left, left_size), ("right", &rig.right, right_size)];
    for (side, camera, size) in sides {
        finite(side, camera)?;
        focal_lengths(side, camera, size)?;
    }
    for (side, camera, size) in sides {
        let is_of_pictures = principal_point(side, camera, size).and_then(|()| fold(side, camera, size));
        is_of_pictures.map_err(|cause| match mode::doubt(rig) {
            Some(mode) => RigError::OtherMode { mode, cause: Box::new(cause) },
            None => cause,
        })?;
    }
    if !is_rotation(rig.rotation) {
        return Err(RigError::Rotation);
    }
    if !(rig.translation_m.is_finite() && rig.baseline_m().is_finite()) {
        return Err(RigError::Translation);
    }
    if rig.baseline_m().abs() < 1e-9 || rig.translation_m.length() < 1e-9 {
        return Err(RigError::NoBaseline);
    }
    match &rig.rectification {
        Some(rectification) => agree(rig, rectification),
        None => standing(rig).map(|_| ()),
    }
}

/// Returns warnings about implausible values, each with advice.
pub(super) fn doubts(rig: &StereoRig) -> Vec<String> {
    let mut doubts = Vec::new();
    let of_mode = mode::doubt(rig);
    let [left_size, right_size] = rig.sizes();
    for (side, camera, size) in [("left", &rig.left, left_size), ("right", &rig.right, right_size)] {
        if !(0.8..1.25).contains(&(camera.fx / camera.fy)) {
            doubts.push(format!(
                "the {side} camera's focal lengths {:.0} and {:.0} px differ as with no ordinary camera: is the file for \
                 another mode of it?",
                camera.fx, camera.fy
            ));
        }
        if camera.skew.abs() > MAX_SKEW * camera.fy {
            doubts.push(format!(
                "the {side} camera's axis skew of {:.1} px means rows and columns {:.1} degrees off a right angle, as on no ordinary \
                 sensor: calibrate again with the axis skew fixed at 0",
                camera.skew,
                (camera.skew / camera.fy).atan().to_degrees().abs()
            ));
        }
        if let Some(size) = size.filter(|&size| of_mode.is_none() && camera.off_centre(size) > 0.25) {
            doubts.push(format!(
                "the {side} camera's principal point ({:.0}, {:.0}) is far from the middle of {}x{}: is the file of \
                     another camera, or for another size?",
                camera.cx, camera.cy, size.0, size.1
            ));
        }
    }
    // with the size of another mode the corners would be wrong
    doubts.extend(of_mode.map(|mode| mode.to_string()).or_else(|| corner_folds(rig)));
    // images of two sizes are of two lenses
    if rig.right_size.is_none() && !(0.67..1.5).contains(&(rig.left.fx / rig.right.fx)) {
        doubts.push(format!(
            "the cameras' focal lengths, {:.0} and {:.0} px, are of two different lenses: is one file of another camera?",
            rig.left.fx, rig.right.fx
        ));
    }
    let turns = rig.quarter_turns();
    if turns != 0 {
        let degrees = 90 * turns.abs();
        doubts.push(format!(
            "the right camera is mounted turned by {degrees} degrees to the left one: rectification turns its images"
        ));
    }
    let angle = DQuat::from_mat3(&rig.upright_pose().0).normalize().to_scaled_axis().length().to_degrees();
    if angle > 20.0 {
        doubts.push(format!("the cameras are turned by {angle:.0} degrees to each other: is that so?"));
    }
    if let (Some(rectification), Some(size)) = (&rig.rectification, rig.size) {
        doubts.extend(rectified_size(rig, rectification, size));
    }
    doubts
}

fn finite(side: &'static str, camera: &Camera) -> Result<(), RigError> {
    let lens = camera.distortion.coefficients();
    let all = [camera.fx, camera.fy, camera.cx, camera.cy, camera.skew].into_iter().chain(lens);
    let wrong = all.into_iter().find(|v| !v.is_finite());
    wrong.map_or(Ok(()), |value| Err(RigError::NotFinite { side, value }))
}

fn focal_lengths(side: &'static str, camera: &Camera, size: Option<(usize, usize)>) -> Result<(), RigError> {
    let Camera { fx, fy, .. } = *camera;
    if fx <= 0.0 || fy <= 0.0 {
        return Err(RigError::Singular { side, fx, fy });
    }
    let (low, high) = size.map_or((10.0, 1e6), |(width, _)| (width as f64 * 0.05, width as f64 * 50.0));
    if [fx, fy].iter().any(|f| !(low..=high).contains(f)) {
        return Err(RigError::FocalLengths { side, fx, fy, size });
    }
    Ok(())
}

fn principal_point(side: &'static str, camera: &Camera, size: Option<(usize, usize)>) -> Result<(), RigError> {
    let Camera { cx, cy, .. } = *camera;
    let far = match size {
        Some(size) => camera.off_centre(size) > 0.5,
        // an image extends from 0 to twice its centre
        None => cx < 1.0 || cy < 1.0 || cx > 65_536.0 || cy > 65_536.0,
    };
    if far { Err(RigError::PrincipalPoint { side, cx, cy, size }) } else { Ok(()) }
}

/// Angle of a fold to the axis, degrees, and fraction of the image, below both of which a lens model is implausible.
const MIN_FOLD_DEG: [(f64, f64); 2] = [(30.0, 0.8), (60.0, 0.5)];
/// Largest angle to the axis that a rectified image shows, degrees.
const SHOWN_DEG: f64 = 75.0;

/// Rejects a lens model that shows large parts of the image twice. A fisheye that folds behind itself is accepted, and so is a
/// rectified image that ends before the fold.
fn fold(side: &'static str, camera: &Camera, size: Option<(usize, usize)>) -> Result<(), RigError> {
    let Some((share, fold_deg)) = camera.edge_fold(size) else { return Ok(()) };
    if MIN_FOLD_DEG.iter().all(|&(min_deg, min_share)| fold_deg >= min_deg || share >= min_share) {
        return Ok(());
    }
    Err(RigError::Fold { side, share })
}

fn corner_folds(rig: &StereoRig) -> Option<String> {
    let [left_size, right_size] = rig.sizes();
    let [left, right] = [(&rig.left, left_size), (&rig.right, right_size)].map(|(camera, size)| {
        let fold = camera.corner_fold(size).filter(|(_, fold_deg)| *fold_deg < SHOWN_DEG);
        fold.map_or(1.0, |(share, _)| share)
    });
    let (who, share) = match (left < 0.97, right < 0.97) {
        (false, false) => return None,
        (true, false) => ("the left camera's", left),
        (false, true) => ("the right camera's", right),
        (true, true) => ("both cameras'", left.min(right)),
    };
    Some(format!(
        "{who} distortion folds inside the image, {:.0} % of the way from its middle to a corner: what lies farther out is \
         left out, calibrate again with the board in all corners to see it",
        share * 100.0
    ))
}

/// Checks that the cameras are side by side, left one first, or one above the other, upper one first.
pub(super) fn standing(rig: &StereoRig) -> Result<Axis, RigError> {
    let (rotation, translation_m) = rig.upright_pose();
    let half = DQuat::IDENTITY.slerp(DQuat::from_mat3(&rotation).normalize(), 0.5);
    let along = half.inverse() * translation_m;
    let order = Order { exchanged: rig.exchanged };
    match along {
        t if t.z.abs() > t.x.abs().max(t.y.abs()) => Err(RigError::InFront),
        t if t.y.abs() > t.x.abs() && t.y > 0.0 => Err(RigError::Above(order)),
        t if t.y.abs() > t.x.abs() => Ok(Axis::Vertical),
        t if t.x > 0.0 => Err(RigError::LeftOfLeft(order)),
        _ => Ok(Axis::Horizontal),
    }
}

/// Rejects a rectification that contradicts the cameras of the same file.
fn agree(rig: &StereoRig, rectification: &Rectification) -> Result<(), RigError> {
    let Rectification { rotation_left, rotation_right, left, right, baseline_m, axis } = rectification;
    if !is_rotation(*rotation_left) || !is_rotation(*rotation_right) {
        return Err(RigError::RectifyingRotations);
    }
    for Projection { fx, fy, cx, cy } in [left, right] {
        if ![fx, fy, cx, cy].into_iter().all(|v| v.is_finite()) || *fx <= 0.0 || *fy <= 0.0 {
            return Err(RigError::SingularProjections);
        }
    }
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-3 * a.abs().max(1.0);
    let same_lines = match axis {
        Axis::Horizontal => close(left.cy, right.cy),
        Axis::Vertical => close(left.cx, right.cx),
    };
    if !(close(left.fx, right.fx) && close(left.fy, right.fy) && same_lines) {
        return Err(RigError::Projections(*axis));
    }
    let common = (*rotation_right * rig.translation_m).dot(to_right(*axis));
    if *baseline_m < 0.0 && common < 0.0 || *baseline_m > 0.0 && common > 0.0 {
        return Err(RigError::Reversed);
    }
    if *baseline_m < 0.0 {
        return Err(RigError::Shift { axis: *axis, order: Order { exchanged: rig.exchanged } });
    }
    let (of_t_m, of_p2_m) = (rig.translation_m.length(), *baseline_m);
    if (of_t_m / of_p2_m - 1.0).abs() > 0.02 {
        return Err(RigError::Baselines { of_t_m, of_p2_m });
    }
    let apart = rotation_right.transpose() * *rotation_left * rig.rotation.transpose();
    let angle = DQuat::from_mat3(&apart).normalize().to_scaled_axis().length().to_degrees();
    if angle > 1.0 {
        return Err(RigError::Rotations(angle));
    }
    Ok(())
}

/// Returns a doubt about the image size of a rectification, by the position of the images' centres.
fn rectified_size(rig: &StereoRig, rectification: &Rectification, size: (usize, usize)) -> Option<String> {
    let right_size = rig.right_size.unwrap_or(size);
    let sides = [
        ("left", &rig.left, size, rectification.rotation_left, rectification.left),
        ("right", &rig.right, right_size, rectification.rotation_right, rectification.right),
    ];
    for (side, camera, (width, height), rotation, projection) in sides {
        let middle = DVec2::new(width as f64 - 1.0, height as f64 - 1.0) / 2.0;
        let at = camera.ray(middle).and_then(|ray| projection.pixel(rotation * ray));
        let inside = at.is_some_and(|at| off_centre(at, size) < 0.2);
        let ratio = projection.fx / camera.fx;
        if !inside || !(0.2..5.0).contains(&ratio) {
            return Some(format!(
                "the {side} camera's rectification contradicts the image size {}x{}: it puts the middle of the image at \
                 {}, with {ratio:.2} times the focal length; it is for another size, or of another rig: leave R1, R2, P1 and \
                 P2 out and they are computed",
                size.0,
                size.1,
                at.map_or("no pixel".to_owned(), |at| format!("({:.0}, {:.0})", at.x, at.y))
            ));
        }
    }
    None
}

#[cfg(test)]
mod tests;
