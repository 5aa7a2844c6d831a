//! The program as its user starts it, and what it has recorded.

mod alone;
mod export;
mod recompute;
mod written;

pub(crate) use super::start::stereopsis;

use std::path::Path;
use std::process::{Command, Output};
use stereopsis::recordings::{Packet, Recording};

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

/// Runs to a good end; what it said on standard error.
pub(crate) fn run(folder: &Path, args: &[&str]) -> String {
    finished(stereopsis(folder, args), 0).0
}

/// Fails unless the program ends with this code and says all of `words`.
pub(crate) fn refused(folder: &Path, args: &[&str], code: i32, words: &[&str]) {
    let (said, _) = finished(stereopsis(folder, args), code);
    for word in words {
        assert!(said.contains(word), "{args:?} does not say '{word}': {said}");
    }
}

/// Records the scene in 96x64 as `name`, with nothing dropped.
pub(crate) fn record_scene(folder: &Path, name: &str, frames: u32, streams: &str) {
    let frames = frames.to_string();
    let args =
        ["record", "--source", "scene", "--size", "96x64", "--scene-noise", "2", "--lossless", "--frames", &frames];
    // what is cut off an uncompressed chunk is all that is lost
    let settings = ["--compression", "none", "--rate", "max", "--engine", "cpu", "--num-disparities", "24"];
    run(folder, &[&args[..], &settings, &["--streams", streams, "-o", name]].concat());
}

/// Every packet of a topic, in order.
pub(crate) fn packets(path: &Path, topic: &str) -> Vec<Packet> {
    let mut recording = Recording::open(path).unwrap();
    (0..recording.len(topic)).map(|k| recording.packet(topic, k).unwrap()).collect()
}
