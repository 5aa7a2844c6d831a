//! The loop of the engine thread: commands, then as many jobs as the engine has slots, then results. The thread sleeps until there
//! is something to do.

use super::control::Command;
use super::feed::Feeder;
use super::host::{COLLECT_POLL_INTERVAL, EngineHost};
use super::shared::SharedState;
use super::stats::Figures;
use crossbeam_channel::{Receiver, Select};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use stereopsis_base::newest::NewestReceiver;
use stereopsis_frame::Frame;

/// Interval at which an engine is polled until it is prepared for a job.
const PREPARE_POLL_INTERVAL: Duration = Duration::from_millis(2);

pub(super) struct Inputs {
    pub(super) commands: Receiver<Command>,
    pub(super) wakeups: Receiver<()>,
    pub(super) frames: NewestReceiver<Arc<Frame>>,
}

pub(super) struct EngineThread {
    shared: Arc<SharedState>,
    commands: Receiver<Command>,
    wakeups: Receiver<()>,
    feeder: Feeder,
    host: EngineHost,
    /// Time of the next poll, while the engine is not prepared for the next job.
    unprepared_until: Option<Instant>,
}

impl EngineThread {
    pub(super) fn new(shared: Arc<SharedState>, inputs: Inputs, host: EngineHost) -> Self {
        let Inputs { commands, wakeups, frames } = inputs;
        let feeder = Feeder::new(frames, shared.control().steps);
        Self { shared, commands, wakeups, feeder, host, unprepared_until: None }
    }

    pub(super) fn run(mut self) {
        while !self.shared.stop.load(Ordering::Acquire) {
            let _ = self.wakeups.try_recv();
            while let Ok(command) = self.commands.try_recv() {
                self.handle_command(command);
            }
            self.host.open_requested(None);
            self.host.recover(self.feeder.last());
            let submitted = self.submit();
            let collected = self.host.collect();
            if !submitted && !collected && !self.measure() {
                self.report_end();
                self.wait();
            }
        }
    }

    fn handle_command(&mut self, command: Command) {
        match command {
            Command::Frames(frames, source_engine) => {
                self.shared.count_drops();
                self.shared.stats.lock().begin_source(frames.drop_counter());
                self.feeder.set_frames(frames);
                self.host.begin_source(source_engine);
            }
            Command::Engine(source) => {
                self.host.request(source);
                self.feeder.repeat_last();
            }
            Command::MatchAgain => self.feeder.repeat_last(),
            Command::PrepareAgain(preparation, source) => self.feeder.replace(&self.shared.control(), |frame| {
                let again = preparation.prepare(&frame.raw, &source, frame.arrived);
                let again = again.inspect_err(|err| log::warn!("{} stays as it was: {err}", frame.raw.name)).ok()?;
                Some(Frame { latency_begin: frame.latency_begin, ..again })
            }),
        }
    }

    /// Submits jobs until the engine has no free slot or there is nothing to do. Returns whether it submitted any.
    fn submit(&mut self) -> bool {
        let mut submitted = false;
        while self.host.has_free_slot() {
            let control = self.shared.control();
            let has_new = self.feeder.awaited(&control).is_some_and(|frames| !frames.is_empty());
            if self.unprepared_until.is_some_and(|until| Instant::now() < until && !has_new) {
                break;
            }
            if self.host.is_replaced() {
                self.feeder.repeat_last();
            }
            let read_back = self.host.is_cpu() || self.shared.needs_read_back(&control);
            let now = Instant::now();
            let map_due = self.shared.stats.lock().map_due(now);
            self.unprepared_until = None;
            let Some(work) = self.feeder.next(&control, read_back, map_due) else { break };
            self.host.choose_engine(&work.job);
            let Some(job) = self.host.startable(&work.job, work.with_older) else {
                self.unprepared_until = Some(Instant::now() + PREPARE_POLL_INTERVAL);
                self.feeder.hold(work);
                break;
            };
            if map_due && !work.again {
                self.shared.stats.lock().note_asked(now);
            }
            self.feeder.note_submitted(&job, work.again, &control);
            self.host.submit(job, work.again);
            submitted = true;
        }
        submitted
    }

    /// Measures the newest result if no newer one came for a while: else the figures of an older pair would stay. Without numbers on the
    /// host the pair is matched again. Returns whether it did something.
    fn measure(&mut self) -> bool {
        let is_due = self.shared.stats.lock().measure_at().is_some_and(|at| at <= Instant::now());
        if !is_due || self.host.is_busy() {
            return false;
        }
        let figures = self.shared.latest.lock().as_deref().and_then(Figures::of);
        if figures.is_none() {
            self.feeder.repeat_last();
        }
        self.shared.report(|stats| stats.note_figures(figures));
        true
    }

    /// Reports once that the source has ended and every pair is matched.
    fn report_end(&self) {
        let ended = self.feeder.has_ended() && !self.host.is_busy() && self.unprepared_until.is_none();
        if ended && !self.shared.stats.lock().ended {
            self.shared.report(|stats| stats.ended = true);
        }
    }

    /// Waits for a command, a frame that can be taken, or the time of the next poll.
    fn wait(&self) {
        let control = self.shared.control();
        let has_slot = self.host.has_free_slot();
        let mut events = Select::new();
        events.recv(&self.commands);
        events.recv(&self.wakeups);
        if let Some(frames) = self.feeder.awaited(&control).filter(|_| has_slot) {
            events.recv(frames);
        }
        let collect_at = self.host.is_busy().then(|| Instant::now() + COLLECT_POLL_INTERVAL);
        let prepare_at = self.unprepared_until.filter(|_| has_slot);
        let measure_at = self.shared.stats.lock().measure_at().filter(|_| !self.host.is_busy());
        let due = [collect_at, prepare_at, measure_at, self.host.recovery_due()].into_iter().flatten().min();
        let _ = match due {
            Some(at) => events.ready_deadline(at).ok(),
            None => Some(events.ready()),
        };
    }
}
