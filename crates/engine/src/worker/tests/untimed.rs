//! Test of an engine that `auto` has opened without a pair to time.

use super::super::host::EngineHost;
use super::*;
use stereopsis_frame::engine::{AdapterChoice, EngineSettings};

#[test]
fn untimed_engine_is_timed_with_the_first_pair() {
    let (_, frames) = channel::<Arc<Frame>>();
    let params = Arc::new(StereoParams::default());
    let control = Control { params, read_back: false, paused: false, suspended: false, steps: 0 };
    let mut stats = EngineStats::default();
    stats.begin_source(frames.drop_counter());
    let shared = Arc::new(SharedState {
        control: Mutex::new(control),
        latest: Mutex::default(),
        stats: Mutex::new(stats),
        taps: Mutex::default(),
        stop: AtomicBool::new(false),
        wake: Arc::new(|| {}),
    });
    let adapter = AdapterChoice::Name("no adapter has this name".into());
    let options = OpenOptions::from(EngineSettings { threads: Some(1), adapter, ..EngineSettings::default() });
    let untimed = || Box::new(ScriptedEngine { slots: 1, script: Arc::default(), queue: VecDeque::new() });
    let mut host = EngineHost::new(Arc::clone(&shared), EngineSource::Ready(untimed()), None, Some(1));
    host.open_requested(None);
    host.install_opened(untimed(), Some("not timed".into()), options, None);
    assert_eq!(shared.stats.lock().why.as_deref(), Some("not timed"));

    let job = Job { frame: Arc::new(frame(0)), params: Arc::default(), read_back: true, wants_right: false };
    host.choose_engine(&job);
    let why = shared.stats.lock().why.clone();
    assert!(host.is_cpu() && why.is_some_and(|why| why.contains("no adapter has this name")));
    host.choose_engine(&job);
    assert!(host.is_cpu(), "it stays");
}
