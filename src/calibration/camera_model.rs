//! Model of one camera: a pinhole with lens distortion, as in OpenCV.
//!
//! Pixel centres lie at whole numbers. Coordinates: x right, y down, z forward.

use super::{BrownConrady, CalibrationError, Fisheye, Projection};
use glam::{DVec2, DVec3};

/// Intrinsics of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Focal length along x, px.
    pub fx: f64,
    /// Focal length along y, px.
    pub fy: f64,
    /// Principal point, x, px.
    pub cx: f64,
    /// Principal point, y, px.
    pub cy: f64,
    /// Lens distortion.
    pub distortion: Distortion,
}

/// Distortion model of the lens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distortion {
    /// Nearly a pinhole: plumb-bob, rational, thin prism.
    BrownConrady(BrownConrady),
    /// Model in angles instead of tangents: fisheye, equidistant, Kannala-Brandt.
    Fisheye(Fisheye),
}

impl Default for Distortion {
    fn default() -> Self {
        Self::BrownConrady(BrownConrady::default())
    }
}

impl Distortion {
    /// OpenCV's pinhole model of a coefficient list: see [`BrownConrady::from_opencv`].
    ///
    /// # Errors
    /// The number of coefficients is not 0, 4, 5, 8, 12 or 14, or the sensor is tilted.
    pub fn from_opencv(name: &str, coefficients: &[f64]) -> Result<Self, CalibrationError> {
        BrownConrady::from_opencv(name, coefficients).map(Self::BrownConrady)
    }

    /// OpenCV's fisheye model of `k1 k2 k3 k4`: see [`Fisheye`]. `name` is the list's name for the error.
    ///
    /// # Errors
    /// The number of coefficients is not 4.
    pub fn from_fisheye(name: &str, coefficients: &[f64]) -> Result<Self, CalibrationError> {
        let k = coefficients.try_into().map_err(|_| {
            CalibrationError(format!("{name} has {} distortion coefficients, a fisheye has 4", coefficients.len()))
        })?;
        Ok(Self::Fisheye(Fisheye { k }))
    }

    /// Name of the model in ROS and other tools.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fisheye(_) => "fisheye",
            Self::BrownConrady(lens) => match lens.coefficients().len() {
                0..=5 => "plumb_bob",
                6..=8 => "rational_polynomial",
                _ => "thin_prism",
            },
        }
    }

    /// The coefficients in OpenCV's order: 5, 8 or 12 of them for a pinhole, 4 for a fisheye.
    pub fn coefficients(&self) -> Vec<f64> {
        match self {
            Self::BrownConrady(lens) => lens.coefficients(),
            Self::Fisheye(lens) => lens.k.to_vec(),
        }
    }

    /// Distorted image point of a direction in front of the camera, in units of the focal length.
    fn distort(&self, direction: DVec3) -> DVec2 {
        match self {
            Self::BrownConrady(lens) => lens.distort(direction.truncate() / direction.z),
            Self::Fisheye(lens) => lens.distort(direction),
        }
    }

    /// Unit direction of a distorted image point; `None` where the model has none.
    fn undistort(&self, distorted: DVec2) -> Option<DVec3> {
        match self {
            Self::BrownConrady(lens) => lens.undistort(distorted).map(|ray| ray.extend(1.0).normalize()),
            Self::Fisheye(lens) => lens.undistort(distorted),
        }
    }

    /// Radius up to which the model is one to one along an image direction, in units of the focal length;
    /// infinite where it never folds back.
    fn fold(&self, along: DVec2) -> f64 {
        const STEPS: u32 = 400;
        let at = |step: u32| {
            let share = f64::from(step) / f64::from(STEPS);
            let direction = match self {
                // dense near the centre, up to 89.9 degrees
                Self::BrownConrady(_) => (along * (share * 89.9f64.to_radians()).tan()).extend(1.0),
                Self::Fisheye(_) => {
                    let (sin, cos) = (share * std::f64::consts::PI).sin_cos();
                    (along * sin).extend(cos)
                }
            };
            self.distort(direction).dot(along)
        };
        let mut farthest = 0.0;
        for step in 1..=STEPS {
            let next = at(step);
            if !next.is_finite() || next < farthest {
                return farthest;
            }
            farthest = next;
        }
        f64::INFINITY
    }
}

