//! A second engine that matches the pairs of the first one with other parameters.

use super::Wake;
use crate::capture::Frame;
use crate::engine::worker::{Control, EngineSource, EngineWorker};
use crate::engine::{OpenOptions, Output};
use crate::newest::{self, NewestSender};
use crate::rate::Rate;
use crate::stereo::StereoParams;
use std::sync::Arc;
use std::time::Instant;

/// The second engine, on a thread of its own. It takes the newest pair of the first engine when it is free. Dropping it stops it.
pub struct Comparison {
    worker: EngineWorker,
    frames: NewestSender<Arc<Frame>>,
    /// The first engine's result of the pair that was sent last.
    sent: Option<Arc<Output>>,
    failed: u64,
    rate: Rate,
}

impl Comparison {
    /// Opens an engine that matches with these parameters, valid ones.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(params: StereoParams, engine: OpenOptions, wake: Wake) -> std::io::Result<Self> {
        let (frames, receiver) = newest::channel();
        let control = Control { params: Arc::new(params), read_back: true, paused: false, suspended: false, steps: 0 };
        let threads = engine.threads;
        let worker = EngineWorker::start(receiver, EngineSource::Open(engine), control, threads, Vec::new(), wake)?;
        Ok(Self { worker, frames, sent: None, failed: 0, rate: Rate::default() })
    }

    /// Other parameters, valid ones; the pair is matched again.
    pub fn set_params(&self, params: StereoParams) {
        self.worker.set_control(|control| control.params = Arc::new(params));
    }

    /// Looks at the newest result of the first engine, and sends its pair if the second engine is free. Returns both results of one pair,
    /// that of the second engine first, where both are there.
    pub fn update(&mut self, newest: &Arc<Output>) -> Option<[Arc<Output>; 2]> {
        // of one pair the newest result counts: parameters may have changed
        if let Some(sent) = self.sent.as_mut().filter(|sent| is_of_one_pair(sent, newest)) {
            *sent = Arc::clone(newest);
        }
        let second = self.worker.latest().filter(|output| output.map.is_some());
        let both = second.zip(self.sent.clone()).filter(|(second, first)| is_of_one_pair(second, first));
        let failed = self.worker.stats().failed;
        let is_free = both.is_some() || self.sent.is_none() || failed > self.failed;
        if is_free && self.sent.as_ref().is_none_or(|sent| !is_of_one_pair(sent, newest)) {
            self.failed = failed;
            // the engine thread ends with this comparison only
            let _ = self.frames.send(Arc::clone(&newest.job.frame));
            self.sent = Some(Arc::clone(newest));
            self.rate.record(Instant::now());
        }
        both.map(<[_; 2]>::from)
    }

    /// Pairs per second, recently.
    pub fn rate_hz(&mut self) -> f64 {
        self.rate.per_second(Instant::now())
    }

    /// Why the second engine fails; `None` while it works.
    pub fn error(&self) -> Option<String> {
        let stats = self.worker.stats();
        stats.error.or(stats.fault)
    }
}

fn is_of_one_pair(one: &Output, other: &Output) -> bool {
    Arc::ptr_eq(&one.job.frame, &other.job.frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::scene::{SceneOptions, render};
    use crate::engine::{CpuEngine, EngineChoice, Job, run};
    use std::time::Duration;

    fn output(number: u64, p1: u32, frame: Option<&Arc<Frame>>) -> Arc<Output> {
        let options = SceneOptions { width: 48, height: 32, ..SceneOptions::default() };
        let made = || Arc::new(Frame::of_raw(Arc::new(render(&options, number, false))));
        let frame = frame.map_or_else(made, Arc::clone);
        let params = Arc::new(StereoParams { p1, num_disparities: 8, ..StereoParams::default() });
        Arc::new(run(&mut CpuEngine::new(Some(1)), Job { frame, params, read_back: true, wants_right: false }).unwrap())
    }

    fn both(comparison: &mut Comparison, newest: &Arc<Output>) -> [Arc<Output>; 2] {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(both) = comparison.update(newest).filter(|[_, first]| Arc::ptr_eq(first, newest)) {
                return both;
            }
            assert!(Instant::now() < end, "no comparison");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn both_results_are_of_one_pair_and_differ_in_their_parameters() {
        let params = StereoParams { p1: 20, num_disparities: 8, ..StereoParams::default() };
        let options = OpenOptions { choice: EngineChoice::Cpu, threads: Some(1), ..OpenOptions::default() };
        let mut comparison = Comparison::start(params.clone(), options, Arc::new(|| {})).unwrap();
        let first = output(1, 14, None);
        let [second, same] = both(&mut comparison, &first);
        assert!(Arc::ptr_eq(&second.job.frame, &same.job.frame));
        assert_eq!((second.job.params.p1, same.job.params.p1), (20, 14));
        // the same pair with other parameters of the first engine
        let again = output(1, 15, Some(&first.job.frame));
        let [second, same] = both(&mut comparison, &again);
        assert_eq!((second.job.params.p1, same.job.params.p1), (20, 15));
        let next = output(2, 15, None);
        let [second, same] = both(&mut comparison, &next);
        assert!(Arc::ptr_eq(&second.job.frame, &next.job.frame) && Arc::ptr_eq(&same, &next));
        comparison.set_params(StereoParams { p1: 25, ..params });
        let end = Instant::now() + Duration::from_secs(30);
        while both(&mut comparison, &next)[0].job.params.p1 != 25 {
            assert!(Instant::now() < end, "the pair is not matched again");
        }
        assert!(comparison.error().is_none());
    }
}
