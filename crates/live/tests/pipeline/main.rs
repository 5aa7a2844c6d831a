//! The whole pipeline without a window: what it shows of stills and presets, how exact it is, and that its memory does not grow.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "tests say why they are skipped, and fail by panicking")]

mod accuracy;
mod evaluation;
mod presets;
#[cfg(target_os = "linux")]
mod soak;
mod stills;
