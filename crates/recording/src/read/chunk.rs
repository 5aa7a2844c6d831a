//! Decompresses the records of a chunk and compares them with their checksum.

use super::limits::MAX_CHUNK_BYTES;
use super::records::chunk_header_size;
use mcap::records::ChunkHeader;
use std::io::{self, Read};
use stereopsis_base::console::foreign;

pub(super) struct UnpackedChunk {
    /// Records, as far as they are readable.
    pub(super) bytes: Vec<u8>,
    /// Reason why records are missing or not trusted.
    pub(super) damage: Option<String>,
}

/// Returns the reason why a chunk with this header is not unpacked: it claims more bytes than [`MAX_CHUNK_BYTES`].
pub(super) fn refusal(header: &ChunkHeader) -> Option<String> {
    let claimed = header.uncompressed_size.max(header.compressed_size);
    (claimed > MAX_CHUNK_BYTES).then(|| {
        format!("it claims to hold {claimed} bytes, and a chunk of more than {MAX_CHUNK_BYTES} is not read: write smaller chunks")
    })
}

/// Unpacks the record of a chunk, which is shorter than the header claims where the file is cut off.
pub(super) fn unpack(header: &ChunkHeader, record: &[u8]) -> UnpackedChunk {
    if let Some(why) = refusal(header) {
        return UnpackedChunk { bytes: Vec::new(), damage: Some(why) };
    }
    let data = record.get(chunk_header_size(header)..).unwrap_or_default();
    let data = &data[..data.len().min(usize::try_from(header.compressed_size).unwrap_or(usize::MAX))];
    let is_whole = data.len() as u64 == header.compressed_size;
    let size = header.uncompressed_size;
    let (bytes, failure) = decompress(&header.compression, data, size);
    let damage = match failure {
        _ if !is_whole => Some("it is cut off".to_owned()),
        Some(failure) => Some(failure),
        None if bytes.len() as u64 > size => Some(format!("it holds more than the {size} bytes that it claims")),
        None if bytes.len() as u64 != size => Some(format!("it holds {} bytes instead of {size}", bytes.len())),
        None if header.uncompressed_crc != 0 && checksum(&bytes) != header.uncompressed_crc => {
            Some("its checksum does not match".to_owned())
        }
        None => None,
    };
    UnpackedChunk { bytes, damage }
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// Decompresses up to the end, the first error, or one byte more than the claimed `size`.
fn decompress(compression: &str, data: &[u8], size: u64) -> (Vec<u8>, Option<String>) {
    let mut bytes = Vec::new();
    let mut read = |reader: io::Result<Box<dyn Read + '_>>| reader?.take(size + 1).read_to_end(&mut bytes);
    let result = match compression {
        "" => read(Ok(Box::new(data))),
        "lz4" => read(lz4::Decoder::new(data).map(|reader| Box::new(reader) as _)),
        "zstd" => read(zstd::Decoder::with_buffer(data).map(|reader| Box::new(reader) as _)),
        other => {
            let name = foreign(other);
            Err(io::Error::other(format!("it is packed as '{name}', which is not read here, only lz4 and zstd are")))
        }
    };
    (bytes, result.err().map(|err| err.to_string()))
}
