//! The loop of the engine thread: commands, then as many pairs as the engine has slots, then results.

use super::change::Change;
use super::comeback::{Attempt, Comeback};
use super::stats::Figures;
use super::{Board, Command, Control, EngineSource, lock};
use crate::capture::Frame;
use crate::engine::{CpuEngine, Engine, EngineChoice, EngineError, EngineKind, Job, OpenOptions, Output, open};
use crate::newest::{NewestReceiver, RecvError};
use crate::parameter::Value;
use crate::stereo::StereoParams;
use crossbeam_channel::Receiver;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long nothing happens at most before the thread looks at its commands.
const IDLE: Duration = Duration::from_millis(5);
/// How often a device is asked whether it has finished.
const POLL: Duration = Duration::from_micros(200);

/// How often an engine is asked whether what it lacks is there.
const ASK: Duration = Duration::from_millis(2);

/// How long an engine that is replaced may work on what it has.
const FAREWELL: Duration = Duration::from_millis(500);

/// What `auto` decides for once.
#[derive(PartialEq)]
struct DecidedFor {
    size: (usize, usize),
    criteria: Vec<Value>,
}

impl DecidedFor {
    fn of(job: &Job) -> Self {
        Self { size: job.frame.size(), criteria: job.params.engine_criteria() }
    }
}

pub(super) struct Matcher {
    board: Arc<Board>,
    commands: Receiver<Command>,
    frames: NewestReceiver<Arc<Frame>>,
    /// Taken while there was nothing else to do, or before the engine was prepared for it.
    pending: Option<Arc<Frame>>,
    /// Nothing will come from `frames` any more.
    ended: bool,
    /// Drops that `frames` has counted and that are in the figures already.
    counted_drops: u64,
    /// To be opened before the next pair.
    wanted: Option<EngineSource>,
    engine: Option<Box<dyn Engine>>,
    /// What the engine was opened by, if that is known and it is not the CPU standing in.
    opened_by: Option<OpenOptions>,
    comeback: Comeback,
    /// What `auto` was asked with, and what it decided for: another size or option asks again.
    timed: Option<(OpenOptions, DecidedFor)>,
    fallback_threads: Option<usize>,
    /// For each pair in flight whether it was matched before.
    in_flight: VecDeque<bool>,
    /// The last pair that was submitted.
    last: Option<Job>,
    /// The last pair has to be matched again whatever the settings: its result is gone, or belongs to a lost device.
    redo: bool,
    /// What this engine has taken last: it goes on with these parameters while it prepares others.
    accepted: Option<Arc<StereoParams>>,
    /// What it was not prepared for a moment ago.
    unprepared: Vec<Unprepared>,
    change: Change,
    /// There is work, and the engine is not prepared for it.
    waits: bool,
    steps_taken: u64,
}

struct Unprepared {
    params: Arc<StereoParams>,
    size: (usize, usize),
    asked: Instant,
}

/// A pair to be matched, with the parameters that are wanted.
struct Work {
    job: Job,
    /// It was matched before.
    again: bool,
    /// It has to be matched even if the engine is prepared for older parameters only.
    with_older: bool,
}

impl Matcher {
    pub(super) fn new(
        board: Arc<Board>,
        commands: Receiver<Command>,
        frames: NewestReceiver<Arc<Frame>>,
        engine: EngineSource,
        fallback_threads: Option<usize>,
    ) -> Self {
        let steps_taken = board.control.get().steps;
        lock(&board.stats).opening = true;
        Self {
            board,
            commands,
            frames,
            pending: None,
            ended: false,
            counted_drops: 0,
            wanted: Some(engine),
            engine: None,
            opened_by: None,
            comeback: Comeback::default(),
            timed: None,
            fallback_threads,
            in_flight: VecDeque::new(),
            last: None,
            redo: false,
            accepted: None,
            unprepared: Vec::new(),
            change: Change::default(),
            waits: false,
            steps_taken,
        }
    }

