//! Where the two cameras would have to look so that every point lies in the same row of both pictures.
//!
//! Rotations after Bouguet: each camera turns half of the rotation between them, then both turn until the baseline lies
//! along x. Focal length and principal point are the same in both pictures (so doffs is 0): the smallest focal length for
//! which both pictures are filled to their corners, as OpenCV's alpha = 0.

use super::{CalibrationError, Camera, StereoRig};
use crate::frame::Geometry;
use glam::{DMat3, DQuat, DVec2, DVec3};

/// A rectified picture's pinhole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    /// Focal length along x, px.
    pub fx: f64,
    /// Focal length along y, px.
    pub fy: f64,
    /// Principal point, px.
    pub cx: f64,
    /// Principal point, px.
    pub cy: f64,
}

impl Projection {
    /// The ray, with z = 1, of a rectified pixel.
    pub(super) fn ray(&self, x: f64, y: f64) -> DVec3 {
        DVec3::new((x - self.cx) / self.fx, (y - self.cy) / self.fy, 1.0)
    }

    #[must_use]
    fn scaled(&self, factor: DVec2) -> Self {
        let Self { fx, fy, cx, cy } = *self;
        Self { fx: fx * factor.x, fy: fy * factor.y, cx: (cx + 0.5) * factor.x - 0.5, cy: (cy + 0.5) * factor.y - 0.5 }
    }
}

/// How both pictures are rectified.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectification {
    /// From the left camera's axes to the common ones: R1.
    pub rotation_left: DMat3,
    /// From the right camera's axes to the common ones: R2.
    pub rotation_right: DMat3,
    /// The left rectified picture: P1.
    pub left: Projection,
    /// The right rectified picture: P2.
    pub right: Projection,
    /// Distance of the centres, m: from P2.
    pub baseline_m: f64,
}

impl Rectification {
    /// Computes the rectification of a rig for pictures of `width` x `height`, at least 2x2.
    ///
    /// # Errors
    /// The cameras are swapped, stand one above the other, or look apart.
    pub fn compute(rig: &StereoRig, width: usize, height: usize) -> Result<Self, CalibrationError> {
        let (rotation_left, rotation_right) = rotations(rig)?;
        let left = seen(&rig.left, rotation_left, width, height);
        let right = seen(&rig.right, rotation_right, width, height);
        let (low, high) = (left.0.max(right.0), left.1.min(right.1));
        let span = high - low;
        if span.min_element() <= 0.05 {
            return Err(CalibrationError(
                "the two cameras look too far apart: their pictures have nothing in common after rectification; check R \
                 and T, and that both cameras were calibrated together"
                    .to_owned(),
            ));
        }
        let last = DVec2::new(width as f64 - 1.0, height as f64 - 1.0);
        let focal = (last / span).max_element();
        let center = last / 2.0 - focal * (low + high) / 2.0;
        let projection = Projection { fx: focal, fy: focal, cx: center.x, cy: center.y };
        let baseline_m = rig.translation_m.length();
        Ok(Self { rotation_left, rotation_right, left: projection, right: projection, baseline_m })
    }

    /// The same for pictures `factor` times as large along x and y.
    #[must_use]
    pub(super) fn scaled(&self, factor: DVec2) -> Self {
        Self { left: self.left.scaled(factor), right: self.right.scaled(factor), ..*self }
    }

    /// What turns disparity of the rectified pictures into metres.
    pub fn geometry(&self) -> Geometry {
        Geometry {
            focal_px: self.left.fx,
            baseline_m: self.baseline_m,
            doffs_px: self.right.cx - self.left.cx,
            cx_px: self.left.cx,
            cy_px: self.left.cy,
            estimated: false,
        }
    }
}

/// R1 and R2.
fn rotations(rig: &StereoRig) -> Result<(DMat3, DMat3), CalibrationError> {
    let half = DQuat::IDENTITY.slerp(DQuat::from_mat3(&rig.rotation).normalize(), 0.5);
    let along = half.inverse() * rig.translation_m;
    let reason = match along {
        t if t.y.abs() > t.x.abs() => "they stand one above the other; only cameras side by side are supported",
        t if t.z.abs() > t.x.abs() => "one stands in front of the other; only cameras side by side are supported",
        t if t.x > 0.0 => {
            "the right camera stands to the left of the left one (T has a positive x); swap the two cameras, that is, \
             the two pictures and the two halves of the calibration"
        }
        _ => {
            let level = DQuat::from_rotation_arc(along.normalize(), DVec3::NEG_X);
            return Ok((DMat3::from_quat(level * half), DMat3::from_quat(level * half.inverse())));
        }
    };
    Err(CalibrationError(format!("the cameras cannot be rectified: {reason}")))
}

