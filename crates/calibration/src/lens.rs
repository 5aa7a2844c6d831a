//! Distortion models: OpenCV's rational one with thin prisms (without a tilted sensor), and its fisheye.

use super::formats::{ValueError, ValueFault};
use glam::{DVec2, DVec3};

/// Distortion coefficients of a pinhole lens, all 0 for none (Brown 1966, and OpenCV's additions).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BrownConrady {
    /// Radial coefficients k1 to k6: `(1 + k1 r² + k2 r⁴ + k3 r⁶) / (1 + k4 r² + k5 r⁴ + k6 r⁶)`.
    pub radial: [f64; 6],
    /// Tangential coefficients p1 and p2.
    pub tangential: [f64; 2],
    /// Thin prism coefficients s1 to s4.
    pub prism: [f64; 4],
}

impl BrownConrady {
    /// Returns the lens of coefficients in OpenCV's order `k1 k2 p1 p2 [k3 [k4 k5 k6 [s1 s2 s3 s4 [tau_x tau_y]]]]`; empty for none. `name`
    /// is the list's name for the error.
    ///
    /// # Errors
    /// The number of coefficients is not 0, 4, 5, 8, 12 or 14, or the sensor is tilted.
    pub fn from_opencv(name: &str, coefficients: &[f64]) -> Result<Self, ValueError> {
        if !matches!(coefficients.len(), 0 | 4 | 5 | 8 | 12 | 14) {
            return Err(ValueFault::LensCount(coefficients.len()).of(name));
        }
        let c = |i: usize| coefficients.get(i).copied().unwrap_or(0.0);
        if c(12) != 0.0 || c(13) != 0.0 {
            return Err(ValueFault::Tilted(c(12), c(13)).of(name));
        }
        Ok(Self {
            radial: [c(0), c(1), c(4), c(5), c(6), c(7)],
            tangential: [c(2), c(3)],
            prism: [c(8), c(9), c(10), c(11)],
        })
    }

    /// Returns the coefficients in OpenCV's order, as many as needed of 5, 8 and 12.
    pub fn coefficients(&self) -> Vec<f64> {
        let [k1, k2, k3, k4, k5, k6] = self.radial;
        let [p1, p2] = self.tangential;
        let [s1, s2, s3, s4] = self.prism;
        let mut all = vec![k1, k2, p1, p2, k3, k4, k5, k6, s1, s2, s3, s4];
        let used = all.iter().rposition(|&v| v != 0.0).map_or(0, |last| last + 1);
        all.truncate([5, 8].into_iter().find(|&count| used <= count).unwrap_or(12));
        all
    }

    /// Returns the lens of images turned by 90 degrees counterclockwise.
    pub(super) fn turned(&self) -> Self {
        let ([p1, p2], [s1, s2, s3, s4]) = (self.tangential, self.prism);
        Self { radial: self.radial, tangential: [-p2, p1], prism: [s3, s4, -s1, -s2] }
    }

    /// Distorts a ray; both points are `(x / z, y / z)`.
    pub(crate) fn distort(&self, ray: DVec2) -> DVec2 {
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

    /// Undistorts a point; `None` if the model has no ray nearby, as far outside the image.
    pub(crate) fn undistort(&self, distorted: DVec2) -> Option<DVec2> {
        let mut ray = distorted;
        for _ in 0..50 {
            let error = self.distort(ray) - distorted;
            if error.length_squared() < 1e-20 {
                return Some(ray);
            }
            // Newton's step with finite differences for the derivatives
            let h = 1e-6;
            let dx = (self.distort(ray + DVec2::X * h) - self.distort(ray - DVec2::X * h)) / (2.0 * h);
            let dy = (self.distort(ray + DVec2::Y * h) - self.distort(ray - DVec2::Y * h)) / (2.0 * h);
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
        let mut angle = radius.min(std::f64::consts::FRAC_PI_2);
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
        [-0.28, 0.09, 0.001, -0.0007, -0.02, 0.03, -0.01, 0.005, 0.002, -0.001, -0.0015, 0.0006, 0.0, 0.0];

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
        for n in [4, 5, 8, 12] {
            let mut long = ALL;
            long[n..].fill(0.0);
            let short = BrownConrady::from_opencv("D1", &ALL[..n]).unwrap();
            assert_eq!(short, BrownConrady::from_opencv("D1", &long).unwrap());
            assert_eq!(short.coefficients(), long[..n.max(5)]);
        }
    }

    #[test]
    fn other_counts_and_tilted_sensors_are_refused_by_name() {
        let text = BrownConrady::from_opencv("D2", &ALL[..6]).unwrap_err().to_string();
        assert!(text.contains("D2 has 6") && text.contains("4, 5, 8, 12 or 14"), "{text}");
        let mut tilted = ALL;
        tilted[12] = 0.01;
        let text = BrownConrady::from_opencv("D1", &tilted).unwrap_err().to_string();
        assert!(text.contains("D1") && text.contains("tilted"), "{text}");
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
