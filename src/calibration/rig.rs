//! Two cameras and how they stand to each other.

use super::{CalibrationError, Camera, LengthUnit, Rectification};
use glam::{DMat3, DVec3};

/// A calibrated pair of cameras. A point at `x` in the left camera is at `rotation * x + translation_m` in the right one.
#[derive(Clone, Debug, PartialEq)]
pub struct StereoRig {
    /// The left camera, as seen from behind.
    pub left: Camera,
    /// The right camera.
    pub right: Camera,
    /// From the left camera's axes to the right one's.
    pub rotation: DMat3,
    /// The left camera's centre in the right camera's axes, m; about (-baseline, 0, 0).
    pub translation_m: DVec3,
    /// Size of the pictures that the cameras were calibrated with, where the file says it.
    pub size: Option<(usize, usize)>,
    /// The rectification that came with the calibration; otherwise one is computed.
    pub rectification: Option<Rectification>,
    /// Which unit the lengths were read in.
    pub unit: LengthUnit,
    /// Guessed from pictures and not calibrated; its depth is labelled so.
    pub estimated: bool,
}

/// Baselines outside this are probably a mistaken unit, m.
const PLAUSIBLE_BASELINE_M: std::ops::RangeInclusive<f64> = 0.005..=2.0;

impl StereoRig {
    /// Distance of the two optical centres, m.
    pub fn baseline_m(&self) -> f64 {
        self.rectification.as_ref().map_or(self.translation_m.length(), |r| r.baseline_m)
    }

    /// The numbers that a person can confirm with a ruler, in one line, with a doubt where they are implausible.
    pub fn summary(&self) -> String {
        let baseline_m = self.baseline_m();
        let focal_px = self.rectification.as_ref().map_or(self.left.fx, |r| r.left.fx);
        let unit = match self.unit {
            LengthUnit::Metres(size) => format!("{size} m"),
            unit => format!("1 {unit}"),
        };
        let mut text = format!(
            "baseline {}, focal length {focal_px:.0} px, with 1 unit of the file = {unit} (--calibration-unit)",
            length(baseline_m)
        );
        if !PLAUSIBLE_BASELINE_M.contains(&baseline_m) {
            text.push_str(
                "; such a baseline is unusual: if your cameras do not stand so, give --calibration-unit cm, mm, or the \
                 length of one unit in metres (the side of a square of the chessboard)",
            );
        }
        text
    }

    /// Checks what no rectification can do without.
    pub(super) fn validate(&self) -> Result<(), CalibrationError> {
        let error = |text: String| Err(CalibrationError(text));
        for (side, camera) in [("left", &self.left), ("right", &self.right)] {
            if camera.fx <= 0.0 || camera.fy <= 0.0 {
                return error(format!(
                    "the {side} camera matrix is singular: its focal lengths are {} and {} px, which must be above 0",
                    camera.fx, camera.fy
                ));
            }
        }
        if !is_rotation(self.rotation) {
            return error("R, the rotation between the cameras, is no rotation; the file is damaged".to_owned());
        }
        if self.baseline_m() < 1e-9 {
            return error("the baseline is 0: T must hold the distance between the two cameras".to_owned());
        }
        Ok(())
    }
}

/// Whether a matrix turns space and does nothing else, to a thousandth.
pub(super) fn is_rotation(matrix: DMat3) -> bool {
    let off = (matrix * matrix.transpose() - DMat3::IDENTITY).to_cols_array();
    off.iter().all(|v| v.abs() < 1e-3) && matrix.determinant() > 0.0
}

/// A length in mm below 1 m, with four digits that matter.
fn length(metres: f64) -> String {
    match metres {
        m if m < 1e-3 => format!("{:.4} mm", m * 1e3),
        m if m < 1.0 => format!("{:.1} mm", m * 1e3),
        m => format!("{m:.2} m"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::calibration::Distortion;

    /// Two plain cameras side by side, 640x480, baseline 120 mm.
    pub(in super::super) fn plain_rig() -> StereoRig {
        let camera = Camera { fx: 500.0, fy: 500.0, cx: 319.5, cy: 239.5, distortion: Distortion::default() };
        StereoRig {
            left: camera,
            right: camera,
            rotation: DMat3::IDENTITY,
            translation_m: DVec3::new(-0.12, 0.0, 0.0),
            size: Some((640, 480)),
            rectification: None,
            unit: LengthUnit::Metre,
            estimated: false,
        }
    }

    #[test]
    fn summary_tells_baseline_focal_length_and_unit() {
        let mut rig = plain_rig();
        assert_eq!(
            rig.summary(),
            "baseline 120.0 mm, focal length 500 px, with 1 unit of the file = 1 m (--calibration-unit)"
        );
        rig.unit = LengthUnit::Metres(0.025);
        assert!(rig.summary().contains("1 unit of the file = 0.025 m"));
    }

    #[test]
    fn implausible_baselines_raise_a_doubt() {
        let mut rig = plain_rig();
        for (x, doubted) in [(-0.12, false), (-0.0033, true), (-3.34, true), (-60.0, true)] {
            rig.translation_m.x = x;
            assert_eq!(rig.summary().contains("unusual"), doubted, "{}", rig.summary());
        }
    }

    #[test]
    fn rigs_that_cannot_be_are_refused() {
        let refused = |change: fn(&mut StereoRig)| {
            let mut rig = plain_rig();
            change(&mut rig);
            rig.validate().unwrap_err().to_string()
        };
        assert!(plain_rig().validate().is_ok());
        assert!(refused(|rig| rig.translation_m = DVec3::ZERO).contains("baseline is 0"));
        assert!(refused(|rig| rig.right.fy = 0.0).contains("right camera matrix is singular"));
        assert!(refused(|rig| rig.rotation *= 1.1).contains("is no rotation"));
        assert!(refused(|rig| rig.rotation.x_axis *= -1.0).contains("is no rotation"));
    }
}
