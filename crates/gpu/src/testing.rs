//! Devices for the tests of all crates.

use super::device::Gpu;
use stereopsis_frame::engine::AdapterChoice;

impl Gpu {
    /// Opens the best GPU for a test; `None` where there is none. With `REQUIRE_GPU=1` it panics instead.
    pub fn for_test() -> Option<Self> {
        match Self::open(&AdapterChoice::Best) {
            Ok(gpu) => Some(gpu),
            Err(err) if std::env::var("REQUIRE_GPU").is_ok_and(|v| v == "1") => panic!("{err}"),
            Err(err) => {
                eprintln!("skipped: {err}");
                None
            }
        }
    }
}
