//! Iterator over the pairs of a recording with their results, for programs that use the library.

use super::unpack::{UnpackedResult, Unpacker};
use super::{About, ReadError, Recording};
use std::path::Path;
use std::sync::Arc;
use stereopsis_base::geometry::Geometry;
use stereopsis_calibration::{CalibrationError, Rectifier};
use stereopsis_frame::{MaxPixels, Pixels, RawPair};

/// Iterator over the pairs in the order of recording; [`RawPair::recorded`] has recorded depth and disparity.
///
/// A damaged pair, or one with a damaged result, yields an error, and the next pair follows.
pub struct RecordedPairs {
    recording: Recording,
    unpacker: Unpacker,
    next: u64,
}

impl RecordedPairs {
    /// Opens a recording of this program, of ROS 2 or of Foxglove.
    ///
    /// # Errors
    /// The file cannot be read, or is no recording.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let recording = Recording::open(path)?;
        let unpacker = Unpacker::of(recording.about(), Pixels::Color, MaxPixels::default());
        Ok(Self { recording, unpacker, next: 0 })
    }

    /// Returns the rectification for a raw pair, as the program rectified it; `None` where the images are rectified, or the recording has
    /// no calibration. Pairs of one size have the same, unless [`RawPair::cameras`] differ.
    ///
    /// # Errors
    /// The recorded calibration is damaged, or belongs to images of another shape.
    pub fn rectifier(&self, pair: &RawPair) -> Result<Option<Rectifier>, CalibrationError> {
        let Some(first) = self.recording.calibration().filter(|note| note.rectifies) else { return Ok(None) };
        let (width, height) = pair.left.size();
        let note = pair.cameras.as_deref().unwrap_or(first);
        note.parsed_rig()?.map(|rig| rig.rectifier(width, height, first.crop)).transpose()
    }

    /// Returns the geometry of the rectified images of a pair at full size, where the recording contains it.
    pub fn geometry(&self, pair: &RawPair) -> Option<Geometry> {
        pair.cameras.as_deref().or(self.recording.calibration())?.geometry
    }

    /// Returns whether the images are rectified.
    pub fn are_rectified(&self) -> bool {
        self.recording.about().is_some_and(About::is_raw_rectified)
            || self.recording.stereo_topics().is_some_and(super::read::StereoTopics::are_rectified)
    }

    /// Returns the number of pairs, damaged ones too.
    pub fn num_pairs(&self) -> u64 {
        self.recording.pairs().len() as u64
    }

    fn read(&mut self, k: u64) -> Result<RawPair, ReadError> {
        let (_, mut pair) = self.unpacker.read(&mut self.recording, k)?;
        if self.recording.calibration().is_some_and(|note| note.swapped) {
            std::mem::swap(&mut pair.left, &mut pair.right);
        }
        let packets = self.recording.packets_of_result(k)?;
        pair.recorded = UnpackedResult::of(&packets)?.recorded().map(Arc::new);
        Ok(pair)
    }
}

impl Iterator for RecordedPairs {
    type Item = Result<RawPair, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let k = self.next;
        (k < self.num_pairs()).then(|| {
            self.next += 1;
            self.read(k)
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.num_pairs() - self.next) as usize;
        (left, Some(left))
    }
}
