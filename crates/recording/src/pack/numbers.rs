//! From results to messages: depth, disparity, points.

use super::picture::image;
use crate::compressed_depth;
use crate::error::PackError;
use crate::message::{Body, DisparityBody, Encoding, Point};
use crate::{DepthFormat, ResultNote};
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_frame::engine::Output;
use stereopsis_stereo::map::SUBPIXEL_STEPS;
use stereopsis_stereo::{DisparityMap, INVALID, StereoParams, depth, reason};

pub(super) fn note(output: &Output, map: &DisparityMap, range: DepthRange) -> ResultNote {
    let measured: usize = map.reasons.pixels().iter().map(|&reasons| usize::from(reasons == 0)).sum();
    ResultNote {
        sequence: output.job.frame.raw.sequence,
        engine: format!("{} {}", output.engine.kind, output.engine.adapter),
        compute_ms: output.compute_time.as_secs_f64() * 1e3,
        measured: measured as f64 / map.reasons.pixels().len().max(1) as f64,
        doffs_px: output.job.frame.geometry.map_or(0.0, |geometry| geometry.doffs_px),
        beyond: range.beyond as f64 / map.reasons.pixels().len().max(1) as f64,
    }
}

/// Pixels of depth images, and those of them that the format does not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DepthRange {
    /// Number of pixels with depth.
    pub(super) pixels: u64,
    /// Number of those beyond 65.535 m, which are 0 in an image of 16 bits.
    pub(super) beyond: u64,
}

/// Returns the depth image; filled pixels only if `filled`.
pub(super) fn depth(
    map: &DisparityMap,
    filled: bool,
    geometry: &Geometry,
    format: DepthFormat,
) -> Result<(Body, DepthRange), PackError> {
    let valid = || map.values.pixels().iter().copied().filter(|&v| v != INVALID);
    let (least, largest) = (valid().min().unwrap_or(0), valid().max().unwrap_or(0));
    // a table, because there are many more pixels than disparities
    let table: Vec<(f32, u16)> = (least..=largest)
        .map(|v| depth::depth_m(v, geometry))
        .map(|z| if z > 0.0 { (z, depth::millimetres(z)) } else { (f32::NAN, 0) })
        .collect();
    let mut range = DepthRange::default();
    let all = map.values.pixels().iter().zip(map.reasons.pixels()).map(|(&value, &reasons)| {
        if is_hole(value, reasons, filled) {
            return (f32::NAN, 0);
        }
        let (z, mm) = table[(i32::from(value) - i32::from(least)) as usize];
        range.pixels += u64::from(z.is_finite());
        range.beyond += u64::from(z.is_finite() && z > 1.0 && mm == 0);
        (z, mm)
    });
    let body = match format {
        DepthFormat::Metres => {
            let data: Vec<u8> = all.flat_map(|(z, _)| z.to_le_bytes()).collect();
            range.beyond = 0;
            Body::Image(image(map.size(), Encoding::Float32, 4, data.into()))
        }
        DepthFormat::Mm => {
            let data: Vec<u8> = all.flat_map(|(_, mm)| mm.to_le_bytes()).collect();
            Body::Image(image(map.size(), Encoding::DepthMm, 2, data.into()))
        }
        DepthFormat::Png | DepthFormat::Rvl => {
            let (width, height) = map.size();
            let mm = Image::new(width, height, all.map(|(_, mm)| mm).collect());
            let (format, data) = compressed_depth::encode(&mm, format)?;
            Body::Compressed { format, data }
        }
    };
    Ok((body, range))
}

/// Returns disparity, px, with `doffs` added, so that `z = f T / d`.
pub(super) fn disparity(map: &DisparityMap, filled: bool, geometry: Option<&Geometry>, params: &StereoParams) -> Body {
    let (width, height) = map.size();
    let doffs_px = geometry.map_or(0.0, |geometry| geometry.doffs_px);
    let px = |d: f64| (d + doffs_px) as f32;
    let all = map.values.pixels().iter().zip(map.reasons.pixels());
    let all = all.map(|(&value, &reasons)| {
        if is_hole(value, reasons, filled) { f32::NAN } else { px(f64::from(value) / f64::from(SUBPIXEL_STEPS)) }
    });
    let disparity_px = Image::new(width, height, all.collect());
    Body::Disparity(DisparityBody {
        disparity_px,
        focal_px: geometry.map_or(0.0, |geometry| geometry.focal_px as f32),
        baseline_m: geometry.map_or(0.0, |geometry| geometry.baseline_m as f32),
        min_disparity: px(f64::from(params.min_disparity)),
        max_disparity: px(f64::from(params.min_disparity) + f64::from(params.num_disparities) - 1.0),
        delta_d: 1.0 / SUBPIXEL_STEPS as f32,
    })
}

/// Returns the measured points in space, with the colours of the left image, or its brightness.
pub(super) fn points(map: &DisparityMap, picture: &Picture, geometry: &Geometry) -> Vec<Point> {
    let (width, height) = map.size();
    let grey = |x: usize, y: usize| match &picture.luma {
        Luma::U8(luma) => luma.at(x, y),
        Luma::U16 { image, bits } => (image.at(x, y) >> (bits - 8)) as u8,
    };
    let mut points = Vec::new();
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        let value = map.values.at(x, y);
        let z = depth::depth_m(value, geometry);
        if is_hole(value, map.reasons.at(x, y), false) || !z.is_finite() || z <= 0.0 {
            continue;
        }
        let rgb = picture.rgb.as_ref().map_or_else(|| [grey(x, y); 3], |rgb| rgb.at(x, y));
        points.push(Point { xyz_m: geometry.point_m(x as f64, y as f64, f64::from(z)).map(|v| v as f32), rgb });
    }
    points
}

fn is_hole(value: i16, reasons: u8, filled: bool) -> bool {
    value == INVALID || (!filled && reasons & reason::FILLED != 0)
}
