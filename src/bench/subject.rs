//! What a row of a report is about, in the words that all JSON of this program has for it.

use crate::engine::{EngineInfo, Job};
use crate::stereo::StereoParams;

/// What was measured.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Subject {
    /// What matched the pairs.
    pub(crate) engine: EngineInfo,
    /// Width and height of the pictures that were matched, px.
    pub(crate) size: (usize, usize),
    /// How.
    pub(crate) parameters: StereoParams,
}

impl Subject {
    /// An engine and the first of its jobs.
    pub(crate) fn of(engine: &EngineInfo, job: &Job) -> Self {
        Self { engine: engine.clone(), size: job.frame.size(), parameters: StereoParams::clone(&job.params) }
    }

    /// `cpu` or `gpu`, for columns.
    pub(crate) fn engine_word(&self) -> String {
        self.engine.kind.to_string()
    }

    /// `640x480`.
    pub(crate) fn size_word(&self) -> String {
        format!("{}x{}", self.size.0, self.size.1)
    }
}