/// The largest rectangle of rectified rays (as x / z, y / z) that lies within what a camera sees: its corners.
fn seen(camera: &Camera, rotation: DMat3, width: usize, height: usize) -> (DVec2, DVec2) {
    let (mut low, mut high) = (DVec2::splat(f64::NEG_INFINITY), DVec2::splat(f64::INFINITY));
    let last = DVec2::new(width as f64 - 1.0, height as f64 - 1.0);
    let rectified = |x: f64, y: f64| {
        let ray = rotation * camera.ray(DVec2::new(x, y))?;
        (ray.z > 0.0).then(|| ray.truncate() / ray.z)
    };
    for step in 0..=64 {
        let at = last * (f64::from(step) / 64.0);
        // where the lens model folds there is no ray, and no bound
        let set = |bound: &mut f64, value: Option<f64>, tighter: fn(f64, f64) -> f64| {
            *bound = value.map_or(*bound, |value| tighter(*bound, value));
        };
        set(&mut low.x, rectified(0.0, at.y).map(|p| p.x), f64::max);
        set(&mut high.x, rectified(last.x, at.y).map(|p| p.x), f64::min);
        set(&mut low.y, rectified(at.x, 0.0).map(|p| p.y), f64::max);
        set(&mut high.y, rectified(at.x, last.y).map(|p| p.y), f64::min);
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::super::rig::tests::plain_rig;
    use super::*;
    use crate::calibration::Distortion;

    #[test]
    fn plain_rig_stays_as_it_is() {
        let done = Rectification::compute(&plain_rig(), 640, 480).unwrap();
        assert!((done.rotation_left - DMat3::IDENTITY).to_cols_array().iter().all(|v| v.abs() < 1e-12));
        let Geometry { focal_px, baseline_m, doffs_px, cx_px, cy_px, .. } = done.geometry();
        assert!((focal_px - 500.0).abs() < 1e-6 && (baseline_m - 0.12).abs() < 1e-12 && doffs_px.abs() < 1e-9);
        assert!((cx_px - 319.5).abs() < 1e-6 && (cy_px - 239.5).abs() < 1e-6);
    }

    #[test]
    fn baseline_lies_along_x_and_the_turn_is_shared() {
        let mut rig = plain_rig();
        rig.rotation = DMat3::from_quat(DQuat::from_euler(glam::EulerRot::XYZ, 0.03, -0.05, 0.02));
        rig.translation_m = DVec3::new(-0.11, 0.008, -0.012);
        let done = Rectification::compute(&rig, 640, 480).unwrap();
        let baseline = done.rotation_right * rig.translation_m;
        assert!((baseline - DVec3::new(-rig.translation_m.length(), 0.0, 0.0)).length() < 1e-12);
        // both look the same way: a far ray is the same in both
        let far = DVec3::new(0.1, -0.2, 1.0);
        let apart = done.rotation_left * far - done.rotation_right * (rig.rotation * far);
        assert!(apart.length() < 1e-12);
    }

    #[test]
    fn corners_of_both_pictures_are_filled() {
        let mut rig = plain_rig();
        rig.left.distortion = Distortion { radial: [-0.25, 0.07, 0.0, 0.0, 0.0, 0.0], ..Distortion::default() };
        rig.right.distortion = rig.left.distortion;
        rig.rotation = DMat3::from_rotation_y(0.02);
        let done = Rectification::compute(&rig, 640, 480).unwrap();
        let mut closest = f64::INFINITY;
        for (camera, rotation, projection) in
            [(rig.left, done.rotation_left, done.left), (rig.right, done.rotation_right, done.right)]
        {
            for (x, y) in (0..640).flat_map(|x| [(x, 0), (x, 479)]).chain((0..480).flat_map(|y| [(0, y), (639, y)])) {
                let raw = camera.project(rotation.transpose() * projection.ray(f64::from(x), f64::from(y)));
                let margin = raw.min(DVec2::new(639.0, 479.0) - raw).min_element();
                closest = closest.min(margin);
            }
        }
        assert!((-0.05..0.5).contains(&closest), "the picture is filled, and not more: {closest}");
    }

    #[test]
    fn rigs_that_are_not_side_by_side_are_refused() {
        let refused = |x, y, z| {
            let mut rig = plain_rig();
            rig.translation_m = DVec3::new(x, y, z);
            Rectification::compute(&rig, 640, 480).unwrap_err().to_string()
        };
        assert!(refused(0.12, 0.0, 0.0).contains("swap the two cameras"));
        assert!(refused(-0.02, 0.12, 0.0).contains("one above the other"));
        assert!(refused(-0.02, 0.0, 0.12).contains("in front of the other"));
        let mut apart = plain_rig();
        apart.rotation = DMat3::from_rotation_y(1.4);
        apart.translation_m = DMat3::from_rotation_y(0.7) * DVec3::new(-0.1, 0.0, 0.0);
        let text = Rectification::compute(&apart, 640, 480).unwrap_err().to_string();
        assert!(text.contains("look too far apart"), "{text}");
    }
}
