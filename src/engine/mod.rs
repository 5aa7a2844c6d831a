//! Engines run the algorithm of [`crate::stereo`]: rectified pairs go in, disparity maps come out, all with the same bits.

pub mod cpu;
#[cfg(feature = "gpu")]
pub mod gpu;
mod auto;
mod elsewhere;
mod open;
pub mod worker;

pub use cpu::CpuEngine;
#[cfg(feature = "gpu")]
pub use gpu::GpuEngine;
pub use open::{OpenOptions, Opened, open};
pub use stereopsis_frame::engine::*;
