//! A channel of one place. Live, a new value replaces the one that nobody took, and the drop is counted; offline the
//! sender waits for room. The sender takes the old value out through a receiver of its own, which hides that the real
//! receiver is gone: hence the flag.

use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, TryRecvError, TrySendError, bounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// What happens to a value that comes before the last one was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// It replaces the last one, which is counted as dropped: for what is looked at live.
    NewestWins,
    /// It waits, and the sender with it: for results that must be complete.
    Lossless,
}

/// The other end is gone or has closed the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the other end of the channel has stopped")]
pub struct Stopped;

/// Why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecvError {
    /// Not yet.
    #[error("nothing within the time given")]
    Timeout,
    /// Never again.
    #[error("the other end of the channel has stopped")]
    Closed,
}

/// How often a blocked sender looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(10);

#[derive(Debug, Default)]
struct Shared {
    closed: AtomicBool,
    dropped: AtomicU64,
}

/// The end that gives.
#[derive(Debug)]
pub struct NewestSender<T> {
    sender: Sender<T>,
    old: Receiver<T>,
    policy: Policy,
    shared: Arc<Shared>,
}

/// The end that takes; each value goes to one of its clones, and the sender stops when the last clone is gone.
#[derive(Debug)]
pub struct NewestReceiver<T> {
    receiver: Receiver<T>,
    policy: Policy,
    alive: Arc<CloseOnDrop>,
}

impl<T> Clone for NewestReceiver<T> {
    fn clone(&self) -> Self {
        Self { receiver: self.receiver.clone(), policy: self.policy, alive: Arc::clone(&self.alive) }
    }
}

#[derive(Debug)]
struct CloseOnDrop(Arc<Shared>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.closed.store(true, Ordering::Release);
    }
}

/// A channel that keeps only the newest value.
pub fn channel<T>() -> (NewestSender<T>, NewestReceiver<T>) {
    channel_with(Policy::NewestWins)
}

/// A channel of one place with either policy.
pub fn channel_with<T>(policy: Policy) -> (NewestSender<T>, NewestReceiver<T>) {
    let (sender, receiver) = bounded(1);
    let shared = Arc::new(Shared::default());
    let alive = Arc::new(CloseOnDrop(Arc::clone(&shared)));
    (NewestSender { sender, old: receiver.clone(), policy, shared }, NewestReceiver { receiver, policy, alive })
}

impl<T> NewestSender<T> {
    /// Gives a value; waits only where the policy is [`Policy::Lossless`].
    ///
    /// # Errors
    /// Nobody will take it any more.
    pub fn send(&self, value: T) -> Result<(), Stopped> {
        self.send_by(self.policy, value)
    }

    /// Gives a value and waits for room, whatever the policy.
    ///
    /// # Errors
    /// Nobody will take it any more.
    pub fn send_waiting(&self, value: T) -> Result<(), Stopped> {
        self.send_by(Policy::Lossless, value)
    }

    fn send_by(&self, policy: Policy, value: T) -> Result<(), Stopped> {
        let mut value = value;
        loop {
            if self.is_closed() {
                return Err(Stopped);
            }
            value = match policy {
                Policy::NewestWins => match self.sender.try_send(value) {
                    Ok(()) => return Ok(()),
                    Err(TrySendError::Full(value)) => {
                        if self.old.try_recv().is_ok() {
                            self.shared.dropped.fetch_add(1, Ordering::Relaxed);
                        }
                        value
                    }
                    Err(TrySendError::Disconnected(_)) => return Err(Stopped),
                },
                Policy::Lossless => match self.sender.send_timeout(value, LOOK) {
                    Ok(()) => return Ok(()),
                    Err(SendTimeoutError::Timeout(value)) => value,
                    Err(SendTimeoutError::Disconnected(_)) => return Err(Stopped),
                },
            };
        }
    }

    /// How many values were replaced before anybody took them.
    pub fn dropped(&self) -> u64 {
        self.shared.dropped.load(Ordering::Relaxed)
    }

    /// Whether nobody will take a value any more.
    pub fn is_closed(&self) -> bool {
        self.shared.closed.load(Ordering::Acquire)
    }
}

impl<T> NewestReceiver<T> {
    /// A value that was taken and not used yet, or the newer one that has replaced it meanwhile.
    pub fn newest(&self, taken: T) -> T {
        match self.policy {
            Policy::Lossless => taken,
            Policy::NewestWins => self.try_recv().map_or(taken, |newer| {
                self.alive.0.dropped.fetch_add(1, Ordering::Relaxed);
                newer
            }),
        }
    }

    /// The newest value, waiting for at most `patience`. What was sent before the sender went is still given.
    ///
    /// # Errors
    /// [`RecvError`]
    pub fn recv_timeout(&self, patience: Duration) -> Result<T, RecvError> {
        self.receiver.recv_timeout(patience).map_err(|err| match err {
            RecvTimeoutError::Timeout => RecvError::Timeout,
            RecvTimeoutError::Disconnected => RecvError::Closed,
        })
    }

    /// The newest value if there is one now.
    ///
    /// # Errors
    /// [`RecvError`]
    pub fn try_recv(&self) -> Result<T, RecvError> {
        self.receiver.try_recv().map_err(|err| match err {
            TryRecvError::Empty => RecvError::Timeout,
            TryRecvError::Disconnected => RecvError::Closed,
        })
    }

    /// How many values were replaced before anybody took them.
    pub fn dropped(&self) -> u64 {
        self.alive.0.dropped.load(Ordering::Relaxed)
    }

    /// Tells the sender that nothing is wanted any more, also one that waits for room.
    pub fn close(&self) {
        self.alive.0.closed.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn newest_wins_and_every_drop_is_counted() {
        let (sender, receiver) = channel();
        for value in 0..10 {
            sender.send(value).unwrap();
        }
        assert_eq!(receiver.try_recv(), Ok(9));
        assert_eq!((sender.dropped(), receiver.dropped()), (9, 9));
        assert_eq!(receiver.try_recv(), Err(RecvError::Timeout));
    }

    #[test]
    fn what_was_sent_last_survives_its_sender() {
        let (sender, receiver) = channel();
        sender.send(1).unwrap();
        drop(sender);
        assert_eq!(receiver.recv_timeout(Duration::from_secs(1)), Ok(1));
        assert_eq!(receiver.recv_timeout(Duration::from_secs(1)), Err(RecvError::Closed));
    }

    #[test]
    fn a_sender_notices_that_the_last_receiver_is_gone() {
        let (sender, receiver) = channel();
        let other = receiver.clone();
        drop(receiver);
        sender.send(1).unwrap();
        drop(other);
        assert_eq!(sender.send(2), Err(Stopped));
    }

    #[test]
    fn lossless_drops_nothing_however_slow_the_receiver() {
        let (sender, receiver) = channel_with(Policy::Lossless);
        let mut taken = Vec::new();
        thread::scope(|scope| {
            scope.spawn(move || (0..50).try_for_each(|value| sender.send(value)));
            while let Ok(value) = receiver.recv_timeout(Duration::from_secs(5)) {
                taken.push(value);
                thread::sleep(Duration::from_millis(1));
            }
        });
        assert_eq!(taken, (0..50).collect::<Vec<_>>());
        assert_eq!(receiver.dropped(), 0);
    }

    #[test]
    fn closing_frees_a_sender_that_waits_for_room() {
        let (sender, receiver) = channel_with(Policy::Lossless);
        sender.send(1).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(move || sender.send(2));
            thread::sleep(Duration::from_millis(30));
            receiver.close();
            assert_eq!(waiting.join().unwrap(), Err(Stopped));
        });
    }
}
