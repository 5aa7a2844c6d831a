//! Model of one camera: a pinhole with lens distortion, as in OpenCV.
//!
//! Pixel centres are integers. Coordinates: x right, y down, z forward.

use super::formats::error::{ValueError, ValueFault};
use super::{BrownConrady, Fisheye};
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
    /// Axis skew, px: shift of a pixel to the right for each unit of y / z; 0 if rows and columns are at right angles.
    pub skew: f64,
    /// Lens distortion.
    pub distortion: Distortion,
}

/// Distortion model of the lens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distortion {
    /// Model close to a pinhole: plumb-bob, rational, thin prism, tilted sensor.
    BrownConrady(BrownConrady),
    /// Model of angles instead of tangents: fisheye, equidistant, Kannala-Brandt.
    Fisheye(Fisheye),
}

impl Default for Distortion {
    fn default() -> Self {
        Self::BrownConrady(BrownConrady::default())
    }
}

impl Distortion {
    /// Returns OpenCV's pinhole model of a coefficient list: see [`BrownConrady::from_opencv`].
    ///
    /// # Errors
    /// See there.
    pub fn from_opencv(name: &str, coefficients: &[f64]) -> Result<Self, ValueError> {
        BrownConrady::from_opencv(name, coefficients).map(Self::BrownConrady)
    }

    /// Returns OpenCV's fisheye model of `k1 k2 k3 k4`: see [`Fisheye`]. `name` is the list's name for the error.
    ///
    /// # Errors
    /// The number of coefficients is not 4.
    pub fn from_fisheye(name: &str, coefficients: &[f64]) -> Result<Self, ValueError> {
        let k = coefficients.try_into().map_err(|_| ValueFault::FisheyeCount(coefficients.len()).of(name))?;
        Ok(Self::Fisheye(Fisheye { k }))
    }

    /// Returns the name of the model in ROS and other tools.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fisheye(_) => "fisheye",
            Self::BrownConrady(lens) => match lens.coefficients().len() {
                0..=5 => "plumb_bob",
                6..=8 => "rational_polynomial",
                9..=12 => "thin_prism",
                _ => "tilted_sensor",
            },
        }
    }

    /// Returns the coefficients in OpenCV's order: 5, 8, 12 or 14 for a pinhole, 4 for a fisheye.
    pub fn coefficients(&self) -> Vec<f64> {
        match self {
            Self::BrownConrady(lens) => lens.coefficients(),
            Self::Fisheye(lens) => lens.k.to_vec(),
        }
    }

    /// Returns the distorted image point of a direction in front of the camera, in units of the focal length.
    fn distort(&self, direction: DVec3) -> DVec2 {
        match self {
            Self::BrownConrady(lens) => lens.distort(direction.truncate() / direction.z),
            Self::Fisheye(lens) => lens.distort(direction),
        }
    }

    /// Returns the unit direction of a distorted image point; `None` if the model has none.
    fn undistort(&self, distorted: DVec2) -> Option<DVec3> {
        match self {
            Self::BrownConrady(lens) => lens.undistort(distorted).map(|ray| ray.extend(1.0).normalize()),
            Self::Fisheye(lens) => lens.undistort(distorted),
        }
    }

    /// Returns the distance from the principal point of the ray at `angle`, rad, to the axis in an image direction, in focal lengths.
    fn radius(&self, along: DVec2, angle: f64) -> f64 {
        let (sin, cos) = angle.sin_cos();
        self.distort((along * sin).extend(cos)).dot(along)
    }

    /// Whether all rays nearer to the axis also appear nearer to it.
    fn is_before_fold(&self, direction: DVec3) -> bool {
        const STEPS: u32 = 24;
        let along = direction.truncate().normalize_or_zero();
        let angle = direction.angle_between(DVec3::Z);
        let radii = (1..=STEPS).map(|step| self.radius(along, angle * f64::from(step) / f64::from(STEPS)));
        radii.is_sorted()
    }

    /// Returns the fold of the model along an image direction; `None` if the model is one to one everywhere.
    fn fold(&self, along: DVec2) -> Option<Fold> {
        const STEPS: u32 = 400;
        let widest = match self {
            Self::BrownConrady(_) => 89.9f64.to_radians(),
            Self::Fisheye(_) => std::f64::consts::PI,
        };
        let mut fold = Fold { angle: 0.0, radius: 0.0 };
        for step in 1..=STEPS {
            let angle = widest * f64::from(step) / f64::from(STEPS);
            let radius = self.radius(along, angle);
            if !radius.is_finite() || radius < fold.radius {
                return Some(fold);
            }
            fold = Fold { angle, radius };
        }
        None
    }
}

