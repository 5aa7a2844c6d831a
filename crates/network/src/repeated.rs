//! Work that a thread repeats.

use super::error::NetworkError;
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use std::convert::Infallible;
use std::thread::JoinHandle;
use std::time::Duration;
use stereopsis_base::threads::join_or_detach;

/// Thread that repeats its work at an interval until it is dropped.
pub struct Repeated {
    purpose: &'static str,
    /// Stop channel; closing it ends the thread.
    stop: Option<Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

impl Repeated {
    /// Starts the thread, which begins at once; `purpose` completes "a thread to".
    ///
    /// # Errors
    /// The system provides no thread.
    pub fn start(
        name: &str,
        purpose: &'static str,
        interval: Duration,
        mut work: impl FnMut() + Send + 'static,
    ) -> Result<Self, NetworkError> {
        let (stop, stopped) = bounded(0);
        let repeat = move || {
            work();
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                work();
            }
        };
        let thread = std::thread::Builder::new().name(name.into()).spawn(repeat);
        let thread = thread.map_err(|err| NetworkError::Thread(purpose, err))?;
        Ok(Self { purpose, stop: Some(stop), thread: Some(thread) })
    }

    /// Makes dropping not wait for the thread.
    #[must_use]
    pub(super) fn detached(mut self) -> Self {
        self.thread = None;
        self
    }
}

impl Drop for Repeated {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            join_or_detach(thread, &format!("the thread to {}", self.purpose));
        }
    }
}
