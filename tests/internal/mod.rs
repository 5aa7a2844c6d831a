//! Tests of several rooms together, from within the crate. What one room does alone is tested beside it, what the program does
//! as a process in `tests/program`, and the public surface in `tests/library.rs`.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "tests say why they are skipped, and fail by panicking")]

mod accuracy;
mod architecture;
mod attack;
#[cfg(target_os = "linux")]
mod controls;
#[cfg(target_os = "linux")]
mod emulated;
mod engines_agree;
mod evaluation;
mod memory;
#[cfg(feature = "zenoh")]
mod network;
mod presets;
#[cfg(feature = "publish")]
mod publish;
mod recording;
#[cfg(feature = "zenoh")]
mod ros2;
mod shaders;
#[cfg(target_os = "linux")]
mod soak;
mod stills;
#[cfg(target_os = "linux")]
mod webcam;
mod window;

use std::path::PathBuf;
use std::process::Command;

/// Runs the ignored test `name`, a path below this module, in a process of its own.
fn alone(name: &str) -> Command {
    let module = module_path!().split_once("::").expect("below the crate").1;
    let mut child = Command::new(std::env::current_exe().expect("has a path"));
    child.args(["--exact", &format!("{module}::{name}"), "--ignored", "--nocapture"]);
    child
}

/// Where a failed test leaves a file for people.
fn left_behind(name: &str) -> PathBuf {
    std::env::current_exe().expect("has a path").with_file_name(name)
}
