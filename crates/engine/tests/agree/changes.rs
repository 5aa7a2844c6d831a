//! Tests of size and parameters that change while the GPU engine runs: new pipelines delay no pair, and nothing stays allocated.

use super::cases::{Case, Content, random_params};
use fastrand::Rng;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::newest;
use stereopsis_base::testing::cases;
use stereopsis_engine::worker::{Control, EngineSource, EngineWorker};
use stereopsis_frame::engine::Output;
use stereopsis_frame::{Frame, RawPair};
use stereopsis_gpu::{Gpu, GpuEngine, GpuOptions};
use stereopsis_stereo::{CostKind, StereoParams};

fn numbered(frame: &Frame, sequence: u64) -> Arc<Frame> {
    let raw = RawPair { sequence, ..(*frame.raw).clone() };
    Arc::new(Frame { raw: Arc::new(raw), arrived: Instant::now(), ..frame.clone() })
}

#[test]
fn results_keep_coming_while_a_pipeline_is_compiled() {
    let Some(gpu) = Gpu::for_test() else { return };
    // with checks nothing is kept from an earlier run
    let options = GpuOptions { checks: true, forgets: true, ..GpuOptions::default() };
    let engine = GpuEngine::with_options(gpu, options).expect("a fresh device");
    let (frames, receiver) = newest::channel();
    let params = StereoParams { num_disparities: 16, ..StereoParams::default() };
    let control =
        Control { params: Arc::new(params.clone()), read_back: true, paused: false, suspended: false, steps: 0 };
    let source = EngineSource::Ready(Box::new(engine));
    let worker =
        EngineWorker::start(receiver, None, source, control, Some(1), Vec::new(), Arc::new(|| {})).expect("a thread");
    let frame = Case::new(&mut Rng::with_seed(1), (24, 16), Content::Shifted, 8, params.clone()).job().frame;
    let mut sequence = 0;
    // feeds pairs until `is_last` accepts a result; returns all new results on the way
    let mut feed_until = |what: &str, is_last: &dyn Fn(&Output) -> bool| {
        let deadline = Instant::now() + Duration::from_secs(50);
        let mut results: Vec<Arc<Output>> = Vec::new();
        loop {
            assert!(Instant::now() < deadline, "waited in vain for {what}: {:?}", worker.stats());
            sequence += 1;
            frames.send(numbered(&frame, sequence)).expect("the engine thread runs");
            std::thread::sleep(Duration::from_millis(1));
            let Some(output) = worker.latest() else { continue };
            if results.last().is_none_or(|last| !Arc::ptr_eq(last, &output)) {
                results.push(Arc::clone(&output));
                if is_last(&output) {
                    return (sequence, results);
                }
            }
        }
    };
    let (mut before, _) = feed_until("a first result", &|_| true);
    let mut old = params.clone();
    let mut meanwhile = 0;
    for (cost, num_disparities, paths) in [
        (CostKind::Census9x7, 100, 8),
        (CostKind::Rank, 48, 12),
        (CostKind::Sad, 30, 4),
        (CostKind::Census7x7, 256, 5),
        (CostKind::Sad, 10, 0),
    ] {
        let new = StereoParams { num_disparities, paths, ..StereoParams::for_cost(cost) };
        worker.set_control(|control| control.params = Arc::new(new.clone()));
        let (now, results) = feed_until("the new parameters", &|output| *output.job.params == new);
        let (last, others) = results.split_last().expect("at least one");
        for output in others {
            assert_eq!(*output.job.params, old, "either the old parameters or the new ones");
            meanwhile += u32::from(output.job.frame.raw.sequence > before + 1);
        }
        let case = Case {
            left: frame.left.luma.clone(),
            right: frame.right.luma.clone(),
            params: new.clone(),
            wants_right: false,
            colored: false,
            is_masked: false,
            what: format!("{cost} after {} results", others.len()),
        };
        case.compare("GPU", last.map.as_ref().expect("asked for"), &case.expected());
        (before, old) = (now, new);
    }
    assert!(meanwhile > 0, "no pair that came after a change was matched with what there was before");
    assert_eq!(worker.stats().failed, 0);
}

/// Counts the objects that the device and its instance hold for the engine, by name.
fn held(gpu: &Gpu) -> BTreeMap<&'static str, u64> {
    gpu.device.poll(wgpu::PollType::wait_indefinitely()).expect("a live device");
    let report = gpu.instance.generate_report().expect("a native device");
    let hub = report.hub_report();
    let mut held: BTreeMap<_, _> = [
        ("bind group layouts", &hub.bind_group_layouts),
        ("bind groups", &hub.bind_groups),
        ("buffers", &hub.buffers),
        ("command buffers", &hub.command_buffers),
        ("command encoders", &hub.command_encoders),
        ("compute passes", &hub.compute_passes),
        ("compute pipelines", &hub.compute_pipelines),
        ("pipeline layouts", &hub.pipeline_layouts),
        ("query sets", &hub.query_sets),
        ("shader modules", &hub.shader_modules),
        ("texture views", &hub.texture_views),
        ("textures", &hub.textures),
    ]
    .map(|(name, registry)| (name, registry.num_allocated as u64))
    .into();
    if let Some(report) = gpu.device.generate_allocator_report() {
        held.insert("allocations", report.allocations.len() as u64);
        held.insert("reserved bytes", report.total_reserved_bytes);
    }
    held
}

/// Returns the bytes of memory on the device, 0 where they are unknown.
fn bytes(gpu: &Gpu) -> u64 {
    gpu.device.generate_allocator_report().map_or(0, |report| report.total_allocated_bytes)
}

#[test]
fn changes_leave_nothing_allocated() {
    let Some(gpu) = Gpu::for_test() else { return };
    // a fixed size of pieces: else the time of each job would decide it
    let options = GpuOptions { max_work: Some(1 << 16), forgets: true, ..GpuOptions::default() };
    let mut engine = GpuEngine::with_options(gpu.clone(), options).expect("a fresh device");
    let rng = &mut Rng::with_seed(11);
    // the engine forgets its pipelines with each change, and compiles them again
    let count = cases(6);
    let round: Vec<_> = (0..count)
        .map(|i| {
            let size = (rng.usize(1..24), rng.usize(1..16));
            let params = random_params(rng);
            Case::new(rng, size, Content::Noise, if i % 3 == 0 { 12 } else { 8 }, params)
        })
        .collect();
    let (mut early, mut early_bytes) = (BTreeMap::new(), 0);
    for (change, case) in (1..=8 * count).zip(round.iter().cycle()) {
        let output = stereopsis_frame::engine::run(&mut engine, case.job())
            .unwrap_or_else(|err| panic!("{err} ({})", case.what));
        if change % 17 == 0 {
            case.compare("GPU", &output.map.expect("asked for"), &case.expected());
        }
        if change == 2 * count {
            early = held(&gpu);
            early_bytes = bytes(&gpu);
        }
    }
    assert!(early["compute pipelines"] > 10 && early["buffers"] > 5, "the report counts: {early:?}");
    assert_eq!(held(&gpu), early, "after the same change, six rounds later");
    // the padding of an allocation depends on its place
    let padding = 256 * early.get("allocations").copied().unwrap_or(0);
    assert!(bytes(&gpu).abs_diff(early_bytes) <= padding, "{early_bytes} bytes, six rounds later {}", bytes(&gpu));
}
