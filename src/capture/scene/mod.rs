//! The built-in scene: a room, ray-cast, with exact disparity for both eyes. The same options and frame number give
//! the same pixels on every machine.

mod delta;
mod player;
mod sensor;
mod shape;
mod texture;
mod view;
mod world;

pub use player::SceneSource;

use crate::frame::{Geometry, RawPair, Truth};
use crate::image::Image;
use std::sync::Arc;
use view::{Eye, Rig};
use world::World;

/// What the scene looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneOptions {
    /// Columns of each eye's picture.
    pub width: usize,
    /// Rows of each eye's picture.
    pub height: usize,
    /// Distance of the two cameras, m.
    pub baseline_m: f64,
    /// Focal length, px; `None` for 0.9 times the width: the view is 58 degrees wide.
    pub focal_px: Option<f64>,
    /// Places and textures.
    pub seed: u32,
    /// Standard deviation of the sensor's noise, grey levels of 8 bits.
    pub noise: f64,
    /// Brightness of the right picture over that of the left one.
    pub exposure: f64,
    /// How much lower the right picture shows everything, px: a rig that is not quite rectified.
    pub vertical_px: f64,
    /// Frames until all motion repeats; more of them move more slowly.
    pub loop_frames: u32,
}

impl Default for SceneOptions {
    /// 640x480, disparities from about 6 to 58 px.
    fn default() -> Self {
        Self {
            width: 640,
            height: 480,
            baseline_m: 0.065,
            focal_px: None,
            seed: 1,
            noise: 0.0,
            exposure: 1.0,
            vertical_px: 0.0,
            loop_frames: 90,
        }
    }
}

impl SceneOptions {
    /// The rig that looks at the scene.
    pub fn geometry(&self) -> Geometry {
        Geometry {
            focal_px: self.focal_px.unwrap_or(0.9 * self.width as f64),
            baseline_m: self.baseline_m,
            doffs_px: 0.0,
            cx_px: (self.width as f64 - 1.0) / 2.0,
            cy_px: (self.height as f64 - 1.0) / 2.0,
        }
    }
}

/// Frame `number` of the scene, with truth; `color` keeps RGB beside luma. Uses rayon's threads.
pub fn render(options: &SceneOptions, number: u64, color: bool) -> RawPair {
    sensor::expose(options, &Rendered::new(options, number), number, color)
}

/// A frame before the sensor's noise and exposure.
#[derive(Clone)]
struct Rendered {
    left: Image<[u8; 3]>,
    right: Image<[u8; 3]>,
    truth: Arc<Truth>,
}

impl Rendered {
    fn new(options: &SceneOptions, number: u64) -> Self {
        let turns = number as f64 / f64::from(options.loop_frames.max(1));
        let world = World::new(options.seed, turns.fract());
        let rig = Rig::new(options);
        let left = rig.view(&world, Eye::Left);
        let right = rig.view(&world, Eye::Right);
        let occluded = rig.occluded(&world, &left);
        let truth = Truth { left_px: left.disparity_px, right_px: right.disparity_px, occluded };
        Self { left: left.rgb, right: right.rgb, truth: Arc::new(truth) }
    }
}

#[cfg(test)]
mod tests;
