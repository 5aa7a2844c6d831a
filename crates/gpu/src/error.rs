//! Faults of the GPU engine.

use super::variant::{VARIABLE, Variant};
use std::io;
use stereopsis_base::files;
use stereopsis_base::remedy::{Remedy, option};
use stereopsis_frame::engine::{AdapterChoice, EngineError};

/// Advice where no GPU is found.
pub const INSTALL: &str = if cfg!(target_os = "linux") {
    "install the driver's Vulkan part (Debian, Ubuntu: libvulkan1 with mesa-vulkan-drivers or the NVIDIA driver)"
} else {
    "install the newest driver of the graphics card"
};

/// Fault of the GPU engine.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GpuError {
    #[error(
        "{} (looked for Vulkan, Metal and DX12; found: {}): {INSTALL}, or choose {}",
        missing(.choice),
        if .found.is_empty() { "none".to_owned() } else { .found.join("; ") },
        Remedy::set("engine", "cpu")
    )]
    NoAdapter { choice: AdapterChoice, found: Vec<String> },
    #[error("{name} cannot be opened: {cause}; choose {}", Remedy::set("engine", "cpu"))]
    NotOpened { name: String, cause: wgpu::RequestDeviceError },
    #[error("{adapter} cannot compute: {why}; install a newer driver, or choose {}", Remedy::set("engine", "cpu"))]
    Misfit { adapter: String, why: String },
    #[error("an image of {}x{} is too large for {adapter}, which allows {side_px} px a side; lower {}", .size.0, .size.1, option("scale"))]
    Side { size: (usize, usize), adapter: String, side_px: usize },
    #[error(
        "{}x{} with {candidates} disparities needs volumes of {needed_mib} MiB, and {adapter} allows {most_mib} MiB; lower {} or {}",
        .size.0,
        .size.1,
        option("num-disparities"),
        option("scale")
    )]
    Volume { size: (usize, usize), candidates: u32, needed_mib: u64, adapter: String, most_mib: u64 },
    #[error(
        "{adapter} has no room for {mib} MiB ({cause}); lower {} or {}",
        option("num-disparities"),
        option("scale")
    )]
    NoRoom { adapter: String, mib: u64, cause: wgpu::Error },
    #[error("the GPU variant {variant} cannot do this: {why}; force other parts, or leave {VARIABLE} unset")]
    Variant { variant: Variant, why: String },
    #[error("a left image of {}x{} and a right one of {}x{} cannot be matched", .left.0, .left.1, .right.0, .right.1)]
    Sizes { left: (usize, usize), right: (usize, usize) },
    #[error("{0} jobs are in flight already")]
    Busy(usize),
    /// A part of a job is missing, which is a fault of this program.
    #[error("{0}")]
    Missing(&'static str),
    #[error("the GPU does not answer: {0}")]
    NoAnswer(#[from] wgpu::PollError),
    #[error("a buffer of the GPU cannot be read: {0}")]
    Unreadable(wgpu::MapRangeError),
    #[error("no thread to compile shaders: {}; end other programs and start anew", files::cause(.0))]
    NoThread(io::Error),
    #[error("the GPU reports: {0}")]
    Reported(String),
}

impl From<GpuError> for EngineError {
    fn from(err: GpuError) -> Self {
        let kind = match err {
            GpuError::NoAdapter { .. } | GpuError::NotOpened { .. } | GpuError::Misfit { .. } => Self::NoAdapter,
            GpuError::Side { .. } | GpuError::Volume { .. } | GpuError::NoRoom { .. } => Self::TooLarge,
            GpuError::Variant { .. } => Self::Unsupported,
            GpuError::Sizes { .. }
            | GpuError::Busy(_)
            | GpuError::Missing(_)
            | GpuError::NoAnswer(_)
            | GpuError::Unreadable(_)
            | GpuError::NoThread(_)
            | GpuError::Reported(_) => Self::Device,
        };
        kind(err.into())
    }
}

fn missing(choice: &AdapterChoice) -> String {
    match choice {
        AdapterChoice::Best => "no GPU that can compute".to_owned(),
        AdapterChoice::Index(index) => format!("no GPU with number {index}"),
        AdapterChoice::Name(part) => format!("no GPU whose name contains '{part}'"),
    }
}
