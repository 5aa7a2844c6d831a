//! `--engine auto`: times both engines on a sample pair, caches the times in a file, and chooses the quicker one. Never a software
//! adapter.
//!
//! The key of the cache has devices, drivers, size and all parameters that decide how long a pair takes. The best of several starts
//! counts, because the machine may have had other work at one of them.

use super::front::AxisAdapter;
use super::{OpenOptions, Opened};
use std::time::{Duration, Instant};
use stereopsis_base::geometry::Axis;
use stereopsis_cpu::CpuEngine;
use stereopsis_frame::engine::cached::Measurements;
use stereopsis_frame::engine::{Engine, EngineError, Job, run};
use stereopsis_gpu::{Gpu, GpuEngine};
use stereopsis_stereo::StereoParams;

/// Time limit for each engine, after its first pair.
const TIMING_LIMIT: Duration = Duration::from_millis(300);
/// Number of pairs no quicker than the best one after which timing ends: clocks rise while there is work.
const MAX_SLOWER: usize = 5;
/// Number of program starts at which engines are timed.
const MAX_ROUNDS: u32 = 3;

pub(super) fn choose(options: &OpenOptions, sample: Option<&Job>) -> Opened {
    choose_with(options, sample, &Measurements::named("engine-times.json"))
}

fn choose_with(options: &OpenOptions, sample: Option<&Job>, cache: &Measurements) -> Opened {
    let cpu = CpuEngine::new(options.settings.threads);
    let gpu = match options.open_gpu() {
        Ok(gpu) if gpu.info.software => {
            let why = format!("{} computes on the CPU itself, which the cpu engine does better", gpu.info.adapter);
            return Opened { engine: Box::new(AxisAdapter::new(cpu)), why: Some(why) };
        }
        gpu => gpu.and_then(|gpu| options.engine_on(gpu)),
    };
    let mut gpu = match gpu {
        Ok(gpu) => gpu,
        Err(err) => return Opened { engine: Box::new(AxisAdapter::new(cpu)), why: Some(err.to_string()) },
    };
    let Some(sample) = sample else {
        let why = Some("not timed: there is no pair to try".into());
        return Opened { engine: Box::new(AxisAdapter::new(gpu)), why };
    };
    let key = key(&words_of(&mut gpu, sample), &cpu.info().adapter, sample);
    let [gpu, cpu]: [Box<dyn Engine>; 2] = [Box::new(AxisAdapter::new(gpu)), Box::new(AxisAdapter::new(cpu))];
    quicker(gpu, cpu, cache, &key, |engine| time(engine, sample))
}

/// Chooses the quicker one of two engines by the times that `time` measures, ms, or that are cached under `key`.
fn quicker(
    mut gpu: Box<dyn Engine>,
    mut cpu: Box<dyn Engine>,
    cache: &Measurements,
    key: &str,
    time: impl Fn(&mut dyn Engine) -> Result<f64, EngineError>,
) -> Opened {
    let mut times = cache.get(key).unwrap_or(Times { gpu_ms: f64::INFINITY, cpu_ms: f64::INFINITY, rounds: 0 });
    let remembered = if times.rounds >= MAX_ROUNDS { ", measured before" } else { "" };
    if remembered.is_empty() {
        let gpu_ms = match time(&mut *gpu) {
            Ok(ms) => ms,
            Err(err) => return Opened { engine: cpu, why: Some(format!("the GPU cannot do this: {err}")) },
        };
        let cpu_ms = match time(&mut *cpu) {
            Ok(ms) => ms,
            Err(err) => return Opened { engine: gpu, why: Some(format!("the CPU cannot do this: {err}")) },
        };
        times = Times { gpu_ms: times.gpu_ms.min(gpu_ms), cpu_ms: times.cpu_ms.min(cpu_ms), rounds: times.rounds + 1 };
        cache.put(key, &times);
    }
    let Times { gpu_ms, cpu_ms, .. } = times;
    let why = format!("gpu {gpu_ms:.1} ms, cpu {cpu_ms:.1} ms{remembered}");
    Opened { engine: if gpu_ms <= cpu_ms { gpu } else { cpu }, why: Some(why) }
}

#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Times {
    gpu_ms: f64,
    cpu_ms: f64,
    /// Number of program starts that have measured them.
    rounds: u32,
}

/// Returns the best time of several pairs, ms, after a first one, which compiles and allocates. The engine forgets them all.
fn time(engine: &mut dyn Engine, sample: &Job) -> Result<f64, EngineError> {
    run(engine, sample.clone())?;
    let start = Instant::now();
    let (mut best, mut slower) = (Duration::MAX, 0);
    loop {
        let took = run(engine, sample.clone())?.compute_time;
        slower = if took < best { 0 } else { slower + 1 };
        best = best.min(took);
        if slower == MAX_SLOWER || start.elapsed() > TIMING_LIMIT {
            break;
        }
    }
    // results depend on earlier pairs, and must not depend on whether times were cached
    engine.forget();
    Ok(best.as_secs_f64() * 1e3)
}