    pub(super) fn run(mut self) {
        while !self.board.stop.load(Ordering::Acquire) {
            while let Ok(command) = self.commands.try_recv() {
                self.obey(command);
            }
            self.open_without_a_pair();
            if let Some(attempt) = self.comeback.take_due(Instant::now()) {
                self.open_again(attempt);
            }
            let submitted = self.fill_slots();
            let collected = self.collect();
            self.count_drops();
            if !submitted && !collected {
                self.tell_the_end();
                self.rest();
            }
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Frames(frames) => {
                self.count_drops();
                self.frames = frames;
                (self.ended, self.counted_drops) = (false, 0);
                lock(&self.board.stats).begin_source();
                if let Some(engine) = &mut self.engine {
                    engine.forget();
                }
                // what is held belongs to the old source: take one pair of the new one
                (self.pending, self.last) = (None, None);
            }
            Command::Engine(engine) => {
                (self.wanted, self.timed) = (Some(engine), None);
                self.comeback = Comeback::default();
                self.redo = true;
            }
            Command::Again(remake) => {
                if let Some(last) = &mut self.last
                    && let Some(frame) = remake(&last.frame)
                {
                    last.frame = Arc::new(frame);
                    self.redo = true;
                }
            }
            Command::Look => {}
        }
    }

    /// Opens what needs no pair to be tried with, so that it is ready when the first one comes.
    fn open_without_a_pair(&mut self) {
        if self.wanted.is_some() {
            self.finish_what_is_in_flight();
        }
        match self.wanted.take() {
            Some(EngineSource::Ready(engine)) => self.install(engine, None, None),
            Some(EngineSource::Opened(engine, options)) => {
                self.install(engine, None, None);
                self.opened_by = Some(options);
            }
            Some(EngineSource::Open(options)) if options.choice != EngineChoice::Auto => self.open(&options, None),
            waiting => self.wanted = waiting,
        }
    }

    fn open(&mut self, options: &OpenOptions, sample: Option<&Job>) {
        self.abandon();
        match open(options, sample) {
            Ok(opened) => {
                self.install(opened.engine, opened.why, None);
                self.opened_by = Some(options.clone());
            }
            Err(err) => self.fall_back(format!("{err}; the CPU computes instead")),
        }
    }

    /// The CPU takes over, and says why.
    fn fall_back(&mut self, fault: String) {
        log::warn!("{fault}");
        let cpu = Box::new(CpuEngine::new(self.fallback_threads));
        self.install(cpu, None, Some(fault));
    }

    /// Goes back to a GPU that was lost, if it is there again. The CPU computes until it is open.
    fn open_again(&mut self, Attempt { options, why, .. }: Attempt) {
        let on = |gpu| OpenOptions { gpu: Some(gpu), ..options.clone() };
        match options.open_gpu().and_then(|gpu| open(&on(gpu), self.last.as_ref())) {
            Ok(opened) => {
                self.finish_what_is_in_flight();
                let times = opened.why.map_or_else(String::new, |times| format!("{times}; "));
                self.install(opened.engine, Some(format!("{times}opened again after {why}")), None);
                let decided_for = self.last.as_ref().map(DecidedFor::of);
                self.timed =
                    decided_for.filter(|_| options.choice == EngineChoice::Auto).map(|size| (options.clone(), size));
                self.opened_by = Some(options);
            }
            Err(err) => {
                let fault = format!(
                    "{why} and cannot be opened again: {err}; the CPU computes instead until an engine is chosen again"
                );
                log::warn!("{fault}");
                lock(&self.board.stats).fault = Some(fault);
                (self.board.wake)();
            }
        }
    }

    fn install(&mut self, engine: Box<dyn Engine>, why: Option<String>, fault: Option<String>) {
        self.abandon();
        let mut stats = lock(&self.board.stats);
        stats.engine = Some(engine.info());
        (stats.why, stats.fault, stats.error, stats.opening) = (why, fault, None, false);
        drop(stats);
        self.engine = Some(engine);
        self.redo = true;
        (self.board.wake)();
    }

