//! Subject of a row of a report, named as in all JSON of this program.

use stereopsis_frame::engine::{EngineInfo, Job};
use stereopsis_stereo::StereoParams;

/// Subject of a measurement.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Subject {
    /// Engine that matched the pairs.
    pub engine: EngineInfo,
    /// Width and height of the matched images, px.
    pub size: (usize, usize),
    /// Parameters of the matching.
    pub parameters: StereoParams,
}

impl Subject {
    /// Describes an engine and the first of its jobs.
    pub fn of(engine: &EngineInfo, job: &Job) -> Self {
        Self { engine: engine.clone(), size: job.frame.size(), parameters: StereoParams::clone(&job.params) }
    }

    /// Returns `cpu` or `gpu` for columns.
    pub fn engine_word(&self) -> String {
        self.engine.kind.to_string()
    }

    /// Formats the size, as `640x480`.
    pub fn size_word(&self) -> String {
        format!("{}x{}", self.size.0, self.size.1)
    }
}
