//! Recorder: takes frames and results from the capture and engine threads, and writes them to a file or pipe on its own thread.
//!
//! ```text
//!  capture thread ─ frame ──┐
//!                           ├─▶ queue, bounded in bytes ─▶ recorder's thread: pack, compress, write, once a second sync
//!  engine thread ─ result ──┘   items that do not fit are dropped whole and counted
//! ```
//!
//! Chunks are only appended, and none stays open for more than half a second. So older pairs are in the file, however the program ends.
//! A file that is full is finished, and the recording goes on in another one, at the border of a pair or result (`files`).

mod beginning;
mod clock;
mod disk;
mod error;
mod expected;
mod file;
mod files;
mod name;
mod options;
mod queue;
mod recorder;
mod split;
mod status;
mod thread;
#[cfg(test)]
mod splitting;
#[cfg(test)]
mod tests;

pub use beginning::Begins;
pub use disk::{MIN_RESERVE_BYTES, free_bytes};
pub use error::RecordError;
pub use expected::{Expected, bytes_per_pair, expected};
pub use file::McapFile;
pub use name::{default_name, free_name};
pub use options::{Compression, RecordOptions, Target};
pub use recorder::Recorder;
pub use split::Split;
pub use status::{RecordStatus, WAITING};
