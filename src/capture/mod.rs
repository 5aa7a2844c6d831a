//! Where pairs come from: one trait for every source, one thread that reads, rectifies and hands on.

pub mod source;
pub mod scene;
pub mod files;
pub mod decode;
pub mod webcam;
mod camera_options;
mod max_pixels;
pub(crate) mod threads;
mod orientation;
mod original;
pub mod decode_camera;
pub mod pairing;
mod pace;
mod pair;
mod preparation;
mod transport;
mod until;
pub mod stamps;
mod taps;
pub mod scale;
pub mod worker;

pub use camera_options::{CameraOptions, ControlSettings, Orientation, PowerLine, Setting, ViewOptions};
pub use max_pixels::MaxPixels;
pub use original::{EncodedImage, Original, StereoLayout, halves};
pub use pair::{Frame, RawPair, Recorded};
pub use preparation::FramePreparation;
pub use scale::Scale;
pub use source::{SourceOptions, SourceSpec, TopicChoice};
pub use taps::{FrameTap, RawTap, Taps};
pub use transport::{Playing, Speed, Transport};
pub use until::Until;
pub use worker::{Capture, CaptureOptions, CaptureStats};

use self::decode_camera::Damaged;
use crate::calibration::CalibrationNote;
use crate::geometry::Geometry;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What is known of an open source.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceInfo {
    /// Short name for the status line: `scene`, `webcam 0,1`, a file's or folder's name.
    pub name: String,
    /// Columns of one eye's raw picture.
    pub width: usize,
    /// Rows of one eye's raw picture.
    pub height: usize,
    /// Pairs per second that it delivers by itself; `None` for as fast as it is asked.
    pub rate_hz: Option<f64>,
    /// True for a camera: what is not taken in time is gone. Others wait.
    pub is_camera: bool,
    /// Pairs in all, where the source ends by itself.
    pub num_pairs: Option<u64>,
    /// True where the pairs are rectified as they come.
    pub is_rectified: bool,
    /// The source's own geometry for raw pairs that are rectified already.
    pub geometry: Option<Geometry>,
}

/// What a source has at the moment.
#[derive(Debug)]
pub enum Next {
    /// A pair.
    Pair(Box<RawPair>),
    /// Nothing within the time given; ask again.
    Waiting,
    /// Nothing any more.
    End,
}

/// Gives pairs. Lives on the capture thread; whatever blocks inside (a camera) has its own thread behind it.
pub trait PairSource: Send {
    /// What is known of the source; sizes and rates may change while it runs.
    fn info(&self) -> SourceInfo;

    /// The next pair, waiting for at most `timeout`.
    ///
    /// # Errors
    /// The source is lost; whoever reads says so and may open it again.
    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError>;

    /// How its cameras stand; nothing to say for what is no camera.
    fn state(&self) -> SourceState {
        SourceState::default()
    }

    /// Starts one of two free-running cameras again, in the background, until both take their pictures at nearly the same
    /// time; [`SourceState::resyncing`] says while that goes on. Others ignore it.
    fn resync(&mut self) {}

    /// What a recording knows of how its pairs become rectified and metric.
    fn calibration(&self) -> Option<&CalibrationNote> {
        None
    }

    /// The files that it reads, all of them, from the start on.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// How it is played, for what has a beginning and can be sought in.
    fn transport(&self) -> Option<Arc<Transport>> {
        None
    }
}

/// How the cameras of a source stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceState {
    /// Left and right, or the one that gives both.
    pub cameras: Vec<CameraState>,
    /// Frames of one camera that found no partner so far.
    pub unpaired: u64,
    /// How far apart the pictures of a pair are taken; `None` for one camera, and before there are some pairs.
    pub skew: Option<Skew>,
    /// What is odd, in words to be shown as they are: half the rate, jumping time stamps, a control that was refused; and what of the
    /// source is left out: files without a partner, damaged parts, messages that make no sense. Every command tells it.
    pub remarks: Vec<String>,
    /// One camera is being started again, see [`PairSource::resync`].
    pub resyncing: bool,
}

impl SourceState {
    /// Damaged frames of all cameras.
    pub fn damaged(&self) -> Damaged {
        self.cameras.iter().map(|camera| camera.damaged).sum()
    }

    /// Frames of all cameras that their drivers could give nobody.
    pub fn missed(&self) -> u64 {
        self.cameras.iter().map(|camera| camera.missed).sum()
    }
}

/// How one camera stands.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct CameraState {
    /// Its number now.
    pub index: u32,
    /// What it calls itself.
    pub name: String,
    /// The mode that was granted, in words: `MJPEG 640x480 at 30/s`.
    pub mode: String,
    /// Frames per second that really come.
    pub rate_hz: f64,
    /// Frames that were dropped because they came damaged, by cause.
    pub damaged: Damaged,
    /// Frames that its driver could give nobody, by the gaps in its count: lost on the bus, or no room was left. 0 where the
    /// system does not tell.
    pub missed: u64,
    /// Frames that nobody took in time.
    pub late: u64,
    /// Why it is lost, while it is; it is opened again when it returns.
    pub lost: Option<String>,
}

/// The right picture's time minus the left one's, over the last two seconds or so.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Skew {
    /// Mean, s.
    pub mean_s: f64,
    /// Largest minus smallest, s.
    pub spread_s: f64,
}

/// Why a source cannot be opened or read. The text says what was tried, on what, and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The words of `--source` mean nothing.
    #[error("{0}")]
    Grammar(String),
    /// A file or folder cannot be used.
    #[error("{0}")]
    File(String),
    /// A camera is missing, busy, refused, or gone.
    #[error("{0}")]
    Camera(String),
}
