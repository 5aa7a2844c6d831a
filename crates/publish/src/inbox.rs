//! Input of the publishing thread: the newest item of each kind, so that capture and engine never wait for a network.

use crate::capture::{Frame, SourceInfo};
use crate::engine::Output;
use crate::recording::{About, Counters};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::Instant;

/// Input since the thread took the last one.
#[derive(Default)]
pub(super) struct Input {
    /// The newest frame, and its source.
    pub(super) frame: Option<(Arc<Frame>, SourceInfo)>,
    /// The newest result.
    pub(super) output: Option<Arc<Output>>,
    /// Description of a new source.
    pub(super) about: Option<About>,
    /// Whether subscriptions have changed.
    pub(super) subscriptions: bool,
    /// Whether parameters must be sent to the clients.
    pub(super) parameters: bool,
    /// Refused requests, to publish as events.
    pub(super) refused: Vec<String>,
    /// Whether the program ends.
    pub(super) stop: bool,
}

/// Kinds of messages with subscriptions.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) frames: bool,
    pub(super) results: bool,
}

struct State {
    input: Input,
    /// Whether the input is to be taken at once.
    is_urgent: bool,
    wanted: Wanted,
    /// Kinds that were wanted when the frame and the result came.
    counted: Wanted,
    /// Messages with subscriptions that were replaced by newer ones before they were packed.
    dropped: Counters,
}

/// Slots for the newest input of each kind.
pub(super) struct Inbox {
    state: Mutex<State>,
    changed: Condvar,
}

const NONE: Wanted = Wanted { frames: false, results: false };

impl Inbox {
    /// Creates an inbox that wants everything until [`Self::set_wanted`] is called.
    pub(super) fn new() -> Self {
        let (input, dropped) = (Input::default(), Counters::default());
        let wanted = Wanted { frames: true, results: true };
        let state = State { input, is_urgent: false, wanted, counted: NONE, dropped };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Puts a frame. An unwanted one waits for a later subscription.
    pub(super) fn put_frame(&self, frame: &Arc<Frame>, source: &SourceInfo) {
        self.put(|state| {
            state.dropped.dropped_by_disk += u64::from(state.input.frame.is_some() && state.counted.frames);
            state.input.frame = Some((Arc::clone(frame), source.clone()));
            state.counted.frames = state.wanted.frames;
            state.wanted.frames
        });
    }

    /// Puts a result, as [`Self::put_frame`].
    pub(super) fn put_output(&self, output: &Arc<Output>) {
        // a texture would outlive its device
        let on_host = || Arc::new(Output { texture: None, ..(**output).clone() });
        let output = if output.texture.is_some() { on_host() } else { Arc::clone(output) };
        self.put(|state| {
            state.dropped.results_dropped_by_disk += u64::from(state.input.output.is_some() && state.counted.results);
            state.input.output = Some(output);
            state.counted.results = state.wanted.results;
            state.wanted.results
        });
    }

    /// Puts another input, which is taken at once.
    pub(super) fn put_other(&self, change: impl FnOnce(&mut Input)) {
        self.put(|state| {
            change(&mut state.input);
            true
        });
    }

    /// Applies `change`, which returns whether the input is urgent.
    fn put(&self, change: impl FnOnce(&mut State) -> bool) {
        let mut state = self.state.lock();
        if change(&mut state) {
            state.is_urgent = true;
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Waits for urgent input or this moment; returns the input.
    pub(super) fn wait(&self, until: Instant) -> Input {
        let timeout = until.saturating_duration_since(Instant::now());
        let mut state = self.state.lock();
        self.changed.wait_while_for(&mut state, |state| !state.is_urgent, timeout);
        (state.is_urgent, state.counted) = (false, NONE);
        std::mem::take(&mut state.input)
    }

    /// Replaces the wanted kinds; returns the previous ones.
    pub(super) fn set_wanted(&self, wanted: Wanted) -> Wanted {
        std::mem::replace(&mut self.state.lock().wanted, wanted)
    }

    /// Returns the wanted kinds.
    pub(super) fn wanted(&self) -> Wanted {
        self.state.lock().wanted
    }

    /// Returns the number of dropped messages.
    pub(super) fn total_dropped(&self) -> u64 {
        let Counters { dropped_by_disk, results_dropped_by_disk, .. } = self.dropped();
        dropped_by_disk + results_dropped_by_disk
    }

    /// Returns the drops by kind.
    pub(super) fn dropped(&self) -> Counters {
        self.state.lock().dropped
    }
}
