//! Termination by the system: SIGTERM and SIGHUP at log-out, Ctrl-C in a terminal. Ends the window as closing it does.

use eframe::UserEvent;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use winit::event_loop::EventLoopProxy;

/// Time for an orderly end, in which recordings are completed; a later signal ends the program at once.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Whether the system has requested termination.
#[derive(Clone, Default)]
pub(crate) struct Termination(Arc<Shared>);

#[derive(Default)]
struct Shared {
    asked: OnceLock<Instant>,
    proxy: Mutex<Option<EventLoopProxy<UserEvent>>>,
}

impl Termination {
    pub(crate) fn listen() -> Self {
        let ending = Self::default();
        let heard = ending.clone();
        if let Err(err) = ctrlc::set_handler(move || heard.ask()) {
            log::warn!("signals end the window at once: {err}");
        }
        ending
    }

    /// Sets the event loop that a signal wakes.
    pub(crate) fn wake(&self, proxy: EventLoopProxy<UserEvent>) {
        *self.0.proxy.lock() = Some(proxy);
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.0.asked.get().is_some()
    }

    fn ask(&self) {
        if self.0.asked.get_or_init(Instant::now).elapsed() > SHUTDOWN_TIMEOUT {
            std::process::exit(130);
        }
        if let Some(proxy) = &*self.0.proxy.lock() {
            // any event will do: the window checks for termination before it handles one
            let (viewport_id, when, cumulative_pass_nr) = (egui::ViewportId::ROOT, Instant::now(), 0);
            let _ = proxy.send_event(UserEvent::RequestRepaint { viewport_id, when, cumulative_pass_nr });
        }
    }
}
