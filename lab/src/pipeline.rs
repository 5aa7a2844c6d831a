//! Time of a pair with other pairs in flight, compared with the times of its parts, of which the slowest is the lower limit.

use super::rates::Transfers;
use anyhow::bail;
use std::io::Write;
use std::time::{Duration, Instant};
use stereopsis_base::console::counted;
use stereopsis_bench::{Setup, Subject, one_by_one, warm_up};
use stereopsis_frame::engine::{Engine, EngineChoice, Job};
use stereopsis_gpu::{GpuEngine, Plan};
use stereopsis_stereo::StereoParams;

#[derive(serde::Serialize)]
struct PipelineMeasurement {
    #[serde(flatten)]
    subject: Subject,
    plan: Option<Plan>,
    /// Pipeline times, except for software adapters, whose parts all share the processor.
    pipeline: Option<Pipeline>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Debug, serde::Serialize)]
pub(super) struct Pipeline {
    /// Median with one job at a time.
    pub(super) serial_ms: f64,
    /// Mean with all slots full.
    pub(super) pipelined_ms: f64,
    slots: usize,
    #[serde(flatten)]
    pub(super) transfers: Transfers,
    /// Median sum of the stages, if the adapter has timestamps.
    computation_ms: Option<f64>,
    /// Host time of a pair for copies, command recording and reading of the map.
    host_ms: f64,
    slowest: &'static str,
    slowest_ms: f64,
    /// Excess of a pipelined pair over its slowest part, %.
    pub(super) excess_percent: f64,
}

pub(super) fn run(setup: &Setup, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut report = stereopsis_bench::Report::default();
    for (spec, source_options) in &setup.sources {
        let jobs = setup.jobs(spec, source_options)?;
        let mut engine = setup.open_options(EngineChoice::Gpu).gpu_engine()?;
        let info = engine.info();
        let note = info.software.then(|| {
            let adapter = &info.adapter;
            format!("not measurable here: this GPU is software ({adapter}), and all its parts share the processor")
        });
        let Some(first) = jobs.first() else { continue };
        let pipeline = if info.software {
            stereopsis_frame::engine::run(&mut engine, first.clone())?;
            None
        } else {
            Some(measure(&mut engine, &jobs, setup.frames)?)
        };
        let measured = PipelineMeasurement { subject: Subject::of(&info, first), plan: engine.plan(), pipeline, note };
        if !setup.json {
            measured.print(out)?;
        }
        report.results.push(measured);
    }
    if setup.json {
        writeln!(out, "{}", stereopsis_base::console::json(&report)?)?;
    }
    Ok(())
}

pub(super) fn measure(engine: &mut GpuEngine, jobs: &[Job], frames: usize) -> anyhow::Result<Pipeline> {
    let Some(first) = jobs.first() else { bail!("no pair to time") };
    warm_up(engine, jobs)?;
    let times = one_by_one::measure(engine, jobs, frames)?;
    stream(engine, jobs, 2 * engine.slots())?; // all slots record their commands
    let (pipelined_ms, host_ms) = stream(engine, jobs, frames.max(2))?;
    let luma = &first.frame.left.luma;
    let transfers = Transfers::measure(engine.gpu(), luma.size(), u32::from(luma.bits()))?;
    let computation_ms = times.device_ms.map(|device_ms| device_ms.median);
    let parts = [
        ("upload", Some(transfers.upload_ms)),
        ("computation", computation_ms),
        ("read-back", Some(transfers.read_back_ms)),
        ("host", Some(host_ms)),
    ];
    let known = parts.into_iter().filter_map(|(part, ms)| Some((part, ms?)));
    let Some((slowest, slowest_ms)) = known.max_by(|a, b| a.1.total_cmp(&b.1)) else { bail!("no part was timed") };
    Ok(Pipeline {
        serial_ms: times.frame_ms.median,
        pipelined_ms,
        slots: engine.slots(),
        transfers,
        computation_ms,
        host_ms,
        slowest,
        slowest_ms,
        excess_percent: 100.0 * (pipelined_ms / slowest_ms - 1.0),
    })
}

