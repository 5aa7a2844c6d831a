//! Every engine gives the bits of `stereo::match_pair`, for any picture and any parameters; the GPU step by step too.
//!
//! Random cases come from a seed that a failure names; `SEED=… cargo test --test engines_agree` repeats them.

use fastrand::Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use stereopsis::engine::gpu::{AdapterChoice, Gpu, Trace, TraceData};
use stereopsis::engine::{self, CpuEngine, Engine, EngineError, GpuEngine, Job};
use stereopsis::frame::{Frame, Luma, Picture, RawPair};
use stereopsis::image::Image;
use stereopsis::parameter::{Domain, Value};
use stereopsis::stereo::params::{AdaptiveP2, Fill, Median, Paths};
use stereopsis::stereo::{self, CostKind, DisparityMap, StereoParams, Volume};

/// A GPU of its own for each test, or the reason why there is none.
fn open_gpu() -> Option<Gpu> {
    match Gpu::open(&AdapterChoice::Best) {
        Ok(gpu) => Some(gpu),
        Err(err) if std::env::var("REQUIRE_GPU").is_ok_and(|v| v == "1") => panic!("{err}"),
        Err(err) => {
            eprintln!("skipped: {err}");
            None
        }
    }
}

fn gpu_engine() -> Option<GpuEngine> {
    open_gpu().map(|gpu| GpuEngine::new(gpu).expect("a fresh device"))
}

/// The engines to hold against the reference.
fn engines() -> Vec<Box<dyn Engine>> {
    let mut engines: Vec<Box<dyn Engine>> = vec![Box::new(CpuEngine::new(None))];
    if let Some(gpu) = gpu_engine() {
        engines.push(Box::new(gpu));
    }
    engines
}

fn job(left: &Luma, right: &Luma, params: &StereoParams) -> Job {
    let picture = |luma: &Luma| Picture { luma: luma.clone(), rgb: None };
    let raw = RawPair {
        left: picture(left),
        right: picture(right),
        sequence: 0,
        capture_time: SystemTime::UNIX_EPOCH,
        skew_s: 0.0,
        name: "test".to_owned(),
        truth: None,
    };
    let frame = Frame {
        left: raw.left.clone(),
        right: raw.right.clone(),
        raw: Arc::new(raw),
        truth: None,
        geometry: None,
        arrived: Instant::now(),
        rectify_time: Duration::ZERO,
    };
    Job { frame: Arc::new(frame), params: Arc::new(params.clone()), read_back: true }
}

/// One pair with what to do with it.
#[derive(Debug)]
struct Case {
    left: Luma,
    right: Luma,
    params: StereoParams,
    what: String,
}

impl Case {
    fn new(rng: &mut Rng, size: (usize, usize), content: Content, bits: u8, params: StereoParams) -> Self {
        let (left, right) = content.pair(rng, size, bits);
        let words: Vec<_> = params.words().map(|(name, value)| format!("{name} {value}")).collect();
        let what = format!("{}x{}, {content:?}, {bits} bits, {}", size.0, size.1, words.join(", "));
        Self { left, right, params, what }
    }

    fn random(seed: u64, largest: (usize, usize)) -> Self {
        let rng = &mut Rng::with_seed(seed);
        let size = (rng.usize(1..=largest.0), rng.usize(1..=largest.1));
        let content = *rng.choice(&Content::ALL).expect("some content");
        let bits = *rng.choice(&[8, 8, 8, 10, 12, 16]).expect("some depth");
        let params = random_params(rng);
        let mut case = Self::new(rng, size, content, bits, params);
        case.what = format!("SEED={seed}: {}", case.what);
        case
    }

    fn job(&self) -> Job {
        job(&self.left, &self.right, &self.params)
    }

    fn expected(&self) -> DisparityMap {
        stereo::match_pair(&self.left, &self.right, &self.params)
    }

    fn check(&self, engine: &mut dyn Engine) {
        let output = engine::run(engine, self.job()).unwrap_or_else(|err| panic!("{err} ({})", self.what));
        let map = output.map.expect("asked for");
        self.compare(&format!("{:?}", engine.info().kind), &map, &self.expected());
    }

