//! Recordings: MCAP files of raw pairs, depth and all that is needed to compute depth again. Other programs can read them.
//!
//! ```
//! use stereopsis_recording::RecordedPairs;
//!
//! for pair in RecordedPairs::open("../../fuzz/seeds/recording/ours-zstd.mcap".as_ref())? {
//!     let pair = pair?;
//!     println!("pair {} has {:?} px", pair.sequence, pair.left.size());
//! }
//! # Ok::<(), stereopsis_recording::ReadError>(())
//! ```
//!
//! ```text
//!              pack             format       write
//!  frame, result ──▶ messages ──────▶ packets ──▶ chunks ──▶ file or pipe
//!
//!              unpack           format       read
//!  raw pair, result ◀── messages ◀── packets ◀── chunks ◀── file or pipe
//! ```
//!
//! `recompute` makes a new recording of a file, and `export` makes files for other tools.
//!
//! # Design: the pipeline does not wait for the disk, and damaged files are read as far as possible
//!
//! ```text
//!  raw tap, result tap ─▶ queue, bounded in bytes ─▶ recorder thread: packer ─▶ format ─▶ chunks ─▶ file or pipe, synced each second
//!  file ─▶ record headers, message indexes ─▶ positions of the messages ─▶ pairs ─▶ chunks, the last cached ─▶ raw pairs ─▶ as a source
//!  pipe ─▶ records one by one ──────────────────────────────────────────────▶ pairs ──────────────────────────────▶ newest wins
//! ```
//!
//! - Taps (`frame::RawTap`, or `frame::FrameTap` where rectified images are recorded, and `engine::worker::ResultTap`) share pairs and
//!   results and return at once. The queue holds and counts only the parts that are written (`pack/parts`). An item without room in the
//!   queue is dropped whole and counted; results are dropped before pairs. A source that can wait is held back by
//!   `--lossless`, and until the first result.
//! - A recording with depth begins with the first result (`write/beginning`); pairs and time are counted from there.
//! - `pack` decides which messages belong to a pair and a result, `format` how a message is encoded; `publish` sends the same packets to
//!   subscribers. The file contains the stereo layout (split, swap, turn) of raw images; playback applies it.
//! - `recompute` and `export` drop nothing. `recompute` leaves a part file that the same command continues.
//! - A file is read by the headers of its records, so a file without an end opens like a finished one. The summary at the end is used only
//!   to get past damage. A chunk without indexes is unpacked; one with a wrong checksum is left out and reported.
//! - All packets of a pair have one log time, so the index alone assigns them, and an hour of recording opens almost without decompression.
//!   Recordings of other programs are paired by capture time, like two cameras.
//! - No number in a file allocates more than the size of the file, `read/limits` and `--max-pixels` allow; both are checked first.
//! - A thread that panics ends its source with an error. Parts that a source leaves out are in its remarks, which every command prints.
//! - The player (`frame/player`) reads the wanted state from its `Transport` before each pair, and a thread reads ahead. A pipe behaves
//!   like a camera.
//! - The user's flags override a recording's calibration; recorded parameters are used only with `--recorded-parameters`.

mod about;
mod calibrated;
mod channel;
mod compressed_depth;
mod error;
pub mod export;
pub mod fixture;
pub mod format;
pub mod message;
pub mod pack;
mod pairs;
mod part;
pub mod playback;
mod progress;
pub mod read;
mod stream;
pub mod time;
pub mod topic;
pub mod unpack;
pub mod write;

pub use about::{About, Counters, Event, PairNote, Recomputed, ResultNote};
pub use calibrated::CalibratedRecording;
pub use channel::{Channel, Packet, Schema};
pub use compressed_depth::DepthFormat;
pub use error::ReadError;
pub use format::Format;
pub use message::{Body, Message};
pub use pairs::RecordedPairs;
pub use progress::{Counter, Progress, pair_bar, unreadable};
pub use read::Recording;
pub use stream::{Stream, Streams};