/// Keeps all slots full, and returns the mean time between results and the mean host time of a pair, ms.
fn stream(engine: &mut GpuEngine, jobs: &[Job], frames: usize) -> anyhow::Result<(f64, f64)> {
    let mut next = jobs.iter().cycle().take(frames);
    let (mut in_flight, mut results, mut host) = (0, 0, Duration::ZERO);
    let mut first_result = Instant::now();
    while results < frames {
        while in_flight < engine.slots()
            && let Some(job) = next.next()
        {
            let start = Instant::now();
            engine.submit(job.clone())?;
            host += start.elapsed();
            in_flight += 1;
        }
        let start = Instant::now();
        if engine.collect()?.is_none() {
            std::thread::yield_now();
            continue;
        }
        host += start.elapsed();
        if results == 0 {
            first_result = Instant::now();
        }
        results += 1;
        in_flight -= 1;
    }
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    Ok((ms(first_result.elapsed()) / (frames - 1).max(1) as f64, ms(host) / frames as f64))
}

impl PipelineMeasurement {
    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let Self { subject, .. } = self;
        let (adapter, size) = (&subject.engine.adapter, subject.size_word());
        let StereoParams { num_disparities, paths, .. } = &subject.parameters;
        writeln!(out, "{adapter}, {size} with {num_disparities} disparities, {paths} paths")?;
        if let Some(Plan { submissions, passes, dispatches, barriers }) = self.plan {
            let submissions = counted(submissions as u64, "submission");
            writeln!(
                out,
                "  a pair is {submissions} with {dispatches} dispatches in {passes} passes, {barriers} of them behind a barrier"
            )?;
        }
        if let Some(note) = &self.note {
            writeln!(out, "  {note}")?;
        }
        let Some(pipeline) = &self.pipeline else { return Ok(()) };
        let Pipeline { serial_ms, pipelined_ms, slots, transfers, host_ms, slowest, slowest_ms, .. } = pipeline;
        let clock = if transfers.by_device { "by the device" } else { "by the host" };
        writeln!(out, "  one at a time            {serial_ms:>8.3} ms a pair")?;
        writeln!(
            out,
            "  {slots} in flight              {pipelined_ms:>8.3} ms a pair, {:.1} pairs/s",
            1e3 / pipelined_ms
        )?;
        writeln!(out, "  upload                   {:>8.3} ms, timed {clock}", transfers.upload_ms)?;
        match pipeline.computation_ms {
            Some(ms) => writeln!(out, "  computation              {ms:>8.3} ms, timed by the device")?,
            None => writeln!(out, "  computation                     -, this device has no timestamps")?,
        }
        writeln!(out, "  read-back                {:>8.3} ms, timed {clock}", transfers.read_back_ms)?;
        writeln!(out, "  the program's own thread {host_ms:>8.3} ms")?;
        writeln!(
            out,
            "  the slowest part is {slowest} ({slowest_ms:.3} ms); a pair in the pipeline takes {:+.1} %",
            pipeline.excess_percent
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_frame::SourceOptions;
    use stereopsis_frame::SourceSpec;
    use stereopsis_frame::engine::AdapterChoice;
    use stereopsis_gpu::Gpu;
    use stereopsis_stereo::StereoParams;

    #[test]
    fn the_slowest_part_is_named_and_every_result_comes() {
        let Ok(gpu) = Gpu::open(&AdapterChoice::Best) else {
            assert!(std::env::var_os("REQUIRE_GPU").is_none(), "REQUIRE_GPU is set, and there is no GPU");
            return;
        };
        let params = StereoParams { num_disparities: 16, ..StereoParams::default() };
        let source = SourceOptions { size: Some((48, 32)), ..SourceOptions::default() };
        let jobs =
            stereopsis_bench::pairs::jobs(stereopsis_sources::open, &SourceSpec::Scene, &source, &params).unwrap();
        let pipeline = measure(&mut GpuEngine::new(gpu).unwrap(), &jobs, 5).unwrap();
        let Transfers { upload_ms, read_back_ms, .. } = pipeline.transfers;
        let parts = [Some(upload_ms), pipeline.computation_ms, Some(read_back_ms), Some(pipeline.host_ms)];
        let slowest = parts.into_iter().flatten().fold(0.0, f64::max);
        assert!((pipeline.slowest_ms - slowest).abs() < 1e-12, "{pipeline:?}");
        let expected = slowest * (1.0 + pipeline.excess_percent / 100.0);
        assert!((pipeline.pipelined_ms - expected).abs() < 1e-6, "{pipeline:?}");
        assert!(pipeline.serial_ms > 0.0 && pipeline.slots > 1, "{pipeline:?}");
    }
}
