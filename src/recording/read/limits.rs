//! What a recording may have, so that no file takes all memory or time: far more than any that somebody made on purpose. What
//! has more is refused before room is made for it. docs/recordings.md lists these numbers.

use std::io;

/// Topics.
pub(super) const CHANNELS: usize = 8_192;
/// Kinds of messages.
pub(super) const SCHEMAS: usize = 8_192;
/// Bytes of all descriptions of topics and of kinds of messages together.
pub(super) const DESCRIPTION_BYTES: usize = 64 << 20;
/// Messages in a file, each of which has 16 bytes of memory: ten hours of 30 pairs a second with every stream are half of it.
pub(super) const MESSAGES: usize = 1 << 25;
/// Pairs, and so pictures of one eye: 38 hours of 30 a second.
pub(super) const PAIRS: usize = 1 << 22;
/// Chunks in a file.
pub(super) const CHUNKS: usize = 1 << 22;
/// Bytes of a chunk, packed or unpacked, and of a message that lies in none.
pub(super) const CHUNK_BYTES: u64 = 1 << 29;
/// Bytes of what says where the messages of one topic lie in one chunk. Of a larger one the chunk itself is read.
pub(super) const INDEX_BYTES: u64 = 64 << 20;
/// Sentences about damage that are kept; of the others only their number.
pub(super) const SENTENCES: usize = 12;

/// A file has more of something than is read.
pub(super) fn exceeded(what: &str, most: usize) -> io::Error {
    io::Error::other(format!(
        "it has more than {most} {what}, which is more than is read of a recording: split it, or leave topics out of a copy"
    ))
}
