//! A ZED's factory file.
#![no_main]
mod common;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    common::check(&[("zed.conf", &[&b"[LEFT_CAM_HD]\n"[..], data].concat())]);
});
