//! Second engine that matches the pairs of the first one with other parameters, to compare both results of one pair.

use super::times::Times;
use super::{Live, MedianTime, PreviousPair, of_pair};
use std::sync::Arc;
use std::time::Instant;
use stereopsis_base::newest;
use stereopsis_base::newest::NewestSender;
use stereopsis_base::rate::Rate;
use stereopsis_base::threads::Latest;
use stereopsis_engine::OpenOptions;
use stereopsis_engine::worker::{Control, EngineSource, EngineWorker, Figures};
use stereopsis_frame::engine::{EngineChoice, ModelFile, Output, SourceEngine};
use stereopsis_frame::{Frame, Wake};
use stereopsis_metrics::Quantity;
use stereopsis_stereo::StereoParams;

/// Second engine on a thread: takes the newest pair of the first engine when it is free. Stopped when dropped.
pub struct Comparison {
    worker: EngineWorker,
    /// Choice of the engine, and the file of a model.
    engine: (EngineChoice, Option<ModelFile>),
    frames: NewestSender<Arc<Frame>>,
    /// Result of the first engine for the pair that was sent last.
    sent: Option<Arc<Output>>,
    failed: u64,
    rate: Rate,
    /// Times of both engines' results; the second engine comes first.
    times: [Times; 2],
    /// Engine that is timed on a held pair, and its number of earlier results.
    timing: Option<(usize, u64)>,
    judge: Latest<[Arc<Output>; 2], [JudgedResult; 2]>,
    /// Results that were judged last.
    judging: Option<[Arc<Output>; 2]>,
}

/// Smallest number of times of a held pair for which the median is shown.
const MIN_HELD_TIMES: usize = 5;

/// Shares, scores and errors of a result.
pub struct JudgedResult {
    /// Shares of the pixels, and the error where the truth is known.
    pub figures: Option<Figures>,
    /// Scores of the map.
    pub scores: Vec<Quantity>,
}

impl Comparison {
    /// Opens an engine that matches with these valid parameters; the source of the pairs brings `source_engine`.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(
        params: StereoParams,
        engine: OpenOptions,
        source_engine: Option<Arc<dyn SourceEngine>>,
        wake: Wake,
    ) -> std::io::Result<Self> {
        let (frames, receiver) = newest::channel();
        let control = Control { params: Arc::new(params), read_back: true, paused: false, suspended: false, steps: 0 };
        let (threads, chosen) = (engine.settings.threads, (engine.settings.choice, engine.settings.model.clone()));
        let source = EngineSource::Open(engine);
        let worker =
            EngineWorker::start(receiver, source_engine, source, control, threads, Vec::new(), Arc::clone(&wake))?;
        let mut judges: [Judge; 2] = Default::default();
        let judge = Latest::start("compare", wake, move |both: [Arc<Output>; 2]| {
            let [a, b] = both;
            Some([judges[0].judge(a)?, judges[1].judge(b)?])
        })?;
        let (times, timing, rate) = (Default::default(), None, Rate::default());
        Ok(Self { worker, engine: chosen, frames, sent: None, failed: 0, rate, times, timing, judge, judging: None })
    }

    /// Whether its engine is the one that these options open.
    pub fn is_by(&self, engine: &OpenOptions) -> bool {
        (engine.settings.choice, &engine.settings.model) == (self.engine.0, &self.engine.1)
    }

    /// Sets other valid parameters; the pair is matched again.
    pub fn set_params(&self, params: StereoParams) {
        self.worker.set_control(|control| control.params = Arc::new(params));
    }

    /// Takes the newest result of the first engine, and sends its pair if the second engine is free. Returns both results of one pair, the
    /// second engine's first, if both exist.
    pub fn update(&mut self, newest: &Arc<Output>) -> Option<[Arc<Output>; 2]> {
        // the newest result of a pair counts: parameters may have changed
        if let Some(sent) = self.sent.as_mut().filter(|sent| is_of_one_pair(sent, newest)) {
            *sent = Arc::clone(newest);
        }
        let second = self.worker.latest().filter(|output| output.map.is_some());
        self.times[1].note(newest);
        if let Some(second) = &second {
            self.times[0].note(second);
        }
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
        let both = both.map(<[_; 2]>::from)?;
        let is_new = self.judging.as_ref().is_none_or(|old| !old.iter().zip(&both).all(|(a, b)| Arc::ptr_eq(a, b)));
        if is_new {
            self.judge.wish(self.judging.insert(both.clone()).clone());
        }
        Some(both)
    }

    /// Returns the median times of the last results of both settings, the second engine's first.
    pub fn times(&self) -> [Option<MedianTime>; 2] {
        self.times.each_ref().map(Times::median)
    }

    /// Times a held pair a few more times, with one setting after the other: a single time is unreliable, and two engines that compute at
    /// once slow each other down. `live` has the first engine. Has to be called after each result.
    pub fn time_held(&mut self, live: &Live) {
        let known = self.times.each_ref().map(Times::len);
        let waits = self.timing.is_some_and(|(which, before)| self.times[which].noted == before);
        let which = usize::from(known[1] < known[0]);
        if waits || known.contains(&0) || known[which] >= MIN_HELD_TIMES {
            return;
        }
        self.timing = Some((which, self.times[which].noted));
        if which == 0 { self.worker.match_again() } else { live.match_again() }
    }

    /// Returns the judged results of the newest pair.
    pub fn judged(&self) -> Option<Arc<[JudgedResult; 2]>> {
        self.judge.newest()
    }

    /// Returns the recent rate of pairs, Hz.
    pub fn rate_hz(&mut self) -> f64 {
        self.rate.per_second(Instant::now())
    }

    /// Returns the error of the second engine; `None` while it works.
    pub fn error(&self) -> Option<String> {
        let stats = self.worker.stats();
        stats.too_large.or(stats.error).or(stats.fault)
    }
}

