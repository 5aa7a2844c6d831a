//! ROS's camera_info of two cameras: the files are divided by a zero byte, or are the same.
#![no_main]
mod common;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let (left, right) = match data.iter().position(|&byte| byte == 0) {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (data, data),
    };
    common::check(&[("left.yaml", left), ("right.yaml", right)]);
});
