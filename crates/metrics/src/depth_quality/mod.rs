//! Depth quality of a region that shows a plane, as in RealSense's Depth Quality Tool, and the distance between two pixels.
//!
//! The definitions are RealSense's (librealsense, `tools/depth-quality`), with four differences. The plane is fitted only to pixels that
//! agree with it, so that a hole with background does not tilt it; the errors are those of all measured pixels. The sub-pixel error
//! divides by Z, as in RealSense's documentation; its code divides by the length of the ray. Noise over time counts only pixels measured
//! at least twice. Filled and held pixels never count.

mod distance;
mod plane;
mod sight;
mod temporal_noise;
#[cfg(test)]
mod tests;

pub use distance::{Distance, STEP_PX, distance};
pub use temporal_noise::TemporalNoise;

use super::quantity::{Better, Measured, Missing, Quantity};
use super::region::Region;
use plane::Plane;
use sight::{Sample, trimmed};
use stereopsis_base::geometry::Geometry;
use stereopsis_base::quantile::quantile;
use stereopsis_stereo::DisparityMap;

/// Depth quality of a region.
#[derive(Clone, Debug, PartialEq)]
pub struct DepthQuality {
    /// Fill rate: measured pixels of the region, %.
    pub fill_percent: f64,
    /// Plane of the region.
    pub plane: Result<PlaneQuality, Missing>,
    /// Sub-pixel RMS error: difference of the disparities from those of the plane, px; needs no calibration.
    pub subpixel_rms_px: Measured,
    /// Z accuracy: median error of depth, % of the true distance; positive if measured too far.
    pub z_accuracy_percent: Measured,
}

/// Plane of a region, and the distances of the measured points from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneQuality {
    /// Distance of the camera from the plane along its normal, mm.
    pub distance_mm: f64,
    /// Distances between which the true one lies in 95 of 100 estimated rigs, mm, the farther one infinite where the images do not bound
    /// it; `None` for calibrated rigs. They are those of the middle point, in proportion.
    pub between_mm: Option<[f64; 2]>,
    /// Angle between the plane's normal and the optical axis, degrees, 0 to 90.
    pub angle_deg: f64,
    /// Plane-fit RMS error: distances of the points from the plane, mm.
    pub rms_mm: f64,
    /// Plane-fit RMS error, % of the plane's distance.
    pub rms_percent: f64,
    /// Measured pixels that agree with the plane, %: well below 100 if the region contains something else.
    pub inlier_percent: f64,
}

/// Measures the part of a region inside the image. `true_distance_m` is the true distance of the plane on the line of sight through the
/// image centre, measured with a ruler, above 0.
pub fn depth_quality(
    map: &DisparityMap,
    geometry: Option<&Geometry>,
    region: Region,
    true_distance_m: Option<f64>,
) -> DepthQuality {
    let region = region.clipped(map.size());
    let samples = sight::samples(map, region);
    let fill_percent = 100.0 * samples.len() as f64 / region.area().max(1) as f64;
    let missing = |why, subpixel_rms_px| DepthQuality {
        fill_percent,
        plane: Err(why),
        subpixel_rms_px,
        z_accuracy_percent: Err(why),
    };
    let Some(geometry) = geometry else { return missing(Missing::Calibration, without_geometry(&samples)) };
    // disparities at and behind infinity have no point in space
    let samples: Vec<_> = samples.into_iter().filter(|s| s.disparity_px + geometry.doffs_px > 0.0).collect();
    let fitted = plane::flat_inliers(&samples).and_then(|flat| {
        let points: Vec<_> = flat.inliers.iter().map(|&i| sight::point_mm(&samples[i], geometry)).collect();
        Ok((Plane::through(&points)?, points.len()))
    });
    let (plane, inliers) = match fitted {
        Ok(fitted) => fitted,
        Err(why) => return missing(why, Err(why)),
    };
    let counted = trimmed(&samples);
    let errors_mm: Vec<_> = counted.iter().map(|s| plane.signed_mm(sight::point_mm(s, geometry))).collect();
    let (distance_mm, rms_mm) = (plane.distance_mm(), rms(errors_mm.iter().copied()));
    let mut disparities: Vec<_> = counted.iter().map(|sample| sample.disparity_px).collect();
    let middle_px = quantile(&mut disparities, 0.5);
    let between_mm = geometry.depth_interval_m(middle_px).map(|ends_m| {
        let share = distance_mm / geometry.depth_m(middle_px).unwrap_or(f64::NAN);
        ends_m.map(|end_m| end_m * share)
    });
    let quality = PlaneQuality {
        distance_mm,
        between_mm,
        angle_deg: plane.angle_deg(),
        rms_mm,
        rms_percent: 100.0 * rms_mm / distance_mm,
        inlier_percent: 100.0 * inliers as f64 / samples.len() as f64,
    };
    let subpixel = counted.iter().map(|sample| {
        let foot = plane.foot(sight::point_mm(sample, geometry));
        sample.disparity_px - geometry.disparity_px(foot.z / 1e3)
    });
    let z_accuracy_percent = true_distance_m.ok_or(Missing::TrueDistance).and_then(|true_m| {
        let true_mm = true_m * 1e3;
        let offset_mm =
            plane.pivot_z_mm(sight::centre_ray(map.size(), geometry)).ok_or(Missing::LineOfSight)? - true_mm;
        let mut sorted: Vec<_> = errors_mm.iter().map(|error| offset_mm + error).collect();
        Ok(100.0 * quantile(&mut sorted, 0.5) / true_mm)
    });
    DepthQuality { fill_percent, plane: Ok(quality), subpixel_rms_px: Ok(rms(subpixel)), z_accuracy_percent }
}

