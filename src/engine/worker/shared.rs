//! Plain data that one thread sets and another reads: the newest wins, and nobody waits longer than a copy takes.

use std::sync::{Arc, Mutex, PoisonError};

/// A value that is replaced as a whole. The lock is held only to clone.
#[derive(Debug)]
pub(super) struct Shared<T>(Mutex<Arc<T>>);

impl<T: Clone> Shared<T> {
    pub(super) fn new(value: T) -> Self {
        Self(Mutex::new(Arc::new(value)))
    }

    /// The value as it is now.
    pub(super) fn get(&self) -> Arc<T> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the value; whoever has it keeps the old one.
    pub(super) fn update(&self, change: impl FnOnce(&mut T)) {
        change(Arc::make_mut(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)));
    }
}
