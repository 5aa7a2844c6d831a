//! The algorithm of [`crate::stereo`] as compute shaders: `shaders/` has a file for each stage, this crate runs them.
//!
//! Pictures are copied through a mapped staging buffer into textures. Volumes and maps stay in buffers on the device. The result
//! is a texture to be drawn and, on request, a copy on the host.

use stereopsis_base::parameter::choices;
use stereopsis_base::{files, image, process};
#[cfg(test)]
use stereopsis_capture as capture;
use stereopsis_frame::engine;
use stereopsis_stereo as stereo;

mod buffers;
pub mod compiler;
pub mod device;
mod gpu_engine;
mod events;
pub mod graph;
mod in_flight;
pub mod kernels;
pub mod layout;
pub mod limits;
mod memory;
pub mod operations;
mod need;
mod options;
mod pace;
mod past;
mod program;
pub mod resource;
pub mod shaders;
mod silence;
mod slot;
#[cfg(any(test, feature = "testing"))]
mod trace;
pub mod tuning;
pub mod uniforms;
pub mod variant;
mod work;

pub use crate::engine::AdapterChoice;
pub use device::{AdapterSummary, Gpu, INSTALL};
#[cfg(any(test, feature = "testing"))]
pub use events::Event;
pub use gpu_engine::GpuEngine;
pub use options::GpuOptions;
#[cfg(any(test, feature = "testing"))]
pub use trace::{Trace, TraceData};
pub use work::{Plan, StageWork};