    fn compare(&self, who: &str, map: &DisparityMap, expected: &DisparityMap) {
        assert_eq!(map.size(), expected.size(), "{who}: {}", self.what);
        let (width, height) = map.size();
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            let (got, wanted) = [map, expected].map(|m| (m.values.at(x, y), m.reasons.at(x, y))).into();
            assert_eq!(got, wanted, "{who}: disparity and reasons at ({x}, {y}) of {}", self.what);
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Content {
    Noise,
    /// The same texture in both, shifted by a few pixels that change over the picture.
    Shifted,
    Flat,
    /// Large blocks of few grey levels: many ties.
    Blocks,
}

impl Content {
    const ALL: [Self; 4] = [Self::Noise, Self::Shifted, Self::Flat, Self::Blocks];

    fn pair(self, rng: &mut Rng, (width, height): (usize, usize), bits: u8) -> (Luma, Luma) {
        let largest = ((1u32 << bits) - 1) as u16;
        let noise = Image::from_fn(width + 64, height, |_, _| rng.u16(0..=largest));
        let blocks = Image::from_fn(width / 6 + 12, height / 6 + 1, |_, _| rng.u16(0..4) * (largest / 4));
        let slope = rng.usize(1..8);
        let pixel = |x: usize, y: usize, right: bool| match self {
            Self::Noise => noise.at(x + 64 * usize::from(right && x.is_multiple_of(2)), y),
            Self::Shifted => noise.at(x + if right { (y * slope / 4) % 40 } else { 0 }, y),
            Self::Flat => largest / 2,
            Self::Blocks => blocks.at((x + if right { 5 } else { 0 }) / 6, y / 6),
        };
        let luma = |right| {
            let image = Image::from_fn(width, height, |x, y| pixel(x, y, right));
            if bits == 8 { Luma::U8(image.map(|&v| v as u8)) } else { Luma::U16 { image, bits } }
        };
        (luma(false), luma(true))
    }
}

/// Valid parameters, each drawn from its domain; ranges are kept short so that the reference stays quick.
fn random_params(rng: &mut Rng) -> StereoParams {
    loop {
        let mut params = StereoParams::default();
        for parameter in StereoParams::table() {
            if rng.u8(0..4) == 0 {
                continue;
            }
            let short = rng.bool();
            let mut integer = |from: i64, to: i64| {
                let (from, to) = match parameter.name {
                    "min-disparity" => (if short { -8 } else { -40 }, if short { 8 } else { 40 }),
                    "num-disparities" => (1, if short { 16 } else { 80 }),
                    "sad-window" => (from, 9),
                    "speckle-size" => (from, 60),
                    _ if short => (from, to.min(from + 64)),
                    _ => (from, to),
                };
                Value::Integer(rng.i64(from..=to))
            };
            let value = match &parameter.domain {
                Domain::Integer(range) => integer(*range.start(), *range.end()),
                Domain::OptionalInteger(range) if !short => integer(*range.start(), (*range.end()).min(3)),
                Domain::OptionalInteger(_) => Value::Off,
                Domain::Switch => Value::Switch(rng.bool()),
                Domain::Choice(words) => Value::Choice(rng.choice(words).expect("a word").0),
            };
            assert!((parameter.set)(&mut params, value), "{} takes {value}", parameter.name);
        }
        if params.validate().is_ok() {
            return params;
        }
    }
}

/// The seed of a random test, from outside to repeat one case.
fn seeds(cases: u64) -> Vec<u64> {
    if let Ok(seed) = std::env::var("SEED") {
        return vec![seed.parse().expect("SEED is a number")];
    }
    let first = Rng::new().u64(..);
    (0..cases).map(|i| first.wrapping_add(i)).collect()
}

#[test]
fn random_pairs_and_parameters() {
    for mut engine in engines() {
        for seed in seeds(80) {
            Case::random(seed, (52, 36)).check(&mut *engine);
        }
    }
}

#[test]
fn odd_sizes_and_ranges() {
    let with = |min_disparity, num_disparities| StereoParams {
        min_disparity,
        num_disparities,
        uniqueness: 5,
        speckle_size: 12,
        fill: Fill::Background,
        ..StereoParams::default()
    };
    let sizes_and_params = [
        ((1, 1), with(0, 1)),
        ((1, 1), with(-3, 8)),
        ((1, 40), with(0, 16)),
        ((40, 1), with(-5, 17)),
        ((2, 3), with(0, 64)),
        ((33, 20), with(0, 256)),
        ((65, 9), with(-20, 33)),
        ((95, 61), with(0, 48)),
        ((160, 120), with(-7, 64)),
        ((131, 67), with(0, 256)),
        ((30, 4), with(-1024, 5)),
        ((30, 4), with(1023, 5)),
        ((30, 7), with(-500, 1024)),
    ];
    for mut engine in engines() {
        let rng = &mut Rng::with_seed(1);
        for (size, params) in &sizes_and_params {
            Case::new(rng, *size, Content::Shifted, 8, params.clone()).check(&mut *engine);
        }
    }
}

#[test]
fn every_cost_with_every_number_of_paths() {
    for mut engine in engines() {
        let rng = &mut Rng::with_seed(2);
        for &cost in CostKind::ALL {
            for &paths in Paths::ALL {
                for bits in [8, 10, 16] {
                    let params = StereoParams {
                        num_disparities: 27,
                        sad_window: 3,
                        paths,
                        adaptive_p2: AdaptiveP2::ALL[rng.usize(..3)],
                        ..StereoParams::for_cost(cost)
                    };
                    Case::new(rng, (41, 23), Content::Shifted, bits, params).check(&mut *engine);
                }
            }
        }
    }
}

/// Sums that need more than 16 bits, and rows without any disparity: what random pairs hardly ever have.
#[test]
fn rare_pairs() {
    let size = (40, 30);
    let flat = |value| Luma::U8(Image::filled(size.0, size.1, value));
    let rng = &mut Rng::with_seed(8);
    let around_107 = Luma::U8(Image::from_fn(size.0, size.1, |_, _| rng.u8(90..=124)));
    let texture = Image::from_fn(size.0 + 4, size.1, |_, _| rng.u8(..));
    let empty_row = |y| !(8..20).contains(&y) || y == 13;
    let striped = |shift, empty| {
        let pixel = |x: usize, y| if empty_row(y) { empty } else { texture.at(x + shift, y) };
        Luma::U8(Image::from_fn(size.0, size.1, pixel))
    };
    let sad = StereoParams { num_disparities: 12, paths: Paths::None, ..StereoParams::for_cost(CostKind::Sad) };
    let large = StereoParams { sad_window: 21, ..sad.clone() };
    let filled = StereoParams { sad_window: 1, uniqueness: 1, left_right: None, fill: Fill::Background, ..sad.clone() };
    let cases = [
        Case { left: flat(255), right: around_107, params: large, what: "sums around 65536".to_owned() },
        Case { left: striped(0, 100), right: striped(4, 90), params: filled, what: "empty rows".to_owned() },
    ];
    for mut engine in engines() {
        for case in &cases {
            case.check(&mut *engine);
        }
    }
}

/// The reference's products in the order and with the names of a trace.
fn reference_trace(case: &Case) -> Vec<(&'static str, TraceData)> {
    let Case { left, right, params, .. } = case;
    let mut steps = Vec::new();
    let volume = |name, volume: &Volume<u32>| (name, TraceData::Volume(volume.clone()));
    let sums = if params.paths == Paths::None {
        let sums = stereo::cost::window_sums(left, right, params);
        steps.push(volume("cost", &sums));
        sums
    } else {
        let costs = stereo::cost::volume(left, right, params);
        steps.push(volume("cost", &costs.map(|&cost| u32::from(cost))));
        let mut sums = Volume::zero(costs.width, costs.height, costs.candidates);
        for direction in stereo::aggregate::directions(params.paths) {
            let path = stereo::aggregate::path_costs(&costs, &left.to_u8(), direction, params);
            for (sum, &cost) in sums.data.iter_mut().zip(&path.data) {
                *sum += u32::from(cost);
            }
            steps.push(volume("path", &sums));
        }
        sums
    };
    let mut step = |name, map: &DisparityMap| steps.push((name, TraceData::Map(map.clone())));
    let mut right_map = stereo::disparity::right_map(&sums, params);
    let mut map = stereo::disparity::winner_takes_all(&sums, params);
    if params.left_right.is_some() {
        step("right map", &right_map);
    }
    step("left map", &map);
    let smooth = params.median != Median::Off;
    if smooth {
        map = stereo::filter::median(&map, params.median);
        step("median", &map);
    }
    if let Some(tolerance) = params.left_right {
        if smooth {
            right_map = stereo::filter::median(&right_map, params.median);
            step("right median", &right_map);
        }
        stereo::filter::check_left_right(&mut map, &right_map, tolerance);
        step("left-right", &map);
    }
    if params.speckle_size > 0 {
        stereo::filter::remove_speckle(&mut map, params.speckle_size, params.speckle_range);
        step("speckle", &map);
    }
    if params.fill == Fill::Background {
        stereo::filter::fill_background(&mut map);
        step("fill", &map);
        if smooth {
            step("median after fill", &stereo::filter::median(&map, params.median));
        }
    }
    steps
}

#[test]
fn gpu_agrees_step_by_step() {
    let Some(mut engine) = gpu_engine() else { return };
    for seed in seeds(30) {
        let case = Case::random(seed, (40, 24));
        let Trace { steps } = engine.trace(&case.job()).unwrap_or_else(|err| panic!("{err} ({})", case.what));
        let expected = reference_trace(&case);
        let names = |steps: &[(&'static str, TraceData)]| steps.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        assert_eq!(names(&steps), names(&expected), "{}", case.what);
        for (i, ((name, got), (_, wanted))) in steps.iter().zip(&expected).enumerate() {
            match (got, wanted) {
                (TraceData::Volume(got), TraceData::Volume(wanted)) => {
                    let differing = got.data.iter().zip(&wanted.data).position(|(a, b)| a != b);
                    assert_eq!(differing, None, "step {i}, {name}: index into the volume of {}", case.what);
                }
                (TraceData::Map(got), TraceData::Map(wanted)) => {
                    case.compare(&format!("step {i}, {name}"), got, wanted)
                }
                _ => panic!("step {i}, {name}: a map and a volume"),
            }
        }
    }
}

#[test]
fn a_gpu_that_is_not_there_is_named() {
    for word in ["no such GPU", "99"] {
        let Err(EngineError::NoAdapter(text)) = Gpu::open(&AdapterChoice::from_word(word)).map(drop) else {
            panic!("there is no GPU '{word}'");
        };
        let found = Gpu::list().first().map_or("found: none".to_owned(), ToString::to_string);
        for part in [word, &found, "Vulkan", "install", "--engine cpu"] {
            assert!(text.contains(part), "'{part}' in: {text}");
        }
    }
}

#[test]
fn gpu_keeps_two_jobs_in_flight_in_order() {
    let Some(mut engine) = gpu_engine() else { return };
    assert_eq!(engine.slots(), 2);
    // The same plan, then one parameter, the size, the depth, the range and the cost from one job to the next.
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
    let collect = |engine: &mut GpuEngine| loop {
        if let Some(output) = engine.collect().expect("a result") {
            return output;
        }
        std::thread::sleep(Duration::from_micros(100));
    };
    let mut outputs = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        if i >= 2 {
            outputs.push(collect(&mut engine));
        }
        engine.submit(case.job()).expect("a free slot");
    }
    assert!(matches!(engine.submit(cases[0].job()), Err(EngineError::Device(_))), "a third job is refused");
    outputs.extend([collect(&mut engine), collect(&mut engine)]);
    assert!(engine.collect().expect("nothing wrong").is_none(), "nothing is left");
    for (case, output) in cases.iter().zip(outputs) {
        case.compare("GPU", &output.map.expect("asked for"), &case.expected());
        assert!(output.texture.is_some_and(|t| (t.width() as usize, t.height() as usize) == case.left.size()));
    }
}

#[test]
fn gpu_refuses_what_does_not_fit_and_goes_on() {
    let Some(mut engine) = gpu_engine() else { return };
    let rng = &mut Rng::with_seed(4);
    let small = Case::new(rng, (20, 10), Content::Noise, 8, StereoParams::default());
    small.check(&mut engine);
    let flat = Luma::U8(Image::filled(8192, 8192, 7));
    let error = engine.submit(job(&flat, &flat, &StereoParams { num_disparities: 1024, ..StereoParams::default() }));
    let Err(EngineError::TooLarge(text)) = error else { panic!("{error:?}") };
    assert!(text.contains("131072 MiB") && text.contains("--scale"), "{text}");
    small.check(&mut engine);
}

/// Somebody else on the queue, such as a window, is served while a job is still running.
#[test]
fn gpu_lets_others_in_between() {
    let Some(gpu) = open_gpu() else { return };
    let mut engine = GpuEngine::new(gpu.clone()).expect("a fresh device");
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
    // On a busy machine a whole job can be over before this thread comes to its own submission; not every time.
    assert!((0..10).any(|_| served_while_running()), "the whole job lies on the queue at once");
}

#[test]
fn gpu_times_its_stages() {
    let Some(gpu) = open_gpu() else { return };
    let has_timestamps = gpu.device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
    let mut engine = GpuEngine::new(gpu).expect("a fresh device");
    let case = Case::new(&mut Rng::with_seed(7), (60, 40), Content::Shifted, 8, StereoParams::default());
    let job = Job { read_back: false, ..case.job() };
    let output = engine::run(&mut engine, job).expect("a result");
    assert!(output.map.is_none() && output.texture.is_some());
    let names: Vec<_> = output.stages.iter().map(|stage| stage.name).collect();
    assert_eq!(names, if has_timestamps { vec!["cost", "paths", "winner", "filters"] } else { vec![] });
    assert!(output.stages.iter().all(|stage| stage.ms > 0.0), "{:?}", output.stages);
    let sum_ms: f64 = output.stages.iter().map(|stage| stage.ms).sum();
    assert!(sum_ms <= output.compute_time.as_secs_f64() * 1e3, "{:?}", output.stages);
}

/// The device goes at any moment: in the midst of an upload, of compiling, of reading back.
#[test]
fn gpu_may_be_lost_at_any_moment() {
    let sizes = [(20, 10), (33, 7), (80, 50)];
    for after_ms in 0..12 {
        let Some(gpu) = open_gpu() else { return };
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
fn gpu_that_is_lost_says_so() {
    let Some(gpu) = open_gpu() else { return };
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