/// Judge of the results of one setting.
#[derive(Default)]
struct Judge {
    newest: Option<Arc<Output>>,
    /// Previous pair, matched with equal parameters.
    previous: Option<PreviousPair>,
}

impl Judge {
    /// Judges a result; `None` if its map is not on the host.
    fn judge(&mut self, output: Arc<Output>) -> Option<JudgedResult> {
        let map = output.map.as_ref()?;
        if !self.newest.as_ref().is_some_and(|newest| is_of_one_pair(newest, &output)) {
            let same = self.newest.as_ref().filter(|newest| *newest.job.params == *output.job.params);
            self.previous = same.and_then(|same| Some((Arc::clone(&same.job.frame), Arc::clone(same.map.as_ref()?))));
        }
        self.newest = Some(Arc::clone(&output));
        let scores = of_pair(&output.job.frame, map, &output.job.params, self.previous.as_ref());
        Some(JudgedResult { figures: Figures::of(&output), scores })
    }
}

fn is_of_one_pair(one: &Output, other: &Output) -> bool {
    Arc::ptr_eq(&one.job.frame, &other.job.frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use stereopsis_cpu::CpuEngine;
    use stereopsis_frame::SceneOptions;
    use stereopsis_frame::engine::{EngineChoice, EngineSettings, Job, run};
    use stereopsis_metrics::Missing;
    use stereopsis_scene::render;

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
    fn each_result_is_judged_with_the_pair_before_it() {
        let mut judge = Judge::default();
        let value = |judged: &JudgedResult, name| judged.scores.iter().find(|q| q.name == name).unwrap().value;
        let first = judge.judge(output(1, 14, None)).unwrap();
        assert!(first.figures.is_some() && value(&first, "left_right_percent").is_ok());
        assert_eq!(value(&first, "agreement_percent"), Err(Missing::Previous));
        let second = judge.judge(output(2, 14, None)).unwrap();
        assert!(value(&second, "agreement_percent") != Err(Missing::Previous));
        let changed = judge.judge(output(3, 20, None)).unwrap();
        assert_eq!(value(&changed, "agreement_percent"), Err(Missing::Previous), "two maps of different settings");
    }

    #[test]
    fn both_results_belong_to_one_pair_and_differ_in_parameters() {
        let params = StereoParams { p1: 20, num_disparities: 8, ..StereoParams::default() };
        let options = OpenOptions::from(EngineSettings {
            choice: EngineChoice::Cpu,
            threads: Some(1),
            ..EngineSettings::default()
        });
        let mut comparison = Comparison::start(params.clone(), options, None, Arc::new(|| {})).unwrap();
        let first = output(1, 14, None);
        let [second, same] = both(&mut comparison, &first);
        assert!(Arc::ptr_eq(&second.job.frame, &same.job.frame));
        assert_eq!((second.job.params.p1, same.job.params.p1), (20, 14));
        // first pair with other parameters of the first engine
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
        while comparison.judged().is_none() {
            assert!(Instant::now() < end, "it is not judged");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}
