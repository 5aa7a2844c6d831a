//! Packets become the raw pairs of a source.

use crate::capture::{RawPair, Scale, SourceInfo, SourceOptions};
use crate::geometry::Geometry;
use crate::recording::read::{Eyes, PairStream};
use crate::recording::unpack::Unpacker;
use crate::recording::{About, Packet, Recording, Stream};
use std::io::Read;

/// How the packets of a recording become pairs.
pub(super) struct Unpacking {
    about: Option<About>,
    unpacker: Unpacker,
    /// Pictures are the rectified ones, at working size.
    are_rectified: bool,
}

impl Unpacking {
    pub(super) fn of_file(recording: &Recording, options: &SourceOptions) -> Self {
        let are_rectified = recording.eyes().is_some_and(Eyes::are_rectified);
        Self::new(recording.about().cloned(), are_rectified, options)
    }

    pub(super) fn of_stream<R: Read>(stream: &PairStream<R>, options: &SourceOptions) -> Self {
        let about = stream.about().cloned();
        let has = |stream| about.as_ref().is_some_and(|about| about.streams.has(stream));
        let are_rectified = about.is_some() && !has(Stream::Raw) && !has(Stream::Eyes);
        Self::new(about, are_rectified, options)
    }

    fn new(about: Option<About>, are_rectified: bool, options: &SourceOptions) -> Self {
        let unpacker = Unpacker::of(about.as_ref(), options.color).with_max_pixels(options.max_pixels);
        Self { about, unpacker, are_rectified }
    }

    /// The pair of these packets.
    pub(super) fn pair(&self, packets: &[Packet]) -> Result<RawPair, String> {
        self.unpacker.pair(packets).map_err(|err| err.to_string())
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
            is_rectified: self.are_rectified || about.is_some_and(|about| about.is_rectified),
            geometry: about.and_then(|about| self.geometry(about)),
        }
    }

    /// The geometry of pairs that are rectified as they come.
    fn geometry(&self, about: &About) -> Option<Geometry> {
        let note = &about.calibration;
        if self.are_rectified {
            let scale = Scale::from_word(&note.scale).unwrap_or_default();
            return note.geometry.map(|geometry| geometry.scaled(scale.factor()));
        }
        note.geometry.filter(|_| about.is_rectified)
    }
}
