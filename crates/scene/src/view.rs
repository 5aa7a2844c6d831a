//! Renderer of one view: ray hits at the pixel centres, antialiased edges, and ground truth from the hits.

use super::shape::Ray;
use super::world::{Hit, Row, World};
use glam::DVec3;
use rayon::prelude::*;
use stereopsis_base::image::Image;
use stereopsis_frame::SceneOptions;

/// Rig in the room, which maps pixels to rays.
pub(super) struct Rig {
    pub(super) width: usize,
    pub(super) height: usize,
    focal_px: f64,
    cx: f64,
    cy: f64,
    baseline_m: f64,
    /// Vertical offset of the right image, px (positive: lower).
    vertical_px: f64,
    middle: DVec3,
    down: DVec3,
    ahead: DVec3,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    Left,
    Right,
}

/// Image and disparities of one view.
pub(super) struct RenderedView {
    pub(super) rgb: Image<[u8; 3]>,
    pub(super) disparity_px: Image<f32>,
    seen: Vec<PixelHit>,
}

#[derive(Clone, Copy)]
struct PixelHit {
    hit: Option<Hit>,
    /// Whether a moving solid is near, or changes the light.
    near_motion: bool,
}

/// Height of the cameras above the floor, m.
const CAMERA_HEIGHT_M: f64 = 1.05;
/// Downward pitch of the cameras, as a tangent.
const PITCH: f64 = 0.17;

impl Rig {
    pub(super) fn new(options: &SceneOptions) -> Self {
        let ahead = DVec3::new(0.0, -PITCH, 1.0).normalize();
        let geometry = options.geometry();
        Self {
            width: options.width,
            height: options.height,
            focal_px: geometry.focal_px,
            cx: geometry.cx_px,
            cy: geometry.cy_px,
            baseline_m: geometry.baseline_m,
            vertical_px: options.vertical_px,
            middle: DVec3::new(geometry.baseline_m / 2.0, CAMERA_HEIGHT_M, 0.0),
            down: DVec3::new(0.0, -ahead.z, ahead.y),
            ahead,
        }
    }

    /// Returns the ray through a point of an image; its parameter `t` is depth in metres.
    pub(super) fn ray(&self, side: View, x: f64, y: f64) -> Ray {
        let (shift, origin) = match side {
            View::Left => (0.0, DVec3::new(0.0, CAMERA_HEIGHT_M, 0.0)),
            View::Right => (self.vertical_px, DVec3::new(self.baseline_m, CAMERA_HEIGHT_M, 0.0)),
        };
        let (u, v) = ((x - self.cx) / self.focal_px, (y - shift - self.cy) / self.focal_px);
        Ray { origin, direction: DVec3::X * u + self.down * v + self.ahead }
    }

    pub(super) fn disparity_px(&self, depth_m: f64) -> f64 {
        self.focal_px * self.baseline_m / depth_m
    }

    /// Renders one view row by row on all threads of the current pool. Static pixels are copied from `still`, a view of the world's static
    /// part.
    pub(super) fn view(&self, world: &World, side: View, still: Option<&RenderedView>) -> RenderedView {
        let (width, height) = (self.width, self.height);
        let mut seen = vec![PixelHit { hit: None, near_motion: true }; width * height];
        seen.par_chunks_mut(width).enumerate().for_each(|(y, seen)| {
            let row = world.row(&self.ray(side, 0.0, y as f64), self.margin());
            for (x, seen) in seen.iter_mut().enumerate() {
                let ray = self.ray(side, x as f64, y as f64);
                *seen = match still {
                    None => PixelHit { hit: world.hit(&ray, &row), near_motion: true },
                    Some(still) => {
                        let hit = still.seen[y * width + x].hit;
                        let near_motion = world.is_affected_by_motion(&ray, &row, hit.as_ref(), self.margin());
                        let hit = if near_motion { world.hit_with_static(&ray, &row, hit) } else { hit };
                        PixelHit { hit, near_motion }
                    }
                };
            }
        });
        let mut rgb = vec![[0; 3]; width * height];
        rgb.par_chunks_mut(width).enumerate().for_each(|(y, pixels)| {
            let row = world.row(&self.ray(side, 0.0, y as f64), self.margin());
            for (x, pixel) in pixels.iter_mut().enumerate() {
                let (edge, near_motion) = self.surroundings(&seen, x, y);
                *pixel = match still {
                    Some(still) if !near_motion => still.rgb.at(x, y),
                    _ => self.pixel(world, &row, side, seen[y * width + x].hit.as_ref(), (x, y), edge),
                };
            }
        });
        let disparity = |seen: &PixelHit| seen.hit.map_or(f32::NAN, |hit| self.disparity_px(hit.t) as f32);
        let disparity_px = Image::new(width, height, seen.iter().map(disparity).collect());
        RenderedView { rgb: Image::new(width, height, rgb), disparity_px, seen }
    }

