//! Runs the program like a user, and reads its recordings.

mod alone;
mod export;
mod recompute;
mod split;
mod written;

pub(crate) use super::start::{finished, refused, run, stereopsis};

use std::path::Path;
use std::process::Command;
use stereopsis::inside::{Packet, Recording};

/// Returns the command that records a small scene, with more flags.
pub(crate) fn record<'a>(folder: &Path, more: impl IntoIterator<Item = &'a str>) -> Command {
    let args = ["record", "--source", "scene", "--size", "64x48", "--engine", "cpu", "--num-disparities", "16"];
    let args: Vec<_> = args.into_iter().chain(more).collect();
    stereopsis(folder, &args)
}

/// Records the scene in 96x64 as `name`, without drops.
pub(crate) fn record_scene(folder: &Path, name: &str, frames: u32, streams: &str) {
    let frames = frames.to_string();
    let args =
        ["record", "--source", "scene", "--size", "96x64", "--scene-noise", "2", "--lossless", "--frames", &frames];
    // a cut of an uncompressed chunk loses nothing else
    let settings = ["--compression", "none", "--rate", "max", "--engine", "cpu", "--num-disparities", "24"];
    run(folder, &[&args[..], &settings, &["--streams", streams, "-o", name]].concat());
}

/// Returns every packet of a topic, in order.
pub(crate) fn packets(path: &Path, topic: &str) -> Vec<Packet> {
    let mut recording = Recording::open(path).unwrap();
    (0..recording.len(topic)).map(|k| recording.packet(topic, k).unwrap()).collect()
}
