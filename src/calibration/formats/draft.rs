//! A rig as read from a file, before its unit, sides and orientation are resolved.

use super::{Kind, LoadOptions};
use crate::calibration::{CalibrationError, Camera, LengthUnit, Projection, Rectification, StereoRig};
use glam::{DMat3, DVec3};

/// A rig with lengths in the file's unit.
pub(super) struct Draft {
    pub(super) kind: Kind,
    pub(super) left: Camera,
    pub(super) right: Camera,
    /// Pose of the right camera; derived from the rectification where it is `None`.
    pub(super) pose: Option<(DMat3, DVec3)>,
    pub(super) size: Option<(usize, usize)>,
    /// Its baseline in the file's unit; negative where the cameras are swapped.
    pub(super) rectification: Option<Rectification>,
    /// The unit, where the kind or the file states it.
    pub(super) unit: Option<LengthUnit>,
    pub(super) doubts: Vec<String>,
    pub(super) estimated: bool,
}

impl Draft {
    /// The checked rig in metres, with left and right in the right order.
    pub(super) fn finish(mut self, options: &LoadOptions) -> Result<StereoRig, CalibrationError> {
        let (rotation, translation) = match (self.pose, &self.rectification) {
            (Some(pose), _) => pose,
            (None, Some(r)) => {
                let from_common = r.rotation_right.transpose();
                (from_common * r.rotation_left, from_common * DVec3::new(-r.baseline_m, 0.0, 0.0))
            }
            (None, None) => return Err(CalibrationError("it does not say how the cameras stand to each other".into())),
        };
        let length = self.rectification.as_ref().map_or(translation.length(), |r| r.baseline_m.abs());
        let unit = options.unit.or(self.unit).unwrap_or_else(|| {
            let (unit, doubt) = LengthUnit::guess(length);
            self.doubts.extend(doubt);
            unit
        });
        if let Some(rectification) = &mut self.rectification {
            rectification.baseline_m *= unit.metres();
        }
        let mut rig = StereoRig {
            rectification: self.rectification,
            kind: self.kind,
            unit,
            estimated: self.estimated,
            ..StereoRig::new(self.left, self.right, rotation, translation * unit.metres(), self.size)
        };
        if options.swapped {
            rig = rig.swapped();
        }
        rig.validate()?;
        rig.doubts = self.doubts;
        rig.doubts.extend(rig.find_doubts());
        Ok(rig)
    }
}

/// Relative pose that follows from two projections, with their shifts, and their rotations.
pub(super) fn rectification(
    [left, right]: [(Projection, [f64; 2]); 2],
    rotations: [DMat3; 2],
    right_name: &str,
) -> Result<Rectification, CalibrationError> {
    let ((left, left_shift), (right, right_shift)) = (left, right);
    let (x, y) = (right_shift[0] - left_shift[0], right_shift[1] - left_shift[1]);
    if y.abs() > x.abs() {
        return Err(CalibrationError(format!(
            "{right_name} is of a rig whose cameras stand one above the other; only cameras side by side are supported"
        )));
    }
    let [rotation_left, rotation_right] = rotations;
    Ok(Rectification { rotation_left, rotation_right, left, right, baseline_m: -x / right.fx })
}