/// Returns only the sub-pixel error, because a plane in space is also a plane in disparities.
fn without_geometry(samples: &[Sample]) -> Measured {
    let flat = plane::flat_inliers(samples)?.plane;
    Ok(rms(trimmed(samples).iter().map(|sample| flat.residual_px(sample))))
}

fn rms(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0_usize);
    for value in values {
        sum += value * value;
        count += 1;
    }
    (sum / count.max(1) as f64).sqrt()
}

impl DepthQuality {
    /// Returns all numbers, in display order; `temporal_noise_percent` comes from [`TemporalNoise`].
    pub fn quantities(&self, temporal_noise_percent: Measured) -> Vec<Quantity> {
        let plane = |of: fn(&PlaneQuality) -> f64| self.plane.as_ref().map(of).map_err(|&why| why);
        let quantity = |title, name, unit, better, value| Quantity { title, name, unit, better, value };
        let mut quantities = vec![
            quantity("fill rate", "fill_percent", "%", Better::Higher, Ok(self.fill_percent)),
            quantity("plane-fit RMS", "plane_rms_mm", "mm", Better::Lower, plane(|p| p.rms_mm)),
            quantity("plane-fit RMS", "plane_rms_percent", "% of distance", Better::Lower, plane(|p| p.rms_percent)),
            quantity("sub-pixel RMS", "subpixel_rms_px", "px", Better::Lower, self.subpixel_rms_px),
            quantity("Z accuracy", "z_accuracy_percent", "%", Better::Zero, self.z_accuracy_percent),
            quantity("temporal noise", "temporal_noise_percent", "%", Better::Lower, temporal_noise_percent),
            quantity("distance of the plane", "plane_distance_mm", "mm", Better::Neither, plane(|p| p.distance_mm)),
            quantity("angle of the plane", "plane_angle_deg", "degrees", Better::Neither, plane(|p| p.angle_deg)),
            quantity("pixels on the plane", "plane_inlier_percent", "%", Better::Higher, plane(|p| p.inlier_percent)),
        ];
        let between_mm = self.plane.as_ref().ok().and_then(|plane| plane.between_mm);
        quantities.extend(between_mm.into_iter().flat_map(|[near_mm, far_mm]| {
            let far_mm = Some(far_mm).filter(|far_mm| far_mm.is_finite()).ok_or(Missing::FarBound);
            let end = |title, name, value| quantity(title, name, "mm", Better::Neither, value);
            [
                end("plane at least at", "plane_distance_least_mm", Ok(near_mm)),
                end("plane at most at", "plane_distance_most_mm", far_mm),
            ]
        }));
        quantities
    }
}
