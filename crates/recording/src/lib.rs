//! Recordings: MCAP files of raw pairs, depth and everything that computing depth again needs, readable by other programs.
//!
//! ```text
//!              pack             format       write
//!  frame, result ──▶ messages ──────▶ packets ──▶ chunks ──▶ file or pipe
//!
//!              unpack           format       read
//!  raw pair, result ◀── messages ◀── packets ◀── chunks ◀── file or pipe
//! ```
//!
//! `recompute` and `export` are pipelines from a file to a new recording, and to files of other tools.
//!
//! # Design: the pipeline never waits for the disk, and damaged files are read as far as possible
//!
//! ```text
//!  raw tap, result tap ─▶ queue, bounded in bytes ─▶ recorder thread: packer ─▶ format ─▶ chunks ─▶ file or pipe, synced each second
//!  file ─▶ record headers, message indexes ─▶ positions of the messages ─▶ pairs ─▶ chunks, the last few cached ─▶ raw pairs ─▶ as a source
//!  pipe ─▶ records one by one ──────────────────────────────────────────────▶ pairs ──────────────────────────────▶ newest wins
//! ```
//!
//! - Taps (`frame::RawTap`, or `frame::FrameTap` where rectified images are recorded, and `engine::worker::ResultTap`) hand over shared
//!   pairs and results and return at once. The queue holds and counts only the parts that are written (`recording/pack/parts`); what has no room
//!   is dropped whole, pairs after results, and counted. Only a source that can wait is held back, by `--lossless` and until the first result is there.
//! - A recording with depth begins with the first result (`write/beginning`); the capture counts pairs and time from there.
//! - `recording/pack` decides which messages belong to a pair and a result, `recording/format` how a message is encoded; `publish` sends the same packets to subscribers. A raw
//!   image's stereo layout (split, swap, turn) is in the file; playback applies it.
//! - `recompute` and `export` are pipelines of their own that drop nothing; `recompute` leaves a part that the same command continues.
//! - A file is read by the headers of its records, so that a file without an end opens like a finished one. The summary at the end of a finished file serves only to get past
//!   damage. A chunk without indexes is unpacked; one with a wrong checksum is left out and named.
//! - The packets of one pair have one log time, so the index alone assigns them, and opening an hour of recording decompresses almost nothing. Recordings of other programs are
//!   paired by capture time, like two cameras.
//! - No number in a file allocates more than the file has, nor more than `read/limits` and `--max-pixels` allow; both are checked first. The tests truncate files at each length,
//!   flip their bits, and build sparse files and bytes that unpack to gigabytes.
//! - A thread that panics ends its source with an error. Parts that a source leaves out are in its remarks, which every command prints.
//! - A file is played through its `Transport`: controls write the wanted state, the player (`capture/player`, which also plays pairs of image files) reads it before each
//!   pair, and a thread reads ahead. A pipe behaves like a camera.
//! - The user's flags override a recording's calibration; recorded parameters are used only with `--recorded-parameters`.

use stereopsis_base::parameter::{choices, stands_as_its_word};
use stereopsis_base::{console, files, geometry, image, newest, process};
use stereopsis_calibration as calibration;
use stereopsis_capture as capture;
use stereopsis_engine as engine;
use stereopsis_settings::{rig, settings};
use stereopsis_stereo as stereo;

mod about;
mod channel;
pub mod export;
#[cfg(any(test, feature = "testing"))]
pub mod fixture;
pub mod format;
pub mod message;
pub mod pack;
mod pairs;
pub mod playback;
mod progress;
pub mod read;
pub mod recompute;
mod stream;
pub mod time;
pub mod topic;
pub mod unpack;
pub mod write;

pub use crate::settings::parameter_words;
pub use about::{About, Counters, Event, PairNote, Recomputed, ResultNote};
pub use channel::{Channel, Packet, Schema};
pub use format::Format;
pub use message::{Body, Message};
pub use pairs::RecordedPairs;
pub use progress::{Counter, Progress, pair_bar};
pub use read::{ReadError, Recording};
pub use stream::{Stream, Streams};