/// Describes the GPU, its driver, and the variant that would match the sample, which differs after `tune`.
fn words_of(engine: &mut GpuEngine, sample: &Job) -> String {
    let Gpu { adapter, info, .. } = engine.gpu();
    let (driver, name) = (adapter.get_info(), info.adapter.clone());
    let in_rows = Job { frame: sample.frame.in_rows(), ..sample.clone() };
    let variant = engine.variant_of(&in_rows).map_or_else(String::new, |variant| variant.to_string());
    format!("{name} {} {} {variant}", driver.driver, driver.driver_info)
}

fn key(gpu: &str, cpu: &str, sample: &Job) -> String {
    let Job { frame, params, read_back, wants_right } = sample;
    let (width, height) = frame.size();
    let is_deep = frame.left.luma.bits().max(frame.right.luma.bits()) > 8;
    let kinds = [
        (frame.axis == Axis::Vertical, "vertical"),
        (is_deep, "deep"),
        (frame.left.rgb.is_some(), "colored"),
        (*read_back, "read back"),
        (*wants_right, "with right"),
    ];
    let kinds = kinds.iter().filter(|(is_so, _)| *is_so).map(|(_, word)| (*word).to_owned());
    let words = StereoParams::table().iter().filter_map(|p| Some(format!("{} {}", p.name, p.time_word(params)?)));
    let words: Vec<_> = kinds.chain(words).collect();
    format!("{} | {gpu} | {cpu} | {width}x{height} | {}", env!("CARGO_PKG_VERSION"), words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use stereopsis_frame::Frame;
    use stereopsis_frame::SceneOptions;
    use stereopsis_frame::engine::EngineSettings;
    use stereopsis_frame::engine::{EngineInfo, EngineKind, Output};
    use stereopsis_scene::render;

    /// Engine whose pairs take times from a list; it fails at its end.
    struct TimedEngine {
        kind: EngineKind,
        times_ms: VecDeque<u64>,
        job: Option<Job>,
        pairs: Arc<AtomicUsize>,
    }

    impl TimedEngine {
        fn boxed(kind: EngineKind, times_ms: &[u64]) -> Box<dyn Engine> {
            Box::new(Self { kind, times_ms: times_ms.iter().copied().collect(), job: None, pairs: Arc::default() })
        }
    }

    impl Engine for TimedEngine {
        fn info(&self) -> Arc<EngineInfo> {
            Arc::new(EngineInfo { kind: self.kind, adapter: "invented".into(), software: false })
        }

        fn slots(&self) -> usize {
            1
        }

        fn forget(&mut self) {
            self.pairs.store(0, Ordering::Relaxed);
        }

        fn submit(&mut self, job: Job) -> Result<(), EngineError> {
            self.pairs.fetch_add(1, Ordering::Relaxed);
            self.job = Some(job);
            Ok(())
        }

        fn collect(&mut self) -> Result<Option<Output>, EngineError> {
            let Some(ms) = self.times_ms.pop_front() else {
                return Err(EngineError::TooLarge("9 GB are missing".into()));
            };
            let (engine, compute_time, stages) = (self.info(), Duration::from_millis(ms), Vec::new());
            Ok(self.job.take().map(|job| Output {
                job,
                engine,
                map: None,
                right_map: None,
                texture: None,
                stages,
                compute_time,
            }))
        }
    }

    fn sample(params: StereoParams) -> Job {
        let raw = Arc::new(render(&SceneOptions { width: 16, height: 8, ..SceneOptions::default() }, 0, false));
        let frame = Arc::new(Frame::of_raw(raw));
        Job { frame, params: params.into(), read_back: true, wants_right: false }
    }

    /// Returns the chosen kind and its reason for these times of pairs on the GPU and on the CPU.
    fn chosen(cache: &Measurements, gpu_ms: &[u64], cpu_ms: &[u64]) -> (EngineKind, String) {
        let [gpu, cpu] =
            [(EngineKind::Gpu, gpu_ms), (EngineKind::Cpu, cpu_ms)].map(|(k, ms)| TimedEngine::boxed(k, ms));
        let opened = quicker(gpu, cpu, cache, "key", |engine| time(engine, &sample(StereoParams::default())));
        (opened.engine.info().kind, opened.why.unwrap())
    }

    #[test]
    fn chooses_the_quicker_engine_and_reports_both_times() {
        let cache = Measurements::default();
        let (steady, slower) = ([4; 9], [7; 9]);
        assert_eq!(chosen(&cache, &steady, &slower), (EngineKind::Gpu, "gpu 4.0 ms, cpu 7.0 ms".into()));
        assert_eq!(chosen(&cache, &slower, &steady), (EngineKind::Cpu, "gpu 7.0 ms, cpu 4.0 ms".into()));
        let (kind, why) = chosen(&cache, &[4, 4], &steady);
        assert!(kind == EngineKind::Cpu && why == "the GPU cannot do this: 9 GB are missing", "{kind} {why}");
        let (kind, why) = chosen(&cache, &steady, &[4, 4]);
        assert!(kind == EngineKind::Gpu && why == "the CPU cannot do this: 9 GB are missing", "{kind} {why}");
    }

    #[test]
    fn timing_ignores_rising_clocks_and_single_slow_pairs() {
        let job = sample(StereoParams::default());
        let of = |times_ms: &[u64]| {
            let pairs = Arc::<AtomicUsize>::default();
            let times_ms = times_ms.iter().copied().collect();
            let mut engine = TimedEngine { kind: EngineKind::Gpu, times_ms, job: None, pairs: Arc::clone(&pairs) };
            let ms = time(&mut engine, &job).unwrap();
            assert_eq!(pairs.load(Ordering::Relaxed), 0, "the next pair has none before it");
            (ms, engine.times_ms.len())
        };
        assert_eq!(of(&[900, 9, 8, 8, 7, 6, 9, 5, 6, 5, 6, 7, 8, 1]), (5.0, 1));
        assert_eq!(of(&[1, 9, 9, 9, 9, 9, 9, 1]), (9.0, 1), "the first pair compiles, whatever it took");
    }

    #[test]
    fn gpu_words_contain_driver_and_variant() {
        let Some(gpu) = Gpu::for_test() else { return };
        let info = gpu.adapter.get_info();
        let mut engine = GpuEngine::new(gpu).unwrap();
        let words = words_of(&mut engine, &sample(StereoParams::default()));
        assert!([&info.name, &info.driver_info].iter().all(|word| words.contains(*word)), "{words}");
        engine.override_variant("piece=16".parse().unwrap());
        let other = words_of(&mut engine, &sample(StereoParams::default()));
        assert!(words != other && other.contains("piece=16"), "{words} and {other}");
    }

    #[test]
    fn times_of_a_busy_moment_are_measured_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Measurements::in_file(folder.path().join("times.json"));
        assert_eq!(chosen(&cache, &[5; 9], &[40; 9]).0, EngineKind::Gpu, "the CPU has other work");
        assert_eq!(chosen(&cache, &[6; 9], &[3; 9]), (EngineKind::Cpu, "gpu 5.0 ms, cpu 3.0 ms".into()));
        assert_eq!(chosen(&cache, &[5; 9], &[40; 9]).0, EngineKind::Cpu);
        let never: &[u64] = &[];
        let remembered = (EngineKind::Cpu, "gpu 5.0 ms, cpu 3.0 ms, measured before".into());
        assert_eq!(chosen(&cache, never, never), remembered);
    }

    #[test]
    fn always_chooses_an_engine_with_a_reason_and_no_software() {
        let one_thread = OpenOptions::from(EngineSettings { threads: Some(1), ..EngineSettings::default() });
        let chosen = choose_with(&one_thread, None, &Measurements::default());
        assert!(!chosen.engine.info().software);
        assert!(chosen.why.is_some_and(|why| !why.is_empty()));

        let adapter = stereopsis_frame::engine::AdapterChoice::Name("no adapter has this name".into());
        let mut named = one_thread;
        named.settings.adapter = adapter;
        let chosen = choose_with(&named, None, &Measurements::default());
        assert_eq!(chosen.engine.info().kind, EngineKind::Cpu);
        assert!(chosen.why.is_some_and(|why| why.contains("no adapter has this name")));
    }

    #[test]
    fn key_contains_all_that_decides_the_time() {
        let default = StereoParams::default();
        let others = [
            StereoParams { uniqueness: 10, ..default.clone() },
            StereoParams { confidence: true, ..default.clone() },
            StereoParams { gating: Some(1), ..default.clone() },
            StereoParams { gating: Some(2), ..default.clone() },
            StereoParams { gating: Some(2), gate_bounds: stereopsis_stereo::GateBounds::Extremes, ..default.clone() },
            StereoParams { aggregation: stereopsis_stereo::Aggregation::Cross, ..default.clone() },
            StereoParams { arms: 5, ..default.clone() },
            StereoParams { mi_levels: 2, ..default.clone() },
            StereoParams { temporal: stereopsis_stereo::Temporal::On, ..default.clone() },
            StereoParams { spatial: Some(2), ..default.clone() },
            default.clone(),
            StereoParams { p1: 3, min_disparity: 7, tau: 9, ..default },
        ];
        let with = |params| key("gpu", "cpu", &sample(params));
        let keys: std::collections::BTreeSet<_> = others.into_iter().map(with).collect();
        assert_eq!(keys.len(), 11, "{keys:?}");

        let plain = sample(StereoParams::default());
        let turned = Frame { axis: Axis::Vertical, ..(*plain.frame).clone() };
        let jobs = [
            Job { read_back: false, ..plain.clone() },
            Job { wants_right: true, ..plain.clone() },
            Job { frame: turned.into(), ..plain.clone() },
            plain.clone(),
        ];
        let mut keys: std::collections::BTreeSet<_> = jobs.iter().map(|job| key("gpu", "cpu", job)).collect();
        keys.extend([key("gpu, newer driver", "cpu", &plain), key("gpu", "cpu, 2 threads", &plain)]);
        assert_eq!(keys.len(), 6, "{keys:?}");
    }
}
