//! Engines run the algorithm of [`stereopsis_stereo`]: rectified pairs go in, disparity maps come out, all with the same bits;
//! only models of the user have disparities of their own.

#[cfg(feature = "gpu")]
mod auto;
mod front;
mod open;
pub mod worker;

pub use open::{OpenOptions, Opened, open};
