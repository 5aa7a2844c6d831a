//! Parts of a pair that are written. A queue holds these instead of the whole pair.

use crate::{PairNote, Stream, Streams};
use std::sync::Arc;
use std::time::SystemTime;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::{Luma, Picture};
use stereopsis_calibration::CalibrationNote;
use stereopsis_frame::{Frame, Original, RawPair};

/// Parts of a pair that the streams require.
#[derive(Clone, Debug)]
pub struct PairParts {
    pub(super) note: PairNote,
    pub(super) capture_time: SystemTime,
    /// Columns and rows of a raw image of one side.
    pub(super) size: (usize, usize),
    /// Geometry of the rectified rig.
    pub(super) geometry: Option<Geometry>,
    pub(super) original: Option<Original>,
    pub(super) decoded: Option<Arc<RawPair>>,
    pub(super) rectified: Option<[Arc<Picture>; 2]>,
}

impl PairParts {
    /// Returns the parts of a raw pair, without rectified images.
    pub fn of_raw(pair: &Arc<RawPair>, geometry: Option<Geometry>, streams: Streams) -> Self {
        let (has_raw, has_eyes) = (streams.has(Stream::Raw), streams.has(Stream::Eyes));
        let is_plain = pair.original.as_ref().is_none_or(|original| original.layout.is_plain());
        let decodes = has_raw && pair.original.is_none() || has_eyes && !(is_plain && pair.original.is_some());
        let (name, cameras) = (pair.name.clone(), pair.cameras.as_deref().cloned().map(Box::new));
        Self {
            note: PairNote { sequence: pair.sequence, skew_s: pair.skew_s, name, bits: pair.left.luma.bits(), cameras },
            capture_time: pair.capture_time,
            size: pair.left.size(),
            geometry,
            original: pair.original.clone().filter(|_| has_raw || has_eyes && is_plain),
            decoded: decodes.then(|| Arc::clone(pair)),
            rectified: None,
        }
    }

    /// Returns only the decoded images of a raw pair.
    pub(crate) fn of_decoded(pair: &Arc<RawPair>) -> Self {
        Self { decoded: Some(Arc::clone(pair)), ..Self::of_raw(pair, None, Streams::NONE) }
    }

    pub(crate) fn of_frame(frame: &Frame, streams: Streams) -> Self {
        let rectified = || [&frame.left, &frame.right].map(Arc::clone);
        let rectified = streams.has(Stream::Rectified).then(rectified);
        let mut parts = Self { rectified, ..Self::of_raw(&frame.raw, frame.geometry, streams) };
        if parts.note.cameras.is_some() && !streams.has_unrectified() {
            // what is read again are the rectified images
            parts.note.cameras = frame.geometry.map(CalibrationNote::of_rectified).map(Box::new);
        }
        parts
    }

    /// Returns the capture time of the left image.
    pub fn capture_time(&self) -> SystemTime {
        self.capture_time
    }

    /// Returns columns and rows of a raw image of one side.
    pub fn size(&self) -> (usize, usize) {
        self.size
    }

    /// Sets another capture time.
    #[must_use]
    pub fn taken_at(self, capture_time: SystemTime) -> Self {
        Self { capture_time, ..self }
    }

    /// Returns the sequence number of the pair at its source.
    pub fn sequence(&self) -> u64 {
        self.note.sequence
    }

    /// Returns the memory of the images, bytes.
    pub fn bytes(&self) -> usize {
        self.sum(|picture| {
            let luma = if matches!(picture.luma, Luma::U8(_)) { 1 } else { 2 };
            luma + 3 * usize::from(picture.rgb.is_some())
        })
    }

    /// Returns the uncompressed bytes of the images in a file: of colours where there are any, else of luma.
    pub(crate) fn file_bytes(&self) -> usize {
        self.sum(|picture| if picture.rgb.is_some() { 3 } else { usize::from(picture.luma.bits().div_ceil(8)) })
    }

    /// Returns the bytes of all images; decoded ones have `pixel_bytes` for each pixel.
    fn sum(&self, pixel_bytes: fn(&Picture) -> usize) -> usize {
        let original = self.original.iter().flat_map(|original| &original.images).map(|shot| shot.bytes.len());
        let decoded = self.decoded.iter().flat_map(|pair| [&pair.left, &pair.right]);
        let rectified = self.rectified.iter().flatten().map(|picture| &**picture);
        let of_picture = |picture: &Picture| {
            let (width, height) = picture.size();
            pixel_bytes(picture) * width * height
        };
        original.chain(decoded.chain(rectified).map(of_picture)).sum()
    }
}
