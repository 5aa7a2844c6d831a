//! Rig: two cameras and their relative pose.

use super::length_unit::PLAUSIBLE_BASELINE_M;
use super::projection::to_right;
use super::{Camera, Corrected, Distortion, Kind, LengthUnit, Projection, Rectification};
use glam::{DMat3, DVec3};
use std::f64::consts::FRAC_PI_2;
use stereopsis_base::geometry::{Axis, DepthSpread, Geometry, Uncertainty};

/// Calibrated pair of cameras. A point at `x` in the left camera is at `rotation * x + translation_m` in the right one.
#[derive(Clone, Debug, PartialEq)]
pub struct StereoRig {
    /// Left camera, as seen from behind.
    pub left: Camera,
    /// Right camera.
    pub right: Camera,
    /// Rotation from the left camera's axes to the right one's.
    pub rotation: DMat3,
    /// Left camera's centre in the right camera's axes, m; about (-baseline, 0, 0).
    pub translation_m: DVec3,
    /// Image size of the calibration, if the file states it.
    pub size: Option<(usize, usize)>,
    /// Image size of the right camera, if it is another one.
    pub right_size: Option<(usize, usize)>,
    /// Rectification of the file; without it one is computed.
    pub rectification: Option<Rectification>,
    /// Kind of the rig's file.
    pub kind: Kind,
    /// Unit of the file's lengths.
    pub unit: LengthUnit,
    /// Whether left and right of the file are swapped.
    pub exchanged: bool,
    /// Warnings; empty if all values are plausible.
    pub doubts: Vec<String>,
    /// Whether the rig is estimated from images, not calibrated; its depth is marked.
    pub estimated: bool,
    /// Accuracy, if the file states it.
    pub uncertainty: Option<Uncertainty>,
    /// Spread of depth of an estimated rig.
    pub spread: Option<DepthSpread>,
    /// Rig as it was calibrated, and the correction that made this one of it; see [`Self::corrected`].
    pub corrected_from: Option<Box<Corrected>>,
}

impl StereoRig {
    /// Returns a rig without a file, lengths in metres.
    pub fn new(
        left: Camera,
        right: Camera,
        rotation: DMat3,
        translation_m: DVec3,
        size: Option<(usize, usize)>,
    ) -> Self {
        Self {
            left,
            right,
            rotation,
            translation_m,
            size,
            right_size: None,
            rectification: None,
            kind: Kind::Computed,
            unit: LengthUnit::Metre,
            exchanged: false,
            doubts: Vec::new(),
            estimated: false,
            uncertainty: None,
            spread: None,
            corrected_from: None,
        }
    }

    /// Returns the rig of rectified images with this geometry.
    pub fn of_rectified(geometry: &Geometry, size: (usize, usize)) -> Self {
        let &Geometry { focal_px, baseline_m, cx_px, cy_px, estimated, axis, uncertainty, spread, .. } = geometry;
        let cameras = [[cx_px, cy_px], geometry.right_centre_px()];
        let cameras = cameras.map(|[cx, cy]| Projection { fx: focal_px, fy: focal_px, cx, cy });
        Self { estimated, uncertainty, spread, ..Self::of_standing_pinholes(cameras, baseline_m, axis, Some(size)) }
    }

    /// Returns the rig of rectified images with these cameras side by side.
    pub(crate) fn of_pinholes(cameras: [Projection; 2], baseline_m: f64, size: Option<(usize, usize)>) -> Self {
        Self::of_standing_pinholes(cameras, baseline_m, Axis::Horizontal, size)
    }

    fn of_standing_pinholes(
        [left, right]: [Projection; 2],
        baseline_m: f64,
        axis: Axis,
        size: Option<(usize, usize)>,
    ) -> Self {
        let rotation = DMat3::IDENTITY;
        let rectification =
            Rectification { rotation_left: rotation, rotation_right: rotation, left, right, baseline_m, axis };
        let [left, right] = [left, right].map(|Projection { fx, fy, cx, cy }| Camera {
            fx,
            fy,
            cx,
            cy,
            skew: 0.0,
            distortion: Distortion::default(),
        });
        let rig = Self::new(left, right, rotation, -baseline_m * to_right(axis), size);
        Self { rectification: Some(rectification), ..rig }
    }

