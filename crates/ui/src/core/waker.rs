//! Request of a repaint of the window from any thread; without a window nothing happens.

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Interval of frames of a software GPU, which shares its cores with the matcher.
const SOFTWARE_INTERVAL: Duration = Duration::from_millis(66);

/// Handle to the window's context, shared between threads.
#[derive(Clone, Default)]
pub(crate) struct Waker(Arc<Mutex<Option<WindowHandle>>>);

/// Window to repaint.
struct WindowHandle {
    ctx: egui::Context,
    /// Smallest interval of frames without input.
    interval: Duration,
    last_frame: Instant,
}

impl Waker {
    /// Sets the window to repaint, and whether a software GPU draws it.
    pub(crate) fn open(&self, ctx: egui::Context, is_software: bool) {
        let interval = if is_software { SOFTWARE_INTERVAL } else { Duration::ZERO };
        *self.0.lock() = Some(WindowHandle { ctx, interval, last_frame: Instant::now() });
    }

    pub(crate) fn close(&self) {
        *self.0.lock() = None;
    }

    /// Records the beginning of a frame.
    pub(crate) fn note_frame(&self) {
        if let Some(window) = &mut *self.0.lock() {
            window.last_frame = Instant::now();
        }
    }

    /// Requests a repaint as soon as the interval permits.
    pub(crate) fn wake(&self) {
        let window = self.0.lock();
        let Some(WindowHandle { ctx, interval, last_frame }) = &*window else { return };
        let (ctx, wait) = (ctx.clone(), interval.saturating_sub(last_frame.elapsed()));
        drop(window); // the context may draw at once
        ctx.request_repaint_after(wait);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam_channel::bounded;

    /// Returns the delay of the repaint that `wake` requests right after a frame.
    fn wait(is_software: bool) -> Duration {
        let (sender, receiver) = bounded(10);
        let ctx = egui::Context::default();
        ctx.set_request_repaint_callback(move |request| {
            let _ = sender.send(request.delay);
        });
        let waker = Waker::default();
        waker.wake(); // no effect without a window
        waker.open(ctx, is_software);
        waker.note_frame();
        waker.wake();
        let waits: Vec<_> = receiver.try_iter().collect();
        assert_eq!(waits.len(), 1, "{waits:?}");
        waker.close();
        waker.wake();
        assert!(receiver.try_iter().next().is_none());
        waits[0]
    }

    #[test]
    fn a_software_gpu_draws_at_intervals_and_another_at_once() {
        assert_eq!(wait(false), Duration::ZERO);
        let wait = wait(true);
        assert!(wait > Duration::ZERO && wait <= SOFTWARE_INTERVAL, "{wait:?}");
    }
}
