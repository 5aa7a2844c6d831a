//! Events of jobs in their order, which show that the host and the device work side by side.

use parking_lot::Mutex;
use std::sync::Arc;

/// One moment of a job, by its number since the engine was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The host has written its pair into mapped memory.
    Written(u64),
    /// First submission of the job went to the device.
    Began(u64),
    /// Last submission of the job is done, copies of the result included.
    Computed(u64),
    /// Result is on the host.
    Taken(u64),
}

/// A list that grows, once somebody looks.
#[derive(Clone, Default)]
pub(super) struct Events(Option<Arc<Mutex<Vec<Event>>>>);

impl Events {
    /// Notes events from now on, and gives the list.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn watch(&mut self) -> Arc<Mutex<Vec<Event>>> {
        Arc::clone(self.0.get_or_insert_default())
    }

    pub(super) fn note(&self, event: Event) {
        if let Some(events) = &self.0 {
            events.lock().push(event);
        }
    }
}
