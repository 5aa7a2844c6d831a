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
