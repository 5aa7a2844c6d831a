//! Outcome of a recomputation.

use stereopsis_frame::engine::EngineInfo;

/// Outcome of [`recompute`](super::recompute).
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Summary {
    /// Number of pairs in the new recording.
    pub pairs: u64,
    /// Number of results in the new recording.
    pub results: u64,
    /// Number of pairs that an earlier run had finished.
    pub resumed: u64,
    /// Size of the new recording, bytes.
    pub bytes: u64,
    /// Number of pairs of the old recording that could not be read and are left out.
    pub left_out: u64,
    /// Damaged pairs read by this run: number in the old recording, and reason.
    pub damaged: Vec<(u64, String)>,
    /// Sentence on depth that its format does not hold, of the pairs of this run.
    pub depth_loss: Option<String>,
    /// Engine that computed the results.
    pub engine: Option<EngineInfo>,
}
