//! State of the WebSocket server that taps, client threads and the publishing thread share, and its messages to the user.

use super::guard::Guard;
use super::hub::Hub;
use super::inbox::{Inbox, WantedKinds};
use super::panel::Panel;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use stereopsis_frame::Wake;

const MAX_EVENTS: usize = 16;
/// Maximum number of different messages that are each reported once. They contain text of refused clients, so they must be bounded.
const MAX_MESSAGES: usize = 16;

pub(super) struct Shared {
    pub(super) inbox: Inbox,
    pub(super) panel: Panel,
    pub(super) hub: Hub,
    pub(super) guard: Guard,
    refused: AtomicU64,
    reported: Mutex<BTreeSet<String>>,
    wake: Mutex<Option<Wake>>,
}

impl Shared {
    pub(super) fn new(guard: Guard, session: String) -> Self {
        Self {
            inbox: Inbox::new(),
            panel: Panel::new(),
            hub: Hub::new(session),
            guard,
            refused: AtomicU64::new(0),
            reported: Mutex::default(),
            wake: Mutex::default(),
        }
    }

    /// Wakes the owner of the pipeline.
    pub(super) fn wake(&self) {
        let wake = self.wake.lock().clone();
        if let Some(wake) = wake {
            wake();
        }
    }

    pub(super) fn set_wake(&self, wake: Wake) {
        *self.wake.lock() = Some(wake);
    }

    pub(super) fn report(&self, text: String) {
        self.panel.report(text);
        self.wake();
    }

    /// Reports an error to the user, once for each text.
    pub(super) fn report_once(&self, text: String) {
        let mut reported = self.reported.lock();
        if reported.contains(&text) || reported.len() > MAX_MESSAGES {
            return;
        }
        reported.insert(text.clone());
        let is_last = reported.len() > MAX_MESSAGES;
        drop(reported);
        self.report(if is_last {
            "foxglove: refused many more; from now on they are only counted".to_owned()
        } else {
            text
        });
    }

    /// Counts a client that was refused or disconnected; reports `message` to the user once.
    pub(super) fn count_refused(&self, message: Option<String>) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        match message {
            Some(message) => self.report_once(message),
            None => self.wake(),
        }
    }

    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Replaces the subscribed kinds; wakes the engine if it must now copy results to the host.
    pub(super) fn set_wanted(&self, wanted: WantedKinds) {
        if !self.inbox.set_wanted(wanted).results && wanted.results {
            self.wake();
        }
    }

    /// Notes that a client has requested parameters. Afterwards the parameters in force are sent to all followers, also unchanged ones:
    /// a follower may show a refused value.
    pub(super) fn parameters_requested(&self, refused: Vec<String>) {
        self.inbox.put_other(|input| {
            input.parameters = true;
            input.refused.extend(refused);
            let excess = input.refused.len().saturating_sub(MAX_EVENTS);
            input.refused.drain(..excess);
        });
        self.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_each_message_once_up_to_a_limit() {
        let guard = Guard::new(&"foxglove".parse().unwrap(), Vec::new(), None);
        let shared = Shared::new(guard, String::new());
        let refuse = |n: u64| shared.count_refused(Some(format!("page {n}")));
        (0..3).for_each(|_| refuse(1));
        assert_eq!((shared.panel.news().len(), shared.refused()), (1, 3));
        (0..1_000).for_each(refuse);
        let news = shared.panel.news();
        assert!(news.last().unwrap().text.contains("only counted"), "{news:?}");
        assert_eq!((news.len(), shared.refused()), (MAX_MESSAGES, 1_003));
        refuse(5_000);
        assert!(shared.panel.news().is_empty());
    }
}
