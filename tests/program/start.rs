//! The program as a child process.

use std::path::Path;
use std::process::{Command, Stdio};

/// The program with these arguments in `folder`.
pub(crate) fn stereopsis(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stereopsis"));
    command.args(args);
    in_folder(folder, command)
}

/// A command as a user types it in `folder`, who has no display, no settings yet, and nothing on standard input.
pub(crate) fn in_folder(folder: &Path, mut command: Command) -> Command {
    command.current_dir(folder).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command.env("HOME", folder).env("XDG_CONFIG_HOME", folder).stdin(Stdio::null());
    command
}
