//! Time of a pair, with the next pair submitted after the last result.

use std::collections::BTreeMap;
use stereopsis_frame::engine::{Engine, EngineError, Job, Output, poll_output};

/// Times of single pairs.
#[derive(serde::Serialize)]
pub struct Times {
    /// Times from the submission of a pair to its map.
    pub frame_ms: FrameTime,
    stages_ms: BTreeMap<&'static str, f64>,
    /// Sums of the stages of each pair.
    #[serde(skip)]
    pub device_ms: Option<FrameTime>,
    #[serde(skip)]
    stage_order: Vec<&'static str>,
}

/// Times of pairs.
#[derive(Clone, Debug, serde::Serialize)]
pub struct FrameTime {
    /// Smallest time, ms.
    pub best: f64,
    /// Median time, ms.
    pub median: f64,
    /// All times in the order of measurement, ms.
    all: Vec<f64>,
}

impl FrameTime {
    /// Creates the times from ms in the order of measurement.
    pub fn new(all: Vec<f64>) -> Self {
        Self { best: all.iter().copied().fold(f64::INFINITY, f64::min), median: median(all.clone()), all }
    }
}

/// Runs the jobs in turn on a warm engine.
///
/// # Errors
/// The engine cannot match a pair.
pub fn measure(engine: &mut dyn Engine, jobs: &[Job], frames: usize) -> anyhow::Result<Times> {
    let (mut all, mut on_device) = (Vec::new(), Vec::new());
    let mut stages: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    let mut stage_order = Vec::new();
    for job in jobs.iter().cycle().take(frames.max(1)) {
        let output = run_job(engine, job.clone())?;
        all.push(output.compute_time.as_secs_f64() * 1e3);
        on_device.push(output.stages.iter().map(|stage| stage.ms).sum());
        for stage in &output.stages {
            if !stage_order.contains(&stage.name) {
                stage_order.push(stage.name);
            }
        }
        for (name, ms) in output.stages_ms() {
            stages.entry(name).or_default().push(ms);
        }
    }
    Ok(Times {
        frame_ms: FrameTime::new(all),
        stages_ms: stages.into_iter().map(|(name, times)| (name, median(times))).collect(),
        device_ms: (!stage_order.is_empty()).then(|| FrameTime::new(on_device)),
        stage_order,
    })
}

/// Runs a job and polls for its result.
///
/// # Errors
/// The engine cannot match a pair.
pub fn run_job(engine: &mut dyn Engine, job: Job) -> Result<Output, EngineError> {
    engine.submit(job)?;
    poll_output(engine)
}

fn median(mut times: Vec<f64>) -> f64 {
    let middle = times.len() / 2;
    *times.select_nth_unstable_by(middle, f64::total_cmp).1
}

impl Times {
    /// Headings of the table's columns.
    pub const HEAD: &str = "best ms  median ms  pairs/s";

    /// Formats the columns of [`Self::HEAD`].
    pub fn columns(&self) -> String {
        let FrameTime { best, median, .. } = self.frame_ms;
        format!("{best:>7.2}  {median:>9.2}  {:>7.1}", 1e3 / median)
    }

    /// Returns the median of one stage, ms.
    pub fn stage_ms(&self, name: &str) -> Option<f64> {
        self.stages_ms.get(name).copied()
    }

    /// Formats the values that have no column.
    pub fn rest(&self) -> String {
        let stage = |name: &&str| format!("{name} {:.2}", self.stages_ms.get(*name).unwrap_or(&0.0));
        self.stage_order.iter().map(stage).collect::<Vec<_>>().join(", ")
    }
}
