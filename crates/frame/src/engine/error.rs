//! Faults of engines.

use crate::Cause;
use std::fmt;
use stereopsis_base::console;
use stereopsis_base::process::memory::FreeMemory;
use stereopsis_base::remedy::{Remedy, option};
use stereopsis_stereo::cost::mutual_information::MAX_PIXELS;

/// Error of an engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No adapter is present, or none that can compute.
    #[error("{0}")]
    NoAdapter(Cause),
    /// The job exceeds a limit of the device; the cause has the numbers.
    #[error("{0}")]
    TooLarge(Cause),
    /// This engine does not support the parameters; the cause names one that does.
    #[error("{0}")]
    Unsupported(Cause),
    /// The device is lost: driver reset, unplugged, asleep too long.
    #[error("the GPU was lost ({0})")]
    DeviceLost(String),
    /// The device reports another error.
    #[error("{0}")]
    Device(Cause),
    /// Another machine has matched a newer pair instead of this one.
    #[error("{0}")]
    LeftOut(Cause),
}

/// More pixels than the counters of mutual information can count.
#[derive(Debug, thiserror::Error)]
#[error(
    "{width}x{height} px are too many for mutual information, which counts up to {MAX_PIXELS}; lower {}, or use another {}",
    option("scale"),
    option("cost")
)]
pub(super) struct CountError {
    pub(super) width: usize,
    pub(super) height: usize,
}

/// A job that needs more memory than is free.
#[derive(Debug)]
pub struct MemoryError {
    /// Size of the images: columns and rows, px.
    pub size: (usize, usize),
    /// Number of disparities.
    pub num_disparities: u32,
    /// Memory of the job, bytes.
    pub needed: u64,
    /// Free memory.
    pub free: FreeMemory,
    /// Memory of the setting before, which would become free, bytes.
    pub held: u64,
    /// Changes with which the job fits, and its memory then, bytes.
    pub fitting: Vec<(Remedy, u64)>,
}

impl std::error::Error for MemoryError {}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size: (width, height), num_disparities, needed, free, held, fitting } = self;
        let needed = console::bytes(*needed);
        write!(f, "{width}x{height} with {num_disparities} disparities needs {needed} of memory, and {free}")?;
        if *held > 0 {
            write!(f, " beside the {} of the setting before", console::bytes(*held))?;
        }
        let fitting: Vec<_> =
            fitting.iter().map(|(how, bytes)| format!("{how} ({})", console::bytes(*bytes))).collect();
        match &fitting[..] {
            [] => write!(f, ": lower {} and {}", option("num-disparities"), option("scale")),
            [one] => write!(f, ": {one} fits"),
            [first @ .., last] => write!(f, ": {} or {last} fits", first.join(", ")),
        }
    }
}
