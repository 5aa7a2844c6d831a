//! Estimate of the size of a recording before it begins.

use super::disk;
use crate::pack::PairParts;
use crate::{Stream, Streams};
use std::path::Path;
use std::time::Duration;
use stereopsis_frame::Frame;

/// Expected size of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// Uncompressed bytes for each minute.
    pub bytes_per_minute: u64,
    /// Time until the disk is full; `None` if unknown.
    pub disk_time: Option<Duration>,
}

/// Returns the expected size for frames like this one at a rate, with a result for each.
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

/// Returns the uncompressed bytes of a pair and its result in the file.
pub fn bytes_per_pair(streams: Streams, frame: &Frame) -> usize {
    /// Bytes of notes, camera messages and headers.
    const OVERHEAD: usize = 2048;
    let (width, height) = frame.size();
    let of_map = |stream, pixel_bytes: usize| if streams.has(stream) { pixel_bytes * width * height } else { 0 };
    let pictures = PairParts::of_frame(frame, streams).file_bytes();
    OVERHEAD + pictures + of_map(Stream::Disparity, 4) + of_map(Stream::Depth, 2)
}
