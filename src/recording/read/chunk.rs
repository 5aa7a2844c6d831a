//! The bytes of a chunk: decompressed, and checked against their checksum.

use super::fields::{ChunkHead, Compression};
use super::limits::CHUNK_BYTES;
use crate::console::foreign;
use std::io::{self, Read};

/// What a chunk holds.
pub(super) struct Unpacked {
    /// Its records, as far as they could be read.
    pub(super) bytes: Vec<u8>,
    /// Why they are not all, or not to be trusted.
    pub(super) damage: Option<String>,
}

impl Unpacked {
    /// Nothing, and why.
    pub(super) fn nothing(damage: String) -> Self {
        Self { bytes: Vec::new(), damage: Some(damage) }
    }
}

/// Why a chunk is not read, looked at before room is made for it: it claims to be larger than any.
pub(super) fn refusal(head: &ChunkHead) -> Option<String> {
    let ChunkHead { uncompressed_size, compressed_size, .. } = *head;
    let claimed = uncompressed_size.max(compressed_size);
    (claimed > CHUNK_BYTES).then(|| {
        format!("it claims to hold {claimed} bytes, and a chunk of more than {CHUNK_BYTES} is not read: write smaller chunks")
    })
}

/// Unpacks the record of a chunk, of which less is there than it says where the file is cut off.
pub(super) fn unpack(head: &ChunkHead, record: &[u8]) -> Unpacked {
    if let Some(why) = refusal(head) {
        return Unpacked::nothing(why);
    }
    let data = record.get(head.size..).unwrap_or_default();
    let data = &data[..data.len().min(usize::try_from(head.compressed_size).unwrap_or(usize::MAX))];
    let is_whole = data.len() as u64 == head.compressed_size;
    let size = head.uncompressed_size;
    let (bytes, failure) = decompress(&head.compression, data, size);
    let damage = match failure {
        _ if !is_whole => Some("it is cut off".to_owned()),
        Some(failure) => Some(failure),
        None if bytes.len() as u64 > size => Some(format!("it holds more than the {size} bytes that it claims")),
        None if bytes.len() as u64 != size => Some(format!("it holds {} bytes instead of {size}", bytes.len())),
        None if head.crc != 0 && checksum(&bytes) != head.crc => Some("its checksum does not match".to_owned()),
        None => None,
    };
    Unpacked { bytes, damage }
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// The records until their end, or the first thing that is wrong, or one byte more than the chunk claims.
fn decompress(compression: &Compression, data: &[u8], size: u64) -> (Vec<u8>, Option<String>) {
    let mut bytes = Vec::new();
    let mut all = |reader: io::Result<Box<dyn Read + '_>>| reader?.take(size + 1).read_to_end(&mut bytes);
    let read = match compression {
        Compression::None => all(Ok(Box::new(data))),
        Compression::Lz4 => all(lz4::Decoder::new(data).map(|reader| Box::new(reader) as _)),
        Compression::Zstd => all(zstd::Decoder::with_buffer(data).map(|reader| Box::new(reader) as _)),
        Compression::Other(name) => {
            let name = foreign(name);
            Err(io::Error::other(format!("it is packed as '{name}', which is not read here, only lz4 and zstd are")))
        }
    };
    (bytes, read.err().map(|err| err.to_string()))
}
