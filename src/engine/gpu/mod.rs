//! The algorithm of [`crate::stereo`] as compute shaders: `shaders/` has a file for each stage, this folder runs them.
//!
//! Pictures are copied through a mapped staging buffer into textures. Volumes and maps stay in buffers on the device. The result
//! is a texture to be drawn and, on request, a copy on the host.

mod buffers;
pub mod compiler;
pub(crate) mod device;
mod engine;
mod events;
pub mod graph;
pub mod kernels;
pub mod layout;
pub mod limits;
pub mod operations;
mod need;
mod options;
mod past;
mod program;
pub mod resource;
pub mod shaders;
mod slot;
#[cfg(test)]
mod trace;
pub mod tuning;
pub mod uniforms;
pub mod variant;
mod work;

pub use super::AdapterChoice;
pub use device::{AdapterSummary, Gpu, INSTALL};
pub use engine::GpuEngine;
#[cfg(test)]
pub use events::Event;
pub use options::GpuOptions;
#[cfg(test)]
pub use trace::{Trace, TraceData};
pub use work::StageWork;
