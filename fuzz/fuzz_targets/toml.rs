//! Our own TOML.
#![no_main]
mod common;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    common::check(&[("rig.toml", &[&b"format = \"stereopsis-rig-1\"\n"[..], data].concat())]);
});
