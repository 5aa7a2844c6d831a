//! Pairs of cameras as an iterator.

use crate::capture::webcam::{self, ModeRequest, Shown};
use crate::capture::{CameraOptions, CaptureError, Next, PairSource, RawPair, SourceSpec};
use std::time::Duration;

/// A look at the cameras' threads takes no longer; a pair ends it at once.
const LOOK: Duration = Duration::from_secs(1);

/// Raw pairs of two cameras, or of one that gives both pictures side by side. The iterator waits for the next pair; a pair that is not
/// taken in time is lost, and its number is missing in [`RawPair::sequence`]. While a camera is unplugged the iterator waits; it opens the
/// camera again when that returns.
pub struct CameraPairs {
    source: Box<dyn PairSource>,
}

impl CameraPairs {
    /// Opens cameras by the words of `--source`: `webcam:0,1` for two, left one first, or `webcam:0` for one. `size` is `(width,
    /// height)` of one view in px; without it 640x480.
    ///
    /// # Errors
    /// The words name no camera, or a camera is missing, busy, inaccessible, or has no such mode; the text says what to do.
    pub fn open(cameras: &str, size: Option<(usize, usize)>) -> Result<Self, CaptureError> {
        let mode = ModeRequest { size, ..ModeRequest::default() };
        let spec = SourceSpec::parse(cameras)?;
        let source = webcam::open(&spec, Shown::BothViews, &mode, &CameraOptions::default())?;
        Ok(Self { source })
    }

    /// `(width, height)` of one view, px.
    pub fn size(&self) -> (usize, usize) {
        let info = self.source.info();
        (info.width, info.height)
    }
}

impl Iterator for CameraPairs {
    type Item = Result<RawPair, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.source.next(LOOK) {
                Ok(Next::Pair(pair)) => return Some(Ok(*pair)),
                Ok(Next::Waiting) => {}
                Ok(Next::End) => return None,
                Err(lost) => return Some(Err(lost)),
            }
        }
    }
}
