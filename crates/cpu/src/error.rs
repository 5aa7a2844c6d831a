//! Faults of the CPU engine.

use stereopsis_base::console;
use stereopsis_base::process::memory::FreeMemory;
use stereopsis_base::remedy::option;

/// Fault of the CPU engine.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CpuError {
    /// The last pair is not collected.
    #[error("the CPU takes one pair at a time: collect the last one first")]
    Busy,
    /// There is no memory for a volume.
    #[error(
        "{}x{} with {num_disparities} disparities needs {} for one volume, and there is no such memory: lower {} or {}",
        .size.0,
        .size.1,
        console::bytes(*.bytes),
        option("num-disparities"),
        option("scale")
    )]
    Volume {
        /// Width and height, px.
        size: (usize, usize),
        /// Number of disparities.
        num_disparities: usize,
        /// Memory of the volume, bytes.
        bytes: u64,
    },
    /// The candidates that the gates leave need more memory than is free.
    #[error(
        "{}x{} with {num_disparities} disparities needs {} of memory for the candidates that its gates leave, and {free}: lower {} or {}",
        .size.0,
        .size.1,
        console::bytes(*.needed),
        option("num-disparities"),
        option("scale")
    )]
    GatedMemory {
        /// Width and height, px.
        size: (usize, usize),
        /// Number of disparities.
        num_disparities: u32,
        /// Memory that is needed, bytes.
        needed: u64,
        /// Free memory.
        free: FreeMemory,
    },
}
