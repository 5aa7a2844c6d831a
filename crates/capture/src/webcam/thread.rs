//! Handle of a camera's thread. A driver may block the thread, so stopping has a short timeout, after which the thread is detached.

use super::error::CameraError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use stereopsis_base::threads::join_until;

/// Time after which a stopped thread is detached; shorter than the shutdown timeout of the capture thread, which waits for this.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(400);

/// Handle of a camera's thread; dropping it stops the thread and joins or detaches it.
#[derive(Debug)]
pub(super) struct CameraThread {
    index: u32,
    stop: Arc<AtomicBool>,
    /// End of the wait for the thread; `None` before the stop signal.
    deadline: Option<Instant>,
    handle: Option<JoinHandle<()>>,
}

impl CameraThread {
    /// Starts the thread `name` of a camera; the argument of `body` becomes true when the thread must end.
    pub(super) fn spawn(
        index: u32,
        name: String,
        body: impl FnOnce(Arc<AtomicBool>) + Send + 'static,
    ) -> Result<Self, CameraError> {
        let stop = Arc::new(AtomicBool::new(false));
        let seen_by_body = stop.clone();
        let handle = thread::Builder::new()
            .name(name)
            .spawn(move || body(seen_by_body))
            .map_err(|cause| CameraError::NoThread { index, cause })?;
        Ok(Self { index, stop, deadline: None, handle: Some(handle) })
    }

    /// Signals the thread to stop; dropping waits for it. Returns the end of that wait.
    pub(super) fn signal_stop(&mut self) -> Instant {
        self.stop.store(true, Ordering::Relaxed);
        *self.deadline.get_or_insert_with(|| Instant::now() + SHUTDOWN_TIMEOUT)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.handle.as_ref().is_none_or(JoinHandle::is_finished)
    }

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
    fn a_panicked_thread_has_ended() {
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
