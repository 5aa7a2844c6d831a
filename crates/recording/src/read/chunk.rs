//! Decompresses the records of a chunk and compares them with their checksum, and messages that are compressed one by one.

use super::limits::MAX_CHUNK_BYTES;
use super::records::chunk_header_size;
use crate::Channel;
use crate::error::{ChunkDamage, MessageError};
use mcap::records::ChunkHeader;
use std::io::{self, Read};
use std::sync::Arc;

pub(super) struct UnpackedChunk {
    /// Records, as far as they are readable.
    pub(super) bytes: Vec<u8>,
    /// Reason why records are missing or not trusted.
    pub(super) damage: Option<ChunkDamage>,
}

/// Returns the reason why a chunk with this header is not unpacked: it claims more bytes than [`MAX_CHUNK_BYTES`].
pub(super) fn refusal(header: &ChunkHeader) -> Option<ChunkDamage> {
    let claimed = header.uncompressed_size.max(header.compressed_size);
    (claimed > MAX_CHUNK_BYTES).then_some(ChunkDamage::TooLarge { claimed, limit: MAX_CHUNK_BYTES })
}

/// Unpacks the record of a chunk, which is shorter than the header claims where the file is cut off.
pub(super) fn unpack(header: &ChunkHeader, record: &[u8]) -> UnpackedChunk {
    if let Some(why) = refusal(header) {
        return UnpackedChunk { bytes: Vec::new(), damage: Some(why) };
    }
    let data = record.get(chunk_header_size(header)..).unwrap_or_default();
    let data = &data[..data.len().min(usize::try_from(header.compressed_size).unwrap_or(usize::MAX))];
    let is_whole = data.len() as u64 == header.compressed_size;
    let claimed = header.uncompressed_size;
    let (bytes, failure) = decompress(&header.compression, data, claimed);
    let damage = match failure {
        _ if !is_whole => Some(ChunkDamage::Cut),
        Some(failure) => Some(failure),
        None if bytes.len() as u64 > claimed => Some(ChunkDamage::More(claimed)),
        None if bytes.len() as u64 != claimed => Some(ChunkDamage::Fewer { bytes: bytes.len(), claimed }),
        None if header.uncompressed_crc != 0 && checksum(&bytes) != header.uncompressed_crc => {
            Some(ChunkDamage::Checksum)
        }
        None => None,
    };
    UnpackedChunk { bytes, damage }
}

/// Returns the bytes of a message: what it unpacks to where it was recorded with `ros2 bag record --compression-mode message`. Classic CDR
/// begins with a zero, and so is not taken for zstd.
pub(super) fn unpack_message(channel: &Channel, data: Vec<u8>) -> Result<Vec<u8>, MessageError> {
    if channel.message_encoding != "cdr" || !data.starts_with(&zstd::zstd_safe::MAGICNUMBER.to_le_bytes()) {
        return Ok(data);
    }
    let (bytes, failure) = decompress("zstd", &data, MAX_CHUNK_BYTES);
    match failure {
        None if bytes.len() as u64 > MAX_CHUNK_BYTES => Err(MessageError::UnpacksToMore(MAX_CHUNK_BYTES)),
        None => Ok(bytes),
        Some(why) => Err(MessageError::Packed(why)),
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// Decompresses up to the end, the first error, or one byte more than the claimed `size`.
fn decompress(compression: &str, data: &[u8], size: u64) -> (Vec<u8>, Option<ChunkDamage>) {
    let mut bytes = Vec::new();
    let mut read = |reader: io::Result<Box<dyn Read + '_>>| reader?.take(size + 1).read_to_end(&mut bytes);
    let result = match compression {
        "" => read(Ok(Box::new(data))),
        "lz4" => read(lz4::Decoder::new(data).map(|reader| Box::new(reader) as _)),
        "zstd" => read(zstd::Decoder::with_buffer(data).map(|reader| Box::new(reader) as _)),
        other => return (bytes, Some(ChunkDamage::Compression(other.to_owned()))),
    };
    let failure = result.err().map(|err| ChunkDamage::Packed(Arc::new(err)));
    (bytes, failure)
}
