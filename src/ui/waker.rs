//! Requests a repaint of the window from any thread; without a window it does nothing.

use parking_lot::Mutex;
use std::sync::Arc;

/// Handle to the window's context, shared between threads.
#[derive(Clone, Default)]
pub(crate) struct Waker(Arc<Mutex<Option<egui::Context>>>);

impl Waker {
    /// Sets the window to repaint, or none.
    pub(crate) fn set(&self, ctx: Option<egui::Context>) {
        *self.0.lock() = ctx;
    }

    /// Requests a repaint.
    pub(crate) fn wake(&self) {
        let ctx = self.0.lock().clone();
        if let Some(ctx) = ctx {
            ctx.request_repaint();
        }
    }
}
