//! Rectification: virtual cameras that show every point in the same row of both images, or in the same column for cameras one above the
//! other.
//!
//! Rotations after Bouguet: each camera turns by half of the rotation between them, then both turn until the baseline lies along x or y.
//! Focal length and principal point are equal in both images (so doffs is 0) and chosen as in OpenCV, so that a rig has the same focal
//! length in both programs: the principal point centres the corners of both images; the focal length lies between the one that fills
//! both images (alpha 0) and the one that loses no pixel of either (alpha 1), or follows from a field of view. Of cameras that look towards
//! each other such images would show what lies far behind the crossing of their axes; each then has a principal point of its own along the
//! baseline, as without OpenCV's `CALIB_ZERO_DISPARITY`, and doffs is their difference.

use super::crop::{self, Crop};
use super::projection::to_right;
use super::rig::quarters;
use super::{CalibrationError, Camera, Projection, Rectification, StereoRig, checks};
use glam::{DMat3, DQuat, DVec2};
use stereopsis_base::geometry::Axis;

impl Rectification {
    /// Computes the rectification of a rig for images of `width` x `height`, at least 2x2.
    ///
    /// # Errors
    /// The cameras are swapped, one in front of the other, or have no view in common.
    pub fn compute(
        rig: &StereoRig,
        width: usize,
        height: usize,
        crop: impl Into<Crop>,
    ) -> Result<Self, CalibrationError> {
        let (rotation_left, rotation_right, axis) = rotations(rig)?;
        let rotations = [rotation_left, rotation_right];
        let [left, right] = projections(rig, rotations, axis, (width, height), crop.into())?;
        let baseline_m = rig.translation_m.length();
        Ok(Self { rotation_left, rotation_right, left, right, baseline_m, axis })
    }

    /// Returns the rectification with the same rotations and baseline, and another crop.
    ///
    /// # Errors
    /// The cameras diverge too much.
    pub(super) fn cropped(&self, rig: &StereoRig, size: (usize, usize), crop: Crop) -> Result<Self, CalibrationError> {
        let [left, right] = projections(rig, [self.rotation_left, self.rotation_right], self.axis, size, crop)?;
        Ok(Self { left, right, ..*self })
    }
}

/// Smallest ratio of the focal length that fills both images with a common principal point to the one with two: above it the cameras look
/// towards each other, and the common images would lose a third of their view.
const VERGED: f64 = 1.25;

/// Smallest part of a camera's axis across the baseline: 70 degrees to a side.
const MIN_FORWARD: f64 = 0.34;

/// Computes the projections of both rectified images; see [`Rectification::compute`].
fn projections(
    rig: &StereoRig,
    rotations: [DMat3; 2],
    axis: Axis,
    size: (usize, usize),
    crop: Crop,
) -> Result<[Projection; 2], CalibrationError> {
    let [left, right] = rotations;
    let sides = [(&rig.left, left), (&rig.right, right)];
    let last = DVec2::new(size.0 as f64 - 1.0, size.1 as f64 - 1.0);
    // initial focal length, to centre the corners; the final one follows from them
    let usual = match axis {
        Axis::Horizontal => f64::midpoint(rig.left.fy, rig.right.fy),
        Axis::Vertical => f64::midpoint(rig.left.fx, rig.right.fx),
    };
    let [left, right] = sides.map(|(camera, rotation)| corner_mean(camera, rotation, last));
    let center = last / 2.0 - usual * (left + right) / 2.0;
    let seen = sides.map(|(camera, rotation)| seen(camera, rotation, last));
    // of cameras that look towards each other each image is centred along the baseline on the middle of what its camera sees
    let along = to_right(axis).truncate();
    let middles = sides.map(|(camera, rotation)| direction(camera, rotation, last / 2.0).unwrap_or_default() * along);
    let own_center = center + (last / 2.0 - center) * along;
    let focal_lengths = |seen: [FieldOfView; 2], center: DVec2| {
        let [left, right] = seen.map(|seen| seen.focal_lengths(center, last));
        (left.0.max(right.0), left.1.min(right.1))
    };
    let common = focal_lengths(seen, center);
    let own = focal_lengths([seen[0].moved(-middles[0]), seen[1].moved(-middles[1])], own_center);
    let is_verged = common.0 > VERGED * own.0;
    let (center, (filled, whole)) = if is_verged { (own_center, own) } else { (center, common) };
    let looks_aside = rotations.iter().any(|rotation| rotation.z_axis.z < MIN_FORWARD);
    // 20 times the usual focal length would show almost nothing
    if looks_aside || !(whole > 0.0 && filled > 0.0 && filled < 20.0 * usual) {
        let aside_deg = rotations.map(|rotation| rotation.z_axis.z.clamp(-1.0, 1.0).acos().to_degrees());
        return Err(CalibrationError::Apart { aside_deg });
    }
    let focal = match crop {
        Crop { rectified_fov_deg: Some(fov_deg), .. } => {
            crop::focal_px(fov_deg, center.x + 0.5, last.x + 0.5 - center.x)
        }
        Crop { alpha, .. } => filled * (1.0 - alpha) + whole * alpha,
    };
    Ok(middles.map(|middle| {
        let center = if is_verged { center - focal * middle } else { center };
        Projection { fx: focal, fy: focal, cx: center.x, cy: center.y }
    }))
}

