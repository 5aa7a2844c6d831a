//! Camera of the 3-D view: pose, lens, and projection to the target.

use glam::{DMat3, DMat4, DVec2, DVec3, DVec4, dvec2, dvec3};
use std::f64::consts::FRAC_PI_2;
use std::ops::RangeInclusive;
use stereopsis_base::geometry::Geometry;

/// Distance of the near plane from the camera, m.
const MIN_DEPTH_M: f64 = 1e-3;
/// Range of the camera's distance from the pivot, m.
const DISTANCES_M: RangeInclusive<f64> = 0.01..=10_000.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pose {
    /// Point at which the camera looks and around which it turns, m.
    pub(crate) pivot_m: DVec3,
    pub(crate) distance_m: f64,
    /// Angle to the right, rad; 0 looks along the left camera's axis.
    pub(crate) yaw_rad: f64,
    /// Angle downwards, rad, up to a right angle.
    pub(crate) pitch_rad: f64,
}

impl Pose {
    /// Returns the left camera's pose with the pivot at this depth.
    pub(crate) fn of_left_camera(pivot_z_m: f64) -> Self {
        let pivot_m = dvec3(0.0, 0.0, pivot_z_m);
        Self { pivot_m, distance_m: pivot_z_m, yaw_rad: 0.0, pitch_rad: 0.0 }
    }

    /// Returns the camera's axes as columns: right, down, forward.
    pub(crate) fn axes(&self) -> DMat3 {
        let (yaw_sin, yaw_cos) = self.yaw_rad.sin_cos();
        let (pitch_sin, pitch_cos) = self.pitch_rad.sin_cos();
        let right = dvec3(yaw_cos, 0.0, -yaw_sin);
        let forward = dvec3(yaw_sin * pitch_cos, pitch_sin, yaw_cos * pitch_cos);
        DMat3::from_cols(right, forward.cross(right), forward)
    }

    /// Returns the position of the camera, m.
    pub(crate) fn eye_m(&self) -> DVec3 {
        self.pivot_m - self.axes().z_axis * self.distance_m
    }

    /// Turns around the pivot by angles in rad; positive ones move the scene to the right and downwards.
    pub(crate) fn orbit(&mut self, to_right_rad: f64, downwards_rad: f64) {
        self.yaw_rad += to_right_rad;
        self.pitch_rad = (self.pitch_rad + downwards_rad).clamp(-FRAC_PI_2, FRAC_PI_2);
    }

    /// Moves camera and pivot along the camera's axes (right, down, forward) by distances in m.
    pub(crate) fn fly(&mut self, by_m: DVec3) {
        self.pivot_m += self.axes() * by_m;
    }

    pub(crate) fn approach(&mut self, ratio: f64) {
        self.distance_m = (self.distance_m * ratio).clamp(*DISTANCES_M.start(), *DISTANCES_M.end());
    }
}

/// Lens of the camera: projection to the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lens {
    /// Size of the target, px.
    pub(crate) target_px: DVec2,
    /// Focal length on the target, px.
    pub(crate) focal_px: f64,
    /// Principal point on the target, px from its upper left corner.
    pub(crate) axis_px: DVec2,
}

impl Lens {
    /// Returns the left camera's lens, scaled so that its image of size `picture` fits in the middle of `target`.
    pub(crate) fn of(geometry: &Geometry, picture: (usize, usize), target: (u32, u32)) -> Self {
        let picture_px = dvec2(picture.0 as f64, picture.1 as f64);
        let target_px = dvec2(f64::from(target.0), f64::from(target.1));
        let scale = (target_px / picture_px).min_element();
        // pixel centres have integer coordinates
        let from_middle = dvec2(geometry.cx_px + 0.5, geometry.cy_px + 0.5) - picture_px / 2.0;
        Self { target_px, focal_px: geometry.focal_px * scale, axis_px: target_px / 2.0 + from_middle * scale }
    }
}

