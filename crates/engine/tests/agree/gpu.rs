//! Tests of the GPU engine alone: jobs in flight, a shared queue, limits, a lost device.

use super::cases::{Case, Content, job, random_params};
use fastrand::Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_frame::engine::{AdapterChoice, Engine, EngineError, Job, next_output};
use stereopsis_gpu::{Event, Gpu, GpuEngine, GpuOptions};
use stereopsis_stereo::{CostKind, StereoParams};

pub(crate) fn gpu_engine() -> Option<GpuEngine> {
    Gpu::for_test().map(|gpu| GpuEngine::new(gpu).expect("a fresh device"))
}

#[test]
fn error_names_the_missing_gpu() {
    for word in ["no such GPU", "99"] {
        let Err(EngineError::NoAdapter(text)) = Gpu::open(&AdapterChoice::from_word(word)).map(drop) else {
            panic!("there is no GPU '{word}'");
        };
        let found = Gpu::list().first().map_or("found: none".to_owned(), ToString::to_string);
        for part in [word, &found, "Vulkan", "install", "engine cpu"] {
            assert!(text.to_string().contains(part), "'{part}' in: {text}");
        }
    }
}

#[test]
fn keeps_three_jobs_in_flight_in_order() {
    let Some(mut engine) = gpu_engine() else { return };
    assert_eq!(engine.slots(), 3);
    // the same plan, then a change of one parameter, the size, the depth, the range and the cost from one job to the next
    let rng = &mut Rng::with_seed(3);
    let params = StereoParams { num_disparities: 20, ..StereoParams::default() };
    let mut cases = vec![
        Case::new(rng, (40, 21), Content::Shifted, 8, params.clone()),
        Case::new(rng, (40, 21), Content::Noise, 8, params.clone()),
        Case::new(rng, (40, 21), Content::Noise, 8, StereoParams { p1: 0, p2: 400, ..params.clone() }),
        Case::new(rng, (17, 35), Content::Shifted, 8, params.clone()),
        Case::new(rng, (17, 35), Content::Shifted, 12, params.clone()),
        Case::new(rng, (17, 35), Content::Shifted, 12, StereoParams { num_disparities: 70, ..params.clone() }),
        Case::new(rng, (17, 35), Content::Shifted, 12, StereoParams::for_cost(CostKind::Rank)),
    ];
    cases.extend((0..6).map(|_| Case::new(rng, (17, 35), Content::Noise, 12, params.clone())));
    let collect = |engine: &mut GpuEngine| next_output(engine).expect("a result");
    let mut outputs = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        if i >= 3 {
            outputs.push(collect(&mut engine));
        }
        engine.submit(case.job()).expect("a free slot");
    }
    assert!(matches!(engine.submit(cases[0].job()), Err(EngineError::Device(_))), "a fourth job is refused");
    outputs.extend([0; 3].map(|_| collect(&mut engine)));
    assert!(engine.collect().expect("nothing wrong").is_none(), "nothing is left");
    for (case, output) in cases.iter().zip(outputs) {
        case.compare("GPU", &output.map.expect("asked for"), &case.expected());
        assert!(output.texture.is_some_and(|t| (t.width() as usize, t.height() as usize) == case.left.size()));
    }
}

/// While the device computes a pair, the host writes the next one, and takes the result of the one before.
#[test]
fn host_and_device_work_side_by_side() {
    let Some(gpu) = Gpu::for_test() else { return };
    // hardware finishes a small pair before the next one arrives
    let (size, num_disparities, max_work) =
        if gpu.info.software { ((64, 48), 32, 1 << 16) } else { ((1280, 960), 256, 1 << 24) };
    let options = GpuOptions { max_work: Some(max_work), ..GpuOptions::default() };
    let mut engine = GpuEngine::with_options(gpu, options).expect("a fresh device");
    let events = engine.watch();
    let params = StereoParams { num_disparities, ..StereoParams::default() };
    let case = Case::new(&mut Rng::with_seed(16), size, Content::Shifted, 8, params);
    let jobs = 8_u64;
    let mut overlap = || {
        let first = events.lock().len();
        let mut taken = 0_u64;
        for _ in 0..jobs {
            while engine.submit(case.job()).is_err() {
                taken += u64::from(engine.collect().expect("a result").is_some());
            }
        }
        while taken < jobs {
            taken += u64::from(engine.collect().expect("a result").is_some());
        }
        let events = events.lock()[first..].to_vec();
        let at =
            |event: Event| events.iter().position(|e| *e == event).unwrap_or_else(|| panic!("{event:?}: {events:?}"));
        let Some(Event::Written(base)) = events.first() else { panic!("{events:?}") };
        (*base..base + jobs - 1).all(|n| {
            assert!(at(Event::Computed(n)) < at(Event::Taken(n)), "{events:?}");
            let next_pair_comes = at(Event::Written(n + 1)) < at(Event::Computed(n));
            let next_job_does_not_wait = at(Event::Began(n + 1)) < at(Event::Taken(n));
            let result_leaves = at(Event::Taken(n)) < at(Event::Computed(n + 1));
            next_pair_comes && next_job_does_not_wait && result_leaves
        })
    };
    // a busy machine may delay this thread, but not every time
    assert!((0..30).any(|_| overlap()), "one job waits for another: {:?}", events.lock());
}