    /// Computes the occlusion mask: left pixels that a surface hides from the right view, or that lie outside it. `still` is a view of the
    /// static part with its occlusion mask.
    pub(super) fn occluded(
        &self,
        world: &World,
        left: &RenderedView,
        still: Option<(&RenderedView, &Image<bool>)>,
    ) -> Image<bool> {
        let (width, height) = (self.width, self.height);
        let mut occluded = vec![false; width * height];
        occluded.par_chunks_mut(width).enumerate().for_each(|(y, pixels)| {
            let yr = y as f64 + self.vertical_px;
            let row = world.row(&self.ray(View::Right, 0.0, yr), self.margin());
            for (x, occluded) in pixels.iter_mut().enumerate() {
                let Some(hit) = &left.seen[y * width + x].hit else { continue };
                let xr = x as f64 - self.disparity_px(hit.t);
                let inside = xr >= -0.5 && yr >= -0.5 && yr < height as f64 - 0.5;
                let ray = self.ray(View::Right, xr, yr);
                let (before, first) = match still {
                    Some((view, occluded))
                        if view.seen[y * width + x].hit.is_some_and(|old| old.solid == hit.solid) =>
                    {
                        (occluded.at(x, y), world.hit_with_static(&ray, &row, None))
                    }
                    _ => (!inside, world.hit(&ray, &row)),
                };
                *occluded = before || first.is_some_and(|first| first.t < hit.t * (1.0 - 1e-6) - 1e-6);
            }
        });
        Image::new(width, height, occluded)
    }

    /// Returns the antialiasing radius, one and a half pixels, as a tangent.
    fn margin(&self) -> f64 {
        1.5 / self.focal_px
    }

    /// Returns whether a pixel lies at an edge, and whether a moving solid is in it or, at an edge, beside it.
    fn surroundings(&self, seen: &[PixelHit], x: usize, y: usize) -> (bool, bool) {
        let at = |x: usize, y: usize| &seen[y * self.width + x];
        let what = |seen: &PixelHit| seen.hit.map(|hit| (hit.solid, hit.face));
        let here = at(x, y);
        let (mut edge, mut near_motion) = (false, false);
        let mut look = |other: &PixelHit| {
            edge |= what(other) != what(here);
            near_motion |= other.near_motion;
        };
        look(at(x.saturating_sub(1), y));
        look(at((x + 1).min(self.width - 1), y));
        look(at(x, y.saturating_sub(1)));
        look(at(x, (y + 1).min(self.height - 1)));
        (edge, here.near_motion || (edge && near_motion))
    }

    fn pixel(
        &self,
        world: &World,
        row: &Row,
        side: View,
        hit: Option<&Hit>,
        (x, y): (usize, usize),
        edge: bool,
    ) -> [u8; 3] {
        let color = |ray: &Ray, hit: &Hit| world.color(ray, hit, 1.0 / self.focal_px, self.middle);
        let color = if edge {
            // mean of nine samples in the pixel
            let samples = (0..9_u8).map(|k| (f64::from(k % 3) - 1.0, f64::from(k / 3) - 1.0));
            let rays = samples.map(|(dx, dy)| self.ray(side, x as f64 + dx / 3.0, y as f64 + dy / 3.0));
            rays.map(|ray| world.hit(&ray, row).map_or(DVec3::ZERO, |hit| color(&ray, &hit))).sum::<DVec3>() / 9.0
        } else {
            hit.map_or(DVec3::ZERO, |hit| color(&self.ray(side, x as f64, y as f64), hit))
        };
        (color * 255.0 + 0.5).clamp(DVec3::ZERO, DVec3::splat(255.0)).to_array().map(|c| c as u8)
    }
}
