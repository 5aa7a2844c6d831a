//! Raw pairs of a source, and frames that the capture thread prepares for matching.
//!
//! "Left" is as seen from behind the cameras; sizes are per view. A frame is immutable, so that threads share it by `Arc`.

use super::{FrameRows, Masks, Original};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::geometry::{Axis, Geometry};
use stereopsis_base::image::{Image, Picture, PictureRef, QuarterTurn, Truth};
use stereopsis_base::rate::LatencySince;
use stereopsis_calibration::{CalibrationNote, Rectifier};
use stereopsis_stereo::DisparityMap;

/// Raw pair of a source, not rectified.
#[derive(Clone, Debug)]
pub struct RawPair {
    /// Left view, as seen from behind the cameras.
    pub left: Picture,
    /// Right view; the left one's size, unless a calibration of both cameras brings two sizes into one.
    pub right: Picture,
    /// Number of the pair at its source, from 0; a gap means that the source dropped pairs.
    pub sequence: u64,
    /// Capture time of the left image, by the wall clock.
    pub capture_time: SystemTime,
    /// Skew: capture time of the right image minus that of the left one, s; 0 if both are one image.
    pub skew_s: f64,
    /// Name of the pair for results: a file's stem, `scene-000012`.
    pub name: String,
    /// Encoded camera images before decoding, splitting and turning; `None` if the source has none.
    pub original: Option<Original>,
    /// Cameras of the pair, where its source says that they are others than at its beginning; of the note only the rig, or the geometry of
    /// rectified images.
    pub cameras: Option<Arc<CalibrationNote>>,
    /// Recorded result of the pair, if the recording has one and the source options request it.
    pub recorded: Option<Arc<Recorded>>,
    /// Exact disparity, if the source has it.
    pub truth: Option<Arc<Truth>>,
    /// Whether both views are parts of one image of the source, which may have been no pair.
    pub is_cut: bool,
    /// Parts of the views that are no scene; `None` where all of both is.
    pub masks: Option<Arc<Masks>>,
}

impl RawPair {
    /// Creates a pair without skew, encoded images, other cameras, recorded result and ground truth. Both images get the bit depth of the deeper one.
    pub fn new(
        name: impl Into<String>,
        sequence: u64,
        capture_time: SystemTime,
        left: Picture,
        right: Picture,
    ) -> Self {
        let name = name.into();
        let mut pair = Self {
            left,
            right,
            sequence,
            capture_time,
            skew_s: 0.0,
            name,
            original: None,
            cameras: None,
            recorded: None,
            truth: None,
            is_cut: false,
            masks: None,
        };
        pair.deepen(0);
        pair
    }

    /// Raises the bit depth of both images to that of the deeper one, at least this many bits, and returns it. Within a sequence it never
    /// falls, because a dark pair must not be scaled up. Images of 8 bits stay unchanged.
    pub fn deepen(&mut self, at_least_bits: u8) -> u8 {
        let deepest = self.left.luma.bits().max(self.right.luma.bits()).max(at_least_bits);
        self.left.deepen(deepest);
        self.right.deepen(deepest);
        deepest
    }
}

/// Recorded result of a pair, at its own size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// Depth of each left pixel, m; NaN if unknown.
    pub depth_m: Option<Image<f32>>,
    /// Disparity of each left pixel, px; NaN if unknown.
    pub disparity_px: Option<Image<f32>>,
}