    /// Returns the rig whose right images have this size.
    pub(crate) fn with_right_size(self, right_size: (usize, usize)) -> Self {
        Self { right_size: Some(right_size).filter(|size| self.size != Some(*size)), ..self }
    }

    /// Returns the image sizes of the left and the right camera.
    pub(crate) fn sizes(&self) -> [Option<(usize, usize)>; 2] {
        [self.size, self.right_size.or(self.size)]
    }

    /// Returns by how many quarters, from -1 to 2, the right camera is turned clockwise about its axis, as seen from behind, against the left one.
    pub(crate) fn quarter_turns(&self) -> i32 {
        let r = &self.rotation;
        let roll = (r.x_axis.y - r.y_axis.x).atan2(r.x_axis.x + r.y_axis.y);
        let turns = (roll / FRAC_PI_2).round() as i32;
        if turns == -2 { 2 } else { turns }
    }

    /// Returns the pose of the right camera as if it was not turned by quarters.
    pub(crate) fn upright_pose(&self) -> (DMat3, DVec3) {
        match self.quarter_turns() {
            0 => (self.rotation, self.translation_m),
            turns => {
                let back = quarters(-turns);
                (back * self.rotation, back * self.translation_m)
            }
        }
    }

    /// Returns the baseline, the distance of the two optical centres, m.
    pub fn baseline_m(&self) -> f64 {
        self.rectification.as_ref().map_or(self.translation_m.length(), |r| r.baseline_m)
    }

    /// Returns the focal length, px: of the rectification in the file, else of the left camera.
    pub fn focal_px(&self) -> f64 {
        self.rectification.as_ref().map_or(self.left.fx, |r| r.left.fx)
    }

    /// Returns the baseline in the file's unit.
    pub(crate) fn baseline_in_file(&self) -> f64 {
        self.baseline_m() / self.unit.metres()
    }

    /// Returns the numbers that a user can check with a ruler, in one sentence, followed by the warnings.
    pub fn summary(&self) -> String {
        let size = match self.sizes() {
            [Some((width, height)), Some((columns, rows))] if self.right_size.is_some() => {
                format!("left {width}x{height}, right {columns}x{rows}")
            }
            [Some((width, height)), _] => format!("{width}x{height} per image"),
            [None, _] => "no image size in the file".to_owned(),
        };
        let unit = match self.unit {
            LengthUnit::Metres(size) => format!("units of {size} m"),
            unit => unit.to_string(),
        };
        let file = self.baseline_in_file();
        let file = if file >= 10.0 { format!("{file:.1}") } else { format!("{file:.4}") };
        let sides = match (self.exchanged, self.axis()) {
            (true, _) => "left and right of the file are exchanged",
            (false, Axis::Horizontal) => "left is left",
            (false, Axis::Vertical) => "one camera above the other, the upper one is the left one",
        };
        let mut text = format!(
            "{size}, focal {:.0} px, baseline {:.4} m (file: {file}, read as {unit}), {sides}",
            self.focal_px(),
            self.baseline_m()
        );
        for doubt in &self.doubts {
            text.push_str("; but ");
            text.push_str(doubt);
        }
        text
    }

    /// Whether the baseline is plausible for cameras on a desk or a robot: 1 cm to 1.5 m.
    pub fn has_plausible_baseline(&self) -> bool {
        PLAUSIBLE_BASELINE_M.contains(&self.baseline_m())
    }

