//! Built-in scene: a ray-cast room with exact disparity for both views. Options and a frame number in, a pair with ground truth out; the
//! same options and number must always give the same pixels.

mod delta;
mod random;
mod sensor;
mod shape;
#[cfg(test)]
mod tests;
mod texture;
mod view;
mod world;

pub use delta::Delta;
pub use sensor::expose;

use std::sync::Arc;
use stereopsis_base::image::{Image, Truth};
use stereopsis_frame::{CaptureError, RawPair};
use stereopsis_frame::{SceneOptions, SceneWorld};
use view::{RenderedView, Rig, View};
use world::World;

/// Returns the scene's world at `phase` turns of the loop, 0 to 1.
fn world_at(options: &SceneOptions, phase: f64) -> World {
    match options.world {
        SceneWorld::Room => World::room(options.seed, phase),
        SceneWorld::Random => World::random(options.seed),
    }
}

/// Renders frame `number` of the scene with ground truth; `color` adds RGB to luma. Runs on rayon's threads.
pub fn render(options: &SceneOptions, number: u64, color: bool) -> RawPair {
    sensor::expose(options, &StaticScene::new(options).frame(number), number, color)
}

/// Renderer of single frames of the scene, in any order.
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

    /// Renders pair `number` with ground truth, as the source delivers it. Runs on rayon's threads.
    pub fn pair(&self, number: u64) -> RawPair {
        let in_loop = number % u64::from(self.0.options.loop_frames.max(1));
        sensor::expose(&self.0.options, &self.0.frame(in_loop), number, true)
    }
}

/// Static part of the scene, rendered once.
pub struct StaticScene {
    options: SceneOptions,
    rig: Rig,
    left: RenderedView,
    right: RenderedView,
    occluded: Image<bool>,
}

/// Rendered frame before sensor noise and exposure.
#[derive(Clone)]
pub struct Rendered {
    /// Left view.
    pub left: Image<[u8; 3]>,
    /// Right view.
    pub right: Image<[u8; 3]>,
    /// Disparity of both views, and the occlusion mask.
    pub truth: Arc<Truth>,
}

impl StaticScene {
    /// Renders the static part.
    pub fn new(options: &SceneOptions) -> Self {
        let world = world_at(options, 0.0).still();
        let rig = Rig::new(options);
        let (left, right) = (rig.view(&world, View::Left, None), rig.view(&world, View::Right, None));
        let occluded = rig.occluded(&world, &left, None);
        Self { options: *options, rig, left, right, occluded }
    }

    /// Renders a frame of the loop. Runs on rayon's threads.
    pub fn frame(&self, number: u64) -> Rendered {
        let turns = number as f64 / f64::from(self.options.loop_frames.max(1));
        let world = world_at(&self.options, turns.fract());
        let left = self.rig.view(&world, View::Left, Some(&self.left));
        let right = self.rig.view(&world, View::Right, Some(&self.right));
        let occluded = self.rig.occluded(&world, &left, Some((&self.left, &self.occluded)));
        let truth = Truth {
            left_px: left.disparity_px,
            right_px: Some(right.disparity_px),
            occluded: Some(occluded),
            scale: None,
        };
        Rendered { left: left.rgb, right: right.rgb, truth: Arc::new(truth) }
    }
}
