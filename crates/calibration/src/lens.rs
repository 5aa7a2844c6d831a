//! Distortion models: OpenCV's rational one with thin prisms and a tilted sensor, and its fisheye.

use super::formats::{ValueError, ValueFault};
use glam::{DMat3, DVec2, DVec3};
use std::f64::consts::FRAC_PI_2;

/// Distortion coefficients of a pinhole lens, all 0 for none (Brown 1966, and OpenCV's additions).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BrownConrady {
    /// Radial coefficients k1 to k6: `(1 + k1 r² + k2 r⁴ + k3 r⁶) / (1 + k4 r² + k5 r⁴ + k6 r⁶)`.
    pub radial: [f64; 6],
    /// Tangential coefficients p1 and p2.
    pub tangential: [f64; 2],
    /// Thin prism coefficients s1 to s4.
    pub prism: [f64; 4],
    /// Angles tau_x and tau_y by which the sensor is tilted about x and y, rad (OpenCV's `CALIB_TILTED_MODEL`).
    pub tilt: [f64; 2],
}

impl BrownConrady {
    /// Returns the lens of coefficients in OpenCV's order `k1 k2 p1 p2 [k3 [k4 k5 k6 [s1 s2 s3 s4 [tau_x tau_y]]]]`; empty for none. `name`
    /// is the list's name for the error.
    ///
    /// # Errors
    /// The number of coefficients is not 0, 4, 5, 8, 12 or 14, or the sensor is tilted by a right angle or more.
    pub fn from_opencv(name: &str, coefficients: &[f64]) -> Result<Self, ValueError> {
        if !matches!(coefficients.len(), 0 | 4 | 5 | 8 | 12 | 14) {
            return Err(ValueFault::LensCount(coefficients.len()).of(name));
        }
        let c = |i: usize| coefficients.get(i).copied().unwrap_or(0.0);
        let tilt = [c(12), c(13)];
        if tilt.iter().any(|tau| tau.abs() >= FRAC_PI_2) {
            return Err(ValueFault::Tilted(tilt).of(name));
        }
        Ok(Self {
            radial: [c(0), c(1), c(4), c(5), c(6), c(7)],
            tangential: [c(2), c(3)],
            prism: [c(8), c(9), c(10), c(11)],
            tilt,
        })
    }

    /// Returns the coefficients in OpenCV's order, as many as needed of 5, 8, 12 and 14.
    pub fn coefficients(&self) -> Vec<f64> {
        let [k1, k2, k3, k4, k5, k6] = self.radial;
        let [p1, p2] = self.tangential;
        let [s1, s2, s3, s4] = self.prism;
        let [tau_x, tau_y] = self.tilt;
        let mut all = vec![k1, k2, p1, p2, k3, k4, k5, k6, s1, s2, s3, s4, tau_x, tau_y];
        let used = all.iter().rposition(|&v| v != 0.0).map_or(0, |last| last + 1);
        all.truncate([5, 8, 12].into_iter().find(|&count| used <= count).unwrap_or(14));
        all
    }

    /// Returns the lens of images turned by 90 degrees counterclockwise.
    pub(super) fn turned(&self) -> Self {
        let ([p1, p2], [s1, s2, s3, s4]) = (self.tangential, self.prism);
        let [tau_x, tau_y] = self.tilt; // turned up to the product of both angles, 1e-6 in the largest tilts of files
        Self { radial: self.radial, tangential: [-p2, p1], prism: [s3, s4, -s1, -s2], tilt: [tau_y, -tau_x] }
    }

    /// Distorts a ray; both points are `(x / z, y / z)`. The result is NaN if the ray never meets the tilted sensor.
    pub(crate) fn distort(&self, ray: DVec2) -> DVec2 {
        let bent = self.bend(ray);
        self.sensor().map_or(bent, |sensor| across(sensor, bent).unwrap_or(DVec2::NAN))
    }

    /// Undistorts a point; `None` if the model has no ray nearby, as far outside the image.
    pub(crate) fn undistort(&self, distorted: DVec2) -> Option<DVec2> {
        match self.sensor() {
            None => self.unbend(distorted),
            Some(sensor) => self.unbend(across(sensor.inverse(), distorted)?),
        }
    }

    /// Returns the map from an upright sensor to the tilted one, as OpenCV's `computeTiltProjectionMatrix`: the turn, and the projection
    /// along it that leaves the principal point where it is; `None` without a tilt.
    fn sensor(&self) -> Option<DMat3> {
        let [tau_x, tau_y] = self.tilt;
        if tau_x == 0.0 && tau_y == 0.0 {
            return None;
        }
        let turn = DMat3::from_rotation_y(-tau_y) * DMat3::from_rotation_x(-tau_x);
        let axis = turn.z_axis;
        let projection = DMat3::from_cols(DVec3::X * axis.z, DVec3::Y * axis.z, DVec3::new(-axis.x, -axis.y, 1.0));
        Some(projection * turn)
    }

