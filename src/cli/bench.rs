//! `stereopsis bench`: how long a pair takes, warm, per stage and as a whole, on pairs of the built-in scene.

use crate::capture::scene::{SceneOptions, render};
use crate::engine::gpu::AdapterChoice;
use crate::engine::{Engine, EngineChoice, GpuEngine, Job, OpenOptions, open, run as run_job};
use crate::frame::Frame;
use crate::stereo::StereoParams;
use anyhow::Context;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is timed.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// Engines; `auto` stands for all there are.
    pub engines: Vec<EngineChoice>,
    /// Width and height of the pictures.
    pub sizes: Vec<(usize, usize)>,
    /// Valid parameters.
    pub params: StereoParams,
    /// Pairs that are timed for each engine and size, after some that are not.
    pub frames: usize,
    /// Print JSON instead of a table.
    pub json: bool,
    /// Threads of the CPU engine; one for each core by default.
    pub threads: Option<usize>,
    /// Which GPU.
    pub adapter: AdapterChoice,
}

impl Default for BenchOptions {
    /// All engines, 640x480, default parameters, 30 pairs.
    fn default() -> Self {
        Self {
            engines: vec![EngineChoice::Auto],
            sizes: vec![(640, 480)],
            params: StereoParams::default(),
            frames: 30,
            json: false,
            threads: None,
            adapter: AdapterChoice::Best,
        }
    }
}

#[derive(serde::Serialize)]
struct Report {
    results: Vec<Measured>,
}

#[derive(serde::Serialize)]
struct Measured {
    engine: String,
    adapter: String,
    parameters: StereoParams,
    size: String,
    num_disparities: u32,
    paths: u32,
    frame_ms: FrameTime,
    /// Median of each stage.
    stages_ms: BTreeMap<&'static str, f64>,
    /// Largest memory of the whole process until now; `None` where the system does not tell.
    peak_mb: Option<u64>,
    #[serde(skip)]
    stage_order: Vec<&'static str>,
}

/// From submission to result, one pair at a time.
#[derive(serde::Serialize)]
struct FrameTime {
    best: f64,
    median: f64,
}

/// Pairs that differ, taken in turn, so that nothing is quick because it has just been done.
const PAIRS: u64 = 4;
/// Pairs before the clock counts.
const WARM_UP: usize = 3;

/// Times everything and prints it.
///
/// # Errors
/// An engine that was asked for by name cannot be opened or cannot do a pair; nobody takes what is printed.
pub fn run(options: &BenchOptions, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut report = Report { results: Vec::new() };
    for &size in &options.sizes {
        options.params.validate_range(size.0)?;
        let jobs = jobs(size, &options.params);
        for choice in choices(options) {
            let open_options = OpenOptions {
                choice,
                threads: options.threads,
                adapter: options.adapter.clone(),
                ..OpenOptions::default()
            };
            let mut engine = open(&open_options, None)?.engine;
            let measured = measure(engine.as_mut(), &jobs, options.frames)
                .with_context(|| format!("{choice} at {}x{}", size.0, size.1))?;
            if !options.json {
                print_row(out, &measured, report.results.is_empty())?;
            }
            report.results.push(measured);
        }
    }
    if options.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    }
    Ok(())
}

/// `auto` is every engine that this machine has and that can do it.
fn choices(options: &BenchOptions) -> Vec<EngineChoice> {
    let all = || {
        let has_gpu = GpuEngine::lacks(&options.params).is_none() && !crate::engine::gpu::Gpu::list().is_empty();
        [Some(EngineChoice::Cpu), has_gpu.then_some(EngineChoice::Gpu)].into_iter().flatten().collect()
    };
    let expand = |&choice: &EngineChoice| if choice == EngineChoice::Auto { all() } else { vec![choice] };
    let mut choices: Vec<_> = options.engines.iter().flat_map(expand).collect();
    let mut seen = Vec::new();
    choices.retain(|choice| {
        !seen.contains(choice) && {
            seen.push(*choice);
            true
        }
    });
    choices
}

fn jobs((width, height): (usize, usize), params: &StereoParams) -> Vec<Job> {
    let scene = SceneOptions { width, height, ..SceneOptions::default() };
    let params = Arc::new(params.clone());
    let frame = |number| {
        let raw = render(&scene, number, false);
        let truth = raw.truth.clone();
        let geometry = Some(scene.geometry());
        let (left, right, arrived, rectify_time) =
            (raw.left.clone(), raw.right.clone(), Instant::now(), Duration::ZERO);
        Frame { left, right, raw: Arc::new(raw), truth, geometry, arrived, rectify_time }
    };
    (0..PAIRS)
        .map(|number| Job { frame: Arc::new(frame(number)), params: Arc::clone(&params), read_back: true })
        .collect()
}

