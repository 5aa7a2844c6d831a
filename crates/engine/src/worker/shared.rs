//! State that the engine thread shares with its owner, and the publication of results.

use super::control::Control;
use super::stats::{EngineStats, Figures};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use stereopsis_frame::engine::Output;
use stereopsis_frame::{ResultTap, Wake};

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
        self.control.lock().clone()
    }

    /// Changes the control. Pairs dropped so far are counted by its old state.
    pub(super) fn set_control(&self, change: impl FnOnce(&mut Control)) {
        self.count_drops();
        change(&mut self.control.lock());
    }

    /// Counts new drops of the channel of frames by their cause.
    pub(super) fn count_drops(&self) {
        let takes_none = {
            let control = self.control.lock();
            control.paused || control.suspended
        };
        self.stats.lock().count_drops(takes_none);
    }

    pub(super) fn report(&self, change: impl FnOnce(&mut EngineStats)) {
        change(&mut self.stats.lock());
        (self.wake)();
    }

    /// Whether a job with these parameters must bring its numbers to the host.
    pub(super) fn needs_read_back(&self, control: &Control) -> bool {
        control.read_back || self.taps.lock().iter().any(|tap| tap.wants_results())
    }

    /// Publishes a result; `again` for a pair that was matched before.
    pub(super) fn publish(&self, output: Output, again: bool) {
        let measures = again || self.stats.lock().figures_due(Instant::now());
        let figures = if measures { Figures::of(&output) } else { None };
        self.stats.lock().note(&output, again, figures);
        let output = Arc::new(output);
        if output.map.is_some() {
            let taps = self.taps.lock().clone();
            for tap in &taps {
                if again { tap.result_again(&output) } else { tap.result(&output) }
            }
        }
        *self.latest.lock() = Some(output);
        (self.wake)();
    }

    /// Drops the newest result's texture, and a result without a map on the host.
    pub(super) fn forget_device(&self) {
        let mut latest = self.latest.lock();
        let on_host = latest.take().filter(|output| output.map.is_some());
        *latest = on_host.map(|output| Arc::new(Output { texture: None, ..(*output).clone() }));
    }
}
