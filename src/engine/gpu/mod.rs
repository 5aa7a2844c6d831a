//! The algorithm of [`crate::stereo`] as compute shaders: `shaders/` has a file for each stage, this folder runs them.
//!
//! A picture goes through a mapped staging buffer into a texture, the stages pass volumes and maps on in buffers that
//! stay on the device, and the result is a texture to be shown and, where somebody needs numbers, a copy on the host.

pub mod compiler;
pub(crate) mod device;
mod engine;
mod events;
pub mod kernels;
pub mod layout;
pub mod operations;
mod options;
mod past;
pub(crate) mod plan;
mod program;
pub mod recipe;
pub mod shaders;
mod slot;
mod tables;
mod trace;
pub mod tuning;
pub mod uniforms;
pub mod variant;
mod work;

pub use device::{AdapterChoice, AdapterSummary, Gpu, INSTALL};
pub use engine::GpuEngine;
pub use events::Event;
pub use options::GpuOptions;
pub use trace::{Trace, TraceData};
pub use work::StageWork;
