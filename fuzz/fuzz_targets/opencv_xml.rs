//! OpenCV's XML.
#![no_main]
mod common;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    common::check(&[("rig.xml", &[&b"<?xml version=\"1.0\"?>\n"[..], data].concat())]);
});
