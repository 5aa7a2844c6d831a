//! One pair at a time, the next one after the last result: how long a pair takes.

use crate::engine::{self, Engine, EngineError, Job, Output};
use std::collections::BTreeMap;

/// Times of pairs, one at a time.
#[derive(serde::Serialize)]
pub struct Times {
    /// From a pair handed over to its map.
    pub frame_ms: FrameTime,
    /// Median of each stage.
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
    /// The smallest.
    pub best: f64,
    /// The middle one.
    pub median: f64,
    /// All of them, in the order in which they were measured.
    all: Vec<f64>,
}

impl FrameTime {
    /// Times in milliseconds, in the order in which they were measured.
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

/// Runs a job and looks for its result all the time: the pauses of [`engine::run`] are long beside a pair on a quick GPU.
/// One that is software needs the processor for itself.
///
/// # Errors
/// The engine cannot match a pair.
pub fn run_job(engine: &mut dyn Engine, job: Job) -> Result<Output, EngineError> {
    if engine.info().software {
        return engine::run(engine, job);
    }
    engine.submit(job)?;
    loop {
        if let Some(output) = engine.collect()? {
            return Ok(output);
        }
        std::thread::yield_now();
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    let middle = times.len() / 2;
    *times.select_nth_unstable_by(middle, f64::total_cmp).1
}

impl Times {
    /// Heads of the table's columns.
    pub const HEAD: &str = "best ms  median ms  pairs/s";

    /// The same columns.
    pub fn columns(&self) -> String {
        let FrameTime { best, median, .. } = self.frame_ms;
        format!("{best:>7.2}  {median:>9.2}  {:>7.1}", 1e3 / median)
    }

    /// Median of one stage.
    pub fn stage_ms(&self, name: &str) -> Option<f64> {
        self.stages_ms.get(name).copied()
    }

    /// What does not fit into columns.
    pub fn rest(&self) -> String {
        let stage = |name: &&str| format!("{name} {:.2}", self.stages_ms.get(*name).unwrap_or(&0.0));
        self.stage_order.iter().map(stage).collect::<Vec<_>>().join(", ")
    }
}
