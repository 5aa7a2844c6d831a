//! A rig as read from a file, before its unit, sides and orientation are resolved.

use super::{FileError, Kind, LoadOptions};
use crate::projection::{longer_axis, to_right};
use crate::{CalibrationError, Camera, LengthUnit, Projection, Rectification, StereoRig, checks};
use glam::{DMat3, DVec3};
use stereopsis_base::geometry::Axis;

/// Rig with lengths in the file's unit.
pub(super) struct Draft {
    /// Rig; the baseline of its rectification is negative if the cameras are swapped.
    pub(super) rig: StereoRig,
    /// Unit, if the kind or the file states it.
    pub(super) unit: Option<LengthUnit>,
}

impl Draft {
    /// Returns the draft; fails if the user has named cameras and the file has no choice.
    pub(super) fn of_cameras(self, options: &LoadOptions) -> Result<Self, FileError> {
        let kind = self.rig.kind;
        match &options.cameras {
            Some(cameras) if !kind.has_choice() => {
                Err(FileError::NoChoice { kind: kind.word(), cameras: cameras.to_string() })
            }
            _ => Ok(self),
        }
    }

    /// Returns the checked rig in metres, with left and right in the right order; `names` are those of its files, for errors.
    pub(super) fn finish(self, names: String, options: &LoadOptions) -> Result<StereoRig, CalibrationError> {
        let Self { mut rig, unit } = self;
        let baseline = rig.baseline_m().abs();
        rig.unit = options.unit.or(unit).unwrap_or_else(|| LengthUnit::guess(baseline));
        rig.translation_m *= rig.unit.metres();
        if let Some(rectification) = &mut rig.rectification {
            rectification.baseline_m *= rig.unit.metres();
        }
        if options.swapped {
            rig = rig.swapped();
        }
        if let Err(cause) = checks::check(&rig) {
            return Err(CalibrationError::Unusable { names, cause: Box::new(cause), doubts: rig.doubts });
        }
        // a unit given by the user is trusted
        let of_unit = options.unit.is_none().then(|| rig.unit.doubt(baseline, unit.is_some())).flatten();
        let doubts = checks::doubts(&rig);
        rig.doubts.extend(of_unit.into_iter().chain(doubts));
        Ok(rig)
    }
}

/// Returns the rectification that follows from two projections with their shifts, and two rotations.
pub(super) fn rectification([left, right]: [(Projection, [f64; 2]); 2], rotations: [DMat3; 2]) -> Rectification {
    let ((left, left_shift), (right, right_shift)) = (left, right);
    let (x, y) = (right_shift[0] - left_shift[0], right_shift[1] - left_shift[1]);
    let axis = longer_axis(x, y);
    let baseline_m = match axis {
        Axis::Horizontal => -x / right.fx,
        Axis::Vertical => -y / right.fy,
    };
    let [rotation_left, rotation_right] = rotations;
    Rectification { rotation_left, rotation_right, left, right, baseline_m, axis }
}

/// Returns the relative pose that follows from a rectification.
pub(super) fn pose(r: &Rectification) -> (DMat3, DVec3) {
    let from_common = r.rotation_right.transpose();
    (from_common * r.rotation_left, from_common * -r.baseline_m * to_right(r.axis))
}

/// Rotation and translation from the axes of one camera to other axes.
pub(super) type Pose = (DMat3, DVec3);

/// Returns the pose from the left camera to the right one, given the poses from each to common axes.
pub(super) fn relative([(left, left_at), (right, right_at)]: [Pose; 2]) -> Pose {
    let to_right = right.transpose();
    (to_right * left, to_right * (left_at - right_at))
}

pub(super) fn inverse((rotation, translation): Pose) -> Pose {
    let back = rotation.transpose();
    (back, -(back * translation))
}

/// Camera, the size of its images, and the pose from common axes to it.
pub(super) type Posed = (Camera, Option<(usize, usize)>, Pose);

/// Returns the rig of two cameras with poses in common axes.
pub(super) fn of_posed(kind: Kind, cameras: [Posed; 2], doubt: Option<String>, unit: Option<LengthUnit>) -> Draft {
    let [(left, left_size, left_pose), (right, right_size, right_pose)] = cameras;
    let (rotation, translation) = relative([left_pose, right_pose].map(inverse));
    let rig = StereoRig::new(left, right, rotation, translation, left_size);
    let rig = StereoRig { kind, doubts: doubt.into_iter().collect(), ..rig };
    Draft { rig: right_size.into_iter().fold(rig, StereoRig::with_right_size), unit }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use glam::EulerRot;

    /// Returns the pose of the left camera in the axes of the right one, turned about all axes.
    pub(in super::super) fn relative_pose() -> Pose {
        (DMat3::from_euler(EulerRot::XYZ, 0.02, -0.03, 0.05), DVec3::new(-0.12, 0.004, 0.003))
    }

    /// Returns poses from common axes to a left and a right camera, far from these axes.
    pub(in super::super) fn poses() -> [Pose; 2] {
        let (rotation, translation) = (DMat3::from_euler(EulerRot::XYZ, 0.7, -0.4, 1.1), DVec3::new(0.3, -0.2, 0.5));
        let (turn, shift) = relative_pose();
        [(rotation, translation), (turn * rotation, turn * translation + shift)]
    }

    /// Returns a matrix as a list of its rows.
    pub(in super::super) fn rows(matrix: DMat3) -> String {
        format!("{:?}", [0, 1, 2].map(|i| matrix.row(i).to_array()))
    }

    /// Whether a rig has the relative pose.
    pub(in super::super) fn has_relative_pose(rig: &StereoRig) -> bool {
        let (rotation, translation) = relative_pose();
        rig.rotation.abs_diff_eq(rotation, 1e-9) && rig.translation_m.abs_diff_eq(translation, 1e-9)
    }
}
