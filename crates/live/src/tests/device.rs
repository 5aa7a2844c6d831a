//! Tests of a GPU that is lost while the pipeline runs, and returns. They need an adapter (lavapipe suffices); without one they print so
//! and return, unless `REQUIRE_GPU=1`.

use super::*;
use stereopsis_frame::engine::{AdapterChoice, EngineSettings};
use stereopsis_gpu::{Gpu, GpuEngine};

/// Largest time for recovery: the delay until the GPU is opened again, and the load of a busy machine.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(30);

/// Starts the pipeline on `gpu`, which is reopened with `options`, with pairs as from a camera.
fn start(gpu: &Gpu, options: OpenOptions) -> Live {
    let engine: Box<dyn stereopsis_frame::engine::Engine> = Box::new(GpuEngine::new(gpu.clone()).unwrap());
    let params = StereoParams { num_disparities: 16, p1: 5, ..StereoParams::default() };
    let engine = EngineSource::Opened(engine, options);
    let source = Shifted { pause: Duration::from_millis(20), ..Shifted::new(7, u64::MAX) };
    let options = LiveOptions { engine, capture: CaptureOptions::default(), read_back: true, ..super::options() };
    let live = Live::start(Box::new(source), LiveOptions { params, ..options }).unwrap();
    until("the GPU gives results", || live.latest().is_some_and(|o| o.engine.kind == EngineKind::Gpu));
    live
}

fn by_name() -> OpenOptions {
    OpenOptions::from(EngineSettings { choice: EngineChoice::Gpu, threads: Some(1), ..EngineSettings::default() })
}

fn until_computed_by(live: &Live, kind: EngineKind) {
    let deadline = Instant::now() + RECOVERY_TIMEOUT;
    let before = live.status().engine.computed;
    let is_there =
        || live.status().engine.computed > before && live.latest().is_some_and(|output| output.engine.kind == kind);
    while !is_there() {
        assert!(Instant::now() < deadline, "waited in vain for the {kind}: {:?}", live.status());
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn lost_gpu_costs_a_few_pairs_and_is_reopened() {
    let Some(gpu) = Gpu::for_test() else { return };
    let live = start(&gpu, by_name());
    let params = live.params();
    let before = live.status();
    gpu.device.destroy();
    until_computed_by(&live, EngineKind::Cpu);
    let lost = live.status();
    let fault = lost.errors.concat();
    for part in ["lost", "the CPU computes instead", "tried again in 5 s"] {
        assert!(fault.contains(part), "'{part}' in: {fault}");
    }
    assert!(live.latest().is_some_and(|output| output.texture.is_none()), "nothing of the lost device is left");
    assert!((1..=4).contains(&lost.dropped.failed), "{:?}", lost.dropped);
    until_computed_by(&live, EngineKind::Gpu);
    let back = live.status();
    let why = back.engine.why.clone().unwrap_or_default();
    assert!(back.errors.is_empty() && why.contains("opened again after the GPU was lost"), "{:?}, {why}", back.errors);
    assert_eq!((back.dropped.failed, middle(&live)), (lost.dropped.failed, Some(7.0)));
    assert_eq!((live.params(), back.source.name, back.engine.ended), (params, before.source.name, false));
    assert!(back.capture.captured > before.capture.captured && back.engine.computed > lost.engine.computed);
}

#[test]
fn missing_gpu_is_reported_and_can_be_chosen_again() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut gone = by_name();
    gone.settings.adapter = AdapterChoice::Name("no such adapter".into());
    let live = start(&gpu, gone);
    gpu.device.destroy();
    let told = |part: &str| live.status().errors.concat().contains(part);
    let deadline = Instant::now() + RECOVERY_TIMEOUT;
    while !told("cannot be opened again: no GPU whose name contains 'no such adapter'") {
        assert!(Instant::now() < deadline, "{:?}", live.status().errors);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(told("until an engine is chosen again"));
    until_computed_by(&live, EngineKind::Cpu);
    live.set_engine(EngineSource::Open(by_name()));
    until_computed_by(&live, EngineKind::Gpu);
    assert!(live.status().errors.is_empty());
}

/// Nothing is in flight when the device is lost: the next pair notices.
#[test]
fn gpu_lost_while_paused_is_noticed_and_replaced_by_the_cpu() {
    let Some(gpu) = Gpu::for_test() else { return };
    let live = start(&gpu, by_name());
    live.pause();
    std::thread::sleep(Duration::from_millis(100));
    gpu.device.destroy();
    std::thread::sleep(Duration::from_millis(50));
    live.set_params(StereoParams { p1: 6, ..(*live.params()).clone() });
    until_computed_by(&live, EngineKind::Cpu);
    assert_eq!(live.latest().map(|output| output.job.params.p1), Some(6));
    assert!(live.is_paused());
}
