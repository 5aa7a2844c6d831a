//! The recorder: takes frames and results from where they are made, and writes them into a file or a pipe on a thread of its own.
//!
//! ```text
//!  capture thread ─ frame ──┐
//!                           ├─▶ queue, bounded in bytes ─▶ recorder's thread: pack, compress, write, once a second sync
//!  engine thread ─ result ──┘   what has no room is dropped, whole, and counted
//! ```
//!
//! Chunks are only ever appended, and none is open for longer than half a second: whatever ends the program, a file has
//! all that is older.

mod clock;
mod disk;
mod error;
mod expected;
mod file;
mod name;
mod options;
mod queue;
mod recorder;
mod status;
mod thread;
#[cfg(test)]
mod tests;

pub use error::RecordError;
pub use expected::{Expected, expected};
pub(in crate::recording) use file::McapFile;
pub use name::{default_name, default_name_in};
pub use options::{Compression, RecordOptions, Target};
pub use recorder::Recorder;
pub use status::{RecordStatus, RecordSummary};
