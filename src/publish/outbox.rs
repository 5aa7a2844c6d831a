//! What waits to be sent to one client: a bounded lot, so that a client that does not listen costs nothing.

use super::protocol::{self, Farewell};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Messages that wait for one client; topics come in bursts, so it takes all of a pair. All clients share the bytes.
const MOST_MESSAGES: usize = 32;
/// Bytes of words (topics, values, complaints) that wait for one client; all topics with their schemas are a tenth of it.
const MOST_WORDS_BYTES: usize = 1 << 20;

/// A message of a topic; the data are shared.
#[derive(Debug)]
pub(super) struct Message {
    /// What comes before the data.
    pub(super) head: Vec<u8>,
    pub(super) data: Arc<Vec<u8>>,
}

/// What is to be sent next.
#[derive(Debug)]
pub(super) enum Next {
    /// Frames as they go over the wire.
    Words(Vec<u8>),
    Message(Message),
    /// Nothing has come.
    Nothing,
    /// Everything is sent, and nothing more will come.
    End,
}

/// The queue of one client.
#[derive(Default)]
pub(super) struct Outbox {
    waiting: Mutex<Waiting>,
    bell: Condvar,
    sent_bytes: AtomicU64,
}

#[derive(Default)]
struct Waiting {
    words: VecDeque<Vec<u8>>,
    words_bytes: usize,
    messages: VecDeque<Message>,
    has_ended: bool,
}

impl Outbox {
    /// Frames that must arrive, in this order. A client for which too many wait is sent away.
    pub(super) fn put_words(&self, frames: Vec<u8>) {
        let mut waiting = self.waiting();
        if waiting.has_ended {
            return;
        }
        waiting.words_bytes += frames.len();
        waiting.words.push_back(frames);
        if waiting.words_bytes > MOST_WORDS_BYTES {
            waiting.words.clear();
            waiting.end(Farewell::Deaf);
        }
        drop(waiting);
        self.bell.notify_one();
    }

    /// A message; the oldest one goes where there are too many.
    pub(super) fn put_message(&self, message: Message) {
        let mut waiting = self.waiting();
        if waiting.has_ended {
            return;
        }
        if waiting.messages.len() >= MOST_MESSAGES {
            waiting.messages.pop_front();
        }
        waiting.messages.push_back(message);
        drop(waiting);
        self.bell.notify_one();
    }

    /// The last words; messages that wait are not sent any more.
    pub(super) fn end(&self, why: Farewell) {
        self.waiting().end(why);
        self.bell.notify_one();
    }

    /// Nothing is sent any more, not even last words.
    pub(super) fn abandon(&self) {
        let mut waiting = self.waiting();
        *waiting = Waiting { has_ended: true, ..Waiting::default() };
        drop(waiting);
        self.bell.notify_one();
    }

    /// So much more of a message is sent.
    pub(super) fn count_sent(&self, bytes: usize) {
        self.sent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes of messages that the network has taken. While they grow, somebody takes them.
    pub(super) fn sent_bytes(&self) -> u64 {
        self.sent_bytes.load(Ordering::Relaxed)
    }

    /// Whether nothing more will be sent than what waits.
    pub(super) fn has_ended(&self) -> bool {
        self.waiting().has_ended
    }

    /// What is to be sent next, words before messages.
    pub(super) fn next(&self, until: Instant) -> Next {
        let mut waiting = self.waiting();
        loop {
            if let Some(frames) = waiting.words.pop_front() {
                waiting.words_bytes -= frames.len();
                return Next::Words(frames);
            }
            if let Some(message) = waiting.messages.pop_front() {
                return Next::Message(message);
            }
            if waiting.has_ended {
                return Next::End;
            }
            let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) else {
                return Next::Nothing;
            };
            waiting = self.bell.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn end(&mut self, why: Farewell) {
        if !self.has_ended {
            self.has_ended = true;
            self.messages.clear();
            self.words.push_back(protocol::close(why));
            self.words_bytes = self.words.iter().map(Vec::len).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(n: u8) -> Message {
        Message { head: vec![n], data: Arc::default() }
    }

    fn all(outbox: &Outbox) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            match outbox.next(Instant::now()) {
                Next::Words(frames) => all.push(format!("{} bytes", frames.len())),
                Next::Message(message) => all.push(format!("message {}", message.head[0])),
                Next::Nothing => return all,
                Next::End => {
                    all.push("end".to_owned());
                    return all;
                }
            }
        }
    }

    #[test]
    fn the_newest_messages_stay_and_words_go_first() {
        let outbox = Outbox::default();
        (0..100).for_each(|n| outbox.put_message(message(n)));
        outbox.put_words(vec![0; 7]);
        let all = all(&outbox);
        assert_eq!((all.len(), all[0].as_str(), all[1].as_str()), (1 + MOST_MESSAGES, "7 bytes", "message 68"));
    }

    #[test]
    fn a_client_that_reads_no_answers_is_sent_away_with_one_word() {
        let outbox = Outbox::default();
        (0..5).for_each(|_| outbox.put_words(vec![0; MOST_WORDS_BYTES / 4]));
        assert!(outbox.has_ended());
        outbox.put_words(vec![0; 7]);
        outbox.put_message(message(1));
        let close = protocol::close(Farewell::Deaf);
        assert_eq!(all(&outbox), [format!("{} bytes", close.len()), "end".to_owned()]);
        let outbox = Outbox::default();
        for _ in 0..100 {
            outbox.put_words(vec![0; MOST_WORDS_BYTES / 4]);
            assert_eq!(all(&outbox).len(), 1, "what is read makes room");
        }
    }

    #[test]
    fn last_words_come_after_those_that_wait_and_before_nothing() {
        let outbox = Outbox::default();
        outbox.put_words(vec![0; 7]);
        outbox.put_message(message(1));
        outbox.end(Farewell::Away);
        outbox.end(Farewell::Nonsense);
        assert_eq!(all(&outbox).len(), 3, "words, farewell, end");
        let outbox = Outbox::default();
        outbox.put_words(vec![0; 7]);
        outbox.abandon();
        assert_eq!(all(&outbox), ["end"]);
    }
}
