//! Engines run the algorithm of [`crate::stereo`]: rectified pairs go in, disparity maps come out, all with the same bits;
//! only models of the user have disparities of their own.

use stereopsis_base::{geometry, image, newest, parameter, rate};
use stereopsis_metrics as metrics;
use stereopsis_stereo as stereo;

#[cfg(feature = "gpu")]
mod auto;
mod elsewhere;
mod front;
mod open;
pub mod worker;

pub use open::{OpenOptions, Opened, open};
pub use stereopsis_cpu::{self as cpu, CpuEngine};
pub use stereopsis_frame::engine::*;
#[cfg(feature = "gpu")]
pub use stereopsis_gpu::{self as gpu, GpuEngine};
#[cfg(feature = "model")]
pub use stereopsis_model as model;