/// Outermost ray along an image direction up to which a lens model is one to one. Rays beyond it appear a second time inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fold {
    /// Angle between the ray and the optical axis, rad.
    pub(super) angle: f64,
    /// Distance of the image point from the principal point, in units of the focal length.
    pub(super) radius: f64,
}

/// Rays of a camera for which its lens model is one to one, precomputed.
#[derive(Debug)]
pub(super) struct Reach {
    /// Largest angle to the optical axis, rad, in [`Reach::SECTORS`] image directions from -π on.
    limits: Vec<f64>,
}

impl Reach {
    const SECTORS: usize = 256;

    pub(super) fn of(camera: &Camera) -> Self {
        let along =
            |sector: usize| DVec2::from_angle(std::f64::consts::TAU * (sector as f64 / Self::SECTORS as f64 - 0.5));
        let limit = |sector| camera.distortion.fold(along(sector)).map_or(f64::INFINITY, |fold| fold.angle);
        Self { limits: (0..Self::SECTORS).map(limit).collect() }
    }

    /// Whether the camera shows this ray, and at one place only.
    pub(super) fn has(&self, ray: DVec3) -> bool {
        let across = ray.truncate();
        let sector = (across.to_angle() / std::f64::consts::TAU + 0.5) * Self::SECTORS as f64;
        let sector = sector.round() as usize % Self::SECTORS;
        across.length().atan2(ray.z) <= self.limits[sector]
    }
}

impl Camera {
    /// Projects a ray to a pixel; for a pinhole the ray's z must be above 0.
    pub fn project(&self, ray: DVec3) -> DVec2 {
        self.pixel(self.distortion.distort(ray))
    }

    /// Returns the unit direction of a pixel, in some fisheyes more than 90 degrees off the axis; `None` if the lens model has none, or
    /// only one beyond its fold.
    pub fn direction(&self, pixel: DVec2) -> Option<DVec3> {
        let direction = self.distortion.undistort(self.plane(pixel))?;
        self.distortion.is_before_fold(direction).then_some(direction)
    }

    /// Returns the ray of a pixel with z = 1; `None` if it does not point forward.
    pub fn ray(&self, pixel: DVec2) -> Option<DVec3> {
        self.direction(pixel).filter(|direction| direction.z > 1e-6).map(|direction| direction / direction.z)
    }

    /// Returns the displacement by the lens of the point that a pinhole shows at `pixel`, px.
    pub(crate) fn shift_px(&self, pixel: DVec2) -> f64 {
        (self.project(self.plane(pixel).extend(1.0)) - pixel).length()
    }

    /// Returns where the lens model folds on the way from the centre to `pixel`, as a fraction of the way, and the angle of the ray
    /// there to the axis, rad; `None` without a fold.
    pub(super) fn fold_before(&self, pixel: DVec2) -> Option<(f64, f64)> {
        let (length, along) = (self.plane(pixel).length(), self.plane(pixel).normalize_or_zero());
        let fold = self.distortion.fold(along)?;
        let share = fold.radius / length;
        (share < 1.0).then_some((share, fold.angle))
    }

