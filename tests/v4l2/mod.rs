//! Cameras that are not there, for tests: a small library that is loaded in front of libc, compiled here by `cc`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// The compiled library, or nothing without a compiler.
fn library() -> Option<&'static Path> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compile = || {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/v4l2/preload.c");
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("v4l2.so");
        let fresh = library.with_extension(std::process::id().to_string());
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&fresh, &source])
            .args(["-ldl", "-lpthread"])
            .output()
            .map_err(|e| eprintln!("skipped: no C compiler `cc`: {e}"))
            .ok()?;
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        fs::rename(fresh, &library).expect("renamed");
        Some(library)
    };
    LIBRARY.get_or_init(compile).as_deref()
}

/// Lets a command see emulated cameras that behave as these words of `preload.c` say, as long as the folder is kept.
pub(crate) fn emulate(command: &mut Command, behaviours: &[&str]) -> Option<TempDir> {
    let library = library()?;
    let folder = tempfile::tempdir().expect("temporary folder");
    command.env("LD_PRELOAD", library).env("FAKE_V4L2", folder.path());
    for (i, behaviour) in behaviours.iter().enumerate() {
        command.env(format!("FAKE_V4L2_{i}"), behaviour);
        fs::write(folder.path().join(format!("video{i}")), "").expect("written");
        let system = folder.path().join(format!("sys/class/video4linux/video{i}"));
        fs::create_dir_all(&system).expect("made");
        fs::write(system.join("name"), format!("Fake Camera {i}\n")).expect("written");
        fs::write(system.join("index"), "0\n").expect("written");
        symlink(format!("../../../1-{i}:1.0"), system.join("device")).expect("linked");
    }
    Some(folder)
}

/// Runs the test `inside`, which is ignored otherwise, of this same binary with emulated cameras.
#[allow(dead_code, reason = "not every test binary has cameras without pictures")]
pub(crate) fn with_cameras(behaviours: &[&str], inside: &str) {
    with_dressed_cameras(behaviours, |_| (), inside);
}

/// The same, when `dress` has put more into the folder.
pub(crate) fn with_dressed_cameras(behaviours: &[&str], dress: impl FnOnce(&Path), inside: &str) {
    let mut child = Command::new(std::env::current_exe().expect("has a path"));
    child.args(["--exact", inside, "--ignored", "--nocapture"]);
    let Some(folder) = emulate(&mut child, behaviours) else { return };
    dress(folder.path());
    let output = child.output().expect("starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{inside}: {}\n{text}", output.status);
}
