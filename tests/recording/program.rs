//! The program as its user starts it.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The program without a display, in `folder`.
pub(crate) fn stereopsis(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stereopsis"));
    command.args(args).current_dir(folder).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command.env("HOME", folder).env("XDG_CONFIG_HOME", folder).stdin(Stdio::null());
    command
}

/// Records a small scene, with more flags.
pub(crate) fn record<'a>(folder: &Path, more: impl IntoIterator<Item = &'a str>) -> Command {
    let args = ["record", "--source", "scene", "--size", "64x48", "--engine", "cpu", "--num-disparities", "16"];
    let args: Vec<_> = args.into_iter().chain(more).collect();
    stereopsis(folder, &args)
}

/// Runs to the end; what it said on standard error.
pub(crate) fn finished(mut command: Command, code: i32) -> (String, Output) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{command:?}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    (said, output)
}
