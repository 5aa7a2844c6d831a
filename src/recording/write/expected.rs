//! Expected size of a recording.

use super::disk;
use crate::capture::Frame;
use crate::image::Picture;
use crate::recording::{Stream, Streams};
use std::path::Path;
use std::time::Duration;

/// Expected size of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// Bytes for each minute, uncompressed.
    pub bytes_per_minute: u64,
    /// Time until the disk is full; `None` if unknown.
    pub disk_time: Option<Duration>,
}

/// The expected size for frames like this one at a rate, with a result for each.
pub fn expected(folder: &Path, streams: Streams, frame: &Frame, rate_hz: f64) -> Expected {
    let bytes = bytes_per_pair(streams, frame);
    let bytes_per_s = bytes as f64 * rate_hz.max(0.0);
    let left = disk::free_bytes(folder).map(|free| free.saturating_sub(disk::reserve(bytes_per_s)));
    let disk_time = left.filter(|_| bytes_per_s > 0.0).map(|left| left as f64 / bytes_per_s);
    Expected {
        bytes_per_minute: (60.0 * bytes_per_s) as u64,
        disk_time: disk_time.and_then(|s| Duration::try_from_secs_f64(s).ok()),
    }
}

/// Bytes of a pair and its result in the file.
fn bytes_per_pair(streams: Streams, frame: &Frame) -> usize {
    /// Notes, camera messages and headers.
    const OVERHEAD: usize = 2048;
    let raw = &frame.raw;
    let eyes = picture_bytes(&raw.left) + picture_bytes(&raw.right);
    let (width, height) = frame.size();
    let of_stream = |stream| match stream {
        Stream::Raw => {
            raw.original.as_ref().map_or(eyes, |original| original.images.iter().map(|shot| shot.bytes.len()).sum())
        }
        // raw pictures that are those of the views are not written twice
        Stream::Eyes => match &raw.original {
            Some(original) if !original.layout.is_plain() => eyes,
            None if !streams.has(Stream::Raw) => eyes,
            _ => 0,
        },
        Stream::Rectified => picture_bytes(&frame.left) + picture_bytes(&frame.right),
        Stream::Disparity => 4 * width * height,
        Stream::Depth => 2 * width * height,
    };
    OVERHEAD + Stream::ALL.iter().filter(|&&stream| streams.has(stream)).map(|&stream| of_stream(stream)).sum::<usize>()
}

/// Bytes of a picture: of its colours if it has any, else of its luma.
fn picture_bytes(picture: &Picture) -> usize {
    let (width, height) = picture.size();
    let of_pixel = match &picture.rgb {
        Some(_) => 3,
        None => usize::from(picture.luma.bits().div_ceil(8)),
    };
    of_pixel * width * height
}
