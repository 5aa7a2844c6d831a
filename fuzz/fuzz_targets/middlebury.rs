//! Middlebury's calib.txt.
#![no_main]
mod common;

libfuzzer_sys::fuzz_target!(|data: &[u8]| common::check(&[("calib.txt", data)]));