/// Returns R1 and R2 of a rig, its own ones where it has them, and the direction of the baseline.
pub(super) fn rotations_of(rig: &StereoRig) -> Result<(DMat3, DMat3, Axis), CalibrationError> {
    if let Some(own) = &rig.rectification {
        return Ok((own.rotation_left, own.rotation_right, own.axis));
    }
    let (rotation, translation_m) = rig.upright_pose();
    let (left, right, axis) = rotations(&StereoRig { rotation, translation_m, ..rig.clone() })?;
    Ok((left, right * quarters(-rig.quarter_turns()), axis))
}

/// Computes R1 and R2, and the direction of the baseline.
fn rotations(rig: &StereoRig) -> Result<(DMat3, DMat3, Axis), CalibrationError> {
    let axis = checks::standing(rig).map_err(CalibrationError::Standing)?;
    let half = DQuat::IDENTITY.slerp(DQuat::from_mat3(&rig.rotation).normalize(), 0.5);
    let along = half.inverse() * rig.translation_m;
    let level = DQuat::from_rotation_arc(along.normalize(), -to_right(axis));
    Ok((DMat3::from_quat(level * half), DMat3::from_quat(level * half.inverse()), axis))
}

/// Returns the direction of a pixel in a rotated camera, as (x / z, y / z); `None` beyond a fold of the lens model, and more than 80
/// degrees off the axis, which a pinhole image cannot show.
fn direction(camera: &Camera, rotation: DMat3, pixel: DVec2) -> Option<DVec2> {
    let ray = rotation * camera.direction(pixel)?;
    (ray.z > 0.17).then(|| ray.truncate() / ray.z)
}

/// Returns the direction of a pixel; without one that of the outermost point on the way to it from the centre.
fn outermost(camera: &Camera, rotation: DMat3, pixel: DVec2, last: DVec2) -> Option<DVec2> {
    const HALVINGS: u32 = 10;
    let at = |share: f64| direction(camera, rotation, (last / 2.0).lerp(pixel, share));
    if let Some(seen) = at(1.0) {
        return Some(seen);
    }
    let (mut inside, mut outside, mut seen) = (0.0, 1.0, at(0.0)?);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(inside, outside);
        match at(middle) {
            Some(found) => (inside, seen) = (middle, found),
            None => outside = middle,
        }
    }
    Some(seen)
}

/// Returns the mean direction of the four corners, or of the outermost points before a fold.
fn corner_mean(camera: &Camera, rotation: DMat3, last: DVec2) -> DVec2 {
    let corners = [DVec2::ZERO, DVec2::new(last.x, 0.0), DVec2::new(0.0, last.y), last];
    let seen = corners.map(|corner| outermost(camera, rotation, corner, last).unwrap_or(DVec2::ZERO));
    seen.iter().sum::<DVec2>() / 4.0
}

/// Largest x / z or y / z of a rectified direction, 75 degrees off the axis; images are cropped beyond it. A pinhole that shows the whole
/// field of a fisheye has too few pixels for its centre.
const MAX_TANGENT: f64 = 3.73;