/// Rectified pair, ready to be matched.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Left image, rectified and at working size.
    pub left: Arc<Picture>,
    /// Right image, rectified; the left one's size.
    pub right: Arc<Picture>,
    /// Raw pair of the frame.
    pub raw: Arc<RawPair>,
    /// Direction of the baseline; the images are upright in either case.
    pub axis: Axis,
    /// Ground truth at working size, if the source has it.
    pub truth: Option<Arc<Truth>>,
    /// Geometry that converts disparity to metres at working size; `None` without a calibration.
    pub geometry: Option<Geometry>,
    /// Correction of the right image's rows; `None` without a correction.
    pub rows: Option<FrameRows>,
    /// Whether pixels of brightness 0 are left out everywhere, because the pair has masks.
    pub is_masked: bool,
    /// Rectification of the frame; `None` without one.
    pub rectifier: Option<Arc<Rectifier>>,
    /// Whether a camera took the frame: a sequence, smoothed over time by default.
    pub is_camera: bool,
    /// Arrival time of the raw pair at the capture thread.
    pub arrived: Instant,
    /// Time from which the latency of the result counts, and the event at that time.
    pub latency_begin: (Instant, LatencySince),
    /// Time spent on rectification and scaling.
    pub rectify_time: Duration,
}

impl Frame {
    /// Returns `(width, height)` of each view at working size.
    pub fn size(&self) -> (usize, usize) {
        self.left.size()
    }

    /// Returns both images as matching reads them.
    pub fn pictures(&self) -> [PictureRef<'_>; 2] {
        let pair = PictureRef::pair(&*self.left, &*self.right);
        pair.map(|picture| PictureRef { is_masked: self.is_masked, ..picture })
    }

    /// Returns the extent of the images along the baseline, px, above which no disparity has a match.
    pub fn extent_px(&self) -> usize {
        self.axis.extent(self.size())
    }

    /// Returns the frame with its disparities along rows, for engines and all other matching: this one, or one whose images are turned
    /// counterclockwise, without geometry and truth.
    #[must_use]
    pub fn in_rows(self: &Arc<Self>) -> Arc<Self> {
        match self.axis {
            Axis::Horizontal => Arc::clone(self),
            Axis::Vertical => {
                let [left, right] =
                    [&self.left, &self.right].map(|picture| Arc::new(picture.turned(QuarterTurn::Left)));
                let raw = Arc::clone(&self.raw);
                Arc::new(Self {
                    left,
                    right,
                    raw,
                    axis: Axis::Horizontal,
                    truth: None,
                    geometry: None,
                    rows: None,
                    rectifier: None,
                    ..**self
                })
            }
        }
    }

    /// Converts a map of this frame to disparities along rows, see [`Frame::in_rows`].
    pub fn map_in_rows<'a>(&self, map: &'a DisparityMap) -> Cow<'a, DisparityMap> {
        match self.axis {
            Axis::Horizontal => Cow::Borrowed(map),
            Axis::Vertical => Cow::Owned(map.turned(QuarterTurn::Left)),
        }
    }

    /// Returns the position of a pixel in [`Frame::in_rows`].
    pub fn pixel_in_rows(&self, (x, y): (usize, usize)) -> (usize, usize) {
        match self.axis {
            Axis::Horizontal => (x, y),
            // outside stays outside
            Axis::Vertical => (y, (self.size().0.wrapping_sub(1)).wrapping_sub(x)),
        }
    }

    /// Copies the frame without images, for consumers of the result only.
    #[must_use]
    pub fn without_pictures(&self) -> Self {
        let raw = RawPair {
            left: Picture::empty(),
            right: Picture::empty(),
            name: self.raw.name.clone(),
            original: None,
            cameras: self.raw.cameras.clone(),
            recorded: None,
            truth: None,
            masks: None,
            ..*self.raw
        };
        let (left, right) = (Arc::new(Picture::empty()), Arc::new(Picture::empty()));
        Self { left, right, raw: Arc::new(raw), truth: None, rows: self.rows.clone(), rectifier: None, ..*self }
    }

    /// Creates an unprepared frame of a rectified pair, without a calibration and without truth.
    pub fn of_raw(raw: Arc<RawPair>) -> Self {
        let now = Instant::now();
        Self {
            left: Arc::new(raw.left.clone()),
            right: Arc::new(raw.right.clone()),
            raw,
            axis: Axis::Horizontal,
            truth: None,
            geometry: None,
            rows: None,
            is_masked: false,
            rectifier: None,
            is_camera: false,
            arrived: now,
            latency_begin: (now, LatencySince::Arrival),
            rectify_time: Duration::ZERO,
        }
    }
}
