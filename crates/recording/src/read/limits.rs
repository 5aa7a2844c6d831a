//! Limits of a recording that is read, far above those of any real one, so that no file exhausts memory or time. They are checked
//! before memory is reserved. docs/recordings.md lists these numbers.

use std::io;

/// Files of a recording, all of which stay open.
pub(super) const FILES: usize = 512;
/// Channels.
pub(super) const CHANNELS: usize = 8_192;
/// Schemas.
pub(super) const SCHEMAS: usize = 8_192;
/// Bytes of all channels and schemas together.
pub(super) const DESCRIPTION_BYTES: usize = 64 << 20;
/// Messages in a file, with 16 bytes of memory each: twice as many as ten hours of 30 pairs a second have with every stream.
pub(super) const MESSAGES: usize = 1 << 25;
/// Pairs, and so images of one view: 38 hours of 30 a second.
pub(super) const PAIRS: usize = 1 << 22;
/// Chunks in a file.
pub(super) const CHUNKS: usize = 1 << 22;
/// Bytes of a chunk, compressed or not, and of a message in no chunk.
pub(super) const CHUNK_BYTES: u64 = 1 << 29;
/// Bytes of the message index of one topic in one chunk. A chunk with a larger one is unpacked instead.
pub(super) const INDEX_BYTES: u64 = 64 << 20;
/// Bytes of a file that is compressed as a whole, once it is unpacked, for each packed one, or [`UNPACKED_BYTES`] if that is more.
pub(super) const UNPACKED_RATIO: u64 = 1000;
/// Bytes up to which any compressed file is unpacked.
pub(super) const UNPACKED_BYTES: u64 = 64 << 20;
/// Sentences about damage; further damage is only counted.
pub(super) const SENTENCES: usize = 12;

/// The error of a file with more than `limit` of something.
pub(super) fn exceeded(what: &str, limit: usize) -> io::Error {
    io::Error::other(format!(
        "it has more than {limit} {what}, which is more than is read of a recording: split it, or leave topics out of a copy"
    ))
}
