//! Asks the window for a new picture from any thread; nothing happens while there is no window.

use std::sync::{Arc, Mutex, PoisonError};

/// Shared by everything that has news for the window.
#[derive(Clone, Default)]
pub(crate) struct Waker(Arc<Mutex<Option<egui::Context>>>);

impl Waker {
    /// From now on this window is woken, or none.
    pub(crate) fn set(&self, ctx: Option<egui::Context>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = ctx;
    }

    /// There is something new to show.
    pub(crate) fn wake(&self) {
        let ctx = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(ctx) = ctx {
            ctx.request_repaint();
        }
    }
}
