//! The built-in scene: a ray-cast room with exact disparity for both views. The same options and frame number always
//! give the same pixels.

mod delta;
mod player;
mod random;
mod sensor;
mod shape;
mod texture;
mod view;
mod world;

pub use player::SceneSource;

use crate::capture::{CaptureError, RawPair};
use crate::choices;
use crate::geometry::Geometry;
use crate::image::{Image, Truth};
use std::sync::Arc;
use view::{RenderedView, Rig, View};
use world::World;

choices! {
    /// What the scene's cameras see.
    pub enum SceneWorld {
        /// A furnished room in which some things move.
        Room = "room",
        /// Solids drawn at random, many of them without texture; nothing moves.
        Random = "random",
    }
}

/// Options of the scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneOptions {
    /// Width of each view, px.
    pub width: usize,
    /// Height of each view, px.
    pub height: usize,
    /// Baseline, m.
    pub baseline_m: f64,
    /// What the cameras see.
    pub world: SceneWorld,
    /// Seed of positions and textures.
    pub seed: u32,
    /// Standard deviation of the sensor noise, grey levels of 8 bits.
    pub noise: f64,
    /// Ratio of the right picture's brightness to the left one's.
    pub exposure: f64,
    /// Vertical offset of the right picture, px (positive: lower); imitates imperfect rectification.
    pub vertical_px: f64,
    /// Number of frames until all motion repeats; with more frames, motion is slower.
    pub loop_frames: u32,
}

impl Default for SceneOptions {
    /// 640x480, disparities from about 6 to 58 px.
    fn default() -> Self {
        Self {
            width: 640,
            height: 480,
            baseline_m: 0.065,
            world: SceneWorld::Room,
            seed: 1,
            noise: 0.0,
            exposure: 1.0,
            vertical_px: 0.0,
            loop_frames: 90,
        }
    }
}

impl SceneOptions {
    /// The world at `phase` turns of the loop, 0 to 1.
    fn world(&self, phase: f64) -> World {
        match self.world {
            SceneWorld::Room => World::room(self.seed, phase),
            SceneWorld::Random => World::random(self.seed),
        }
    }

    /// The rig of the scene.
    pub fn geometry(&self) -> Geometry {
        // a field of view of 58 degrees
        Geometry::centred(0.9 * self.width as f64, self.baseline_m, 0.0, (self.width, self.height))
    }

    /// Checks that there is such a scene.
    fn check(&self) -> Result<(), CaptureError> {
        let Self { width, height, baseline_m, noise, exposure, .. } = *self;
        if width == 0 || height == 0 || width.saturating_mul(height) > 1 << 26 {
            let text = format!("a scene of {width}x{height} pixels: choose 1x1 to 8192x8192");
            return Err(CaptureError::Grammar(text));
        }
        let sane = |v: f64| v.is_finite() && v > 0.0;
        if !sane(baseline_m) || !sane(exposure) || !noise.is_finite() || noise < 0.0 {
            let text = "the scene's baseline and exposure are positive, its noise is not negative";
            return Err(CaptureError::Grammar(text.into()));
        }
        Ok(())
    }
}

/// Frame `number` of the scene with ground truth; `color` adds RGB to luma. Runs on rayon's threads.
#[cfg(test)]
pub fn render(options: &SceneOptions, number: u64, color: bool) -> RawPair {
    sensor::expose(options, &StaticScene::new(options).frame(number), number, color)
}

/// Renders single frames of the scene, in any order.
pub struct SceneRenderer(StaticScene);

impl SceneRenderer {
    /// Renders the static part.
    ///
    /// # Errors
    /// The size or the rig is invalid.
    pub fn new(options: &SceneOptions) -> Result<Self, CaptureError> {
        options.check()?;
        Ok(Self(StaticScene::new(options)))
    }

    /// Pair `number` with ground truth, as the source gives it. Runs on rayon's threads.
    pub fn pair(&self, number: u64) -> RawPair {
        // the source plays a loop
        let in_loop = number % u64::from(self.0.options.loop_frames.max(1));
        sensor::expose(&self.0.options, &self.0.frame(in_loop), number, true)
    }
}

/// The static part of the scene, rendered once.
struct StaticScene {
    options: SceneOptions,
    rig: Rig,
    left: RenderedView,
    right: RenderedView,
    occluded: Image<bool>,
}

/// A frame before sensor noise and exposure.
#[derive(Clone)]
struct Rendered {
    left: Image<[u8; 3]>,
    right: Image<[u8; 3]>,
    truth: Arc<Truth>,
}

impl StaticScene {
    fn new(options: &SceneOptions) -> Self {
        let world = options.world(0.0).still();
        let rig = Rig::new(options);
        let (left, right) = (rig.view(&world, View::Left, None), rig.view(&world, View::Right, None));
        let occluded = rig.occluded(&world, &left, None);
        Self { options: *options, rig, left, right, occluded }
    }

    fn frame(&self, number: u64) -> Rendered {
        let turns = number as f64 / f64::from(self.options.loop_frames.max(1));
        let world = self.options.world(turns.fract());
        let left = self.rig.view(&world, View::Left, Some(&self.left));
        let right = self.rig.view(&world, View::Right, Some(&self.right));
        let occluded = self.rig.occluded(&world, &left, Some((&self.left, &self.occluded)));
        let truth = Truth { left_px: left.disparity_px, right_px: Some(right.disparity_px), occluded: Some(occluded) };
        Rendered { left: left.rgb, right: right.rgb, truth: Arc::new(truth) }
    }
}

#[cfg(test)]
mod tests;
