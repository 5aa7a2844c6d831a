//! Recordings as files: what is written, and that it is read again.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "tests say why they are skipped, and fail by panicking")]

mod damaged;
mod formats;
mod playback;
