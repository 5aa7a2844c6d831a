//! Description of a recording as a source.

use crate::About;
use stereopsis_base::geometry::Geometry;
use stereopsis_frame::{RawPair, Scale, SourceInfo};

/// Returns the description of a source with such pairs, which may be rectified at working size.
pub(super) fn info(
    name: String,
    first: &RawPair,
    num_pairs: Option<u64>,
    about: Option<&About>,
    are_rectified: bool,
) -> SourceInfo {
    let (width, height) = first.left.size();
    SourceInfo {
        name,
        width,
        height,
        rate_hz: about.and_then(|about| about.rate_hz),
        num_pairs,
        is_rectified: are_rectified || about.is_some_and(About::is_raw_rectified),
        geometry: about.and_then(|about| geometry(about, are_rectified)),
        ..SourceInfo::default()
    }
}

/// Returns the description of a source of raw pairs that has no end.
pub fn info_of(name: String, first: &RawPair, about: Option<&About>) -> SourceInfo {
    info(name, first, None, about, false)
}

/// Returns the geometry of pairs that are recorded rectified.
fn geometry(about: &About, are_rectified: bool) -> Option<Geometry> {
    let note = &about.calibration;
    if are_rectified {
        let scale = Scale::from_word(&note.scale).unwrap_or_default();
        return note.geometry.map(|geometry| geometry.scaled(scale.factor()));
    }
    note.geometry.filter(|_| about.is_raw_rectified())
}
