//! Raw pairs as a source gives them, and frames as the capture thread prepares them for matching.
//!
//! "Left" is as seen from behind the cameras; sizes are per view. A frame never changes after it was made, so that threads share
//! it by `Arc`.

use super::Original;
use crate::geometry::Geometry;
use crate::image::{Image, Luma, Picture, Truth};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// A pair as it came from its source, not rectified.
#[derive(Clone, Debug)]
pub struct RawPair {
    /// The left eye, as seen from behind the cameras.
    pub left: Picture,
    /// The right eye; the same size as the left one.
    pub right: Picture,
    /// Number of the pair at its source, from 0; a gap means that the source dropped pairs.
    pub sequence: u64,
    /// When the left picture was taken, by the wall clock.
    pub capture_time: SystemTime,
    /// How much later (or, negative, earlier) the right picture was taken, in seconds; 0 where both come as one.
    pub skew_s: f64,
    /// Where the pair comes from, for names of results: a file's stem, `scene-000012`.
    pub name: String,
    /// What cameras gave, before it was decoded, split and turned; `None` where the pictures above are all there is.
    pub original: Option<Original>,
    /// What was recorded of its result, where a recording has that and somebody asked for it.
    pub recorded: Option<Arc<Recorded>>,
    /// Exact disparity, where the source knows it.
    pub truth: Option<Arc<Truth>>,
}

/// A pair's result as a recording holds it; at its own size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// Depth of each left pixel, m; NaN where there is none.
    pub depth_m: Option<Image<f32>>,
    /// Disparity of each left pixel, px; NaN where there is none.
    pub disparity_px: Option<Image<f32>>,
}

/// A rectified pair, ready to be matched.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Left picture, rectified and at working size.
    pub left: Arc<Picture>,
    /// Right picture, rectified, the same size as the left one.
    pub right: Arc<Picture>,
    /// The raw pair it was made from.
    pub raw: Arc<RawPair>,
    /// Truth at working size, where the source has it.
    pub truth: Option<Arc<Truth>>,
    /// How to turn disparity into metres at working size; `None` without a calibration.
    pub geometry: Option<Geometry>,
    /// When the capture thread had the raw pair; latency is counted from here.
    pub arrived: Instant,
    /// Time that rectification and scaling took.
    pub rectify_time: Duration,
}

impl Frame {
    /// `(width, height)` of each eye at working size.
    pub fn size(&self) -> (usize, usize) {
        self.left.size()
    }

    /// The same without any picture, for what needs a result only.
    #[must_use]
    pub(crate) fn without_pictures(&self) -> Self {
        let none = || Picture { luma: Luma::U8(Image::new(0, 0, Vec::new())), rgb: None };
        let raw = RawPair {
            left: none(),
            right: none(),
            name: self.raw.name.clone(),
            original: None,
            recorded: None,
            truth: None,
            ..*self.raw
        };
        let (left, right) = (Arc::new(none()), Arc::new(none()));
        Self { left, right, raw: Arc::new(raw), truth: None, ..*self }
    }

    /// For tests: a raw pair as it is, without a calibration.
    #[cfg(test)]
    pub(crate) fn of_raw(raw: Arc<RawPair>) -> Self {
        Self {
            left: Arc::new(raw.left.clone()),
            right: Arc::new(raw.right.clone()),
            raw,
            truth: None,
            geometry: None,
            arrived: Instant::now(),
            rectify_time: Duration::ZERO,
        }
    }
}
