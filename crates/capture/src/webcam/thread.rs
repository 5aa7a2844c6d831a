//! Handle of a camera's thread. A driver may block the thread: so a stop has a short timeout, after which it is detached.

use crate::CaptureError;
use crate::threads::join_until;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Timeout of a stop before the thread is detached; shorter than the capture thread's own shutdown timeout.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(400);

/// Stops the thread when dropped, and joins or detaches it.
#[derive(Debug)]
pub(super) struct CameraThread {
    index: u32,
    stop: Arc<AtomicBool>,
    /// Set as the stop signal.
    deadline: Option<Instant>,
    handle: Option<JoinHandle<()>>,
}

impl CameraThread {
    /// Starts the thread `name` for a camera; its argument becomes true when it is to end.
    pub(super) fn spawn(
        index: u32,
        name: String,
        body: impl FnOnce(Arc<AtomicBool>) + Send + 'static,
    ) -> Result<Self, CaptureError> {
        let stop = Arc::new(AtomicBool::new(false));
        let seen_by_body = stop.clone();
        let handle = thread::Builder::new()
            .name(name)
            .spawn(move || body(seen_by_body))
            .map_err(|e| CaptureError::Camera(format!("camera {index}: no thread for it: {e}")))?;
        Ok(Self { index, stop, deadline: None, handle: Some(handle) })
    }

    /// Signals the thread to stop without waiting; dropping waits.
    pub(super) fn signal_stop(&mut self) -> Instant {
        self.stop.store(true, Ordering::Relaxed);
        *self.deadline.get_or_insert_with(|| Instant::now() + SHUTDOWN_TIMEOUT)
    }

    /// Whether it has ended, by itself or by a panic.
    pub(super) fn has_ended(&self) -> bool {
        self.handle.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Signals the thread to stop and detaches it.
    pub(super) fn detach(mut self) {
        self.signal_stop();
        self.handle = None;
    }
}

impl Drop for CameraThread {
    fn drop(&mut self) {
        let deadline = self.signal_stop();
        if let Some(handle) = self.handle.take() {
            join_until(deadline, handle, &format!("the thread of camera {}", self.index));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam_channel::bounded;

    #[test]
    fn a_thread_that_panics_has_ended() {
        let (go, gone) = bounded::<()>(0);
        let dies = move |_| {
            let _ = gone.recv();
            panic!("as a driver's library may");
        };
        let thread = CameraThread::spawn(1, "dies".into(), dies).unwrap();
        assert!(!thread.has_ended());
        drop(go);
        let deadline = Instant::now() + Duration::from_secs(10);
        while !thread.has_ended() {
            assert!(Instant::now() < deadline, "it is not seen");
            thread::yield_now();
        }
    }
}