#[test]
fn refuses_what_does_not_fit_and_goes_on() {
    let Some(mut engine) = gpu_engine() else { return };
    let rng = &mut Rng::with_seed(4);
    let small = Case::new(rng, (20, 10), Content::Noise, 8, StereoParams::default());
    small.check(&mut engine);
    let flat = Luma::U8(Image::filled(8192, 8192, 7));
    let error = engine.submit(job(
        [flat.clone(), flat].map(|luma| Picture { luma, rgb: None }),
        &StereoParams { num_disparities: 1024, ..StereoParams::default() },
    ));
    let Err(EngineError::TooLarge(text)) = error else { panic!("{error:?}") };
    assert!(text.to_string().contains("131072 MiB") && text.to_string().contains("or scale"), "{text}");
    small.check(&mut engine);
}

/// A window on the same queue is served while a job is still running.
#[test]
fn serves_other_work_between_pieces_of_a_job() {
    let Some(gpu) = Gpu::for_test() else { return };
    let options = GpuOptions { max_work: Some(1 << 16), ..GpuOptions::default() };
    let mut engine = GpuEngine::with_options(gpu.clone(), options).expect("a fresh device");
    let params = StereoParams { num_disparities: 64, ..StereoParams::default() };
    let case = Case::new(&mut Rng::with_seed(6), (120, 90), Content::Shifted, 8, params);
    let mut served_while_running = || {
        engine.submit(case.job()).expect("a free slot");
        let served = Arc::new(AtomicBool::new(false));
        let note = Arc::clone(&served);
        gpu.queue.submit([gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default()).finish()]);
        gpu.queue.on_submitted_work_done(move || note.store(true, Ordering::Release));
        loop {
            let was_served = served.load(Ordering::Acquire);
            if let Some(output) = engine.collect().expect("a result") {
                case.compare("GPU", &output.map.expect("asked for"), &case.expected());
                return was_served;
            }
            std::thread::sleep(Duration::from_micros(100));
        }
    };
    // on a busy machine a whole job can be over before this thread submits, but not every time
    assert!((0..10).any(|_| served_while_running()), "the whole job lies on the queue at once");
}

#[test]
fn times_its_stages() {
    let Some(gpu) = Gpu::for_test() else { return };
    let has_timestamps = gpu.device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
    let mut engine = GpuEngine::new(gpu).expect("a fresh device");
    let case = Case::new(&mut Rng::with_seed(7), (60, 40), Content::Shifted, 8, StereoParams::default());
    let job = Job { read_back: false, ..case.job() };
    let output = stereopsis_frame::engine::run(&mut engine, job).expect("a result");
    assert!(output.map.is_none() && output.texture.is_some());
    let names: Vec<_> = output.stages.iter().map(|stage| stage.name).collect();
    assert_eq!(names, if has_timestamps { vec!["cost", "paths", "winner", "filters"] } else { vec![] });
    assert!(output.stages.iter().all(|stage| stage.ms > 0.0), "{:?}", output.stages);
    let sum_ms: f64 = output.stages.iter().map(|stage| stage.ms).sum();
    assert!(sum_ms <= output.compute_time.as_secs_f64() * 1e3, "{:?}", output.stages);
}

