//! Input of a publishing thread: the newest frame and the newest result, and requests. Each newer item replaces one that was not
//! taken, so that capture and engine never wait for the network. Replaced items are counted if anybody had subscribed to them.

use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::Instant;
use stereopsis_frame::engine::Output;
use stereopsis_frame::{Frame, SourceInfo};
use stereopsis_recording::{About, Counters};

/// Everything that has arrived since the last call of [`Inbox::wait`].
#[derive(Default)]
pub(super) struct Input {
    pub(super) frame: Option<(Arc<Frame>, SourceInfo)>,
    pub(super) output: Option<Arc<Output>>,
    /// Description of a new source.
    pub(super) about: Option<About>,
    pub(super) subscriptions: bool,
    /// Whether parameters must be sent to the clients.
    pub(super) parameters: bool,
    /// Errors of refused requests, to be published as events.
    pub(super) refused: Vec<String>,
    pub(super) stop: bool,
}

/// Kinds of messages with subscriptions.
#[derive(Clone, Copy)]
pub(super) struct WantedKinds {
    pub(super) frames: bool,
    pub(super) results: bool,
}

struct InboxState {
    input: Input,
    /// Whether the thread must take the input at once.
    is_urgent: bool,
    wanted: WantedKinds,
    /// Kinds that had subscriptions when the frame and the result arrived.
    counted: WantedKinds,
    /// Numbers of messages with subscriptions that were replaced by newer ones before they were packed.
    dropped: Counters,
}

pub(super) struct Inbox {
    state: Mutex<InboxState>,
    changed: Condvar,
}

const NO_KINDS: WantedKinds = WantedKinds { frames: false, results: false };

impl Inbox {
    /// Creates an inbox in which all kinds count as subscribed until [`Self::set_wanted`] is called.
    pub(super) fn new() -> Self {
        let (input, dropped) = (Input::default(), Counters::default());
        let wanted = WantedKinds { frames: true, results: true };
        let state = InboxState { input, is_urgent: false, wanted, counted: NO_KINDS, dropped };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Puts a frame. Without subscriptions it is kept for a later one and does not wake the thread.
    pub(super) fn put_frame(&self, frame: &Arc<Frame>, source: &SourceInfo) {
        self.put(|state| {
            state.dropped.dropped_by_disk += u64::from(state.input.frame.is_some() && state.counted.frames);
            state.input.frame = Some((Arc::clone(frame), source.clone()));
            state.counted.frames = state.wanted.frames;
            state.wanted.frames
        });
    }

    pub(super) fn put_output(&self, output: &Arc<Output>) {
        // a kept texture would outlive its device
        let on_host = || Arc::new(Output { texture: None, ..(**output).clone() });
        let output = if output.texture.is_some() { on_host() } else { Arc::clone(output) };
        self.put(|state| {
            state.dropped.results_dropped_by_disk += u64::from(state.input.output.is_some() && state.counted.results);
            state.input.output = Some(output);
            state.counted.results = state.wanted.results;
            state.wanted.results
        });
    }

    /// Changes the other input, which is taken at once.
    pub(super) fn put_other(&self, change: impl FnOnce(&mut Input)) {
        self.put(|state| {
            change(&mut state.input);
            true
        });
    }

    /// Applies `change`, which returns whether the input is urgent.
    fn put(&self, change: impl FnOnce(&mut InboxState) -> bool) {
        let mut state = self.state.lock();
        if change(&mut state) {
            state.is_urgent = true;
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Waits for urgent input, at most until `until`; returns the input.
    pub(super) fn wait(&self, until: Instant) -> Input {
        let timeout = until.saturating_duration_since(Instant::now());
        let mut state = self.state.lock();
        self.changed.wait_while_for(&mut state, |state| !state.is_urgent, timeout);
        (state.is_urgent, state.counted) = (false, NO_KINDS);
        std::mem::take(&mut state.input)
    }

    pub(super) fn set_wanted(&self, wanted: WantedKinds) -> WantedKinds {
        std::mem::replace(&mut self.state.lock().wanted, wanted)
    }

    pub(super) fn wanted(&self) -> WantedKinds {
        self.state.lock().wanted
    }

    pub(super) fn total_dropped(&self) -> u64 {
        let Counters { dropped_by_disk, results_dropped_by_disk, .. } = self.dropped();
        dropped_by_disk + results_dropped_by_disk
    }

    pub(super) fn dropped(&self) -> Counters {
        self.state.lock().dropped
    }
}
