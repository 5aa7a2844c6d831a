//! Bounded send queue of one client: a client that does not read costs no memory.

use super::protocol::{self, CloseReason};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Capacity of messages: all topics of a pair, which come in bursts. All clients share the bytes.
const MAX_MESSAGES: usize = 32;
/// Capacity of control frames (topics, values, errors) in bytes; all topics with their schemas are a tenth of it.
const MAX_CONTROL_BYTES: usize = 1 << 20;

/// A message of a topic; the data are shared.
#[derive(Debug)]
pub(super) struct Message {
    /// Head of the frame and of the message.
    pub(super) head: Vec<u8>,
    pub(super) data: Arc<Vec<u8>>,
}

/// The next thing to send.
#[derive(Debug)]
pub(super) enum Next {
    /// Control frames as bytes.
    Control(Vec<u8>),
    Message(Message),
    /// Nothing in time.
    Nothing,
    /// The queue has ended, and all of it is sent.
    End,
}

/// The queue of one client.
#[derive(Default)]
pub(super) struct Outbox {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    sent_bytes: AtomicU64,
}

#[derive(Default)]
struct Waiting {
    control: VecDeque<Vec<u8>>,
    control_bytes: usize,
    messages: VecDeque<Message>,
    has_ended: bool,
}

impl Outbox {
    /// Queues control frames, which are never dropped: a client that leaves too many unread is disconnected.
    pub(super) fn put_control(&self, frames: Vec<u8>) {
        let mut waiting = self.waiting.lock();
        if waiting.has_ended {
            return;
        }
        waiting.control_bytes += frames.len();
        waiting.control.push_back(frames);
        if waiting.control_bytes > MAX_CONTROL_BYTES {
            waiting.control.clear();
            waiting.end(CloseReason::NotReading);
        }
        drop(waiting);
        self.changed.notify_one();
    }

    /// Queues a message; the oldest one is dropped where the queue is full.
    pub(super) fn put_message(&self, message: Message) {
        let mut waiting = self.waiting.lock();
        if waiting.has_ended {
            return;
        }
        if waiting.messages.len() >= MAX_MESSAGES {
            waiting.messages.pop_front();
        }
        waiting.messages.push_back(message);
        drop(waiting);
        self.changed.notify_one();
    }

    /// Ends the queue with a close frame; messages in it are not sent any more.
    pub(super) fn end(&self, why: CloseReason) {
        self.waiting.lock().end(why);
        self.changed.notify_one();
    }

    /// Ends the queue without a close frame, and empties it.
    pub(super) fn abandon(&self) {
        let mut waiting = self.waiting.lock();
        *waiting = Waiting { has_ended: true, ..Waiting::default() };
        drop(waiting);
        self.changed.notify_one();
    }

    /// Counts sent bytes of messages.
    pub(super) fn count_sent(&self, bytes: usize) {
        self.sent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes of messages that are sent. While they grow, the client reads.
    pub(super) fn sent_bytes(&self) -> u64 {
        self.sent_bytes.load(Ordering::Relaxed)
    }

    /// Whether the queue has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.waiting.lock().has_ended
    }

    /// The next thing to send, control frames before messages.
    pub(super) fn next(&self, until: Instant) -> Next {
        let mut waiting = self.waiting.lock();
        loop {
            if let Some(frames) = waiting.control.pop_front() {
                waiting.control_bytes -= frames.len();
                return Next::Control(frames);
            }
            if let Some(message) = waiting.messages.pop_front() {
                return Next::Message(message);
            }
            if waiting.has_ended {
                return Next::End;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Next::Nothing;
            }
            self.changed.wait_for(&mut waiting, left);
        }
    }
}

impl Waiting {
    fn end(&mut self, why: CloseReason) {
        if !self.has_ended {
            self.has_ended = true;
            self.messages.clear();
            self.control.push_back(protocol::close(why));
            self.control_bytes = self.control.iter().map(Vec::len).sum();
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
                Next::Control(frames) => all.push(format!("{} bytes", frames.len())),
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
    fn the_newest_messages_stay_and_control_frames_go_first() {
        let outbox = Outbox::default();
        (0..100).for_each(|n| outbox.put_message(message(n)));
        outbox.put_control(vec![0; 7]);
        let all = all(&outbox);
        assert_eq!((all.len(), all[0].as_str(), all[1].as_str()), (1 + MAX_MESSAGES, "7 bytes", "message 68"));
    }

    #[test]
    fn a_client_that_reads_no_answers_is_disconnected_with_a_close_frame() {
        let outbox = Outbox::default();
        (0..5).for_each(|_| outbox.put_control(vec![0; MAX_CONTROL_BYTES / 4]));
        assert!(outbox.has_ended());
        outbox.put_control(vec![0; 7]);
        outbox.put_message(message(1));
        let close = protocol::close(CloseReason::NotReading);
        assert_eq!(all(&outbox), [format!("{} bytes", close.len()), "end".to_owned()]);
        let outbox = Outbox::default();
        for _ in 0..100 {
            outbox.put_control(vec![0; MAX_CONTROL_BYTES / 4]);
            assert_eq!(all(&outbox).len(), 1, "what is read makes room");
        }
    }

    #[test]
    fn the_close_frame_comes_after_control_frames_and_before_nothing() {
        let outbox = Outbox::default();
        outbox.put_control(vec![0; 7]);
        outbox.put_message(message(1));
        outbox.end(CloseReason::Away);
        outbox.end(CloseReason::ProtocolError);
        assert_eq!(all(&outbox).len(), 3, "control frame, close frame, end");
        let outbox = Outbox::default();
        outbox.put_control(vec![0; 7]);
        outbox.abandon();
        assert_eq!(all(&outbox), ["end"]);
    }
}
