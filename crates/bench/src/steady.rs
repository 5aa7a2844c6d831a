//! Pairs at a steady rate, as from a camera, on the engine thread of the live pipeline, where the newest pair wins: drops and latency.

use anyhow::{Context as _, bail};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::newest;
use stereopsis_base::process::CpuShare;
use stereopsis_base::rate::LatencySince;
use stereopsis_engine::worker::{Control, EngineSource, EngineStats, EngineWorker};
use stereopsis_frame::Frame;
use stereopsis_frame::engine::{Engine, Job};
use stereopsis_live::{Dropped, RunLatency};

#[derive(serde::Serialize)]
pub(super) struct SteadyRun {
    rate_hz: f64,
    seconds: f64,
    /// Number of offered pairs.
    came: u64,
    computed: u64,
    dropped: Dropped,
    /// Latency from the arrival of a pair to its result.
    latency_ms: RunLatency,
    /// Processor time of the program over wall time, per cent of one core; `None` where the system does not report it.
    cpu_percent: Option<f64>,
}

/// Largest time for results after the last pair.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_mins(1);
const POLL_INTERVAL: Duration = Duration::from_millis(1);

pub(super) fn measure(engine: Box<dyn Engine>, jobs: &[Job], rate_hz: f64, seconds: f64) -> anyhow::Result<SteadyRun> {
    let Some(first) = jobs.first() else { bail!("no pair to time") };
    let control =
        Control { params: Arc::clone(&first.params), read_back: true, paused: false, suspended: false, steps: 0 };
    let (sender, frames) = newest::channel();
    let worker =
        EngineWorker::start(frames, None, EngineSource::Ready(engine), control, None, Vec::new(), Arc::new(|| {}))
            .context("cannot start the engine thread")?;
    wait(&worker, |stats| stats.engine.is_some(), SHUTDOWN_TIMEOUT)?;

    let share = CpuShare::start();
    let start = Instant::now();
    let came = (rate_hz * seconds).round().max(1.0) as u64;
    for (number, job) in (0..came).zip(jobs.iter().cycle()) {
        // copied, as from a camera
        let mut frame = Frame::clone(&job.frame);
        let arrived = start + Duration::from_secs_f64(number as f64 / rate_hz);
        frame.latency_begin = (arrived, LatencySince::Arrival);
        std::thread::sleep(arrived.saturating_duration_since(Instant::now()));
        if sender.send(Arc::new(frame)).is_err() {
            break; // the engine thread has ended; its error follows
        }
    }
    drop(sender);
    let stats = wait(&worker, |stats| stats.ended, SHUTDOWN_TIMEOUT)?;
    let cpu_percent = share.percent();
    let seconds = share.elapsed().as_secs_f64();
    if let Some(fault) = stats.fault {
        bail!("the engine was lost while it was timed: {fault}");
    }
    let Some(latency_ms) = RunLatency::of(&stats.run_latency) else {
        bail!("no pair was matched: {}", stats.error.unwrap_or_else(|| "no result came".into()));
    };
    Ok(SteadyRun {
        rate_hz,
        seconds,
        came,
        computed: stats.computed,
        dropped: Dropped { late: stats.late, failed: stats.failed, ..Dropped::default() },
        latency_ms,
        cpu_percent,
    })
}

fn wait(
    worker: &EngineWorker,
    condition: impl Fn(&EngineStats) -> bool,
    patience: Duration,
) -> anyhow::Result<EngineStats> {
    let deadline = Instant::now() + patience;
    loop {
        let stats = worker.stats();
        if condition(&stats) {
            return Ok(stats);
        }
        if Instant::now() > deadline {
            bail!("the engine thread does not answer within {} s", patience.as_secs());
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

impl SteadyRun {
    pub(super) const HEAD: &str =
        "pairs/s   came   done  dropped  failed  latency 50 %  99 %  largest, ms  CPU % of a core";

    pub(super) fn columns(&self) -> String {
        let RunLatency { median, p99, largest } = self.latency_ms;
        let cpu = self.cpu_percent.map_or_else(|| "not told".to_owned(), |percent| format!("{percent:.0}"));
        format!(
            "{:>7.1}  {:>5}  {:>5}  {:>7}  {:>6}  {median:>12.1}  {p99:>4.1}  {largest:>11.1}  {cpu:>15}",
            self.rate_hz, self.came, self.computed, self.dropped.late, self.dropped.failed
        )
    }
}
