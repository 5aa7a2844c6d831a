//! What others see of the recorder.

use super::{RecordError, RecordOptions, RecordStatus, RecordSummary, Target};
use crate::capture::{FrameTap, SourceInfo};
use crate::engine::Output;
use crate::engine::worker::ResultTap;
use crate::frame::Frame;
use crate::recording::About;
use crate::stereo::StereoParams;
use std::sync::Arc;

/// The running recorder. Dropping the last one stops it.
pub struct Recorder {}

impl Recorder {
    /// Makes the file and starts the thread.
    ///
    /// # Errors
    /// The file exists or cannot be made, or the disk is nearly full.
    pub fn start(_target: Target, _about: About, _options: RecordOptions) -> Result<Arc<Self>, RecordError> {
        Err(RecordError::Pack("the recorder is being written".to_owned()))
    }

    /// Notes the parameters from now on.
    pub fn set_params(&self, _params: &StereoParams) {}

    /// Notes what went wrong: a kind of [`crate::recording::Event`] and words.
    pub fn event(&self, _kind: &str, _text: &str) {}

    /// How it goes.
    pub fn status(&self) -> RecordStatus {
        unreachable!("it cannot be started yet")
    }

    /// How it went so far.
    pub fn summary(&self) -> RecordSummary {
        unreachable!("it cannot be started yet")
    }

    /// Ends the recording and waits until all is on the disk. Again, it says the same.
    ///
    /// # Errors
    /// It ended before its time: the disk is full, or the pipe is closed.
    pub fn stop(&self) -> Result<RecordSummary, RecordError> {
        Ok(self.summary())
    }
}

impl FrameTap for Recorder {
    fn frame(&self, _frame: &Arc<Frame>, _source: &SourceInfo) {}
}

impl ResultTap for Recorder {
    fn result(&self, _output: &Arc<Output>) {}
}
