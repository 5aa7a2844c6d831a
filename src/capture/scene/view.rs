//! What one eye sees: hits of the rays through the pixel centres, colours smoothed at edges, and from the hits truth.

use super::SceneOptions;
use super::shape::Ray;
use super::world::{Hit, World};
use crate::image::Image;
use glam::DVec3;
use rayon::prelude::*;

/// The rig in the room: how pixels become rays.
pub(super) struct Rig {
    pub(super) width: usize,
    pub(super) height: usize,
    focal_px: f64,
    cx: f64,
    cy: f64,
    baseline_m: f64,
    /// The right picture shows everything this much lower.
    vertical_px: f64,
    middle: DVec3,
    down: DVec3,
    ahead: DVec3,
}

/// Which eye.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Eye {
    Left,
    Right,
}

/// One eye's picture and disparities.
pub(super) struct View {
    pub(super) rgb: Image<[u8; 3]>,
    pub(super) disparity_px: Image<f32>,
    hits: Vec<Option<Hit>>,
}

/// Height of the cameras above the floor, m.
const EYE_HEIGHT_M: f64 = 1.05;
/// How far the cameras look down, as a tangent.
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
            middle: DVec3::new(geometry.baseline_m / 2.0, EYE_HEIGHT_M, 0.0),
            down: DVec3::new(0.0, -ahead.z, ahead.y),
            ahead,
        }
    }

    /// The ray through a place in a picture; along it `t` is depth in metres.
    pub(super) fn ray(&self, eye: Eye, x: f64, y: f64) -> Ray {
        let (shift, origin) = match eye {
            Eye::Left => (0.0, DVec3::new(0.0, EYE_HEIGHT_M, 0.0)),
            Eye::Right => (self.vertical_px, DVec3::new(self.baseline_m, EYE_HEIGHT_M, 0.0)),
        };
        let (u, v) = ((x - self.cx) / self.focal_px, (y - shift - self.cy) / self.focal_px);
        Ray { origin, direction: DVec3::X * u + self.down * v + self.ahead }
    }

    pub(super) fn disparity_px(&self, depth_m: f64) -> f64 {
        self.focal_px * self.baseline_m / depth_m
    }

    /// Renders one eye, row by row on all threads of the pool it is called in.
    pub(super) fn view(&self, world: &World, eye: Eye) -> View {
        let (width, height) = (self.width, self.height);
        let mut hits = vec![None; width * height];
        hits.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
            for (x, hit) in row.iter_mut().enumerate() {
                *hit = world.hit(&self.ray(eye, x as f64, y as f64));
            }
        });
        let disparity = |hit: &Option<Hit>| hit.map_or(f32::NAN, |hit| self.disparity_px(hit.entry.t) as f32);
        let disparity_px = Image::new(width, height, hits.iter().map(disparity).collect());
        let mut rgb = vec![[0; 3]; width * height];
        rgb.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
            for (x, pixel) in row.iter_mut().enumerate() {
                let smooth = !self.at_edge(&hits, x, y);
                let color = if smooth {
                    self.one(world, eye, hits[y * width + x].as_ref(), x, y)
                } else {
                    self.nine(world, eye, x, y)
                };
                *pixel = (color * 255.0 + 0.5).clamp(DVec3::ZERO, DVec3::splat(255.0)).to_array().map(|c| c as u8);
            }
        });
        View { rgb: Image::new(width, height, rgb), disparity_px, hits }
    }

    /// Which left pixels the right eye does not see: something stands before them, or they lie outside its picture.
    pub(super) fn occluded(&self, world: &World, left: &View) -> Image<bool> {
        let (width, height) = (self.width, self.height);
        let mut occluded = vec![false; width * height];
        occluded.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
            for (x, occluded) in row.iter_mut().enumerate() {
                let Some(hit) = &left.hits[y * width + x] else { continue };
                let xr = x as f64 - self.disparity_px(hit.entry.t);
                let yr = y as f64 + self.vertical_px;
                let inside = xr >= -0.5 && yr >= -0.5 && yr < height as f64 - 0.5;
                let first = world.hit(&self.ray(Eye::Right, xr, yr)).map_or(f64::INFINITY, |hit| hit.entry.t);
                *occluded = !inside || first < hit.entry.t * (1.0 - 1e-6) - 1e-6;
            }
        });
        Image::new(width, height, occluded)
    }

    fn at_edge(&self, hits: &[Option<Hit>], x: usize, y: usize) -> bool {
        let what = |x: usize, y: usize| hits[y * self.width + x].map(|hit| (hit.solid, hit.entry.face));
        let here = what(x, y);
        (x > 0 && what(x - 1, y) != here)
            || (x + 1 < self.width && what(x + 1, y) != here)
            || (y > 0 && what(x, y - 1) != here)
            || (y + 1 < self.height && what(x, y + 1) != here)
    }

    fn one(&self, world: &World, eye: Eye, hit: Option<&Hit>, x: usize, y: usize) -> DVec3 {
        let ray = self.ray(eye, x as f64, y as f64);
        hit.map_or(DVec3::ZERO, |hit| world.color(&ray, hit, 1.0 / self.focal_px, self.middle))
    }

    /// The mean over nine places in the pixel.
    fn nine(&self, world: &World, eye: Eye, x: usize, y: usize) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for k in 0..9_u8 {
            let (dx, dy) = (f64::from(k % 3) - 1.0, f64::from(k / 3) - 1.0);
            let ray = self.ray(eye, x as f64 + dx / 3.0, y as f64 + dy / 3.0);
            if let Some(hit) = world.hit(&ray) {
                sum += world.color(&ray, &hit, 1.0 / self.focal_px, self.middle);
            }
        }
        sum / 9.0
    }
}
