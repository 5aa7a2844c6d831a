//! What waits for the publishing thread: of each kind the newest, so that nobody waits for a network.

use crate::capture::{Frame, SourceInfo};
use crate::engine::Output;
use crate::recording::About;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What came since the thread looked last.
#[derive(Default)]
pub(super) struct Mail {
    /// The newest frame, and its source.
    pub(super) frame: Option<(Arc<Frame>, SourceInfo)>,
    /// The newest result.
    pub(super) output: Option<Arc<Output>>,
    /// What is known of the source now.
    pub(super) about: Option<About>,
    /// Somebody subscribed or went.
    pub(super) subscriptions: bool,
    /// Parameters are to be told to the clients.
    pub(super) parameters: bool,
    /// The program ends.
    pub(super) stop: bool,
}

/// How many were replaced before they were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DroppedByNetwork {
    /// Pairs that somebody had subscribed to.
    pub pairs: u64,
    /// Results that somebody had subscribed to.
    pub results: u64,
}

#[derive(Default)]
struct Slots {
    mail: Mail,
    /// The mail is worth waking for.
    rung: bool,
    /// The frame and the result in the mail are awaited by somebody.
    awaited: (bool, bool),
    dropped: DroppedByNetwork,
}

/// One place for each kind of mail.
#[derive(Default)]
pub(super) struct Inbox {
    slots: Mutex<Slots>,
    bell: Condvar,
}

impl Inbox {
    /// A frame; it lies there without waking anybody where it is not wanted, for whoever subscribes while nothing comes.
    pub(super) fn put_frame(&self, frame: &Arc<Frame>, source: &SourceInfo, wanted: bool) {
        self.put(wanted, |slots| {
            slots.dropped.pairs += u64::from(slots.mail.frame.is_some() && slots.awaited.0);
            slots.mail.frame = Some((Arc::clone(frame), source.clone()));
            slots.awaited.0 = wanted;
        });
    }

    /// A result.
    pub(super) fn put_output(&self, output: &Arc<Output>, wanted: bool) {
        // a picture on the device would outlive its device here
        let on_host = || Arc::new(Output { texture: None, ..(**output).clone() });
        let output = if output.texture.is_some() { on_host() } else { Arc::clone(output) };
        self.put(wanted, |slots| {
            slots.dropped.results += u64::from(slots.mail.output.is_some() && slots.awaited.1);
            slots.mail.output = Some(output);
            slots.awaited.1 = wanted;
        });
    }

    /// Any other mail, which wakes.
    pub(super) fn put_other(&self, change: impl FnOnce(&mut Mail)) {
        self.put(true, |slots| change(&mut slots.mail));
    }

    fn put(&self, rings: bool, change: impl FnOnce(&mut Slots)) {
        let mut slots = self.slots();
        change(&mut slots);
        slots.rung |= rings;
        drop(slots);
        if rings {
            self.bell.notify_one();
        }
    }

    /// The mail, as soon as some is worth it, or else at this moment.
    pub(super) fn wait(&self, until: Instant) -> Mail {
        let mut slots = self.slots();
        while !slots.rung {
            let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) else { break };
            slots = self.bell.wait_timeout(slots, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        slots.rung = false;
        slots.awaited = (false, false);
        std::mem::take(&mut slots.mail)
    }

    /// What was replaced so far.
    pub(super) fn dropped(&self) -> DroppedByNetwork {
        self.slots().dropped
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
