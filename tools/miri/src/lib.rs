//! See `tools/miri.sh`.
#![allow(dead_code, reason = "tests are all that is run here")]

#[path = "../../../src/engine/cpu/memory.rs"]
mod memory;
#[path = "../../../src/engine/cpu/wavefront.rs"]
mod wavefront;