    /// Lets the engine go with what is in flight, before another one needs the device.
    fn abandon(&mut self) {
        self.engine = None;
        self.opened_by = None;
        self.accepted = None;
        self.unprepared.clear();
        lock(&self.board.stats).failed += self.in_flight.len() as u64;
        self.in_flight.clear();
    }

    /// Submits until the engine has no slot or there is nothing to do.
    fn fill_slots(&mut self) -> bool {
        let mut submitted = false;
        self.waits = false;
        self.change.see(&self.board.control.get().params);
        while self.engine.as_ref().is_none_or(|engine| self.in_flight.len() < engine.slots()) {
            let control = self.board.control.get();
            let Some(Work { job, again, with_older }) = self.next_work(&control) else { break };
            self.choose_engine(&job);
            let Some(startable) = self.startable(&job, with_older) else {
                self.waits = true;
                if !again {
                    self.pending = Some(job.frame);
                }
                break;
            };
            if !again {
                self.steps_taken = control.steps;
            }
            self.submit(startable, again);
            submitted = true;
        }
        submitted
    }

    /// Opens the engine that `auto` chooses for this job, where it has not chosen yet or for something else.
    fn choose_engine(&mut self, job: &Job) {
        if self.wanted.is_none()
            && let Some((options, _)) = self.timed.take_if(|(_, decided)| *decided != DecidedFor::of(job))
        {
            self.wanted = Some(EngineSource::Open(options));
        }
        if let Some(EngineSource::Open(options)) = self.wanted.take() {
            self.finish_what_is_in_flight();
            self.open(&options, Some(job));
            self.timed = Some((options, DecidedFor::of(job)));
        }
    }

    /// The job if the engine is prepared for it, else with the parameters that it has taken last.
    fn startable(&mut self, job: &Job, with_older: bool) -> Option<Job> {
        if self.is_prepared(job) {
            return Some(job.clone());
        }
        let params = Arc::clone(self.accepted.as_ref().filter(|params| with_older && **params != job.params)?);
        let older = Job { params, ..job.clone() };
        self.is_prepared(&older).then_some(older)
    }

    /// Asks the engine, and not again at once where it was not.
    fn is_prepared(&mut self, job: &Job) -> bool {
        let Some(engine) = &mut self.engine else { return true };
        let (size, asked) = (job.frame.size(), Instant::now());
        self.unprepared.retain(|no| asked.duration_since(no.asked) < ASK);
        if self.unprepared.iter().any(|no| no.size == size && no.params == job.params) {
            return false;
        }
        let is_prepared = engine.prepare(job);
        if !is_prepared {
            self.unprepared.push(Unprepared { params: Arc::clone(&job.params), size, asked });
        }
        is_prepared
    }

    /// Before another engine takes over; what takes too long is left to [`Self::abandon`].
    fn finish_what_is_in_flight(&mut self) {
        let deadline = Instant::now() + FAREWELL;
        while !self.in_flight.is_empty() && Instant::now() < deadline {
            if !self.collect() {
                std::thread::sleep(POLL);
            }
        }
    }

    fn submit(&mut self, job: Job, again: bool) {
        let Some(engine) = &mut self.engine else { return };
        self.last = Some(job.clone());
        self.redo = false;
        let params = Arc::clone(&job.params);
        match engine.submit(job) {
            Ok(()) => {
                self.change.note_start(&params);
                self.in_flight.push_back(again);
                self.accepted = Some(params);
            }
            Err(err) => self.fail(&err),
        }
    }

