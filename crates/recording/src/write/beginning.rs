//! Beginning of a recording: at once, or with the first result, because an engine that is being opened would leave the first pairs
//! without depth. Called by the threads of source and engine.

use parking_lot::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// Time at which a recording begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Begins {
    /// Begins with the next pair.
    #[default]
    AtOnce,
    /// Begins with the next pair after a first result, for a source that does not wait.
    WithResult,
    /// Begins with the next pair, after which the source is held until there is a result, for a source that waits.
    Held,
}

/// Time from the first pair after which a recording begins without results: raw pairs can be matched later, but pairs that are not
/// recorded are lost.
const MAX_RESULT_WAIT: Duration = Duration::from_secs(10);

/// State of the beginning of one recording.
pub(super) struct Beginning {
    begins: Begins,
    max_wait: Duration,
    state: Mutex<BeginningState>,
    changed: Condvar,
}

#[derive(Default)]
struct BeginningState {
    first: Option<Instant>,
    /// Whether nothing is waited for any more.
    is_ready: bool,
    begun: Option<Instant>,
    /// Reason for a beginning without results.
    reason_without_results: Option<String>,
    is_reported: bool,
}

impl Beginning {
    pub(super) fn new(begins: Begins) -> Self {
        let state = BeginningState { is_ready: begins == Begins::AtOnce, ..BeginningState::default() };
        Self { begins, max_wait: MAX_RESULT_WAIT, state: Mutex::new(state), changed: Condvar::new() }
    }

    #[cfg(test)]
    pub(super) fn with_max_wait(self, max_wait: Duration) -> Self {
        Self { max_wait, ..self }
    }

    /// Returns whether a pair that arrives now is recorded. Blocks the caller where the source is held.
    pub(super) fn admits(&self) -> bool {
        let mut state = self.state.lock();
        let is_first = state.first.is_none();
        let until = *state.first.get_or_insert_with(Instant::now) + self.max_wait;
        if self.begins == Begins::Held && !is_first {
            while !state.is_ready && !self.changed.wait_until(&mut state, until).timed_out() {}
        }
        if !state.is_ready && Instant::now() >= until {
            let why = format!("no depth came within {} s", self.max_wait.as_secs());
            (state.is_ready, state.reason_without_results) = (true, Some(why));
        }
        let admits = state.is_ready || self.begins == Begins::Held;
        if admits {
            state.begun.get_or_insert_with(Instant::now);
        }
        admits
    }

    /// Ends the wait: there is a result, or the recording ends.
    pub(super) fn set_ready(&self) {
        self.state.lock().is_ready = true;
        self.changed.notify_all();
    }

    /// Stops the wait for results and begins without them, for this reason.
    pub(super) fn begin_without(&self, why: &str) {
        let mut state = self.state.lock();
        if !state.is_ready {
            (state.is_ready, state.reason_without_results) = (true, Some(why.to_owned()));
            self.changed.notify_all();
        }
    }

    pub(super) fn is_waiting(&self) -> bool {
        !self.state.lock().is_ready
    }

    pub(super) fn reason_without_results(&self) -> Option<String> {
        self.state.lock().reason_without_results.clone()
    }

    /// Returns [`Self::reason_without_results`] at the first call, then `None`.
    pub(super) fn take_reason_without_results(&self) -> Option<String> {
        let mut state = self.state.lock();
        let is_reported = std::mem::replace(&mut state.is_reported, true);
        state.reason_without_results.clone().filter(|_| !is_reported)
    }

    pub(super) fn begun(&self) -> Option<Instant> {
        self.state.lock().begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn camera_is_recorded_from_the_first_result_on() {
        let beginning = Beginning::new(Begins::WithResult);
        assert!(!beginning.admits() && !beginning.admits() && beginning.begun().is_none());
        beginning.set_ready();
        assert!(beginning.admits() && beginning.begun().is_some() && !beginning.is_waiting());
        assert_eq!(beginning.reason_without_results(), None);
    }

    #[test]
    fn holds_a_waiting_source_after_its_first_pair() {
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
    fn records_raw_pairs_when_no_result_comes() {
        let failed = Beginning::new(Begins::WithResult);
        assert!(!failed.admits());
        failed.begin_without("the engine failed");
        failed.begin_without("again");
        assert!(failed.admits());
        let why = Some("the engine failed".to_owned());
        assert_eq!(
            (
                failed.reason_without_results(),
                failed.take_reason_without_results(),
                failed.take_reason_without_results()
            ),
            (why.clone(), why, None)
        );
        for begins in [Begins::WithResult, Begins::Held] {
            let beginning = Beginning::new(begins).with_max_wait(Duration::from_millis(20));
            assert_eq!(beginning.admits(), begins == Begins::Held);
            std::thread::sleep(Duration::from_millis(if begins == Begins::Held { 0 } else { 30 }));
            assert!(beginning.admits());
            assert_eq!(beginning.reason_without_results().as_deref(), Some("no depth came within 0 s"));
        }
    }

    #[test]
    fn without_streams_of_depth_it_begins_at_once() {
        let beginning = Beginning::new(Begins::AtOnce);
        assert!(!beginning.is_waiting() && beginning.admits());
    }
}
