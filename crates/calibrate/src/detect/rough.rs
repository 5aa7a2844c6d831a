//! Undistorted images of wide lenses, as pinhole views with straight lines for the detector.

use super::reading::bilinear;
use glam::{DVec2, DVec3};
use stereopsis_base::image::Image;
use stereopsis_calibration::Camera;

/// Largest tangent of the angle to the axis in the pinhole view, along x and y (56 degrees).
const MAX_TANGENT: f64 = 1.5;
const MAX_PIXELS: f64 = 3e6;

/// Undistorted image with the map back to the original.
pub(super) struct UndistortedImage<'a> {
    pub(super) picture: Image<u8>,
    lens: &'a Camera,
    focal_px: f64,
    centre: DVec2,
}

impl<'a> UndistortedImage<'a> {
    /// Computes the view, unless the lens has no ray for most of the image.
    pub(super) fn new(picture: &Image<u8>, lens: &'a Camera) -> Option<Self> {
        const STEPS: usize = 32;
        let last = DVec2::new(picture.width() as f64 - 1.0, picture.height() as f64 - 1.0);
        let spots = (0..=STEPS).flat_map(|y| (0..=STEPS).map(move |x| DVec2::new(x as f64, y as f64) / STEPS as f64));
        let rays: Vec<DVec2> = spots.filter_map(|spot| Some(lens.ray(spot * last)?.truncate())).collect();
        if rays.len() * 4 < (STEPS + 1) * (STEPS + 1) {
            return None;
        }
        let bounded = |ray: &DVec2| ray.clamp(DVec2::splat(-MAX_TANGENT), DVec2::splat(MAX_TANGENT));
        let (low, high) =
            rays.iter().map(bounded).fold((DVec2::MAX, DVec2::MIN), |(low, high), ray| (low.min(ray), high.max(ray)));
        let farthest = rays.iter().map(|ray| ray.length()).fold(0.0, f64::max);
        let extent = high - low;
        let focal_px = f64::midpoint(lens.fx.abs(), lens.fy.abs()).min((MAX_PIXELS / (extent.x * extent.y)).sqrt());
        let size = (extent * focal_px).ceil();
        if !(size.min_element() >= 16.0 && size.element_product() <= 2.0 * MAX_PIXELS) {
            return None;
        }
        let centre = -low * focal_px;
        let picture = Image::from_fn(size.x as usize, size.y as usize, |x, y| {
            let ray = (DVec2::new(x as f64, y as f64) - centre) / focal_px;
            // a lens model may fold back beyond the outermost ray of the image
            let inside = ray.length() <= farthest;
            let value = inside.then(|| bilinear(picture, lens.project(ray.extend(1.0)))).flatten();
            value.map_or(0, |value| value.round() as u8)
        });
        Some(Self { picture, lens, focal_px, centre })
    }

    /// Maps a pixel of this image to the original.
    pub(super) fn original(&self, at: DVec2) -> DVec2 {
        let ray: DVec3 = ((at - self.centre) / self.focal_px).extend(1.0);
        self.lens.project(ray)
    }
}