    /// A new pair, or the last one where something else has changed.
    fn next_work(&mut self, control: &Control) -> Option<Work> {
        let is_cpu = self.engine.as_ref().is_some_and(|engine| engine.info().kind == EngineKind::Cpu);
        let figures_due = || lock(&self.board.stats).figures_due(Instant::now());
        let tapped = || lock(&self.board.taps).iter().any(|tap| tap.wants_results());
        let read_back = is_cpu || control.read_back || tapped();
        let job = |frame, read_back| Job { frame, params: Arc::clone(&control.params), read_back, wants_right: false };
        let step = control.steps != self.steps_taken;
        if !control.paused || step || self.last.is_none() {
            // what was taken just before the pause is not what a step asks for
            let newest = |frame| if step && control.paused { self.frames.newest(frame) } else { frame };
            let pending = self.pending.take().map(newest);
            match pending.map_or_else(|| self.frames.try_recv(), Ok) {
                Ok(frame) => {
                    let job = job(frame, read_back || figures_due());
                    return Some(Work { job, again: false, with_older: true });
                }
                Err(RecvError::Closed) => self.ended = true,
                Err(RecvError::Timeout) => {}
            }
        }
        let last = self.last.as_ref()?;
        let with_older = self.redo || (read_back && !last.read_back);
        let changed = with_older || last.params != control.params;
        changed.then(|| Work { job: job(Arc::clone(&last.frame), true), again: true, with_older })
    }

    /// Publishes what is finished.
    fn collect(&mut self) -> bool {
        let Some(engine) = &mut self.engine else { return false };
        if self.in_flight.is_empty() {
            return false;
        }
        match engine.collect() {
            Ok(None) => false,
            Ok(Some(output)) => {
                let again = self.in_flight.pop_front().unwrap_or(false);
                self.publish(output, again);
                true
            }
            Err(err) => {
                self.in_flight.pop_front();
                self.fail(&err);
                true
            }
        }
    }

    fn publish(&mut self, output: Output, again: bool) {
        self.change.note_result(&output.job.params);
        let due = again || lock(&self.board.stats).figures_due(Instant::now());
        let figures = if due { Figures::of(&output) } else { None };
        lock(&self.board.stats).note(&output, again, figures);
        let output = Arc::new(output);
        if output.map.is_some() {
            let taps = lock(&self.board.taps).clone();
            for tap in &taps {
                if again { tap.result_again(&output) } else { tap.result(&output) }
            }
        }
        *lock(&self.board.latest) = Some(output);
        (self.board.wake)();
    }

    fn fail(&mut self, err: &EngineError) {
        lock(&self.board.stats).failed += 1;
        if matches!(err, EngineError::DeviceLost(_)) {
            let fault = self.comeback.lost(err, self.opened_by.take(), Instant::now());
            self.fall_back(fault);
            self.board.forget_device();
            return;
        }
        lock(&self.board.stats).error = Some(err.to_string());
        (self.board.wake)();
    }

    /// Files new drops under their cause.
    fn count_drops(&mut self) {
        let drops = self.frames.dropped();
        let new = drops - self.counted_drops;
        if new > 0 {
            let paused = self.board.control.get().paused;
            let mut stats = lock(&self.board.stats);
            *if paused { &mut stats.while_paused } else { &mut stats.late } += new;
            self.counted_drops = drops;
        }
    }

    /// Says when the source has ended and every pair is done.
    fn tell_the_end(&self) {
        let ended = self.ended && self.in_flight.is_empty() && !self.waits;
        let news = ended && !std::mem::replace(&mut lock(&self.board.stats).ended, ended);
        if news {
            (self.board.wake)();
        }
    }

    /// Waits a little, for whatever can come first.
    fn rest(&mut self) {
        let paused = self.board.control.get().paused;
        if !self.in_flight.is_empty() {
            std::thread::sleep(POLL);
        } else if paused || self.ended || self.pending.is_some() {
            if let Ok(command) = self.commands.recv_timeout(IDLE) {
                self.obey(command);
            }
        } else if let Ok(frame) = self.frames.recv_timeout(IDLE) {
            self.pending = Some(frame);
        }
    }
}
