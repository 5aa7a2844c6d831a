//! Measured pixels of a region, and the points in space that they show.

use crate::region::Region;
use glam::DVec3;
use stereopsis_base::geometry::Geometry;
use stereopsis_stereo::{DisparityMap, INVALID};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) disparity_px: f64,
}

/// Returns the disparity of a pixel that was measured in this pair, px; `None` for holes, filled and held pixels.
pub(super) fn measured_px(map: &DisparityMap, x: usize, y: usize) -> Option<f64> {
    let value = map.values.at(x, y);
    (value != INVALID && map.reasons.at(x, y) == 0).then(|| f64::from(value) / 16.0)
}

/// Returns the measured pixels of a region inside the image, row by row.
pub(super) fn samples(map: &DisparityMap, region: Region) -> Vec<Sample> {
    let sample = |(x, y)| Some(Sample { x: x as f64, y: y as f64, disparity_px: measured_px(map, x, y)? });
    region.pixels().filter_map(sample).collect()
}

/// Returns the samples by disparity without the smallest and the largest 0.5 %, as in RealSense's tool.
pub(super) fn trimmed(samples: &[Sample]) -> Vec<Sample> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(|a, b| a.disparity_px.total_cmp(&b.disparity_px));
    let end = samples.len() / 200;
    sorted[end..samples.len() - end].to_vec()
}

/// Returns the point of a sample in front of infinity, mm, in the left camera's coordinates: x right, y down, z forward.
pub(super) fn point_mm(sample: &Sample, geometry: &Geometry) -> DVec3 {
    let z_mm = 1e3 * geometry.focal_px * geometry.baseline_m / (sample.disparity_px + geometry.doffs_px);
    ray(sample.x, sample.y, geometry) * z_mm
}

fn ray(x: f64, y: f64, geometry: &Geometry) -> DVec3 {
    DVec3::new((x - geometry.cx_px) / geometry.focal_px, (y - geometry.cy_px) / geometry.focal_px, 1.0)
}

/// Returns the line of sight through the middle of an image of this size.
pub(super) fn centre_ray((width, height): (usize, usize), geometry: &Geometry) -> DVec3 {
    ray((width as f64 - 1.0) / 2.0, (height as f64 - 1.0) / 2.0, geometry)
}
