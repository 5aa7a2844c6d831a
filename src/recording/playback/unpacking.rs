//! The unpacker of a recording, and its description as a source.

use crate::capture::{RawPair, Scale, SourceInfo, SourceOptions};
use crate::geometry::Geometry;
use crate::recording::read::{PairStream, StereoTopics};
use crate::recording::unpack::Unpacker;
use crate::recording::{About, Recording};
use std::io::Read;

/// The unpacker of a recording, with its description.
pub(super) struct Unpacking {
    about: Option<About>,
    pub(super) unpacker: Unpacker,
    /// Pictures are rectified, at working size.
    are_rectified: bool,
}

impl Unpacking {
    pub(super) fn of_file(recording: &Recording, options: &SourceOptions) -> Self {
        let are_rectified = recording.stereo_topics().is_some_and(StereoTopics::are_rectified);
        Self::new(recording.about().cloned(), are_rectified, options)
    }

    pub(super) fn of_stream<R: Read>(stream: &PairStream<R>, options: &SourceOptions) -> Self {
        let about = stream.about().cloned();
        let are_rectified = about.as_ref().is_some_and(|about| !about.streams.has_unrectified());
        Self::new(about, are_rectified, options)
    }

    fn new(about: Option<About>, are_rectified: bool, options: &SourceOptions) -> Self {
        let unpacker = Unpacker::of(about.as_ref(), options.color).with_max_pixels(options.max_pixels);
        Self { about, unpacker, are_rectified }
    }

    /// The description of a source with such pairs.
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

    /// The geometry of pairs that are recorded rectified.
    fn geometry(&self, about: &About) -> Option<Geometry> {
        let note = &about.calibration;
        if self.are_rectified {
            let scale = Scale::from_word(&note.scale).unwrap_or_default();
            return note.geometry.map(|geometry| geometry.scaled(scale.factor()));
        }
        note.geometry.filter(|_| about.is_rectified)
    }
}
