//! The beginning of a recording: at once, or once there is depth. An engine that is being opened would leave the first pairs without it.

use parking_lot::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// When a recording begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Begins {
    /// With the next pair.
    #[default]
    AtOnce,
    /// With the next pair behind a first result: for a source that does not wait.
    WithResult,
    /// With the next pair, behind which the source is held until there is a result: for a source that waits.
    Held,
}

/// Time from the first pair after which a recording begins without results: raw pairs can be matched later, and those that are
/// not recorded cannot.
const PATIENCE: Duration = Duration::from_secs(10);

/// The beginning of one recording.
pub(super) struct Beginning {
    begins: Begins,
    patience: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// When the first pair came.
    first: Option<Instant>,
    /// Nothing is waited for any more.
    is_ready: bool,
    /// When the first recorded pair came.
    begun: Option<Instant>,
    /// Why it has begun without results.
    without: Option<String>,
    /// Whether this was reported.
    is_told: bool,
}

impl Beginning {
    pub(super) fn new(begins: Begins) -> Self {
        let state = State { is_ready: begins == Begins::AtOnce, ..State::default() };
        Self { begins, patience: PATIENCE, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The same with another patience, for tests.
    #[cfg(test)]
    pub(super) fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Whether a pair that comes now is recorded. Holds the caller where the source is to wait.
    pub(super) fn admits(&self) -> bool {
        let mut state = self.state.lock();
        let is_first = state.first.is_none();
        let until = *state.first.get_or_insert_with(Instant::now) + self.patience;
        if self.begins == Begins::Held && !is_first {
            while !state.is_ready && !self.changed.wait_until(&mut state, until).timed_out() {}
        }
        if !state.is_ready && Instant::now() >= until {
            let why = format!("no depth came within {} s", self.patience.as_secs());
            (state.is_ready, state.without) = (true, Some(why));
        }
        let admits = state.is_ready || self.begins == Begins::Held;
        if admits {
            state.begun.get_or_insert_with(Instant::now);
        }
        admits
    }

    /// There is a result, or the recording ends: nothing is waited for any more.
    pub(super) fn set_ready(&self) {
        self.state.lock().is_ready = true;
        self.changed.notify_all();
    }

    /// Begins without results, for this reason; does nothing if it waits no more.
    pub(super) fn begin_without(&self, why: &str) {
        let mut state = self.state.lock();
        if !state.is_ready {
            (state.is_ready, state.without) = (true, Some(why.to_owned()));
            self.changed.notify_all();
        }
    }

    /// Whether a first result is waited for.
    pub(super) fn is_waiting(&self) -> bool {
        !self.state.lock().is_ready
    }

    /// Why it has begun without results; `None` where it has not.
    pub(super) fn without(&self) -> Option<String> {
        self.state.lock().without.clone()
    }

    /// The same, once.
    pub(super) fn take_without(&self) -> Option<String> {
        let mut state = self.state.lock();
        let is_told = std::mem::replace(&mut state.is_told, true);
        state.without.clone().filter(|_| !is_told)
    }

    /// When the first recorded pair came.
    pub(super) fn begun(&self) -> Option<Instant> {
        self.state.lock().begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_camera_goes_on_and_is_recorded_from_the_first_result_on() {
        let beginning = Beginning::new(Begins::WithResult);
        assert!(!beginning.admits() && !beginning.admits() && beginning.begun().is_none());
        beginning.set_ready();
        assert!(beginning.admits() && beginning.begun().is_some() && !beginning.is_waiting());
        assert_eq!(beginning.without(), None);
    }

    #[test]
    fn a_source_that_waits_is_held_behind_its_first_pair() {
        let beginning = Arc::new(Beginning::new(Begins::Held));
        assert!(beginning.admits() && beginning.is_waiting());
        let held = Arc::clone(&beginning);
        let source = std::thread::Builder::new().name("source".into()).spawn(move || held.admits()).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        assert!(!source.is_finished());
        beginning.set_ready();
        assert!(source.join().unwrap());
    }

    #[test]
    fn without_results_raw_pairs_are_recorded_nevertheless() {
        let failed = Beginning::new(Begins::WithResult);
        assert!(!failed.admits());
        failed.begin_without("the engine failed");
        failed.begin_without("again");
        assert!(failed.admits());
        let why = Some("the engine failed".to_owned());
        assert_eq!((failed.without(), failed.take_without(), failed.take_without()), (why.clone(), why, None));
        for begins in [Begins::WithResult, Begins::Held] {
            let beginning = Beginning::new(begins).with_patience(Duration::from_millis(20));
            assert_eq!(beginning.admits(), begins == Begins::Held);
            std::thread::sleep(Duration::from_millis(if begins == Begins::Held { 0 } else { 30 }));
            assert!(beginning.admits());
            assert_eq!(beginning.without().as_deref(), Some("no depth came within 0 s"));
        }
    }

    #[test]
    fn without_streams_of_depth_it_begins_at_once() {
        let beginning = Beginning::new(Begins::AtOnce);
        assert!(!beginning.is_waiting() && beginning.admits());
    }
}
