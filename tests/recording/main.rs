//! Recordings as files: what is written, and that it is read again.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod alone;
mod damaged;
mod export;
mod fixture;
mod formats;
mod playback;
mod program;
mod recompute;
#[path = "../program/mod.rs"]
mod started;
mod written;
