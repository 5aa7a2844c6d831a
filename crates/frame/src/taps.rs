//! Receivers of pairs and frames on the capture thread. A slow one delays the source, and a camera then loses images.

use super::{Frame, RawPair, SourceInfo};
use crate::engine::Output;
use std::sync::Arc;
use stereopsis_base::geometry::Geometry;

/// Receiver of every raw pair before its preparation, such as a recorder of raw pairs.
pub trait RawTap: Send + Sync {
    /// Receives a pair; `geometry` is that of the preparation in force, at the source's size.
    fn pair(&self, pair: &Arc<RawPair>, geometry: Option<Geometry>, source: &SourceInfo);
}

/// Receiver of every prepared frame, before any is dropped.
pub trait FrameTap: Send + Sync {
    /// Receives a frame.
    fn frame(&self, frame: &Arc<Frame>, source: &SourceInfo);

    /// Receives a pair whose preparation failed.
    fn unprepared(&self, _pair: &Arc<RawPair>, _source: &SourceInfo) {}
}

/// Taps of a capture thread.
#[derive(Clone, Default)]
pub struct Taps {
    /// Taps before the preparation.
    pub raw: Vec<Arc<dyn RawTap>>,
    /// Taps after the preparation.
    pub frames: Vec<Arc<dyn FrameTap>>,
}

/// Observer of every result of a new pair, such as a recorder.
pub trait ResultTap: Send + Sync {
    /// Receives each result that has its numbers on the host, on the engine thread; the engine waits meanwhile.
    fn result(&self, output: &Arc<Output>);

    /// Receives each result of a pair that was matched before, with other parameters or another preparation, on the engine thread.
    /// Recorders ignore it.
    fn result_again(&self, _output: &Arc<Output>) {}

    /// Whether this tap needs results on the host now. After a change to true, the engine thread has to be woken: it then
    /// matches the last pair again for the tap.
    fn wants_results(&self) -> bool {
        true
    }
}

/// Callback after each result and each change of the statistics' engine and errors; it must not wait.
pub type Wake = Arc<dyn Fn() + Send + Sync>;