impl Camera {
    /// Projects a ray to a pixel; for a pinhole the ray's z is above 0.
    pub fn project(&self, ray: DVec3) -> DVec2 {
        self.pixel(self.distortion.distort(ray))
    }

    /// Unit direction of a pixel; more than 90 degrees off the axis with some fisheyes.
    pub fn direction(&self, pixel: DVec2) -> Option<DVec3> {
        self.distortion.undistort(self.plane(pixel))
    }

    /// Ray of pixel `(x, y)` with z = 1; `None` where there is none in front of the camera.
    pub fn ray(&self, pixel: DVec2) -> Option<DVec3> {
        self.direction(pixel).filter(|direction| direction.z > 1e-6).map(|direction| direction / direction.z)
    }

    /// Displacement by the lens of the point that a pinhole shows at `pixel`, px.
    pub fn shift_px(&self, pixel: DVec2) -> f64 {
        (self.project(self.plane(pixel).extend(1.0)) - pixel).length()
    }

    /// Fraction of the way from the centre to `pixel` at which the lens model folds back and shows scene points twice;
    /// `None` where it does not.
    pub(super) fn fold_before(&self, pixel: DVec2) -> Option<f64> {
        let (length, along) = (self.plane(pixel).length(), self.plane(pixel).normalize_or_zero());
        let share = self.distortion.fold(along) / length;
        (share < 1.0).then_some(share)
    }

    /// The same camera with pictures scaled by `factor` along x and y.
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

    /// The camera without its lens distortion.
    pub(super) fn pinhole(&self) -> Projection {
        let Self { fx, fy, cx, cy, .. } = *self;
        Projection { fx, fy, cx, cy }
    }

    fn pixel(&self, plane: DVec2) -> DVec2 {
        DVec2::new(self.fx * plane.x + self.cx, self.fy * plane.y + self.cy)
    }

    fn plane(&self, pixel: DVec2) -> DVec2 {
        DVec2::new((pixel.x - self.cx) / self.fx, (pixel.y - self.cy) / self.fy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_picture_is_half_the_camera() {
        let camera = Camera { fx: 400.0, fy: 410.0, cx: 319.5, cy: 239.5, distortion: Distortion::default() };
        let half = camera.scaled(DVec2::splat(0.5));
        assert_eq!((half.fx, half.fy, half.cx, half.cy), (200.0, 205.0, 159.5, 119.5));
    }

    #[test]
    fn a_fisheye_sees_behind_itself_but_has_no_ray_there() {
        let distortion = Distortion::from_fisheye("D1", &[0.0; 4]).unwrap();
        let camera = Camera { fx: 100.0, fy: 100.0, cx: 255.5, cy: 255.5, distortion };
        let sideways = camera.direction(DVec2::new(255.5 + 170.0, 255.5)).unwrap();
        assert!((sideways - DVec3::new(1.7f64.sin(), 0.0, 1.7f64.cos())).length() < 1e-12, "{sideways}");
        assert_eq!(camera.ray(DVec2::new(255.5 + 170.0, 255.5)), None);
        assert!((camera.ray(DVec2::new(255.5, 155.5)).unwrap().y + 1.0f64.tan()).abs() < 1e-12);
    }

    #[test]
    fn folds_are_found_where_the_model_turns_back() {
        let camera = |k1: f64| {
            let distortion = Distortion::from_opencv("D1", &[k1, 0.0, 0.0, 0.0]).unwrap();
            Camera { fx: 400.0, fy: 400.0, cx: 319.5, cy: 239.5, distortion }
        };
        assert_eq!(camera(-0.1).fold_before(DVec2::ZERO), None);
        // r (1 - 0.4 r²) turns at r = 0.913, where it is 0.609; the corner is at 0.998
        let share = camera(-0.4).fold_before(DVec2::ZERO).unwrap();
        assert!((share - 0.609 / 0.9985).abs() < 0.01, "{share}");
    }

    #[test]
    fn shift_is_what_the_lens_does_to_a_corner() {
        let distortion = Distortion::from_opencv("D1", &[-0.1, 0.0, 0.0, 0.0]).unwrap();
        let camera = Camera { fx: 300.0, fy: 300.0, cx: 300.0, cy: 0.0, distortion };
        assert!((camera.shift_px(DVec2::ZERO) - 30.0).abs() < 1e-9);
    }
}
