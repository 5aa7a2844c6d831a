//! Receivers of pairs and frames on the capture thread. A slow one delays the source, and a camera then loses images.

use super::{Frame, RawPair, SourceInfo};
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
