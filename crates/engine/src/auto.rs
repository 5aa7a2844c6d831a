//! `--engine auto`: times both engines on a sample pair, and caches the times.
//!
//! A software adapter is never chosen. The times are cached in a file of the program's cache folder, by devices, size and the
//! parameters that decide how long a pair takes.

use super::cached::Measurements;
use super::front::Front;
use super::{CpuEngine, Engine, EngineError, Job, OpenOptions, Opened, run};
use crate::stereo::StereoParams;
use std::time::{Duration, Instant};

/// Time limit for each engine, after its first pair.
const TIMING_LIMIT: Duration = Duration::from_millis(300);
/// Limit of timed pairs.
const MAX_PAIRS: usize = 5;

/// The quicker engine.
pub(super) fn choose(options: &OpenOptions, sample: Option<&Job>) -> Opened {
    choose_with(options, sample, &Measurements::named("engine-times.json"))
}

fn choose_with(options: &OpenOptions, sample: Option<&Job>, cache: &Measurements) -> Opened {
    let cpu = Front::new(CpuEngine::new(options.threads));
    let cpu_because = |cpu, why: String| Opened { engine: Box::new(cpu), why: Some(why) };
    let gpu = match options.open_gpu() {
        Ok(gpu) if gpu.info.software => {
            let why = format!("{} computes on the CPU itself, which the cpu engine does better", gpu.info.adapter);
            return cpu_because(cpu, why);
        }
        Ok(gpu) => options.engine_on(gpu).map(Front::new),
        Err(err) => Err(err),
    };
    let mut gpu = match gpu {
        Ok(gpu) => gpu,
        Err(err) => return cpu_because(cpu, err.to_string()),
    };
    let Some(sample) = sample else {
        return Opened { engine: Box::new(gpu), why: Some("not timed: there is no pair to try".into()) };
    };
    let key = key(&gpu.info().adapter, &cpu.info().adapter, sample);
    let mut cpu = cpu;
    let (times, remembered) = match cache.get(&key) {
        Some(times) => (times, ", measured before"),
        None => match (time(&mut gpu, sample), time(&mut cpu, sample)) {
            (Ok(gpu_ms), Ok(cpu_ms)) => (Times { gpu_ms, cpu_ms }, ""),
            (Err(err), _) => return cpu_because(cpu, format!("the GPU cannot do this: {err}")),
            (_, Err(err)) => {
                return Opened { engine: Box::new(gpu), why: Some(format!("the CPU cannot do this: {err}")) };
            }
        },
    };
    if remembered.is_empty() {
        cache.put(&key, &times);
    }
    let why = format!("gpu {:.1} ms, cpu {:.1} ms{remembered}", times.gpu_ms, times.cpu_ms);
    let engine: Box<dyn Engine> = if times.gpu_ms <= times.cpu_ms { Box::new(gpu) } else { Box::new(cpu) };
    Opened { engine, why: Some(why) }
}

/// Time of a pair on both engines, ms.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Times {
    gpu_ms: f64,
    cpu_ms: f64,
}

/// The best time of a few pairs after the first one, which compiles and allocates.
fn time(engine: &mut dyn Engine, sample: &Job) -> Result<f64, EngineError> {
    run(engine, sample.clone())?;
    let start = Instant::now();
    let mut best = Duration::MAX;
    for _ in 0..MAX_PAIRS {
        best = best.min(run(engine, sample.clone())?.compute_time);
        if start.elapsed() > TIMING_LIMIT {
            break;
        }
    }
    Ok(best.as_secs_f64() * 1e3)
}

/// Everything that decides how long a pair takes.
fn key(gpu: &str, cpu: &str, sample: &Job) -> String {
    let (width, height) = sample.frame.size();
    let words =
        StereoParams::table().iter().filter_map(|p| Some(format!("{} {}", p.name, p.time_word(&sample.params)?)));
    let words: Vec<_> = words.collect();
    format!("{} | {gpu} | {cpu} | {width}x{height} | {}", env!("CARGO_PKG_VERSION"), words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EngineKind;

    #[test]
    fn there_is_always_an_engine_and_a_reason_and_never_a_software_adapter() {
        let one_thread = OpenOptions { threads: Some(1), ..OpenOptions::default() };
        let chosen = choose_with(&one_thread, None, &Measurements::default());
        assert!(!chosen.engine.info().software);
        assert!(chosen.why.is_some_and(|why| !why.is_empty()));

        let adapter = crate::gpu::AdapterChoice::Name("no adapter has this name".into());
        let chosen = choose_with(&OpenOptions { adapter, ..one_thread }, None, &Measurements::default());
        assert_eq!(chosen.engine.info().kind, EngineKind::Cpu);
        assert!(chosen.why.is_some_and(|why| why.contains("no adapter has this name")));
    }

    #[test]
    fn whatever_takes_time_is_in_the_key() {
        use stereopsis_capture::scene::{SceneOptions, render};
        let raw =
            std::sync::Arc::new(render(&SceneOptions { width: 16, height: 8, ..SceneOptions::default() }, 0, false));
        let frame = std::sync::Arc::new(stereopsis_frame::Frame::of_raw(raw));
        let default = StereoParams::default();
        let others = [
            StereoParams { uniqueness: 10, ..default.clone() },
            StereoParams { confidence: true, ..default.clone() },
            StereoParams { gating: Some(1), ..default.clone() },
            StereoParams { gating: Some(2), ..default.clone() },
            StereoParams { gating: Some(2), gate_bounds: crate::stereo::GateBounds::Extremes, ..default.clone() },
            StereoParams { aggregation: crate::stereo::Aggregation::Cross, ..default.clone() },
            StereoParams { arms: 5, ..default.clone() },
            StereoParams { mi_levels: 2, ..default.clone() },
            StereoParams { temporal: crate::stereo::Temporal::On, ..default.clone() },
            StereoParams { spatial: Some(2), ..default.clone() },
            default.clone(),
            StereoParams { p1: 3, min_disparity: 7, tau: 9, ..default },
        ];
        let keys: std::collections::BTreeSet<_> = others
            .into_iter()
            .map(|params| {
                key(
                    "gpu",
                    "cpu",
                    &Job { frame: frame.clone(), params: params.into(), read_back: true, wants_right: false },
                )
            })
            .collect();
        assert_eq!(keys.len(), 11, "{keys:?}");
    }
}
