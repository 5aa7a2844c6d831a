//! One camera: pinhole with the lens distortion of OpenCV's rational model with thin prisms (without a tilted sensor).
//!
//! Pixel centres lie at whole numbers. Coordinates: x right, y down, z forward.

use super::CalibrationError;
use glam::{DVec2, DVec3};

/// A camera's inner numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Focal length along x, px.
    pub fx: f64,
    /// Focal length along y, px.
    pub fy: f64,
    /// Principal point, px.
    pub cx: f64,
    /// Principal point, px.
    pub cy: f64,
    /// What the lens does.
    pub distortion: Distortion,
}

/// Coefficients of the lens, all 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distortion {
    /// k1 to k6: `(1 + k1 r² + k2 r⁴ + k3 r⁶) / (1 + k4 r² + k5 r⁴ + k6 r⁶)`.
    pub radial: [f64; 6],
    /// p1 and p2.
    pub tangential: [f64; 2],
    /// s1 to s4.
    pub prism: [f64; 4],
}

impl Distortion {
    /// From OpenCV's order `k1 k2 p1 p2 [k3 [k4 k5 k6 [s1 s2 s3 s4 [tau_x tau_y]]]]`; empty for none. `name` is the
    /// matrix's, for the error.
    ///
    /// # Errors
    /// Another count than 0, 4, 5, 8, 12 or 14, or a tilted sensor.
    pub fn from_opencv(name: &str, coefficients: &[f64]) -> Result<Self, CalibrationError> {
        if !matches!(coefficients.len(), 0 | 4 | 5 | 8 | 12 | 14) {
            return Err(CalibrationError(format!(
                "{name} has {} distortion coefficients, expected 4, 5, 8, 12 or 14",
                coefficients.len()
            )));
        }
        let c = |i: usize| coefficients.get(i).copied().unwrap_or(0.0);
        if c(12) != 0.0 || c(13) != 0.0 {
            return Err(CalibrationError(format!(
                "{name} has a tilted sensor (tau {} {}), which is not supported; calibrate without CALIB_TILTED_MODEL",
                c(12),
                c(13)
            )));
        }
        Ok(Self {
            radial: [c(0), c(1), c(4), c(5), c(6), c(7)],
            tangential: [c(2), c(3)],
            prism: [c(8), c(9), c(10), c(11)],
        })
    }

    /// Where the lens puts a ray: both as `(x / z, y / z)`.
    pub fn distort(&self, ray: DVec2) -> DVec2 {
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

    /// The ray that the lens puts at `distorted`; `None` where the model has none nearby, as far outside the picture.
    pub fn undistort(&self, distorted: DVec2) -> Option<DVec2> {
        let mut ray = distorted;
        for _ in 0..50 {
            let error = self.distort(ray) - distorted;
            if error.length_squared() < 1e-20 {
                return Some(ray);
            }
            // Newton's step with differences for the derivatives
            let h = 1e-6;
            let dx = (self.distort(ray + DVec2::X * h) - self.distort(ray - DVec2::X * h)) / (2.0 * h);
            let dy = (self.distort(ray + DVec2::Y * h) - self.distort(ray - DVec2::Y * h)) / (2.0 * h);
            let determinant = dx.perp_dot(dy);
            // at a fold of the model and behind it there is no way back
            if !determinant.is_finite() || determinant < 1e-3 {
                return None;
            }
            ray -= DVec2::new(error.perp_dot(dy), dx.perp_dot(error)) / determinant;
        }
        None
    }
}

impl Camera {
    /// The pixel that shows a ray.
    pub fn project(&self, ray: DVec3) -> DVec2 {
        let distorted = self.distortion.distort(ray.truncate() / ray.z);
        DVec2::new(self.fx * distorted.x + self.cx, self.fy * distorted.y + self.cy)
    }

    /// The ray, with z = 1, that pixel `(x, y)` shows.
    pub fn ray(&self, pixel: DVec2) -> Option<DVec3> {
        let distorted = DVec2::new((pixel.x - self.cx) / self.fx, (pixel.y - self.cy) / self.fy);
        self.distortion.undistort(distorted).map(|ray| ray.extend(1.0))
    }

    /// The same camera with pictures `factor` times as large along x and y.
    #[must_use]
    pub fn scaled(&self, factor: DVec2) -> Self {
        Self {
            fx: self.fx * factor.x,
            fy: self.fy * factor.y,
            cx: (self.cx + 0.5) * factor.x - 0.5,
            cy: (self.cy + 0.5) * factor.y - 0.5,
            distortion: self.distortion,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [f64; 14] =
        [-0.28, 0.09, 0.001, -0.0007, -0.02, 0.03, -0.01, 0.005, 0.002, -0.001, -0.0015, 0.0006, 0.0, 0.0];

    #[test]
    fn undistort_undoes_distort() {
        let lens = Distortion::from_opencv("D1", &ALL).unwrap();
        for (x, y) in [(0.0, 0.0), (0.3, -0.2), (-0.6, 0.45), (0.7, 0.5)] {
            let ray = DVec2::new(x, y);
            let back = lens.undistort(lens.distort(ray)).unwrap();
            assert!((back - ray).length() < 1e-9, "{ray} came back as {back}");
            assert!(ray == DVec2::ZERO || (lens.distort(ray) - ray).length() > 1e-3, "no distortion at {ray}");
        }
    }

    #[test]
    fn what_no_ray_reaches_has_none() {
        let lens = Distortion::from_opencv("D1", &[-0.3, 0.0, 0.0, 0.0]).unwrap();
        assert_eq!(lens.undistort(DVec2::new(3.0, 0.0)), None);
    }

    #[test]
    fn short_lists_are_the_long_one_with_zeros() {
        for n in [4, 5, 8, 12] {
            let mut long = ALL;
            long[n..].fill(0.0);
            assert_eq!(
                Distortion::from_opencv("D1", &ALL[..n]).unwrap(),
                Distortion::from_opencv("D1", &long).unwrap()
            );
        }
    }

    #[test]
    fn other_counts_and_tilted_sensors_are_refused_by_name() {
        let text = Distortion::from_opencv("D2", &ALL[..6]).unwrap_err().to_string();
        assert!(text.contains("D2 has 6") && text.contains("4, 5, 8, 12 or 14"), "{text}");
        let mut tilted = ALL;
        tilted[12] = 0.01;
        let text = Distortion::from_opencv("D1", &tilted).unwrap_err().to_string();
        assert!(text.contains("D1") && text.contains("tilted"), "{text}");
    }

    #[test]
    fn half_the_picture_is_half_the_camera() {
        let camera = Camera { fx: 400.0, fy: 410.0, cx: 319.5, cy: 239.5, distortion: Distortion::default() };
        let half = camera.scaled(DVec2::splat(0.5));
        assert_eq!((half.fx, half.fy, half.cx, half.cy), (200.0, 205.0, 159.5, 119.5));
    }
}