/// Returns the matrix from metres in the left camera's axes to clip coordinates.
/// Depth is reversed, 1 at [`MIN_DEPTH_M`] and 0 at infinity, which keeps the precision of floats far away.
pub(crate) fn clip_from_world(pose: &Pose, lens: &Lens) -> DMat4 {
    let to_camera = pose.axes().transpose();
    let camera_from_world = DMat4::from_mat3(to_camera) * DMat4::from_translation(-pose.eye_m());
    let scale = 2.0 * lens.focal_px / lens.target_px;
    let axis = 2.0 * lens.axis_px / lens.target_px - 1.0;
    let clip_from_camera = DMat4::from_cols(
        DVec4::new(scale.x, 0.0, 0.0, 0.0),
        DVec4::new(0.0, -scale.y, 0.0, 0.0),
        DVec4::new(axis.x, -axis.y, 0.0, 1.0),
        DVec4::new(0.0, 0.0, MIN_DEPTH_M, 0.0),
    );
    clip_from_camera * camera_from_world
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEOMETRY: Geometry = Geometry::new(500.0, 0.1, 3.0, [300.0, 220.0]);

    /// Returns the projection of a point in px from the target's upper left corner, or `None` behind the camera.
    fn target_px(pose: &Pose, lens: &Lens, point_m: DVec3) -> Option<DVec2> {
        let clip = clip_from_world(pose, lens) * point_m.extend(1.0);
        let ndc = clip.truncate() / clip.w;
        (clip.w > 0.0).then(|| (dvec2(ndc.x, -ndc.y) + 1.0) / 2.0 * lens.target_px)
    }

    #[test]
    fn as_the_camera_sees_it_each_point_is_where_its_pixel_is() {
        let pose = Pose::of_left_camera(2.0);
        for (target, scale, border) in [((640, 480), 1.0, 0.0), ((320, 480), 0.5, 120.0)] {
            let lens = Lens::of(&GEOMETRY, (640, 480), target);
            for (x, y, z) in [(0.0, 0.0, 0.5), (100.0, 399.0, 2.0), (639.0, 479.0, 70.0)] {
                let point = DVec3::from(GEOMETRY.point_m(x, y, z));
                let at = target_px(&pose, &lens, point).unwrap();
                let wanted = dvec2((x + 0.5) * scale, (y + 0.5) * scale + border);
                assert!((at - wanted).length() < 1e-9, "({x}, {y}) at {z} m: {at} instead of {wanted}");
            }
        }
    }

    #[test]
    fn clip_depth_falls_from_one_to_zero() {
        let lens = Lens::of(&GEOMETRY, (640, 480), (640, 480));
        let depth = |z: f64| {
            let clip = clip_from_world(&Pose::of_left_camera(1.0), &lens) * DVec4::new(0.3, 0.2, z, 1.0);
            clip.z / clip.w
        };
        assert!((depth(MIN_DEPTH_M) - 1.0).abs() < 1e-12);
        assert!(depth(1.0) > depth(1.001) && depth(1e6) > 0.0);
    }

    #[test]
    fn the_pivot_stays_while_the_camera_goes_around_it() {
        let lens = Lens::of(&GEOMETRY, (640, 480), (640, 480));
        let mut pose = Pose::of_left_camera(2.0);
        pose.orbit(0.5, 0.3);
        let axes = pose.axes();
        assert!(
            (axes * axes.transpose()).abs_diff_eq(DMat3::IDENTITY, 1e-12) && (axes.determinant() - 1.0).abs() < 1e-12
        );
        assert!(
            pose.eye_m().x < 0.0 && pose.eye_m().y < 0.0,
            "it looks from the left and from above: {}",
            pose.eye_m()
        );
        assert!((target_px(&pose, &lens, pose.pivot_m).unwrap() - lens.axis_px).length() < 1e-9);
        // a point nearer than the pivot moves to the right and down, as if dragged by hand
        let before = target_px(&pose, &lens, dvec3(0.0, 0.0, 1.5)).unwrap() - lens.axis_px;
        assert!(before.x > 1.0 && before.y > 1.0, "{before}");
        // after a quarter turn, forward is the scene's right
        let mut quarter = Pose::of_left_camera(2.0);
        quarter.orbit(FRAC_PI_2, 0.0);
        assert!((quarter.eye_m() - dvec3(-2.0, 0.0, 2.0)).length() < 1e-12);
        assert!((quarter.axes().z_axis - DVec3::X).length() < 1e-12);
        quarter.orbit(0.0, 9.0);
        assert!((quarter.axes().z_axis - DVec3::Y).length() < 1e-9, "straight down and no further");
    }

    #[test]
    fn flying_takes_the_pivot_along_and_approaching_does_not() {
        let mut pose = Pose::of_left_camera(2.0);
        pose.orbit(FRAC_PI_2, 0.0);
        pose.fly(dvec3(0.0, 0.0, 0.5));
        assert!((pose.pivot_m - dvec3(0.5, 0.0, 2.0)).length() < 1e-12, "forward is the scene's right");
        let pivot = pose.pivot_m;
        pose.approach(0.5);
        assert!((pose.distance_m - 1.0).abs() < 1e-12 && pose.pivot_m == pivot);
        pose.approach(0.0);
        assert!(pose.distance_m > 0.0, "never inside of the pivot");
    }

    #[test]
    fn nothing_behind_the_camera_appears() {
        let lens = Lens::of(&GEOMETRY, (640, 480), (640, 480));
        assert_eq!(target_px(&Pose::of_left_camera(1.0), &lens, dvec3(0.0, 0.0, -1.0)), None);
    }
}
