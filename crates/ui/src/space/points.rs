//! Points of the 3-D view on the host, for files; equal to the shader's.

use super::drawing::Scene;
use super::settings::{Colouring, SpaceSettings};
use stereopsis_base::image::{Image, Picture};
use stereopsis_stereo::map::SUBPIXEL_STEPS;
use stereopsis_stereo::{DisparityMap, INVALID};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShownPoints {
    /// Depth, m; NaN where no point is shown.
    pub(crate) depth_m: Image<f32>,
    pub(crate) colors: Image<[u8; 3]>,
}

/// Error of a result whose map is on the device alone.
#[derive(Debug, thiserror::Error)]
#[error("the result has no numbers on the host")]
pub(crate) struct NotOnHost;

/// Returns the points of `map` at every pixel; `colours` are those of the maps from far to near, `picture` is the left image.
pub(crate) fn shown_points(
    map: &DisparityMap,
    picture: &Picture,
    scene: &Scene,
    settings: &SpaceSettings,
    colours: &[[u8; 3]; 256],
) -> ShownPoints {
    let doffs_px = scene.geometry.doffs_px as f32;
    let focal_times_baseline = (scene.geometry.focal_px * scene.geometry.baseline_m) as f32;
    let (least_px, most_px) = scene.limits_px(settings);
    let from_infinity = |value: i16| {
        let px = f32::from(value) / SUBPIXEL_STEPS as f32 + doffs_px;
        (value != INVALID && px >= least_px && px <= most_px).then_some(px)
    };
    let depth_m = map.values.map(|&value| from_infinity(value).map_or(f32::NAN, |px| focal_times_baseline / px));
    let colouring = scene.colouring(settings);
    let (low, high) = scene.colour_range(colouring);
    let colour = |value: f32| {
        let t = ((value - low) / (high - low)).clamp(0.0, 1.0);
        colours[(t * 255.0 + 0.5) as usize]
    };
    let colors = match (colouring, &map.confidence) {
        (Colouring::Depth, _) => depth_m.map(|&z| if z.is_nan() { [0; 3] } else { colour(1.0 / z) }),
        (Colouring::Confidence, Some(confidence)) => confidence.map(|&c| colour(f32::from(c) * 100.0 / 255.0)),
        (Colouring::Picture | Colouring::Confidence, _) => stereopsis_images::colors_of(picture),
    };
    ShownPoints { depth_m, colors }
}
