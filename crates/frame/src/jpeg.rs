//! Structure and pixels of JPEG images, of cameras and of files.

use std::panic::{AssertUnwindSafe, catch_unwind};
use zune_jpeg::JpegDecoder;
use zune_jpeg::errors::DecodeErrors;
use zune_jpeg::zune_core::bytestream::ZCursor;

/// Structure of a JPEG file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Offset of the end marker; any bytes may follow it.
    pub end: usize,
    /// Whether the image is one sequential scan with all its components.
    pub is_plain: bool,
    /// Whether no component has more samples than the first one, the brightness.
    pub is_luma_finest: bool,
    /// Whether it has Huffman tables of its own; many cameras omit them.
    pub has_tables: bool,
}

/// Returns a JPEG with the standard Huffman tables (K.3) in front of its own segments. The decoder adds them to a stream marked as an AVI
/// frame, but tables in the stream take precedence.
pub fn with_tables(bytes: &[u8]) -> Vec<u8> {
    const AVI1: &[u8] = b"\xff\xe0\x00\x08AVI1\x00\x00";
    let (start, rest) = bytes.split_at(bytes.len().min(2));
    [start, AVI1, rest].concat()
}

/// Parses the segments of a JPEG up to its end marker; `None` without one.
pub fn frame(bytes: &[u8]) -> Option<Frame> {
    let mut at = 2;
    let (mut scans, mut is_sequential) = (0, true);
    let (mut components, mut scanned) = (None, None);
    let (mut is_luma_finest, mut has_tables) = (true, false);
    loop {
        let &[0xff, marker] = bytes.get(at..)?.first_chunk()? else { return None };
        match marker {
            0xff => at += 1, // a fill byte
            0xd9 => {
                let is_plain = is_sequential && scans == 1 && components == scanned;
                return Some(Frame { end: at, is_plain, is_luma_finest, has_tables });
            }
            0x01 | 0xd0..=0xd8 => at += 2,
            _ => {
                is_sequential &= !matches!(marker, 0xc2 | 0xc6 | 0xca | 0xce);
                match marker {
                    0xc0..=0xc3 => {
                        components = bytes.get(at + 9);
                        is_luma_finest &= is_first_finest(bytes.get(at + 10..)?, usize::from(*components?));
                    }
                    0xc4 => has_tables = true,
                    0xda => scanned = bytes.get(at + 4),
                    _ => {}
                }
                at += 2 + usize::from(u16::from_be_bytes(*bytes.get(at + 2..)?.first_chunk()?));
                if marker == 0xda {
                    scans += 1;
                    at = end_of_scan(bytes, at)?;
                }
            }
        }
    }
}

/// Returns whether no component of a frame header is sampled more finely than the first. Each has three bytes: its number, its horizontal
/// and vertical factors in four bits each, its quantisation table.
fn is_first_finest(components: &[u8], count: usize) -> bool {
    let factors = components.as_chunks::<3>().0.iter().take(count).map(|&[_, factors, _]| (factors >> 4, factors & 15));
    let first = factors.clone().next().unwrap_or_default();
    factors.into_iter().all(|(across, down)| across <= first.0 && down <= first.1)
}

fn end_of_scan(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += bytes.get(at..)?.iter().position(|&byte| byte == 0xff)?;
        match bytes.get(at + 1)? {
            // stuffed data or a restart
            0x00 | 0xd0..=0xd7 => at += 2,
            _ => return Some(at),
        }
    }
}

/// Decodes the pixels of an image to `out`; its headers are already decoded. zune-jpeg 0.5.15 panics on some damaged images, and the panic
/// is caught here.
///
/// # Errors
/// The image is damaged.
pub fn pixels(decoder: &mut JpegDecoder<ZCursor<&[u8]>>, out: &mut [u8]) -> Result<(), JpegError> {
    let decoded = catch_unwind(AssertUnwindSafe(|| decoder.decode_into(out)));
    decoded.map_err(|_| JpegError::Panic)?.map_err(JpegError::Damaged)
}

/// Damage of a JPEG image.
#[derive(Debug, thiserror::Error)]
pub enum JpegError {
    /// The decoder panicked.
    #[error("the decoder gave up")]
    Panic,
    /// The decoder refused the image.
    #[error("{0:?}")]
    Damaged(DecodeErrors),
}