    /// Returns the nearest fold of the lens model on the ways to the pixels of the four edges beside the principal point, as a fraction of
    /// the way, and its angle to the axis, degrees; `None` without one.
    pub(super) fn edge_fold(&self, size: Option<(usize, usize)>) -> Option<(f64, f64)> {
        let (centre, last) = (DVec2::new(self.cx, self.cy), self.last_pixel(size));
        self.nearest_fold(
            [0.0, last.x].map(|x| DVec2::new(x, centre.y)),
            [0.0, last.y].map(|y| DVec2::new(centre.x, y)),
        )
    }

    /// Returns the nearest fold of the lens model on the ways to the four corners: see [`Camera::edge_fold`].
    pub(super) fn corner_fold(&self, size: Option<(usize, usize)>) -> Option<(f64, f64)> {
        let last = self.last_pixel(size);
        self.nearest_fold([DVec2::ZERO, last], [DVec2::new(0.0, last.y), DVec2::new(last.x, 0.0)])
    }

    /// Returns the lower right pixel; images without a size extend to twice their centre.
    fn last_pixel(&self, size: Option<(usize, usize)>) -> DVec2 {
        let (width, height) = size.unwrap_or(((2.0 * self.cx) as usize + 1, (2.0 * self.cy) as usize + 1));
        DVec2::new(width as f64, height as f64) - 1.0
    }

    fn nearest_fold(&self, some: [DVec2; 2], others: [DVec2; 2]) -> Option<(f64, f64)> {
        let folds = some.into_iter().chain(others).filter_map(|at| self.fold_before(at));
        let nearest = folds.min_by(|(a, _), (b, _)| a.total_cmp(b));
        nearest.map(|(share, angle)| (share, angle.to_degrees()))
    }

    /// Returns the distance of the principal point from the middle of images of this size, as [`off_centre`].
    pub(super) fn off_centre(&self, size: (usize, usize)) -> f64 {
        off_centre(DVec2::new(self.cx, self.cy), size)
    }

    /// Returns the camera of images of `width` columns turned by 90 degrees counterclockwise. An axis skew is left out.
    pub(super) fn turned(&self, width: usize) -> Self {
        let distortion = match &self.distortion {
            Distortion::BrownConrady(lens) => Distortion::BrownConrady(lens.turned()),
            Distortion::Fisheye(lens) => Distortion::Fisheye(*lens),
        };
        Self { fx: self.fy, fy: self.fx, cx: self.cy, cy: width as f64 - 1.0 - self.cx, skew: 0.0, distortion }
    }

    /// Returns the camera of a part of the images, without the columns and rows before `corner`.
    pub(super) fn cut_at(&self, corner: DVec2) -> Self {
        Self { cx: self.cx - corner.x, cy: self.cy - corner.y, ..*self }
    }

    /// Scales the images by `factor` along x and y.
    #[must_use]
    pub fn scaled(&self, factor: DVec2) -> Self {
        Self {
            fx: self.fx * factor.x,
            fy: self.fy * factor.y,
            cx: (self.cx + 0.5) * factor.x - 0.5,
            cy: (self.cy + 0.5) * factor.y - 0.5,
            skew: self.skew * factor.x,
            distortion: self.distortion,
        }
    }

    fn pixel(&self, plane: DVec2) -> DVec2 {
        DVec2::new(self.fx * plane.x + self.skew * plane.y + self.cx, self.fy * plane.y + self.cy)
    }

    fn plane(&self, pixel: DVec2) -> DVec2 {
        let y = (pixel.y - self.cy) / self.fy;
        DVec2::new((pixel.x - self.cx - self.skew * y) / self.fx, y)
    }
}

