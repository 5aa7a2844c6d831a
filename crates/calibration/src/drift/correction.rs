//! Correction of a calibrated rig that has changed since: how the cameras have turned, and how much longer the right lens is.

use crate::rectification::rotations_of;
use crate::{CalibrationError, Camera, Rectification, StereoRig, checks};
use glam::{DMat3, DQuat, DVec3};

/// Change of a rig since its calibration, in the axes of its rectified images: x right, y down, z forward.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Correction {
    /// Day on which it was found.
    pub date: String,
    /// Rotation vector of the right camera against the left one, degrees: pitch, yaw and roll, to all intents.
    pub right_deg: [f64; 3],
    /// Rotation vector of both cameras against the line through their lenses, degrees.
    #[serde(default, skip_serializing_if = "stereopsis_base::parameter::is_default")]
    pub both_deg: [f64; 3],
    /// How much longer the right lens is than calibrated, against the left one, %.
    #[serde(default, skip_serializing_if = "stereopsis_base::parameter::is_default")]
    pub right_focal_percent: f64,
}

/// Rig before its correction.
#[derive(Clone, Debug, PartialEq)]
pub struct Corrected {
    /// Correction in force.
    pub correction: Correction,
    /// Rig as it was calibrated.
    pub calibrated: StereoRig,
}

/// Largest plausible rotation, degrees, and change of a lens, %: what has changed by more is another rig.
const MAX_DEG: f64 = 5.0;
const MAX_PERCENT: f64 = 10.0;

impl Correction {
    /// Whether it changes nothing.
    pub fn is_zero(&self) -> bool {
        let Self { right_deg, both_deg, right_focal_percent, .. } = self;
        right_deg.iter().chain(both_deg).chain([right_focal_percent]).all(|value| *value == 0.0)
    }

    /// Checks that the numbers are those of a slight change, as a found one is.
    ///
    /// # Errors
    /// They are too large, or no numbers.
    pub fn validate(&self) -> Result<(), CalibrationError> {
        let Self { right_deg, both_deg, right_focal_percent, .. } = self;
        let is_slight = right_deg.iter().chain(both_deg).all(|deg| deg.abs() <= MAX_DEG)
            && right_focal_percent.abs() <= MAX_PERCENT;
        if is_slight { Ok(()) } else { Err(CalibrationError::Correction) }
    }

    /// Returns the rotations of both cameras, in the axes of the rectified images.
    pub(super) fn turns(&self) -> [DMat3; 2] {
        let [both, right] = [self.both_deg, self.right_deg].map(|deg| turn(DVec3::from(deg) * 1f64.to_radians()));
        [both, both * right]
    }
}

/// Returns today's date, such as 2026-05-17.
pub(super) fn today() -> String {
    jiff::Zoned::now().date().to_string()
}

/// Returns the rotation of a rotation vector, rad.
pub(super) fn turn(vector: DVec3) -> DMat3 {
    DMat3::from_quat(DQuat::from_scaled_axis(vector))
}

impl StereoRig {
    /// Returns the rig as it stands now by a correction of its calibration, which it remembers; another correction takes the place of an earlier one.
    ///
    /// # Errors
    /// The numbers are no slight change, or the rig cannot be rectified.
    pub fn corrected(&self, correction: &Correction) -> Result<Self, CalibrationError> {
        if self.corrected_from.is_some() {
            return self.as_calibrated().corrected(correction);
        }
        correction.validate()?;
        checks::check(self)?;
        let (rotation_left, rotation_right, _) = rotations_of(self)?;
        let [left_turn, right_turn] = correction.turns();
        let (new_left, new_right) = (left_turn * rotation_left, right_turn * rotation_right);
        let longer = 1.0 + correction.right_focal_percent / 100.0;
        let right = Camera { fx: self.right.fx * longer, fy: self.right.fy * longer, ..self.right };
        let back = rotation_right.transpose() * right_turn.transpose();
        Ok(Self {
            right,
            rotation: back * left_turn * rotation_right * self.rotation,
            translation_m: back * rotation_right * self.translation_m,
            rectification: self.rectification.map(|own| Rectification {
                rotation_left: new_left,
                rotation_right: new_right,
                ..own
            }),
            corrected_from: Some(Box::new(Corrected { correction: correction.clone(), calibrated: self.clone() })),
            ..self.clone()
        })
    }

    /// Returns the rig as it was calibrated, before a correction.
    pub fn as_calibrated(&self) -> &Self {
        self.corrected_from.as_ref().map_or(self, |from| &from.calibrated)
    }
}
