//! Tests with emulated cameras: each runs its other half (`inside_…`) in a child process of this same binary.

#[path = "../v4l2/mod.rs"]
mod v4l2;

pub(crate) use v4l2::{SIZES, dress, plug_in, scene};

use std::path::Path;

/// Runs the test `inside`, which is ignored otherwise, with emulated cameras. Its path begins below the module of these tests.
pub(crate) fn with_cameras(behaviours: &[&str], inside: &str) {
    with_dressed_cameras(behaviours, |_| (), inside);
}

/// The same, when `dress` has put more into the folder.
pub(crate) fn with_dressed_cameras(behaviours: &[&str], dress: impl FnOnce(&Path), inside: &str) {
    let mut child = super::alone(inside);
    let Some(folder) = v4l2::emulate(&mut child, behaviours) else { return };
    dress(folder.path());
    let output = child.output().expect("starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{inside}: {}\n{text}", output.status);
}
