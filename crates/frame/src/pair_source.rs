//! Sources of pairs: the trait that all of them implement, and what they tell of themselves.

use crate::decode_camera::Damaged;
use crate::engine::SourceEngine;
use crate::{CaptureError, RawPair, Transport};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::geometry::Geometry;
use stereopsis_base::rate::LatencySince;
use stereopsis_calibration::{CalibrationNote, CurvedImages};

/// Description of an open source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceInfo {
    /// Short name for the status line: `scene`, `webcam 0,1`, a file's or folder's name.
    pub name: String,
    /// Width of one view's raw image, px.
    pub width: usize,
    /// Height of one view's raw image, px.
    pub height: usize,
    /// Rate at which the source delivers pairs, Hz; `None` if the reader sets the rate.
    pub rate_hz: Option<f64>,
    /// Whether the source is a camera: pairs not taken in time are lost. Other sources wait.
    pub is_camera: bool,
    /// Whether the source delivers a single pair: a watched pair of files.
    pub is_still: bool,
    /// Total number of pairs, for a source with an end.
    pub num_pairs: Option<u64>,
    /// Whether the source's pairs are already rectified.
    pub is_rectified: bool,
    /// Geometry of a source whose pairs are already rectified.
    pub geometry: Option<Geometry>,
    /// Numbers of both cameras, from the names of the images' folders in KITTI's form.
    pub camera_numbers: Option<[u32; 2]>,
    /// Lenses that the images themselves name.
    pub lens: Option<NamedLens>,
    /// Evidence that the images are not flat; `None` without any.
    pub curved: Option<CurvedImages>,
}

/// Lenses that images name, right to about 3 %.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedLens {
    /// Focal lengths of the left and the right camera, px.
    pub focal_px: [f64; 2],
    /// Sentence about the lenses for the user, with the source of their numbers.
    pub words: String,
}

/// Result of waiting for a pair.
#[derive(Debug)]
pub enum Next {
    /// Next pair.
    Pair(Box<RawPair>),
    /// No pair within the timeout; call again.
    Waiting,
    /// End of the source.
    End,
}

/// Source of pairs. It belongs to the capture thread; blocking operations (cameras) run on other threads.
pub trait PairSource: Send {
    /// Returns the description of the source; sizes and rates may change while it runs.
    fn info(&self) -> SourceInfo;

    /// Returns the next pair, waiting for at most `timeout`.
    ///
    /// # Errors
    /// The source is lost; the reader reports it and may open it again.
    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError>;

    /// Returns the state of the source's cameras; the default value for other sources.
    fn state(&self) -> SourceState {
        SourceState::default()
    }

    /// Restarts one of two free-running cameras in the background until both take their images at nearly the same time; meanwhile
    /// [`SourceState::resyncing`] is true. Other sources ignore it.
    fn resync(&mut self) {}

    /// Returns the rectification and geometry that a recording stores for its pairs.
    fn calibration(&self) -> Option<&CalibrationNote> {
        None
    }

    /// Returns all files that the source reads, known from the start.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the playback control of a source in which the user can seek.
    fn transport(&self) -> Option<Arc<Transport>> {
        None
    }

    /// Returns the engine that the source brings, if another machine may match its pairs.
    fn engine(&self) -> Option<Arc<dyn SourceEngine>> {
        None
    }

    /// Returns the time from which the latency of the last pair's result counts, and the event at that time. The pair came at `arrived`.
    fn latency_begin(&self, arrived: Instant) -> (Instant, LatencySince) {
        (arrived, LatencySince::Arrival)
    }
}

/// State of a source's cameras.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceState {
    /// Left and right camera, or the side-by-side camera.
    pub cameras: Vec<CameraState>,
    /// Number of frames of one camera without a partner so far.
    pub unpaired: u64,
    /// Skew of the pairs; `None` for one camera, and before there are enough pairs.
    pub skew: Option<Skew>,
    /// Remarks for the user, as sentences: a halved rate, jumping time stamps, a rejected control, or omitted parts of the source (files
    /// without a partner, damaged parts, invalid messages). Every command prints them.
    pub remarks: Vec<String>,
    /// Number of times that a broken stream was begun again.
    pub begun_again: u64,
    /// Reason why the pair at the position of playback cannot be read, or why none comes; cleared by the next one.
    pub unreadable: Option<String>,
    /// Whether one camera is being restarted, see [`PairSource::resync`].
    pub resyncing: bool,
}

impl SourceState {
    /// Returns the numbers of damaged frames of all cameras.
    pub fn damaged(&self) -> Damaged {
        self.cameras.iter().map(|camera| camera.damaged).sum()
    }

    /// Returns the number of frames of all cameras that their drivers dropped.
    pub fn missed(&self) -> u64 {
        self.cameras.iter().map(|camera| camera.missed).sum()
    }
}

/// State of one camera.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct CameraState {
    /// Current number of the camera.
    pub index: u32,
    /// Name of the camera according to its driver.
    pub name: String,
    /// Granted mode as text: `MJPEG 640x480 at 30/s`.
    pub mode: String,
    /// Measured frame rate, Hz.
    pub rate_hz: f64,
    /// Numbers of damaged frames, by cause.
    pub damaged: Damaged,
    /// Frames that the driver dropped (no bandwidth, or no free buffer), counted by gaps in its sequence numbers; 0 if the system does not
    /// report them.
    pub missed: u64,
    /// Number of frames that the source did not take in time.
    pub late: u64,
    /// Reason of the loss of the camera, while it is lost; it is opened again when it returns.
    pub lost: Option<String>,
}

/// Skew: time of the right image minus time of the left one, over about the last two seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Skew {
    /// Mean, s.
    pub mean_s: f64,
    /// Largest minus smallest, s.
    pub spread_s: f64,
}
