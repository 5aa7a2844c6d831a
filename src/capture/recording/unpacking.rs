//! Packets become the raw pairs of a source.

use crate::capture::{CaptureError, SourceInfo};
use crate::frame::RawPair;
use crate::recording::read::PairStream;
use crate::recording::unpack::Unpacker;
use crate::recording::{About, Packet, Recording};
use std::io::Read;

/// How the packets of a recording become pairs.
pub(super) struct Unpacking {
    about: Option<About>,
    color: bool,
}

impl Unpacking {
    pub(super) fn of_file(recording: &Recording, color: bool) -> Result<Self, CaptureError> {
        Ok(Self { about: recording.about().cloned(), color })
    }

    pub(super) fn of_stream<R: Read>(stream: &PairStream<R>, color: bool) -> Self {
        Self { about: stream.about().cloned(), color }
    }

    /// The pair of these packets.
    pub(super) fn pair(&self, packets: &[Packet]) -> Result<RawPair, String> {
        Unpacker::new(self.color).pair(packets).map_err(|err| err.to_string())
    }

    /// What is known of a source with such pairs.
    pub(super) fn info(&self, name: String, first: &RawPair, num_pairs: Option<u64>) -> SourceInfo {
        let (width, height) = first.left.size();
        let about = self.about.as_ref();
        SourceInfo {
            name,
            width,
            height,
            rate_hz: about.and_then(|about| about.rate_hz),
            is_camera: false,
            num_pairs,
            is_rectified: about.is_some_and(|about| about.is_rectified),
            geometry: about.filter(|about| about.is_rectified).and_then(|about| about.calibration.geometry),
        }
    }
}
