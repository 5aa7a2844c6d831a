//! Receiving end of a stream: validates messages, keeps the newest ones for its reader, and counts dropped and refused ones. An invalid
//! message must never replace a valid one.

use super::error::NetworkError;
use super::session::Network;
use super::wire::{Content, Head, Refusal, check};
use parking_lot::Mutex;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Instant;
use stereopsis_base::newest;
use stereopsis_base::newest::{NewestReceiver, Policy};
use stereopsis_base::rate::Rate;
use zenoh::Wait as _;
use zenoh::bytes::ZBytes;
use zenoh::pubsub::Subscriber;
use zenoh::sample::Sample;

/// Maximum number of tracked senders: usually the engines of a rig while it moves. A hostile network may add any number.
const MAX_SENDERS: usize = 8;

/// Maximum gap that counts as missed messages: a minute at 120 Hz. A larger gap counts as a restart.
pub(super) const MAX_GAP: u64 = 7200;

/// Verdict on a message from its header, before it replaces another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Accept the message.
    Take,
    /// Ignore the message without counting it.
    Leave,
    /// Refuse and count the message, with the reason.
    Refuse(Refusal),
}

/// Received message.
#[derive(Debug)]
pub struct ReceivedMessage {
    /// Header of the message.
    pub head: Head,
    /// Packets; only their lengths are checked.
    pub payload: ZBytes,
}

/// Counters of a receiver.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct InletCounts {
    /// Number of received messages.
    pub received: u64,
    /// Rate of messages, Hz.
    pub rate_hz: f64,
    /// Number of received bytes.
    pub bytes: u64,
    /// Number of messages lost on the way, from gaps in their numbers.
    pub dropped_by_network: u64,
    /// Number of messages replaced by newer ones before they were read.
    pub dropped_here: u64,
    /// Number of refused messages.
    pub refused: u64,
    /// Reason of the last refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

#[derive(Default)]
struct ReceiveState {
    /// Run and newest sequence number of each sender.
    last: Vec<(u64, u64)>,
    counts: InletCounts,
    rate: Rate,
}

/// Receiver of a stream.
pub struct Inlet {
    messages: NewestReceiver<ReceivedMessage>,
    seen: Arc<Mutex<ReceiveState>>,
    _subscriber: Subscriber<()>,
}

impl Inlet {
    /// Subscribes to a key and keeps the `count` newest messages that `judge` accepts; `judge` runs on a Zenoh thread and must not block.
    ///
    /// # Errors
    /// The session has ended.
    pub fn start(
        network: &Network,
        key: &str,
        content: Content,
        count: usize,
        judge: impl Fn(&Head) -> Verdict + Send + Sync + 'static,
    ) -> Result<Self, NetworkError> {
        let (sender, messages) = newest::channel_of(count, Policy::NewestWins);
        let seen = Arc::<Mutex<ReceiveState>>::default();
        let noted = Arc::clone(&seen);
        let take = move |sample: Sample| {
            let attachment = sample.attachment().map(ZBytes::to_bytes).unwrap_or_default();
            let judged = Head::of(&attachment).and_then(|head| match judge(&head) {
                _ if head.content != content => Err(Refusal::Attachment),
                Verdict::Refuse(why) => Err(why),
                Verdict::Leave => Ok(None),
                Verdict::Take => check(sample.payload(), content).map(|()| Some(head)),
            });
            match judged {
                Ok(Some(head)) => {
                    noted.lock().note(&head, sample.payload().len());
                    let _ = sender.send(ReceivedMessage { head, payload: sample.payload().clone() });
                }
                Ok(None) => {}
                Err(why) => noted.lock().refuse(why),
            }
        };
        let subscriber = network.session().declare_subscriber(key.to_owned()).callback(take).wait();
        let subscriber = subscriber.map_err(|cause| NetworkError::Zenoh("receive", key.to_owned(), cause))?;
        Ok(Self { messages, seen, _subscriber: subscriber })
    }

    /// Returns the queue with the newest messages.
    pub fn messages(&self) -> &NewestReceiver<ReceivedMessage> {
        &self.messages
    }

    /// Counts an invalid message.
    pub fn refuse(&self, why: impl Display) {
        self.seen.lock().refuse(why);
    }

    /// Returns the counters.
    pub fn counts(&self) -> InletCounts {
        let mut seen = self.seen.lock();
        let (rate_hz, dropped_here) = (seen.rate.per_second(Instant::now()), self.messages.dropped());
        InletCounts { rate_hz, dropped_here, ..seen.counts.clone() }
    }
}

impl ReceiveState {
    fn note(&mut self, head: &Head, bytes: usize) {
        self.counts.received += 1;
        self.counts.bytes += bytes as u64;
        self.rate.record(Instant::now());
        let last = self.last.iter().position(|(boot, _)| *boot == head.boot).map(|at| self.last.remove(at).1);
        let is_near = |last: &u64| last.abs_diff(head.sequence) <= MAX_GAP;
        let last = last.filter(is_near);
        if let Some(last) = last {
            self.counts.dropped_by_network += head.sequence.saturating_sub(last.saturating_add(1));
        }
        if self.last.len() == MAX_SENDERS {
            self.last.remove(0);
        }
        self.last.push((head.boot, last.map_or(head.sequence, |last| last.max(head.sequence))));
    }

    fn refuse(&mut self, why: impl Display) {
        self.counts.refused += 1;
        self.counts.refusal = Some(why.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_gaps_per_run() {
        let mut seen = ReceiveState::default();
        let mut note = |boot, sequence| {
            seen.note(&Head { content: Content::Pair, about: 0, boot, sequence, taken_ns: 0, sent_ns: 0 }, 10);
            seen.counts.dropped_by_network
        };
        assert_eq!(note(1, 5), 0, "what was before is not known");
        assert_eq!([note(1, 6), note(1, 9), note(1, 8), note(1, 10)], [0, 2, 2, 2]);
        assert_eq!([note(2, 0), note(1, 11), note(2, 2)], [2, 2, 3], "two engines at once");
        assert_eq!([note(1, u64::MAX), note(1, 12), note(1, 14)], [3, 3, 4], "a hostile number is a new beginning");
        (10..100).for_each(|boot| {
            note(boot, 0);
        });
        assert!(seen.last.len() <= MAX_SENDERS && seen.counts.received == 101 && seen.counts.bytes == 1010);
    }
}
