//! Recordings as files: what is written, and that it is read again.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod export;
mod formats;
mod program;
mod recompute;
mod written;