/// Field of view of a camera in rectified directions.
#[derive(Clone, Copy, Debug)]
struct FieldOfView {
    /// Corners of the largest inscribed rectangle.
    inner: (DVec2, DVec2),
    /// Corners of the smallest enclosing rectangle.
    outer: (DVec2, DVec2),
}

impl FieldOfView {
    fn moved(&self, by: DVec2) -> Self {
        let moved = |(low, high): (DVec2, DVec2)| (low + by, high + by);
        Self { inner: moved(self.inner), outer: moved(self.outer) }
    }

    /// Returns the focal lengths that fill the image and that show everything, with the principal point at `center`.
    fn focal_lengths(&self, center: DVec2, last: DVec2) -> (f64, f64) {
        let ratios = |(low, high): (DVec2, DVec2)| (center / -low, (last - center) / high);
        let ((a, b), (c, d)) = (ratios(self.inner), ratios(self.outer));
        // a rectangle without the principal point cannot fill the image
        let holds = a.min(b).min_element() >= 0.0;
        let filled = if holds { a.max(b).max_element() } else { f64::INFINITY };
        (filled, c.min(d).min_element())
    }
}

fn seen(camera: &Camera, rotation: DMat3, last: DVec2) -> FieldOfView {
    let (mut low, mut high) = (DVec2::splat(f64::NEG_INFINITY), DVec2::splat(f64::INFINITY));
    let (mut lowest, mut highest) = (DVec2::splat(f64::INFINITY), DVec2::splat(f64::NEG_INFINITY));
    for step in 0..=64 {
        let at = last * (f64::from(step) / 64.0);
        let mut edge = |pixel: DVec2, tighten: &mut dyn FnMut(DVec2)| {
            if let Some(seen) = outermost(camera, rotation, pixel, last) {
                (lowest, highest) = (lowest.min(seen), highest.max(seen));
                tighten(seen);
            }
        };
        edge(DVec2::new(0.0, at.y), &mut |seen| low.x = low.x.max(seen.x));
        edge(DVec2::new(last.x, at.y), &mut |seen| high.x = high.x.min(seen.x));
        edge(DVec2::new(at.x, 0.0), &mut |seen| low.y = low.y.max(seen.y));
        edge(DVec2::new(at.x, last.y), &mut |seen| high.y = high.y.min(seen.y));
    }
    let within =
        |(low, high): (DVec2, DVec2)| (low.max(DVec2::splat(-MAX_TANGENT)), high.min(DVec2::splat(MAX_TANGENT)));
    FieldOfView { inner: within((low, high)), outer: within((lowest, highest)) }
}

#[cfg(test)]
mod tests {
    use super::super::rig::tests::plain_rig;
    use super::*;
    use crate::Distortion;
    use glam::DVec3;
    use stereopsis_base::geometry::Geometry;

    #[test]
    fn plain_rig_stays_as_it_is() {
        let done = Rectification::compute(&plain_rig(), 640, 480, 0.0).unwrap();
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
        let done = Rectification::compute(&rig, 640, 480, 0.0).unwrap();
        let baseline = done.rotation_right * rig.translation_m;
        assert!((baseline - DVec3::new(-rig.translation_m.length(), 0.0, 0.0)).length() < 1e-12);
        // both look in the same direction: a far ray is the same in both
        let far = DVec3::new(0.1, -0.2, 1.0);
        let apart = done.rotation_left * far - done.rotation_right * (rig.rotation * far);
        assert!(apart.length() < 1e-12);
    }

    #[test]
    fn corners_of_both_images_are_filled() {
        let mut rig = plain_rig();
        rig.left.distortion = Distortion::from_opencv("D1", &[-0.25, 0.07, 0.0, 0.0]).unwrap();
        rig.right.distortion = rig.left.distortion;
        rig.rotation = DMat3::from_rotation_y(0.02);
        let done = Rectification::compute(&rig, 640, 480, 0.0).unwrap();
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
        assert!((-0.05..0.5).contains(&closest), "the image is filled, and not more: {closest}");
    }