    /// Bends a ray as the lens does, in front of an upright sensor.
    fn bend(&self, ray: DVec2) -> DVec2 {
        let [k1, k2, k3, k4, k5, k6] = self.radial;
        let [p1, p2] = self.tangential;
        let [s1, s2, s3, s4] = self.prism;
        let DVec2 { x, y } = ray;
        let r2 = ray.length_squared();
        let radial = (1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))) / (1.0 + r2 * (k4 + r2 * (k5 + r2 * k6)));
        DVec2::new(
            x * radial + 2.0 * p1 * x * y + p2 * (r2 + 2.0 * x * x) + r2 * (s1 + r2 * s2),
            y * radial + p1 * (r2 + 2.0 * y * y) + 2.0 * p2 * x * y + r2 * (s3 + r2 * s4),
        )
    }

    /// Returns the ray that the lens bends to a point.
    fn unbend(&self, bent: DVec2) -> Option<DVec2> {
        let mut ray = bent;
        for _ in 0..50 {
            let error = self.bend(ray) - bent;
            if error.length_squared() < 1e-20 {
                return Some(ray);
            }
            // Newton's step with finite differences for the derivatives
            let h = 1e-6;
            let dx = (self.bend(ray + DVec2::X * h) - self.bend(ray - DVec2::X * h)) / (2.0 * h);
            let dy = (self.bend(ray + DVec2::Y * h) - self.bend(ray - DVec2::Y * h)) / (2.0 * h);
            let determinant = dx.perp_dot(dy);
            // there is no inverse at a fold of the model and beyond it
            if !determinant.is_finite() || determinant < 1e-3 {
                return None;
            }
            ray -= DVec2::new(error.perp_dot(dy), dx.perp_dot(error)) / determinant;
        }
        None
    }
}

/// Maps a point by a homography; `None` if its image is at infinity or behind the lens.
fn across(homography: DMat3, point: DVec2) -> Option<DVec2> {
    let DVec3 { x, y, z } = homography * point.extend(1.0);
    (z > 1e-6).then(|| DVec2::new(x / z, y / z))
}

/// Fisheye model (Kannala and Brandt 2006, as in OpenCV's `fisheye` and Kalibr's `equidistant`): a ray at the angle `θ` to the axis
/// appears at the radius `θ (1 + k1 θ² + k2 θ⁴ + k3 θ⁶ + k4 θ⁸)`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fisheye {
    /// Coefficients k1 to k4.
    pub k: [f64; 4],
}

impl Fisheye {
    fn radius(&self, angle: f64) -> f64 {
        let [k1, k2, k3, k4] = self.k;
        let a2 = angle * angle;
        angle * (1.0 + a2 * (k1 + a2 * (k2 + a2 * (k3 + a2 * k4))))
    }

    fn slope(&self, angle: f64) -> f64 {
        let [k1, k2, k3, k4] = self.k;
        let a2 = angle * angle;
        1.0 + a2 * (3.0 * k1 + a2 * (5.0 * k2 + a2 * (7.0 * k3 + a2 * 9.0 * k4)))
    }

    /// Returns the distorted image point of a direction, in units of the focal length.
    pub(crate) fn distort(&self, direction: DVec3) -> DVec2 {
        let across = direction.truncate().length();
        if across == 0.0 {
            return DVec2::ZERO;
        }
        direction.truncate() / across * self.radius(across.atan2(direction.z))
    }

