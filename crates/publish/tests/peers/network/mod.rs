//! Tests of heads, engines and rig sources that are connected through a router in this process.

mod cameras;
pub(crate) mod sizes;
mod strangers;

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::geometry::Geometry;
use stereopsis_base::rate::LatencySince;
use stereopsis_base::testing::until;
use stereopsis_calibration::CalibrationNote;
use stereopsis_cpu::CpuEngine;
use stereopsis_engine::OpenOptions;
use stereopsis_frame::engine::{Engine, EngineChoice, EngineKind, EngineSettings, Job, Output, run};
use stereopsis_frame::{Frame, MaxPixels, Next, PairSource, RawPair, RawTap, SceneOptions, SourceInfo, SourceOptions};
use stereopsis_live::{Live, LiveOptions};
use stereopsis_network::key::RigTopic;
use stereopsis_network::status::{HeadStatus, Speed};
use stereopsis_network::{ANSWER_TIMEOUT, Access, Endpoint, Head, Network, Present, RigSource};
use stereopsis_publish::serve::{ServeOptions, Server};
use stereopsis_recording::About;
use stereopsis_scene::SceneRenderer;
use stereopsis_settings::settings::parameter_words;
use stereopsis_stereo::{DisparityMap, StereoParams, Temporal};
use zenoh::Wait as _;

const SIZE: (usize, usize) = (66, 48);
/// Time limit of each wait.
const LIMIT: Duration = Duration::from_mins(1);

/// Starts a router on a free port; returns it with its endpoint.
fn router(password: Option<&str>) -> (Network, Endpoint) {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint: Endpoint = format!("tcp/127.0.0.1:{}", free.port()).parse().unwrap();
    let password = password.map(str::to_owned);
    let access = Access { listen: vec![endpoint.clone()], password, ..Access::default() };
    (Network::open(&access).unwrap(), endpoint)
}

fn client(router: &Endpoint) -> Network {
    Network::open(&Access { connect: vec![router.clone()], ..Access::default() }).unwrap()
}

fn present(network: &Network) -> Present {
    network.presence().unwrap().present()
}

fn params() -> StereoParams {
    // results must not depend on earlier pairs, which the comparison does not have
    StereoParams { num_disparities: 16, p1: 7, paths: 4, temporal: Temporal::Off, ..StereoParams::default() }
}

fn geometry() -> Geometry {
    Geometry::new(60.0, 0.1, 0.0, [33.0, 24.0])
}

fn named(name: &str, work: impl FnOnce() + Send + 'static) -> std::thread::JoinHandle<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).unwrap()
}

/// Head that gets pairs of the scene until it is dropped.
struct FedHead {
    head: Arc<Head>,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl FedHead {
    fn start(network: &Network, rig: &str) -> Self {
        let info = SourceInfo { name: "test".into(), width: SIZE.0, height: SIZE.1, ..SourceInfo::default() };
        let calibration = CalibrationNote { scale: "1".into(), ..CalibrationNote::of_rectified(geometry()) };
        let about = About { calibration, ..About::of_source("scene", &info, SystemTime::now()) };
        let head = Head::start(network, rig, None, about, &params()).unwrap();
        let stop = Arc::<AtomicBool>::default();
        let (fed, stopped) = (Arc::clone(&head), Arc::clone(&stop));
        let work = move || {
            let scene = renderer();
            for number in 0.. {
                if stopped.load(Ordering::Acquire) {
                    return;
                }
                fed.pair(&Arc::new(scene.pair(number)), Some(geometry()), &info);
                fed.set_status(HeadStatus { captured: number + 1, ..HeadStatus::default() });
                std::thread::sleep(Duration::from_millis(15));
            }
        };
        Self { head, stop, thread: Some(named("fed", work)) }
    }
}

impl Drop for FedHead {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn renderer() -> SceneRenderer {
    let options = SceneOptions { width: SIZE.0, height: SIZE.1, ..SceneOptions::default() };
    SceneRenderer::new(&options).unwrap()
}

fn options() -> SourceOptions {
    SourceOptions { max_pixels: MaxPixels::default(), ..SourceOptions::default() }
}

fn next(source: &mut RigSource) -> RawPair {
    next_of(source)
}

fn next_of(source: &mut impl PairSource) -> RawPair {
    let end = Instant::now() + LIMIT;
    while Instant::now() < end {
        if let Next::Pair(pair) = source.next(Duration::from_millis(50)).unwrap() {
            return *pair;
        }
    }
    panic!("no pair: {:?}", source.state());
}

/// Source of a rig, and the engine that it brings.
struct Viewer {
    source: RigSource,
    engine: Box<dyn Engine>,
}

impl Viewer {
    fn new(source: RigSource) -> Self {
        let engine = source.engine().unwrap().open().unwrap();
        Self { source, engine }
    }