fn measure(engine: &mut dyn Engine, jobs: &[Job], frames: usize) -> anyhow::Result<Measured> {
    let mut total = Vec::new();
    let mut stages: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    let mut stage_order = Vec::new();
    for (n, job) in jobs.iter().cycle().take(WARM_UP + frames.max(1)).enumerate() {
        let output = run_job(engine, job.clone())?;
        if n < WARM_UP {
            continue;
        }
        total.push(output.compute_time.as_secs_f64() * 1e3);
        let mut of_frame: BTreeMap<&'static str, f64> = BTreeMap::new();
        for stage in output.stages {
            if !stage_order.contains(&stage.name) {
                stage_order.push(stage.name);
            }
            *of_frame.entry(stage.name).or_default() += stage.ms;
        }
        for (name, ms) in of_frame {
            stages.entry(name).or_default().push(ms);
        }
    }
    let info = engine.info();
    let Some(job) = jobs.first() else { anyhow::bail!("no pair to time") };
    let (width, height) = job.frame.size();
    Ok(Measured {
        engine: info.kind.to_string(),
        adapter: info.adapter.clone(),
        parameters: (*job.params).clone(),
        size: format!("{width}x{height}"),
        num_disparities: job.params.num_disparities,
        paths: job.params.paths,
        frame_ms: FrameTime { best: total.iter().copied().fold(f64::INFINITY, f64::min), median: median(total) },
        stages_ms: stages.into_iter().map(|(name, times)| (name, median(times))).collect(),
        peak_mb: peak_mb(),
        stage_order,
    })
}

fn median(mut times: Vec<f64>) -> f64 {
    let middle = times.len() / 2;
    *times.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Largest resident memory of this process so far, MB; Linux alone tells it in a file.
fn peak_mb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? / 1024)
}

fn print_row(out: &mut dyn Write, measured: &Measured, first: bool) -> std::io::Result<()> {
    if first {
        writeln!(out, "engine  size        disparities  paths  best ms  median ms  pairs/s  stages, ms")?;
    }
    let Measured { engine, adapter, size, num_disparities, paths, frame_ms, stages_ms, .. } = measured;
    let stages: Vec<_> =
        measured.stage_order.iter().map(|name| format!("{name} {:.2}", stages_ms.get(name).unwrap_or(&0.0))).collect();
    writeln!(
        out,
        "{engine:<7} {size:<11} {num_disparities:>11}  {paths:>5}  {:>7.2}  {:>9.2}  {:>7.1}  {}  [{adapter}]",
        frame_ms.best,
        frame_ms.median,
        1e3 / frame_ms.median,
        stages.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_what_was_promised() {
        let options = BenchOptions {
            engines: vec![EngineChoice::Cpu, EngineChoice::Cpu],
            sizes: vec![(64, 48), (40, 30)],
            params: StereoParams { num_disparities: 16, ..StereoParams::default() },
            frames: 3,
            json: true,
            threads: Some(1),
            ..BenchOptions::default()
        };
        let mut text = Vec::new();
        run(&options, &mut text).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let results = json["results"].as_array().unwrap();
        assert_eq!(results.len(), 2, "one for each size, the engine named twice is timed once");
        let first = &results[0];
        assert_eq!((first["engine"].as_str(), first["size"].as_str()), (Some("cpu"), Some("64x48")));
        assert_eq!((first["num_disparities"].as_u64(), first["paths"].as_u64()), (Some(16), Some(8)));
        assert_eq!(first["parameters"]["cost"], "census-5x5");
        let (best, median) =
            (first["frame_ms"]["best"].as_f64().unwrap(), first["frame_ms"]["median"].as_f64().unwrap());
        assert!(best > 0.0 && best <= median);
        let stages = first["stages_ms"].as_object().unwrap();
        assert!(["cost", "paths", "winner", "filters"].iter().all(|stage| stages.contains_key(*stage)), "{stages:?}");
        assert_eq!(cfg!(target_os = "linux"), first["peak_mb"].is_u64());
    }

    #[test]
    fn a_range_that_matches_nowhere_is_refused() {
        let params = StereoParams { min_disparity: 100, ..StereoParams::default() };
        let options = BenchOptions { sizes: vec![(64, 48)], params, ..BenchOptions::default() };
        assert!(run(&options, &mut Vec::new()).unwrap_err().to_string().contains("match nowhere"));
    }
}