    #[test]
    fn alpha_ranges_from_no_border_to_no_loss() {
        let mut rig = plain_rig();
        rig.left.distortion = Distortion::from_opencv("D1", &[-0.25, 0.07, 0.0, 0.0]).unwrap();
        rig.right.distortion = rig.left.distortion;
        rig.rotation = DMat3::from_rotation_y(0.02);
        let focal = |alpha| Rectification::compute(&rig, 640, 480, alpha).unwrap().left.fx;
        assert!((focal(0.25) - (0.75 * focal(0.0) + 0.25 * focal(1.0))).abs() < 1e-9);
        let done = Rectification::compute(&rig, 640, 480, 1.0).unwrap();
        // every raw pixel has a place in the rectified image, and one of them lies at its edge
        let mut closest = f64::INFINITY;
        for (camera, rotation) in [(rig.left, done.rotation_left), (rig.right, done.rotation_right)] {
            for (x, y) in (0..640).flat_map(|x| [(x, 0), (x, 479)]).chain((0..480).flat_map(|y| [(0, y), (639, y)])) {
                let seen = direction(&camera, rotation, DVec2::new(f64::from(x), f64::from(y))).unwrap();
                let at = seen * done.left.fx + DVec2::new(done.left.cx, done.left.cy);
                closest = closest.min(at.min(DVec2::new(639.0, 479.0) - at).min_element());
            }
        }
        assert!((-0.05..0.05).contains(&closest), "{closest}");
    }

    #[test]
    fn verged_cameras_keep_their_views() {
        for degrees in [15.0f64, 30.0, 60.0] {
            let turn = degrees.to_radians();
            let mut rig = plain_rig();
            rig.rotation = DMat3::from_rotation_y(turn);
            rig.translation_m = DMat3::from_rotation_y(turn / 2.0) * DVec3::new(-0.3, 0.0, 0.0);
            let done = Rectification::compute(&rig, 640, 480, 0.0).unwrap();
            let geometry = done.geometry();
            assert!(geometry.focal_px < 1.8 * 500.0, "{degrees} degrees: focal length {}", geometry.focal_px);
            // the crossing of the axes lies in the middle of both images, at its depth
            let depth_m = 0.15 / (turn / 2.0).tan();
            let crossing = DVec3::new(0.15, 0.0, depth_m);
            let pixels =
                [(done.left, crossing), (done.right, crossing - DVec3::X * 0.3)].map(|(p, at)| p.pixel(at).unwrap());
            assert!(pixels.iter().all(|at| (at.x - 319.5).abs() < 1.0), "{degrees} degrees: {pixels:?}");
            let found_m = geometry.depth_m(pixels[0].x - pixels[1].x).unwrap();
            assert!((found_m / depth_m - 1.0).abs() < 1e-9, "{found_m} {depth_m}");
        }
    }

    #[test]
    fn a_full_fisheye_keeps_a_useful_image() {
        let mut rig = plain_rig();
        for camera in [&mut rig.left, &mut rig.right] {
            (camera.fx, camera.fy) = (200.0, 200.0);
            camera.distortion = Distortion::from_fisheye("D", &[0.0; 4]).unwrap();
        }
        for alpha in [0.0, 1.0] {
            let done = Rectification::compute(&rig, 640, 480, alpha).unwrap();
            let sideways = (319.5 / done.left.fx).atan().to_degrees();
            assert!((60.0..80.0).contains(&sideways), "{sideways} degrees to each side at alpha {alpha}");
        }
    }

    #[test]
    fn cameras_in_the_wrong_order_or_behind_each_other_are_refused() {
        let refused = |x, y, z| {
            let mut rig = plain_rig();
            rig.translation_m = DVec3::new(x, y, z);
            Rectification::compute(&rig, 640, 480, 0.0).unwrap_err().to_string()
        };
        assert!(refused(0.12, 0.0, 0.0).contains("left and right are swapped"));
        assert!(refused(-0.02, 0.12, 0.0).contains("above the left one"));
        assert!(refused(-0.02, 0.0, 0.12).contains("in front of the other"));
        let mut apart = plain_rig();
        apart.rotation = DMat3::from_rotation_y(2.8);
        apart.translation_m = DMat3::from_rotation_y(1.4) * DVec3::new(-0.1, 0.0, 0.0);
        let text = Rectification::compute(&apart, 640, 480, 0.0).unwrap_err().to_string();
        assert!(text.contains("look too far apart: they are turned by 80 and 80 degrees"), "{text}");
    }
}
