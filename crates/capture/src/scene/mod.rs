//! The built-in scene as a source.

mod player;
#[cfg(test)]
mod tests;

pub use player::SceneSource;
pub use stereopsis_scene::{SceneOptions, SceneRenderer, SceneWorld, render};
