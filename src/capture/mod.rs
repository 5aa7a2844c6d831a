//! Where pairs come from: one trait for every source, one thread that reads, rectifies and hands on.

pub mod source;
pub mod scene;
pub mod files;
pub mod decode;
pub mod webcam;
pub mod decode_camera;
pub mod pairing;
mod pace;
pub mod scale;
pub mod newest;
pub mod worker;

pub use scale::Scale;
pub use source::{SourceOptions, SourceSpec, open};
pub use worker::{Capture, CaptureOptions, CaptureStats, Rectify};

use crate::frame::{Geometry, RawPair};
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

    /// The next pair, waiting for at most `patience`.
    ///
    /// # Errors
    /// The source is lost; whoever reads says so and may open it again.
    fn next(&mut self, patience: Duration) -> Result<Next, CaptureError>;
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