    /// Returns the next pair, with its result from the network if there is one.
    fn next(&mut self) -> (RawPair, Option<Output>) {
        let pair = next(&mut self.source);
        let output = run(&mut *self.engine, job(&pair, &StereoParams::default()));
        if let Err(err) = &output {
            assert!(err.to_string().contains("has matched this pair of rig 'pi' yet"), "{err}");
        }
        (pair, output.ok())
    }
}

/// Engine on a thread, until it is dropped.
struct RunningEngine {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl RunningEngine {
    fn start(network: Network, name: &str) -> Self {
        Self::of(network, name, |_| {})
    }

    fn of(network: Network, name: &str, change: impl FnOnce(&mut ServeOptions)) -> Self {
        let engine = OpenOptions::from(EngineSettings {
            choice: EngineChoice::Cpu,
            threads: Some(1),
            ..EngineSettings::default()
        });
        let speed = Speed { pairs_per_s: 100.0, ..Speed::default() };
        let (name, rigs, max_pixels) = (name.to_owned(), Vec::new(), MaxPixels::default());
        let mut options = ServeOptions { name, engine, speed, stub: None, rigs, max_pixels, remote: None };
        change(&mut options);
        let mut server = Server::start(network, options).unwrap();
        let stop = Arc::<AtomicBool>::default();
        let stopped = Arc::clone(&stop);
        let thread = named("serving", move || server.run(&stopped, &mut |_| {}).unwrap());
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for RunningEngine {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.thread.take().unwrap().join().unwrap();
    }
}

#[test]
fn a_rig_source_returns_the_pairs_and_calibration_of_its_head() {
    let (router, endpoint) = router(None);
    let other = client(&endpoint);
    let missing = RigSource::on(other.clone(), "pi", &options()).err().unwrap().to_string();
    assert!(missing.contains("there is no rig 'pi'") && missing.contains("no head is there"), "{missing}");
    let fed = FedHead::start(&router, "pi");
    until("it is seen", || present(&other).head("pi").is_some());
    assert!(Head::start(&other, "pi", None, fed_about(), &params()).err().unwrap().to_string().contains("already"));
    let wrong = RigSource::on(other.clone(), "po", &options()).err().unwrap().to_string();
    assert!(wrong.contains("the rigs there are pi"), "{wrong}");
    let mut source = RigSource::on(other, "pi", &options()).unwrap();
    let scene = renderer();
    for _ in 0..5 {
        let pair = next(&mut source);
        let expected = scene.pair(pair.sequence);
        assert_eq!((&pair.left, &pair.right), (&expected.left, &expected.right));
    }
    let info = source.info();
    assert_eq!((info.width, info.height, info.is_camera), (SIZE.0, SIZE.1, true));
    assert_eq!(source.calibration().unwrap().geometry, Some(geometry()));
    // after a restart of the head, pairs continue with larger numbers
    let last = next(&mut source).sequence;
    drop(fed);
    until("it is gone", || present(&router).head("pi").is_none());
    let _again = FedHead::start(&router, "pi");
    let mut newest = next(&mut source);
    while newest.sequence <= last {
        newest = next(&mut source);
    }
    assert!(newest.sequence > last);
}

fn fed_about() -> About {
    About::of_source("scene", &SourceInfo::default(), SystemTime::now())
}

fn job(pair: &RawPair, params: &StereoParams) -> Job {
    let frame = Arc::new(Frame::of_raw(Arc::new(pair.clone())));
    Job { frame, params: Arc::new(params.clone()), read_back: true, wants_right: false }
}

/// Matches the pair with an engine of this process.
fn matched_here(pair: &RawPair, params: &StereoParams) -> Arc<DisparityMap> {
    run(&mut CpuEngine::new(Some(1)), job(pair, params)).unwrap().map.unwrap()
}

#[test]
fn network_results_equal_local_ones_with_the_rigs_parameters() {
    let (router, endpoint) = router(None);
    let _fed = FedHead::start(&router, "pi");
    let mut viewer = Viewer::new(RigSource::on(client(&endpoint), "pi", &options()).unwrap());
    let rig = viewer.source.engine().unwrap();
    assert_eq!(rig.exchange(&StereoParams::default()), None, "no result is shown yet");
    let _serving = RunningEngine::start(client(&endpoint), "desk");
    let mut matched = |params: &StereoParams| {
        let end = Instant::now() + LIMIT;
        while Instant::now() < end {
            let (pair, output) = viewer.next();
            if let Some(output) = output.filter(|output| *output.job.params == *params) {
                assert_eq!(output.map.unwrap(), matched_here(&pair, params));
                assert!(output.engine.kind == EngineKind::Network && output.engine.adapter.starts_with("cpu "));
                let again = run(&mut *viewer.engine, job(&pair, params)).unwrap();
                assert_eq!(again.map.unwrap(), matched_here(&pair, params), "a held pair is matched again");
                return;
            }
        }
        panic!("no result");
    };
    matched(&params());
    // any program can change parameters, by the rules of flags
    let third = client(&endpoint);
    let ask =
        |words: &str| third.ask(&RigTopic::Parameters.rig("pi"), Some(words.into()), ANSWER_TIMEOUT).unwrap().remove(0);
    assert!(ask(r#"{"p1":"9","p2":"3"}"#).unwrap_err().to_string().contains("p1 9 is not below"));
    assert!(ask(r#"{"p1":5}"#).unwrap_err().to_string().contains("no parameters by name"));
    assert!(ask("nonsense").is_err());
    ask(r#"{"p1":"9","cost":"sad"}"#).unwrap();
    let changed =
        stereopsis_settings::settings::changed(&params(), &[("cost".into(), "sad".into()), ("p1".into(), "9".into())]);
    let changed = changed.unwrap();
    matched(&changed);
    // and so can the viewer of the results
    assert_eq!(rig.exchange(&params()), Some(changed.clone()));
    let here = StereoParams { p1: 11, ..changed };
    assert_eq!(rig.exchange(&here), None);
    matched(&here);
    let words = ask("{}").unwrap().1;
    let words: std::collections::BTreeMap<String, String> = serde_json::from_slice(&words).unwrap();
    assert_eq!(words, parameter_words(&here));
}

#[test]
fn a_pipeline_shows_the_results_of_the_network_and_follows_the_parameters_of_the_rig() {
    let (router, endpoint) = router(None);
    let _fed = FedHead::start(&router, "pi");
    let _serving = RunningEngine::start(client(&endpoint), "desk");
    let source = RigSource::on(client(&endpoint), "pi", &options()).unwrap();
    let of_network = EngineSettings { choice: EngineChoice::Network, ..EngineSettings::default() };
    let live = Live::start(Box::new(source), LiveOptions::new(StereoParams::default(), of_network)).unwrap();
    until("there are results", || live.status().engine.computed > 20);
    let output = live.latest().unwrap();
    assert_eq!((output.engine.kind, &*output.job.params), (EngineKind::Network, &params()));
    assert_eq!(live.status().engine.latency_since, LatencySince::Capture);
    assert_eq!(live.exchange(), Some(params()), "the rig's hold at first");
    live.set_params(StereoParams { p1: 11, ..params() });
    until("the rig has the parameters of its viewer", || {
        assert_eq!(live.exchange().map(|params| params.p1), None);
        live.latest().is_some_and(|output| output.job.params.p1 == 11)
    });
}

#[test]
fn rigs_move_between_engines_and_no_pair_is_shown_twice() {
    let (router, endpoint) = router(None);
    let _fed = FedHead::start(&router, "pi");
    let mut viewer = Viewer::new(RigSource::on(client(&endpoint), "pi", &options()).unwrap());
    let names = ["desk", "rack"];
    let mut serving: Vec<_> = names.iter().map(|name| Some(RunningEngine::start(client(&endpoint), name))).collect();
    let owner = || {
        let present = present(&router);
        stereopsis_network::rendezvous::owner("pi", &present.members).map(|engine| engine.name.clone())
    };
    let shown = AtomicU64::new(0);
    let mut results = |count: usize| {
        let mut got = 0;
        let end = Instant::now() + LIMIT;
        while got < count {
            assert!(Instant::now() < end, "results stopped");
            let (pair, output) = viewer.next();
            if output.is_some() {
                let before = shown.swap(pair.sequence + 1, Ordering::AcqRel);
                assert!(pair.sequence >= before, "{} after {before}", pair.sequence);
                got += 1;
            }
        }
    };
    for _ in 0..2 {
        results(5);
        let has_it = owner().unwrap();
        let at = names.iter().position(|name| **name == has_it).unwrap();
        serving[at] = None;
        until("another engine has it", || owner().is_some_and(|name| name != has_it));
        results(5);
        serving[at] = Some(RunningEngine::start(client(&endpoint), names[at]));
        until("it has it again", || owner().as_deref() == Some(has_it.as_str()));
        results(5);
    }
}

#[test]
fn counts_damaged_messages_and_continues() {
    let (router, endpoint) = router(None);
    let _fed = FedHead::start(&router, "pi");
    let mut viewer = Viewer::new(RigSource::on(client(&endpoint), "pi", &options()).unwrap());
    let _serving = RunningEngine::start(client(&endpoint), "desk");
    let hostile = client(&endpoint);
    let good = hostile.session().declare_subscriber(RigTopic::Pair.rig("pi")).wait().unwrap().recv().unwrap();
    let (payload, head) = (good.payload().to_bytes().into_owned(), good.attachment().unwrap().to_bytes().into_owned());
    let mut random = fastrand::Rng::with_seed(4);
    let put = |key: String, payload: Vec<u8>, head: Option<Vec<u8>>| {
        let put = hostile.session().put(key, payload);
        match head {
            Some(head) => put.attachment(head).wait().unwrap(),
            None => put.wait().unwrap(),
        }
    };
    for n in 0..10_000 {
        let (mut payload, mut head) = (payload.clone(), head.clone());
        for _ in 0..random.usize(1..6) {
            let at = if random.bool() { random.usize(..payload.len().min(64)) } else { random.usize(..payload.len()) };
            payload[at] = random.u8(..);
        }
        if random.u8(..4) == 0 {
            let at = random.usize(..head.len());
            head[at] = random.u8(..);
        }
        payload.truncate(if random.bool() { payload.len() } else { random.usize(..payload.len()) });
        let what = [RigTopic::Pair, RigTopic::Result][n % 2];
        put(what.rig("pi"), payload, (n % 50 != 0).then_some(head));
    }
    put(RigTopic::Pair.rig("pi"), vec![0; 300 << 20], Some(head.clone()));
    for what in [RigTopic::About, RigTopic::Parameters, RigTopic::Controls, RigTopic::Clock] {
        let _ = hostile.ask(&what.rig("pi"), Some(vec![0xff; 1000]), ANSWER_TIMEOUT).unwrap();
    }
    let view = viewer.source.view();
    until("they are counted", || {
        next(&mut viewer.source);
        view.counts().refused > 0
    });
    until("there are results again", || viewer.next().1.is_some());
}

#[test]
fn connects_only_with_the_password() {
    let (router, endpoint) = router(Some("correct-horse"));
    let _fed = FedHead::start(&router, "pi");
    let with = |password: Option<&str>| {
        let password = password.map(str::to_owned);
        Network::open(&Access { connect: vec![endpoint.clone()], password, ..Access::default() })
    };
    for wrong in [None, Some("correct-mouse")] {
        let refusal = with(wrong).err().unwrap();
        assert!(refusal.is_silence() && refusal.to_string().contains("password"), "{refusal}");
    }
    assert!(RigSource::on(with(Some("correct-horse")).unwrap(), "pi", &options()).is_ok());
}