    /// Swaps left and right, for files with the opposite order.
    #[must_use]
    pub fn swapped(&self) -> Self {
        let rotation = self.rotation.transpose();
        Self {
            left: self.right,
            right: self.left,
            size: self.sizes()[1],
            right_size: self.size.filter(|_| self.right_size.is_some()),
            rotation,
            translation_m: -(rotation * self.translation_m),
            rectification: self.rectification.map(|r| Rectification {
                rotation_left: r.rotation_right,
                rotation_right: r.rotation_left,
                left: r.right,
                right: r.left,
                baseline_m: -r.baseline_m,
                axis: r.axis,
            }),
            exchanged: !self.exchanged,
            ..self.clone()
        }
    }
}

/// Returns the rotation about the optical axis by quarters: exact, without a sine.
pub(crate) fn quarters(turns: i32) -> DMat3 {
    let quarter = DMat3::from_cols(DVec3::Y, -DVec3::X, DVec3::Z);
    (0..turns.rem_euclid(4)).fold(DMat3::IDENTITY, |all, _| quarter * all)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{Distortion, Projection};

    pub(in super::super) fn camera([fx, fy, cx, cy]: [f64; 4], lens: &[f64]) -> Camera {
        Camera { fx, fy, cx, cy, skew: 0.0, distortion: Distortion::from_opencv("D", lens).unwrap() }
    }

    /// Returns two plain cameras side by side, 640x480, baseline 120 mm.
    pub(in super::super) fn plain_rig() -> StereoRig {
        let camera =
            Camera { fx: 500.0, fy: 500.0, cx: 319.5, cy: 239.5, skew: 0.0, distortion: Distortion::default() };
        StereoRig::new(camera, camera, DMat3::IDENTITY, DVec3::new(-0.12, 0.0, 0.0), Some((640, 480)))
    }

    #[test]
    fn summary_is_one_sentence_to_confirm() {
        let mut rig = plain_rig();
        assert_eq!(
            rig.summary(),
            "640x480 per image, focal 500 px, baseline 0.1200 m (file: 0.1200, read as m), left is left"
        );
        rig.unit = LengthUnit::Millimetre;
        rig.size = None;
        rig.exchanged = true;
        rig.doubts.push("the moon is full".to_owned());
        assert_eq!(
            rig.summary(),
            "no image size in the file, focal 500 px, baseline 0.1200 m (file: 120.0, read as mm), left and right of \
             the file are exchanged; but the moon is full"
        );
        rig.unit = LengthUnit::Metres(0.025);
        assert!(rig.summary().contains("(file: 4.8000, read as units of 0.025 m)"), "{}", rig.summary());
    }

    #[test]
    fn swapped_cameras_see_the_same_points() {
        let mut rig = plain_rig();
        rig.right.fx = 510.0;
        rig.rotation = DMat3::from_rotation_y(0.05) * DMat3::from_rotation_z(-0.02);
        rig.translation_m = DVec3::new(-0.12, 0.003, 0.004);
        let point = DVec3::new(0.2, -0.1, 1.5);
        let in_right = rig.rotation * point + rig.translation_m;
        let swapped = rig.swapped();
        assert_eq!((swapped.left.fx, swapped.right.fx, swapped.exchanged), (510.0, 500.0, true));
        assert!((swapped.rotation * in_right + swapped.translation_m - point).length() < 1e-12);
        let back = swapped.swapped();
        assert!((back.translation_m - rig.translation_m).length() < 1e-12 && !back.exchanged);

        let plain = Projection { fx: 500.0, fy: 500.0, cx: 319.5, cy: 239.5 };
        let wrong_way = Rectification {
            rotation_left: DMat3::IDENTITY,
            rotation_right: DMat3::from_rotation_x(0.1),
            left: plain,
            right: Projection { cx: 325.0, ..plain },
            baseline_m: -0.12,
            axis: Axis::Horizontal,
        };
        rig.rectification = Some(wrong_way);
        let right_way = rig.swapped().rectification.unwrap();
        assert_eq!((right_way.baseline_m, right_way.left.cx), (0.12, 325.0));
        assert_eq!(right_way.rotation_left, wrong_way.rotation_right);
    }
}
