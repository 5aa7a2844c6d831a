//! See `tools/miri.sh`.
#![allow(dead_code, reason = "tests are all that is run here")]

#[path = "../../../crates/cpu/src/memory.rs"]
mod memory;
#[path = "../../../crates/cpu/src/wavefront.rs"]
mod wavefront;
