//! What travels through the program: pictures of the two eyes, raw and rectified, with time, number and truth.
//!
//! "Left" is as seen from behind the cameras; every size is per eye. A frame is made on the capture thread and
//! never changed afterwards, so that it is shared by `Arc`.

use crate::capture::Original;
use crate::image::Image;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Brightness of one picture, in the depth that its source has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Luma {
    /// 0 to 255.
    U8(Image<u8>),
    /// 0 to `2^bits - 1`, `bits` from 9 to 16 as named by the source.
    U16 {
        /// The pixels.
        image: Image<u16>,
        /// How many low bits carry light.
        bits: u8,
    },
}

impl Luma {
    /// `(width, height)`.
    pub fn size(&self) -> (usize, usize) {
        match self {
            Self::U8(image) => image.size(),
            Self::U16 { image, .. } => image.size(),
        }
    }

    /// How many bits carry light: 8 to 16.
    pub fn bits(&self) -> u8 {
        match self {
            Self::U8(_) => 8,
            Self::U16 { bits, .. } => *bits,
        }
    }

    /// The same picture in a mirror.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        match self {
            Self::U8(image) => Self::U8(image.mirrored()),
            Self::U16 { image, bits } => Self::U16 { image: image.mirrored(), bits: *bits },
        }
    }

    /// Full depth in 16-bit words: what census and rank compare.
    pub fn to_u16(&self) -> Image<u16> {
        match self {
            Self::U8(image) => image.map(|&v| u16::from(v)),
            Self::U16 { image, .. } => image.clone(),
        }
    }

    /// The upper eight bits, `I8 = I16 >> (bits - 8)`: what differences, penalties and weights use.
    pub fn to_u8(&self) -> Image<u8> {
        match self {
            Self::U8(image) => image.clone(),
            Self::U16 { image, bits } => image.map(|&v| (v >> (bits - 8)).min(255) as u8),
        }
    }
}

/// One eye's picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// What is matched.
    pub luma: Luma,
    /// What is shown, where the source has colour and somebody asked for it; the same size as `luma`.
    pub rgb: Option<Image<[u8; 3]>>,
}

impl Picture {
    /// `(width, height)`.
    pub fn size(&self) -> (usize, usize) {
        self.luma.size()
    }
}

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

/// Exact disparity of the left picture and what is hidden from the right eye.
#[derive(Clone, Debug)]
pub struct Truth {
    /// Disparity of each left pixel in px; NaN where unknown.
    pub left_px: Image<f32>,
    /// Disparity of each right pixel in px; NaN where unknown.
    pub right_px: Image<f32>,
    /// True for left pixels that the right eye does not see.
    pub occluded: Image<bool>,
}

/// A rectified pair, ready to be matched.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Left picture, rectified and at working size.
    pub left: Picture,
    /// Right picture, rectified, the same size as the left one.
    pub right: Picture,
    /// The raw pair it was made from.
    pub raw: Arc<RawPair>,
    /// Truth at working size, where the source has it.
    pub truth: Option<Arc<Truth>>,
    /// How to turn disparity into metres at working size; `None` without a calibration.
    pub geometry: Option<Geometry>,
    /// When the capture thread had the raw pair; latency is counted from here.
    pub arrived: std::time::Instant,
    /// Time that rectification and scaling took.
    pub rectify_time: Duration,
}

impl Frame {
    /// `(width, height)` of each eye at working size.
    pub fn size(&self) -> (usize, usize) {
        self.left.size()
    }

    /// For tests: a raw pair as it is, without a calibration.
    #[cfg(test)]
    pub(crate) fn of_raw(raw: Arc<RawPair>) -> Self {
        Self {
            left: raw.left.clone(),
            right: raw.right.clone(),
            raw,
            truth: None,
            geometry: None,
            arrived: std::time::Instant::now(),
            rectify_time: Duration::ZERO,
        }
    }
}

/// The numbers of a rectified rig that turn disparity into space: `z = f T / (d + doffs)`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Geometry {
    /// Focal length of the rectified pictures, px.
    pub focal_px: f64,
    /// Distance of the two optical centres, m, positive.
    pub baseline_m: f64,
    /// `cx_right - cx_left`, px; 0 where infinity has disparity 0.
    pub doffs_px: f64,
    /// Principal point of the left picture, px, pixel centres at whole numbers.
    pub cx_px: f64,
    /// Principal point of the left picture, px.
    pub cy_px: f64,
    /// Guessed from the pictures and not calibrated: depth may be off by a factor, and whoever shows it says so.
    pub estimated: bool,
}

impl Geometry {
    /// The same rig with pictures `factor` times as large (1/2 halves them).
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            focal_px: self.focal_px * factor,
            baseline_m: self.baseline_m,
            doffs_px: self.doffs_px * factor,
            cx_px: (self.cx_px + 0.5) * factor - 0.5,
            cy_px: (self.cy_px + 0.5) * factor - 0.5,
            estimated: self.estimated,
        }
    }

    /// Depth in metres of a disparity in px; `None` at and behind infinity.
    pub fn depth_m(&self, disparity_px: f64) -> Option<f64> {
        let d = disparity_px + self.doffs_px;
        (d > 0.0).then(|| self.focal_px * self.baseline_m / d)
    }

    /// Disparity in px of a depth in metres.
    pub fn disparity_px(&self, depth_m: f64) -> f64 {
        self.focal_px * self.baseline_m / depth_m - self.doffs_px
    }
}
