//! Measures the speed of an engine, and provides a stub of known speed for measurements of the network.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::image::Image;
use stereopsis_engine::OpenOptions;
use stereopsis_frame::Frame;
use stereopsis_frame::engine::{Engine, EngineError, EngineInfo, EngineKind, Job, Output};
use stereopsis_network::status::Speed;
use stereopsis_stereo::{DisparityMap, INVALID, StereoParams};

/// Number of timed pairs; the shortest time counts.
const PAIRS: usize = 5;

/// Measures the engine's speed on a pair of the built-in scene, 640x480 px with the default parameters.
///
/// # Errors
/// The engine cannot be opened, or fails.
pub fn measure(options: &OpenOptions) -> Result<Speed, EngineError> {
    let scene = stereopsis_frame::SceneOptions { width: 640, height: 480, ..stereopsis_frame::SceneOptions::default() };
    let params = Arc::new(StereoParams::default());
    let renderer = stereopsis_scene::SceneRenderer::new(&scene).map_err(|err| EngineError::Device(err.into()))?;
    let frame = Arc::new(Frame::of_raw(Arc::new(renderer.pair(0))));
    let job = Job { frame, params: Arc::clone(&params), read_back: true, wants_right: false };
    let mut engine = stereopsis_engine::open(options, Some(&job))?.engine;
    let mut times = Vec::new();
    for _ in 0..PAIRS {
        times.push(stereopsis_frame::engine::run(engine.as_mut(), job.clone())?.compute_time);
    }
    let quickest = times.into_iter().min().unwrap_or_default().as_secs_f64().max(1e-6);
    Ok(Speed { size: (640, 480), num_disparities: params.num_disparities, pairs_per_s: 1.0 / quickest })
}

/// Stub that takes an engine's time and returns an empty map.
#[derive(Clone, Debug)]
pub struct Stub {
    time: Duration,
    /// Empty map of the last pair's size, reused for pairs of this size.
    map: Option<Arc<DisparityMap>>,
    jobs: VecDeque<(Instant, Job)>,
}

impl Stub {
    /// Creates a stub with this time per pair.
    pub fn new(time: Duration) -> Self {
        Self { time, map: None, jobs: VecDeque::new() }
    }
}

impl Engine for Stub {
    fn info(&self) -> Arc<EngineInfo> {
        let adapter = format!("nothing, waits {:.1} ms", self.time.as_secs_f64() * 1e3);
        Arc::new(EngineInfo { kind: EngineKind::Cpu, adapter, software: false })
    }

    fn slots(&self) -> usize {
        1
    }

    fn forget(&mut self) {}

    fn submit(&mut self, job: Job) -> Result<(), EngineError> {
        self.jobs.push_back((Instant::now(), job));
        Ok(())
    }

    fn collect(&mut self) -> Result<Option<Output>, EngineError> {
        let Some((since, job)) = self.jobs.pop_front() else { return Ok(None) };
        std::thread::sleep(self.time.saturating_sub(since.elapsed()));
        let (width, height) = job.frame.size();
        let kept = self.map.take().filter(|map| map.size() == (width, height));
        let map = kept.unwrap_or_else(|| {
            let (values, reasons) = (Image::filled(width, height, INVALID), Image::filled(width, height, 1));
            Arc::new(DisparityMap { values, reasons, confidence: None })
        });
        self.map = Some(Arc::clone(&map));
        Ok(Some(Output {
            engine: self.info(),
            map: Some(map),
            right_map: None,
            texture: None,
            stages: Vec::new(),
            compute_time: self.time,
            job,
        }))
    }
}
