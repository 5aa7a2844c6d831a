//! What a row of a report is about, in the words that all JSON of this program has for it.

use crate::engine::{EngineInfo, Job};
use crate::stereo::StereoParams;

/// What was measured.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Subject {
    /// What matched the pairs.
    pub engine: EngineInfo,
    /// Width and height of the pictures that were matched, px.
    pub size: (usize, usize),
    /// How.
    pub parameters: StereoParams,
}

impl Subject {
    /// An engine and the first of its jobs.
    pub fn of(engine: &EngineInfo, job: &Job) -> Self {
        Self { engine: engine.clone(), size: job.frame.size(), parameters: StereoParams::clone(&job.params) }
    }

    /// `cpu` or `gpu`, for columns.
    pub fn engine_word(&self) -> String {
        self.engine.kind.to_string()
    }

    /// `640x480`.
    pub fn size_word(&self) -> String {
        format!("{}x{}", self.size.0, self.size.1)
    }
}
