//! A rig as read from a file, before its unit, sides and orientation are resolved.

use super::{FileError, LoadOptions};
use crate::projection::{longer_axis, to_right};
use crate::{CalibrationError, LengthUnit, Projection, Rectification, StereoRig, checks};
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
