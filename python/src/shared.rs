//! A value that threads share, in this process and in those that are forked from it.

use crate::arrays::value_error;
use pyo3::PyResult;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// Longest time from the locking to the note of that, with room for a machine with much other work.
const PATIENCE: Duration = Duration::from_secs(1);
/// Interval between two looks meanwhile.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// A lock that a child process can find locked for ever: the thread that held it at the fork does not exist there.
pub(crate) struct Shared<T> {
    value: Mutex<T>,
    /// The process in which it was made, or locked last.
    process: AtomicU32,
}

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Mutex::new(value), process: AtomicU32::new(process::id()) }
    }

    /// Waits for the other threads of this process. Call it without the GIL, which they may need.
    ///
    /// # Errors
    /// A thread of the process that forked this one held it then.
    pub(crate) fn lock(&self) -> PyResult<MutexGuard<'_, T>> {
        let end = Instant::now() + PATIENCE;
        loop {
            if self.process.load(Ordering::Acquire) == process::id() {
                return Ok(self.value.lock().unwrap_or_else(PoisonError::into_inner));
            }
            match self.value.try_lock() {
                Ok(value) => return Ok(self.noted(value)),
                Err(TryLockError::Poisoned(value)) => return Ok(self.noted(value.into_inner())),
                Err(TryLockError::WouldBlock) if Instant::now() < end => thread::sleep(LOOK_INTERVAL),
                Err(TryLockError::WouldBlock) => {
                    return Err(value_error(
                        "another thread used this object when the process was forked, and is not there in the child: make a new one here",
                    ));
                }
            }
        }
    }

    /// Notes this process.
    fn noted<'a>(&self, value: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.process.store(process::id(), Ordering::Release);
        value
    }
}
