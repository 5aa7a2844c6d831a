//! ROS's archive: the bytes as the packed file, and packed as the tar in it.
#![no_main]
mod common;
use std::io::Write as _;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    common::check(&[("calibrationdata.tar.gz", data)]);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    gzip.write_all(data).expect("memory");
    common::check(&[("calibrationdata.tar.gz", &gzip.finish().expect("memory"))]);
});
