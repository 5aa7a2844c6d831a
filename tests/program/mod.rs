//! How tests start the program.

use std::path::Path;
use std::process::{Command, Stdio};

/// A command as a user types it in `folder`, who has no display, no settings yet, and nothing on standard input.
pub(crate) fn in_folder(folder: &Path, mut command: Command) -> Command {
    command.current_dir(folder).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command.env("HOME", folder).env("XDG_CONFIG_HOME", folder).stdin(Stdio::null());
    command
}
