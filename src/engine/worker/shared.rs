//! State that the engine thread shares with its owner, and how results are published.

use super::{Control, EngineStats, Figures, ResultTap, Wake, lock};
use crate::engine::Output;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Instant;

pub(super) struct SharedState {
    pub(super) control: Mutex<Control>,
    pub(super) latest: Mutex<Option<Arc<Output>>>,
    pub(super) stats: Mutex<EngineStats>,
    pub(super) taps: Mutex<Vec<Arc<dyn ResultTap>>>,
    pub(super) stop: AtomicBool,
    pub(super) wake: Wake,
}

impl SharedState {
    pub(super) fn control(&self) -> Control {
        lock(&self.control).clone()
    }

    /// Changes the control; pairs that were dropped so far count by its old state.
    pub(super) fn set_control(&self, change: impl FnOnce(&mut Control)) {
        self.count_drops();
        change(&mut lock(&self.control));
    }

    /// Counts new drops of the channel of frames by their cause.
    pub(super) fn count_drops(&self) {
        let is_paused = lock(&self.control).paused;
        lock(&self.stats).count_drops(is_paused);
    }

    /// Changes the statistics, and wakes the owner.
    pub(super) fn report(&self, change: impl FnOnce(&mut EngineStats)) {
        change(&mut lock(&self.stats));
        (self.wake)();
    }

    /// Whether a job with these parameters must bring its numbers to the host.
    pub(super) fn needs_read_back(&self, control: &Control) -> bool {
        control.read_back || lock(&self.taps).iter().any(|tap| tap.wants_results())
    }

    /// Publishes a result; `again` for a pair that was matched before.
    pub(super) fn publish(&self, output: Output, again: bool) {
        let measures = again || lock(&self.stats).figures_due(Instant::now());
        let figures = if measures { Figures::of(&output) } else { None };
        lock(&self.stats).note(&output, again, figures);
        let output = Arc::new(output);
        if output.map.is_some() {
            let taps = lock(&self.taps).clone();
            for tap in &taps {
                if again { tap.result_again(&output) } else { tap.result(&output) }
            }
        }
        *lock(&self.latest) = Some(output);
        (self.wake)();
    }

    /// Drops the newest result's texture, and the result where it has no map on the host.
    pub(super) fn forget_device(&self) {
        let mut latest = lock(&self.latest);
        let on_host = latest.take().filter(|output| output.map.is_some());
        *latest = on_host.map(|output| Arc::new(Output { texture: None, ..(*output).clone() }));
    }
}
