//! Planes through measured pixels: first in disparities, where outliers are found, then in space.

use super::sight::Sample;
use crate::quantity::Missing;
use crate::random::Random;
use glam::{DMat3, DVec3};

/// Plane in space, mm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plane {
    /// Unit normal that points away from the camera.
    normal: DVec3,
    /// `normal · point + offset` is 0 on the plane.
    offset_mm: f64,
}

impl Plane {
    /// Fits the plane through the centroid with least squares along the best determined axis, as in RealSense's tool.
    pub(super) fn through(points: &[DVec3]) -> Result<Self, Missing> {
        if points.len() < 3 {
            return Err(Missing::Pixels { have: points.len() });
        }
        let centroid = points.iter().sum::<DVec3>() / points.len() as f64;
        let (mut xx, mut xy, mut xz, mut yy, mut yz, mut zz) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        for r in points.iter().map(|&point| point - centroid) {
            (xx, xy, xz) = (xx + r.x * r.x, xy + r.x * r.y, xz + r.x * r.z);
            (yy, yz, zz) = (yy + r.y * r.y, yz + r.y * r.z, zz + r.z * r.z);
        }
        let (x, y, z) = (yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy);
        let normal = if x >= y && x >= z {
            DVec3::new(x, xz * yz - xy * zz, xy * yz - xz * yy)
        } else if y >= z {
            DVec3::new(xz * yz - xy * zz, y, xy * xz - yz * xx)
        } else {
            DVec3::new(xy * yz - xz * yy, xy * xz - yz * xx, z)
        };
        let normal = normal.try_normalize().ok_or(Missing::Line)?;
        // away from the camera, which is the origin
        let normal = if normal.dot(centroid) < 0.0 { -normal } else { normal };
        Ok(Self { normal, offset_mm: -normal.dot(centroid) })
    }

    /// Returns the distance of the camera from the plane, mm.
    pub(super) fn distance_mm(&self) -> f64 {
        -self.offset_mm
    }

    pub(super) fn angle_deg(&self) -> f64 {
        self.normal.z.abs().min(1.0).acos().to_degrees()
    }

    /// Returns the distance of a point from the plane, mm; positive behind it.
    pub(super) fn signed_mm(&self, point: DVec3) -> f64 {
        self.normal.dot(point) + self.offset_mm
    }

    pub(super) fn foot(&self, point: DVec3) -> DVec3 {
        point - self.normal * self.signed_mm(point)
    }

    /// Returns the depth at which a line of sight with z = 1 meets the plane, mm; `None` without an intersection.
    pub(super) fn pivot_z_mm(&self, ray: DVec3) -> Option<f64> {
        let z_mm = -self.offset_mm / self.normal.dot(ray);
        (z_mm.is_finite() && z_mm > 0.0).then_some(z_mm)
    }
}

/// Plane in disparities: px over columns and rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DisparityPlane {
    /// Column and row of the origin, px.
    origin: (f64, f64),
    /// Slopes along columns and rows, and disparity at the origin, px.
    slopes: DVec3,
}

impl DisparityPlane {
    pub(super) fn residual_px(&self, sample: &Sample) -> f64 {
        sample.disparity_px - self.slopes.dot(self.place(sample))
    }

    fn place(&self, sample: &Sample) -> DVec3 {
        DVec3::new(sample.x - self.origin.0, sample.y - self.origin.1, 1.0)
    }

    /// Fits the plane of the samples by least squares; `None` if they lie on one line.
    fn fitted<'a>(origin: (f64, f64), samples: impl Iterator<Item = &'a Sample>) -> Option<Self> {
        let empty = Self { origin, slopes: DVec3::ZERO };
        let (mut normal, mut right) = (DMat3::ZERO, DVec3::ZERO);
        for sample in samples {
            let place = empty.place(sample);
            normal += DMat3::from_cols(place * place.x, place * place.y, place);
            right += place * sample.disparity_px;
        }
        // the sums are integers, so a determinant below one means one line
        (normal.determinant() > 0.5).then(|| Self { origin, slopes: normal.inverse() * right })
    }
}

/// Plane in disparities, and the samples that agree with it.
#[derive(Debug)]
pub(super) struct DisparityPlaneFit {
    pub(super) plane: DisparityPlane,
    pub(super) inliers: Vec<usize>,
}

/// Number of tried planes through three samples; with half of the samples outliers, one without any of them is almost certain.
const TRIALS: usize = 200;
/// Largest number of samples for the median residual of a trial.
const MAX_JUDGES: usize = 1000;
/// Largest residual of an inlier, standard deviations.
const MAX_SIGMAS: f64 = 2.5;
/// Smallest tolerance of an inlier's residual, px: two steps of a disparity.
const MIN_TOLERANCE_PX: f64 = 0.125;
/// Standard deviation of a normal distribution over its median absolute residual.
const SIGMA_OF_MEDIAN: f64 = 1.4826;

/// Fits the plane of most samples, by the least median of squares (Rousseeuw 1984), then by least squares of the inliers. A plane is linear
/// in disparities, and its noise there is independent of the distance, so outliers are found there. The result is deterministic.
pub(super) fn flat_inliers(samples: &[Sample]) -> Result<DisparityPlaneFit, Missing> {
    if samples.len() < 3 {
        return Err(Missing::Pixels { have: samples.len() });
    }
    let middle = &samples[samples.len() / 2];
    let origin = (middle.x, middle.y);
    let (mut plane, median_px) = least_median(origin, samples)?;
    let tolerance_px = (MAX_SIGMAS * SIGMA_OF_MEDIAN * median_px).max(MIN_TOLERANCE_PX);
    let agreeing = |plane: &DisparityPlane| -> Vec<usize> {
        (0..samples.len()).filter(|&i| plane.residual_px(&samples[i]).abs() <= tolerance_px).collect()
    };
    for _ in 0..2 {
        let inliers = agreeing(&plane);
        plane = DisparityPlane::fitted(origin, inliers.iter().map(|&i| &samples[i])).unwrap_or(plane);
    }
    Ok(DisparityPlaneFit { inliers: agreeing(&plane), plane })
}

/// Returns the plane through three samples with the least median residual, and that residual, px.
fn least_median(origin: (f64, f64), samples: &[Sample]) -> Result<(DisparityPlane, f64), Missing> {
    let step = samples.len().div_ceil(MAX_JUDGES);
    let mut random = Random::with_seed(samples.len() as u64);
    let mut best: Option<(DisparityPlane, f64)> = None;
    for _ in 0..TRIALS {
        let three = [(); 3].map(|()| &samples[random.below(samples.len())]);
        let Some(plane) = DisparityPlane::fitted(origin, three.into_iter()) else { continue };
        let mut residuals: Vec<_> =
            samples.iter().step_by(step).map(|sample| plane.residual_px(sample).abs()).collect();
        let median = stereopsis_base::quantile::quantile(&mut residuals, 0.5);
        if best.is_none_or(|(_, least)| median < least) {
            best = Some((plane, median));
        }
    }
    // all trials of few samples may be on one line
    let all = || DisparityPlane::fitted(origin, samples.iter()).map(|plane| (plane, 0.0));
    best.or_else(all).ok_or(Missing::Line)
}
