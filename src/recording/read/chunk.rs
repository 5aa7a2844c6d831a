//! The bytes of a chunk: decompressed, and checked against their checksum.

use super::fields::{ChunkHead, RECORD_HEAD};
use mcap::records::op;
use mcap::sans_io::{LinearReadEvent, LinearReader, LinearReaderOptions};

/// No chunk that somebody wrote on purpose is larger; a damaged number soon is.
pub(super) const LARGEST_CHUNK: u64 = 1 << 30;

/// What a chunk holds.
pub(super) struct Unpacked {
    /// Its records, as far as they could be read.
    pub(super) bytes: Vec<u8>,
    /// Why they are not all, or not to be trusted.
    pub(super) damage: Option<String>,
}

/// Unpacks a chunk of which `data` is there, which is less than it says where the file is cut off.
pub(super) fn unpack(head: &ChunkHead, record: &[u8]) -> Unpacked {
    let size = head.uncompressed_size;
    if size > LARGEST_CHUNK {
        return Unpacked { bytes: Vec::new(), damage: Some(format!("it claims to hold {size} bytes")) };
    }
    let data = record.get(head.size..).unwrap_or_default();
    let data = &data[..data.len().min(usize::try_from(head.compressed_size).unwrap_or(usize::MAX))];
    let is_whole = data.len() as u64 == head.compressed_size;
    let (bytes, failure) =
        if head.compression.is_empty() { (data.to_vec(), None) } else { decompress(head, record, data) };
    let damage = match failure {
        _ if !is_whole => Some("it is cut off".to_owned()),
        Some(failure) => Some(failure),
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

/// The records of a compressed chunk until its end or the first thing that is wrong.
fn decompress(head: &ChunkHead, record: &[u8], data: &[u8]) -> (Vec<u8>, Option<String>) {
    // neither a record nor what is read ahead is larger than this, whatever lengths the data claim
    let limit = head.uncompressed_size.max(head.compressed_size).min(LARGEST_CHUNK) as usize + RECORD_HEAD as usize;
    let options = LinearReaderOptions::default()
        .with_skip_start_magic(true)
        .with_skip_end_magic(true)
        .with_record_length_limit(limit);
    let mut reader = LinearReader::new_with_options(options);
    let mut start = vec![op::CHUNK];
    start.extend((head.size as u64).saturating_add(head.compressed_size).to_le_bytes());
    start.extend(&record[..head.size]);
    let mut feed = start.as_slice();
    let mut rest = data;
    let mut bytes = Vec::new();
    while let Some(event) = reader.next_event() {
        match event {
            Ok(LinearReadEvent::ReadRequest(needed)) => {
                if feed.is_empty() {
                    feed = std::mem::take(&mut rest);
                }
                let (now, later) = feed.split_at(needed.min(feed.len()));
                reader.insert(now.len()).copy_from_slice(now);
                reader.notify_read(now.len());
                feed = later;
            }
            Ok(LinearReadEvent::Record { data, opcode }) => {
                bytes.push(opcode);
                bytes.extend((data.len() as u64).to_le_bytes());
                bytes.extend(data);
            }
            Err(err) => return (bytes, Some(err.to_string())),
        }
    }
    (bytes, None)
}
