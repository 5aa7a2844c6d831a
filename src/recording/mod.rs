//! Recordings: MCAP files that hold raw pairs, depth and all that is needed to compute it again, and that other programs open.
//!
//! ```text
//!  pairs, results ─▶ messages ─▶ bytes of a format ─▶ chunks ─▶ file or pipe ─▶ chunks ─▶ messages ─▶ pairs, depth
//!                    (pack)      (format)             (write)                    (read)    (format)   (unpack)
//! ```

mod about;
mod channel;
pub mod export;
pub mod format;
pub mod message;
pub mod pack;
pub mod playback;
pub mod read;
pub mod recompute;
mod stream;
pub mod time;
pub mod topic;
pub mod unpack;
pub mod write;

pub use about::{About, Counters, Event, PairNote, Recomputed, ResultNote, parameter_words};
pub use channel::{Channel, Packet, Schema};
pub use format::Format;
pub use message::{Body, Message};
pub use read::{PairIndex, ReadError, Recording};
pub use stream::{Stream, Streams};
