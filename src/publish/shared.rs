//! What taps, clients and the publishing thread share.

use super::guard::Guard;
use super::hub::Hub;
use super::inbox::Inbox;
use super::lock;
use super::panel::Panel;
use crate::engine::worker::Wake;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Refused wishes that wait to be published.
const MOST_EVENTS: usize = 16;
/// Different things of which the user is told once; whoever is refused chooses the words, so they have an end.
const MOST_TOLD: usize = 16;

pub(super) struct Shared {
    pub(super) inbox: Inbox,
    pub(super) panel: Panel,
    pub(super) hub: Hub,
    pub(super) guard: Guard,
    refused: AtomicU64,
    told: Mutex<BTreeSet<String>>,
    wants_frames: AtomicBool,
    wants_results: AtomicBool,
    events: Mutex<Vec<String>>,
    wake: Mutex<Option<Wake>>,
}

impl Shared {
    pub(super) fn new(guard: Guard, session: String) -> Self {
        Self {
            inbox: Inbox::default(),
            panel: Panel::new(),
            hub: Hub::new(session),
            guard,
            refused: AtomicU64::new(0),
            told: Mutex::default(),
            wants_frames: AtomicBool::new(true),
            wants_results: AtomicBool::new(true),
            events: Mutex::default(),
            wake: Mutex::default(),
        }
    }

    /// There is something for whoever owns the pipeline.
    pub(super) fn wake(&self) {
        let wake = lock(&self.wake).clone();
        if let Some(wake) = wake {
            wake();
        }
    }

    pub(super) fn set_wake(&self, wake: Wake) {
        *lock(&self.wake) = Some(wake);
    }

    /// Something went wrong.
    pub(super) fn tell(&self, text: String) {
        self.panel.tell(text);
        self.wake();
    }

    /// The same, once for each text.
    pub(super) fn tell_once(&self, text: String) {
        let mut told = lock(&self.told);
        if told.contains(&text) || told.len() > MOST_TOLD {
            return;
        }
        told.insert(text.clone());
        let is_last = told.len() > MOST_TOLD;
        drop(told);
        self.tell(if is_last {
            "foxglove: refused many more; from now on they are only counted".to_owned()
        } else {
            text
        });
    }

    /// Somebody was not let in, or was sent away; the user is told `news` once.
    pub(super) fn count_refused(&self, news: Option<String>) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        match news {
            Some(news) => self.tell_once(news),
            None => self.wake(),
        }
    }

    /// How many were not let in or were sent away.
    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    pub(super) fn set_wanted(&self, frames: bool, results: bool) {
        self.wants_frames.store(frames, Ordering::Release);
        if !self.wants_results.swap(results, Ordering::AcqRel) && results {
            self.wake();
        }
    }

    pub(super) fn wants_frames(&self) -> bool {
        self.wants_frames.load(Ordering::Acquire)
    }

    pub(super) fn wants_results(&self) -> bool {
        self.wants_results.load(Ordering::Acquire)
    }

    /// A wish was refused; the oldest that nobody has fetched are forgotten.
    pub(super) fn put_events(&self, refused: Vec<String>) {
        let mut events = lock(&self.events);
        events.extend(refused);
        let excess = events.len().saturating_sub(MOST_EVENTS);
        events.drain(..excess);
    }

    /// Refused wishes that are not published yet.
    pub(super) fn events(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.events))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_is_told_of_each_origin_once_and_of_so_many() {
        let guard = Guard::new(&"foxglove".parse().unwrap(), Vec::new(), None);
        let shared = Shared::new(guard, String::new());
        let refuse = |n: u64| shared.count_refused(Some(format!("page {n}")));
        (0..3).for_each(|_| refuse(1));
        assert_eq!((shared.panel.news().len(), shared.refused()), (1, 3));
        (0..1_000).for_each(refuse);
        let news = shared.panel.news();
        assert!(news.last().unwrap().text.contains("only counted"), "{news:?}");
        assert_eq!((news.len(), shared.refused()), (MOST_TOLD, 1_003));
        refuse(5_000);
        assert!(shared.panel.news().is_empty());
    }
}
