//! OpenCV's YAML and JSON, and all other YAML that is told by its keys.
#![no_main]
mod common;

libfuzzer_sys::fuzz_target!(|data: &[u8]| common::check(&[("rig.yml", data)]));
