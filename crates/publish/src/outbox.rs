//! Bounded send queue of one client. Control frames are never dropped; messages are dropped oldest first, so that a client that does
//! not read costs bounded memory.

use super::protocol::{self, CloseReason};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Maximum number of queued messages: enough for all topics of a pair, which come in bursts. All clients share the bytes.
const MAX_MESSAGES: usize = 32;
/// Maximum size of queued control frames (topics, values, errors) in bytes. All topics with their schemas have a tenth of it.
const MAX_CONTROL_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct Message {
    /// Heads of the WebSocket frame and of the message.
    pub(super) head: Vec<u8>,
    pub(super) data: Arc<Vec<u8>>,
}

#[derive(Debug)]
pub(super) enum OutboxItem {
    Control(Vec<u8>),
    Message(Message),
    /// Nothing until the given moment.
    Nothing,
    /// End of the queue; everything before it has been returned.
    End,
}

#[derive(Default)]
pub(super) struct Outbox {
    waiting: Mutex<Queue>,
    changed: Condvar,
    sent_bytes: AtomicU64,
}

#[derive(Default)]
struct Queue {
    control: VecDeque<Vec<u8>>,
    control_bytes: usize,
    messages: VecDeque<Message>,
    has_ended: bool,
}

impl Outbox {
    /// Queues control frames. A client that leaves more than [`MAX_CONTROL_BYTES`] unread is disconnected.
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

    /// Queues a message; if the queue is full, the oldest one is dropped.
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

    /// Ends the queue with a close frame, and drops its messages.
    pub(super) fn end(&self, why: CloseReason) {
        self.waiting.lock().end(why);
        self.changed.notify_one();
    }

    /// Ends the queue without a close frame, and empties it.
    pub(super) fn abandon(&self) {
        let mut waiting = self.waiting.lock();
        *waiting = Queue { has_ended: true, ..Queue::default() };
        drop(waiting);
        self.changed.notify_one();
    }

    pub(super) fn count_sent(&self, bytes: usize) {
        self.sent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Returns the number of sent bytes of messages. While it grows, the client reads.
    pub(super) fn sent_bytes(&self) -> u64 {
        self.sent_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.waiting.lock().has_ended
    }

    /// Returns the next item, control frames before messages; waits for one until `until`.
    pub(super) fn next(&self, until: Instant) -> OutboxItem {
        let mut waiting = self.waiting.lock();
        loop {
            if let Some(frames) = waiting.control.pop_front() {
                waiting.control_bytes -= frames.len();
                return OutboxItem::Control(frames);
            }
            if let Some(message) = waiting.messages.pop_front() {
                return OutboxItem::Message(message);
            }
            if waiting.has_ended {
                return OutboxItem::End;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return OutboxItem::Nothing;
            }
            self.changed.wait_for(&mut waiting, left);
        }
    }
}

impl Queue {
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
                OutboxItem::Control(frames) => all.push(format!("{} bytes", frames.len())),
                OutboxItem::Message(message) => all.push(format!("message {}", message.head[0])),
                OutboxItem::Nothing => return all,
                OutboxItem::End => {
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
    fn disconnects_a_client_that_leaves_answers_unread() {
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
    fn the_close_frame_is_last() {
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
