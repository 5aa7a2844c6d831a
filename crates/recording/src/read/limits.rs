//! Limits of a recording that is read, far above any real one, so that no file exhausts memory or time. They are checked before
//! memory is reserved. docs/recordings.md lists these numbers.

use crate::error::OpenError;

/// Maximum files of a recording, all of which stay open.
pub(super) const MAX_FILES: usize = 512;
/// Maximum channels.
pub(super) const MAX_CHANNELS: usize = 8_192;
/// Maximum schemas.
pub(super) const MAX_SCHEMAS: usize = 8_192;
/// Maximum bytes of all channels and schemas together.
pub(super) const MAX_DESCRIPTION_BYTES: usize = 64 << 20;
/// Maximum messages, with 16 bytes of memory each: twice as many as ten hours of 30 pairs/s have with every stream.
pub(super) const MAX_MESSAGES: usize = 1 << 25;
/// Maximum pairs, and so images of one side: 38 hours of 30 pairs/s.
pub(super) const MAX_PAIRS: usize = 1 << 22;
/// Maximum chunks.
pub(super) const MAX_CHUNKS: usize = 1 << 22;
/// Maximum bytes of a chunk, compressed or not, and of a message in no chunk.
pub(super) const MAX_CHUNK_BYTES: u64 = 1 << 29;
/// Maximum bytes of the message index of one topic in one chunk. A chunk with a larger one is unpacked instead.
pub(super) const MAX_INDEX_BYTES: u64 = 64 << 20;
/// Maximum bytes of the metadata record that tells the place of a file in a recording of several.
pub(super) const MAX_PART_NOTE_BYTES: u64 = 4096;
/// Maximum ratio of unpacked to packed bytes of a file that is compressed as a whole; [`MAX_UNPACKED_BYTES`] are always allowed.
pub(super) const MAX_UNPACKED_RATIO: u64 = 1000;
/// Bytes up to which any compressed file is unpacked.
pub(super) const MAX_UNPACKED_BYTES: u64 = 64 << 20;
/// Maximum sentences about damage; further damage is only counted.
pub(super) const MAX_SENTENCES: usize = 12;

/// Returns the error of a recording with more than `limit` of a kind of item.
pub(super) fn exceeded(what: &'static str, limit: usize) -> OpenError {
    OpenError::Exceeded { what, limit }
}