    /// Returns the unit direction of a distorted image point; `None` if no angle up to 180 degrees maps to it.
    pub(crate) fn undistort(&self, distorted: DVec2) -> Option<DVec3> {
        let radius = distorted.length();
        if radius == 0.0 {
            return Some(DVec3::Z);
        }
        let mut angle = radius.min(FRAC_PI_2);
        for _ in 0..50 {
            let slope = self.slope(angle);
            if !slope.is_finite() || slope < 1e-3 {
                return None;
            }
            let step = (self.radius(angle) - radius) / slope;
            angle -= step;
            if !(0.0..=std::f64::consts::PI).contains(&angle) {
                return None;
            }
            if step.abs() < 1e-13 {
                return Some((distorted / radius * angle.sin()).extend(angle.cos()));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [f64; 14] =
        [-0.28, 0.09, 0.001, -0.0007, -0.02, 0.03, -0.01, 0.005, 0.002, -0.001, -0.0015, 0.0006, 0.06, -0.11];

    #[test]
    fn undistort_undoes_distort() {
        let lens = BrownConrady::from_opencv("D1", &ALL).unwrap();
        for (x, y) in [(0.0, 0.0), (0.3, -0.2), (-0.6, 0.45), (0.7, 0.5)] {
            let ray = DVec2::new(x, y);
            let back = lens.undistort(lens.distort(ray)).unwrap();
            assert!((back - ray).length() < 1e-9, "{ray} came back as {back}");
            assert!(ray == DVec2::ZERO || (lens.distort(ray) - ray).length() > 1e-3, "no distortion at {ray}");
        }
    }

    #[test]
    fn unreachable_points_have_no_ray() {
        let lens = BrownConrady::from_opencv("D1", &[-0.3, 0.0, 0.0, 0.0]).unwrap();
        assert_eq!(lens.undistort(DVec2::new(3.0, 0.0)), None);
        let fisheye = Fisheye { k: [-0.1, 0.0, 0.0, 0.0] };
        assert_eq!(fisheye.undistort(DVec2::new(2.0, 0.0)), None);
    }

    #[test]
    fn short_lists_are_the_long_one_with_zeros() {
        for n in [4, 5, 8, 12, 14] {
            let mut long = ALL;
            long[n..].fill(0.0);
            let short = BrownConrady::from_opencv("D1", &ALL[..n]).unwrap();
            assert_eq!(short, BrownConrady::from_opencv("D1", &long).unwrap());
            assert_eq!(short.coefficients(), long[..n.max(5)]);
        }
    }

    #[test]
    fn other_counts_and_sensors_that_stand_edgewise_are_refused_by_name() {
        let text = BrownConrady::from_opencv("D2", &ALL[..6]).unwrap_err().to_string();
        assert!(text.contains("D2 has 6") && text.contains("4, 5, 8, 12 or 14"), "{text}");
        let mut tilted = ALL;
        tilted[12] = -1.6;
        let text = BrownConrady::from_opencv("D1", &tilted).unwrap_err().to_string();
        assert!(text.contains("D1 has a sensor that is tilted by -1.6 and -0.11 rad"), "{text}");
    }

    /// Numbers of `cv2.projectPoints` and `cv2.undistortPoints` (to 1e-15) of OpenCV 5.0.0 for [`ALL`].
    #[test]
    fn a_tilted_sensor_is_opencvs() {
        let lens = BrownConrady::from_opencv("D1", &ALL).unwrap();
        for ([x, y], [u, v]) in [
            ([0.0, 0.0], [0.0, 0.0]),
            ([0.3, -0.2], [0.296_132_294_026_788_37, -0.194_581_603_679_835_3]),
            ([-0.6, 0.45], [-0.499_879_913_972_488_04, 0.370_232_220_389_376_86]),
            ([0.7, 0.5], [0.632_654_160_511_141_2, 0.453_775_752_849_170_5]),
        ] {
            let found = lens.distort(DVec2::new(x, y));
            assert!((found - DVec2::new(u, v)).length() < 1e-12, "{x} {y}: {found}");
        }
        let found = lens.undistort(DVec2::new(0.25, -0.15)).unwrap();
        assert!((found - DVec2::new(0.250_546_825_726_941_76, -0.152_655_094_080_682_9)).length() < 1e-9, "{found}");
        // a ray along the sensor meets it nowhere
        let steep = BrownConrady { tilt: [1.2, 0.0], ..BrownConrady::default() };
        assert!(steep.distort(DVec2::new(0.0, 0.5)).is_nan() || steep.distort(DVec2::new(0.0, -0.5)).is_nan());
    }

    // OpenCV's documented formula, written independently: a = x/z, b = y/z, θ = atan(r), x' = (θ_d / r) a
    #[test]
    fn fisheye_is_opencvs_and_comes_back() {
        let k = [-0.0879, -0.0157, 0.0135, -0.0158];
        let lens = Fisheye { k };
        for (x, y, z) in [(0.0, 0.0, 1.0), (0.4, -0.3, 1.0), (0.8, 0.5, 0.6), (-0.2, 0.1, 2.0)] {
            let direction = DVec3::new(x, y, z);
            let (a, b) = (x / z, y / z);
            let r = f64::hypot(a, b);
            let t = r.atan();
            let d = t + k[0] * t.powi(3) + k[1] * t.powi(5) + k[2] * t.powi(7) + k[3] * t.powi(9);
            let expected = if r == 0.0 { DVec2::ZERO } else { DVec2::new(a, b) * d / r };
            let found = lens.distort(direction);
            assert!((found - expected).length() < 1e-12, "{direction}: {found} {expected}");
            let back = lens.undistort(found).unwrap();
            assert!((back - direction.normalize()).length() < 1e-9, "{direction} came back as {back}");
        }
    }
}
