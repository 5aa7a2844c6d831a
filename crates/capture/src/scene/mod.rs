//! Built-in scene as a source, with exact ground truth.

mod player;
#[cfg(test)]
mod tests;

pub use player::SceneSource;
