//! Starts the program as a child process.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Returns the command of the program with these arguments in `folder`.
pub(crate) fn stereopsis(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stereopsis"));
    command.args(args);
    in_folder(folder, command)
}

/// Returns a command of a user in `folder` without a display, settings or standard input.
pub(crate) fn in_folder(folder: &Path, mut command: Command) -> Command {
    command.current_dir(folder).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command.env("HOME", folder).env("XDG_CONFIG_HOME", folder).stdin(Stdio::null());
    command
}

/// Runs to the end; returns the text of standard error.
pub(crate) fn finished(mut command: Command, code: i32) -> (String, Output) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{command:?}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    (said, output)
}

/// Runs to success; returns the text of standard error.
pub(crate) fn run(folder: &Path, args: &[&str]) -> String {
    finished(stereopsis(folder, args), 0).0
}

/// Fails unless the program ends with this code and prints all of `words`.
pub(crate) fn refused(folder: &Path, args: &[&str], code: i32, words: &[&str]) {
    let (said, _) = finished(stereopsis(folder, args), code);
    for word in words {
        assert!(said.contains(word), "{args:?} does not say '{word}': {said}");
    }
}

/// Runs to success; returns the text of standard output.
pub(crate) fn printed(folder: &Path, args: &[&str]) -> String {
    String::from_utf8(finished(stereopsis(folder, args), 0).1.stdout).unwrap()
}