/// Returns the distance of a pixel from the middle of images of this size, in widths or heights, whichever is larger.
pub(super) fn off_centre(pixel: DVec2, (width, height): (usize, usize)) -> f64 {
    let share = (pixel + 0.5) / DVec2::new(width as f64, height as f64);
    (share - 0.5).abs().max_element()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_halves_the_intrinsics() {
        let camera =
            Camera { fx: 400.0, fy: 410.0, cx: 319.5, cy: 239.5, skew: 0.0, distortion: Distortion::default() };
        let half = camera.scaled(DVec2::splat(0.5));
        assert_eq!((half.fx, half.fy, half.cx, half.cy), (200.0, 205.0, 159.5, 119.5));
    }

    #[test]
    fn a_fisheye_sees_behind_itself_but_has_no_ray_there() {
        let distortion = Distortion::from_fisheye("D1", &[0.0; 4]).unwrap();
        let camera = Camera { fx: 100.0, fy: 100.0, cx: 255.5, cy: 255.5, skew: 0.0, distortion };
        let sideways = camera.direction(DVec2::new(255.5 + 170.0, 255.5)).unwrap();
        assert!((sideways - DVec3::new(1.7f64.sin(), 0.0, 1.7f64.cos())).length() < 1e-12, "{sideways}");
        assert_eq!(camera.ray(DVec2::new(255.5 + 170.0, 255.5)), None);
        assert!((camera.ray(DVec2::new(255.5, 155.5)).unwrap().y + 1.0f64.tan()).abs() < 1e-12);
    }

    #[test]
    fn folds_are_found_where_the_model_turns_back() {
        let camera = |k1: f64| {
            let distortion = Distortion::from_opencv("D1", &[k1, 0.0, 0.0, 0.0]).unwrap();
            Camera { fx: 400.0, fy: 400.0, cx: 319.5, cy: 239.5, skew: 0.0, distortion }
        };
        assert_eq!(camera(-0.1).fold_before(DVec2::ZERO), None);
        // r (1 - 0.4 r²) turns at r = 0.913, where it is 0.609; the corner is at 0.998
        let (share, angle) = camera(-0.4).fold_before(DVec2::ZERO).unwrap();
        assert!((share - 0.609 / 0.9985).abs() < 0.01 && (angle - 0.913f64.atan()).abs() < 0.01, "{share} {angle}");
    }

    #[test]
    fn pixels_beyond_a_fold_have_no_ray() {
        // folds at 47.4 degrees, and shows all rays beyond it a second time
        let distortion = Distortion::from_opencv("D1", &[-0.4, 0.06, 0.0, 0.0]).unwrap();
        let camera = Camera { fx: 400.0, fy: 400.0, cx: 319.5, cy: 239.5, skew: 0.0, distortion };
        let (_, angle) = camera.fold_before(DVec2::new(10_000.0, 239.5)).unwrap();
        let reach = Reach::of(&camera);
        for x in (0..640).step_by(8) {
            for y in (0..480).step_by(8) {
                let pixel = DVec2::new(f64::from(x), f64::from(y));
                let Some(direction) = camera.direction(pixel) else { continue };
                assert!(direction.angle_between(DVec3::Z) <= angle + 0.03, "{pixel} has {direction}");
                assert!((camera.project(direction / direction.z) - pixel).length() < 1e-6);
            }
        }
        for (degrees, inside) in [(0.0, true), (30.0, true), (44.0, true), (50.0, false), (80.0, false)] {
            let (sin, cos) = f64::to_radians(degrees).sin_cos();
            for turn in 0..12 {
                let across = DVec2::from_angle(f64::from(turn)) * sin;
                assert_eq!(reach.has(across.extend(cos)), inside, "{degrees} degrees");
            }
        }
    }

    #[test]
    fn shift_is_the_displacement_of_a_corner() {
        let distortion = Distortion::from_opencv("D1", &[-0.1, 0.0, 0.0, 0.0]).unwrap();
        let camera = Camera { fx: 300.0, fy: 300.0, cx: 300.0, cy: 0.0, skew: 0.0, distortion };
        assert!((camera.shift_px(DVec2::ZERO) - 30.0).abs() < 1e-9);
    }
}