/// A software adapter that also draws has no true times.
#[test]
fn reports_no_false_times() {
    let Some(gpu) = Gpu::for_test().map(Gpu::for_window) else { return };
    let is_told = gpu.times_passes();
    assert!(!(is_told && gpu.info.software));
    let mut engine = GpuEngine::new(gpu).expect("a fresh device");
    let case = Case::new(&mut Rng::with_seed(9), (60, 40), Content::Shifted, 8, StereoParams::default());
    let output = stereopsis_frame::engine::run(&mut engine, case.job()).expect("a result");
    assert_eq!(output.stages.is_empty(), !is_told, "{:?}", output.stages);
    case.compare("GPU", &output.map.expect("asked for"), &case.expected());
}

/// A slow device gets so many small pieces that they cannot be timed one by one; all of them count all the same.
#[test]
fn times_all_of_a_job_in_many_pieces() {
    let Some(gpu) = Gpu::for_test() else { return };
    if !gpu.device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
        return;
    }
    let options = GpuOptions { max_work: Some(1), ..GpuOptions::default() };
    let mut engine = GpuEngine::with_options(gpu, options).expect("a fresh device");
    let params = StereoParams { num_disparities: 64, ..StereoParams::default() };
    let case = Case::new(&mut Rng::with_seed(8), (320, 200), Content::Shifted, 8, params);
    let job = Job { read_back: false, ..case.job() };
    stereopsis_frame::engine::run(&mut engine, job.clone()).expect("a result"); // compiles
    let output = stereopsis_frame::engine::run(&mut engine, job).expect("a result");
    let names: Vec<_> = output.stages.iter().map(|stage| stage.name).collect();
    assert_eq!(names, ["cost", "paths", "winner", "filters"]);
    let (sum_ms, whole_ms) =
        (output.stages.iter().map(|stage| stage.ms).sum::<f64>(), output.compute_time.as_secs_f64() * 1e3);
    assert!(sum_ms > 0.3 * whole_ms && sum_ms <= whole_ms, "{sum_ms} of {whole_ms} ms: {:?}", output.stages);
}

/// The device is lost at any moment: during an upload, while compiling, while reading back.
#[test]
fn a_device_may_be_lost_at_any_moment() {
    let sizes = [(20, 10), (33, 7), (80, 50)];
    for after_ms in 0..12 {
        let Some(gpu) = Gpu::for_test() else { return };
        let mut engine = GpuEngine::new(gpu.clone()).expect("a fresh device");
        let device = gpu.device.clone();
        let destroyer = std::thread::Builder::new().name("destroyer".to_owned()).spawn(move || {
            std::thread::sleep(Duration::from_millis(3 * after_ms));
            device.destroy();
        });
        let rng = &mut Rng::with_seed(after_ms);
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut lost = false;
        while !lost {
            assert!(Instant::now() < deadline, "the loss is noticed");
            let (size, params) = (*rng.choice(&sizes).expect("a size"), random_params(rng));
            let case = Case::new(rng, size, Content::Noise, 8, params);
            let results = [engine.submit(case.job()).map(|()| None), engine.collect()];
            lost = results.iter().any(|result| matches!(result, Err(EngineError::DeviceLost(_))));
        }
        destroyer.expect("a thread").join().expect("no panic");
    }
}

#[test]
fn lost_device_is_reported_by_every_call() {
    let Some(gpu) = Gpu::for_test() else { return };
    let case = Case::new(&mut Rng::with_seed(5), (20, 10), Content::Noise, 8, StereoParams::default());
    let mut engine = GpuEngine::new(gpu.clone()).expect("a fresh device");
    case.check(&mut engine);
    engine.submit(case.job()).expect("a free slot");
    gpu.device.destroy();
    let deadline = Instant::now() + Duration::from_secs(10);
    let collected = loop {
        match engine.collect() {
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
            other => break other,
        }
    };
    assert!(matches!(collected, Err(EngineError::DeviceLost(_)) | Ok(Some(_))), "{collected:?}");
    let submitted = engine.submit(case.job());
    assert!(matches!(submitted, Err(EngineError::DeviceLost(_))), "{submitted:?}");
    assert!(matches!(engine.collect(), Err(EngineError::DeviceLost(_))));
    assert!(gpu.lost().is_some());
    assert!(matches!(GpuEngine::new(gpu), Err(EngineError::DeviceLost(_))));
}
