//! Events of jobs in their order: tests see in them that the host and the device work side by side.

use parking_lot::Mutex;
use std::sync::Arc;

/// Moment of a job, with the job's number since the engine was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The host has written the pair into mapped memory.
    Written(u64),
    /// The first submission of the job went to the device.
    Began(u64),
    /// The last submission of the job is done, copies of the result included.
    Computed(u64),
    /// The result is on the host.
    Taken(u64),
}

/// List of events, which grows only after a call of `watch`.
#[derive(Clone, Default)]
pub(super) struct Events(Option<Arc<Mutex<Vec<Event>>>>);

impl Events {
    /// Records events from now on, and returns their list.
    pub(super) fn watch(&mut self) -> Arc<Mutex<Vec<Event>>> {
        Arc::clone(self.0.get_or_insert_default())
    }

    pub(super) fn note(&self, event: Event) {
        if let Some(events) = &self.0 {
            events.lock().push(event);
        }
    }
}
