//! The end that others ask for: by SIGTERM and SIGHUP at log-out, by Ctrl-C in a terminal. It ends the window as closing it does.

use eframe::UserEvent;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use winit::event_loop::EventLoopProxy;

/// Time for an orderly end: recordings are finished. Who asks again later does not want to wait.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether the system has asked for the end.
#[derive(Clone, Default)]
pub(super) struct Ending(Arc<Shared>);

#[derive(Default)]
struct Shared {
    asked: OnceLock<Instant>,
    /// Wakes the event loop.
    proxy: Mutex<Option<EventLoopProxy<UserEvent>>>,
}

impl Ending {
    /// Listens from now on.
    pub(super) fn listen() -> Self {
        let ending = Self::default();
        let heard = ending.clone();
        if let Err(err) = ctrlc::set_handler(move || heard.ask()) {
            log::warn!("signals end the window at once: {err}");
        }
        ending
    }

    /// Wakes this event loop when the end is asked for.
    pub(super) fn wake(&self, proxy: EventLoopProxy<UserEvent>) {
        *self.0.proxy.lock() = Some(proxy);
    }

    pub(super) fn is_asked(&self) -> bool {
        self.0.asked.get().is_some()
    }

    fn ask(&self) {
        if self.0.asked.get_or_init(Instant::now).elapsed() > PATIENCE {
            std::process::exit(130);
        }
        if let Some(proxy) = &*self.0.proxy.lock() {
            // any event will do: the window looks whether it is to end before it takes one
            let (viewport_id, when, cumulative_pass_nr) = (egui::ViewportId::ROOT, Instant::now(), 0);
            let _ = proxy.send_event(UserEvent::RequestRepaint { viewport_id, when, cumulative_pass_nr });
        }
    }
}
