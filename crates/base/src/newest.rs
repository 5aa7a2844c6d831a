//! Channel of the newest value. Live, a new value replaces one that was not taken, and the drop is counted; offline the sender waits for
//! room. To wait on several receivers see [`NewestReceiver::channel`].

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, TrySendError, bounded, select};
use parking_lot::Mutex;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Policy for a value that arrives before the previous one was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// A new value replaces the previous one, which is counted as dropped; for live views.
    #[default]
    NewestWins,
    /// The sender waits; for complete results.
    Lossless,
}

/// Error of a channel whose other end is dropped or has closed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the other end of the channel has stopped")]
pub struct Stopped;

/// Number of values that were replaced before they were taken.
#[derive(Clone, Debug, Default)]
pub struct DropCounter(Arc<AtomicU64>);

impl DropCounter {
    /// Returns the current number.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn add(&self, count: usize) {
        self.0.fetch_add(count as u64, Ordering::Relaxed);
    }
}

/// Sending end of the channel.
#[derive(Debug)]
pub struct NewestSender<T> {
    sender: Sender<T>,
    /// Takes the value to be replaced. It keeps the channel connected, hence `closed`.
    oldest: Receiver<T>,
    policy: Policy,
    /// Disconnected when no receiver is left or one has closed the channel.
    closed: Receiver<Infallible>,
    dropped: DropCounter,
}

/// Receiving end of the channel; each value goes to one of its clones, and the sender stops when the last clone is dropped.
#[derive(Debug)]
pub struct NewestReceiver<T> {
    receiver: Receiver<T>,
    policy: Policy,
    open: Arc<Mutex<Option<Sender<Infallible>>>>,
    dropped: DropCounter,
}

impl<T> Clone for NewestReceiver<T> {
    fn clone(&self) -> Self {
        let Self { receiver, policy, open, dropped } = self;
        Self { receiver: receiver.clone(), policy: *policy, open: Arc::clone(open), dropped: dropped.clone() }
    }
}

/// Creates a channel that keeps only the newest value.
pub fn channel<T>() -> (NewestSender<T>, NewestReceiver<T>) {
    channel_with(Policy::NewestWins)
}

/// Creates a channel of capacity one with this policy.
pub fn channel_with<T>(policy: Policy) -> (NewestSender<T>, NewestReceiver<T>) {
    channel_of(1, policy)
}

/// Creates a channel with this capacity and policy.
pub fn channel_of<T>(capacity: usize, policy: Policy) -> (NewestSender<T>, NewestReceiver<T>) {
    let (sender, receiver) = bounded(capacity);
    let (open, closed) = bounded(0);
    let dropped = DropCounter::default();
    (
        NewestSender { sender, oldest: receiver.clone(), policy, closed, dropped: dropped.clone() },
        NewestReceiver { receiver, policy, open: Arc::new(Mutex::new(Some(open))), dropped },
    )
}

/// Sends without waiting: a full channel drops its oldest values. Returns their number.
pub fn force_send<T>(sender: &Sender<T>, oldest: &Receiver<T>, value: T) -> usize {
    let (mut value, mut replaced) = (value, 0);
    while let Err(TrySendError::Full(refused)) = sender.try_send(value) {
        value = refused;
        replaced += usize::from(oldest.try_recv().is_ok());
    }
    replaced
}

impl<T> NewestSender<T> {
    /// Sends a value; waits only with [`Policy::Lossless`].
    ///
    /// # Errors
    /// All receivers are dropped, or one has closed the channel.
    pub fn send(&self, value: T) -> Result<(), Stopped> {
        if self.policy == Policy::Lossless {
            return self.send_waiting(value);
        }
        if self.is_closed() {
            return Err(Stopped);
        }
        self.dropped.add(force_send(&self.sender, &self.oldest, value));
        Ok(())
    }

    /// Sends a value and waits for room, whichever the policy.
    ///
    /// # Errors
    /// All receivers are dropped, or one has closed the channel.
    pub fn send_waiting(&self, value: T) -> Result<(), Stopped> {
        if self.is_closed() {
            return Err(Stopped);
        }
        select! {
            send(self.sender, value) -> sent => sent.map_err(|_| Stopped),
            recv(self.closed) -> _ => Err(Stopped),
        }
    }

    /// Returns the number of values that were replaced before they were taken.
    pub fn dropped(&self) -> u64 {
        self.dropped.get()
    }

    /// Whether all receivers are dropped, or one has closed the channel.
    pub fn is_closed(&self) -> bool {
        self.closed.try_recv() == Err(TryRecvError::Disconnected)
    }
}

impl<T> NewestReceiver<T> {
    /// Returns a received but unused value, or the newer one that has arrived since.
    pub fn newest(&self, taken: T) -> T {
        match self.policy {
            Policy::Lossless => taken,
            Policy::NewestWins => self.try_recv().map_or(taken, |newer| {
                self.dropped.add(1);
                newer
            }),
        }
    }

    /// Returns the newest value, waiting for at most `timeout`. A value sent before the sender was dropped is still returned.
    ///
    /// # Errors
    /// No value came in time, or none will follow.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.receiver.recv_timeout(timeout)
    }

    /// Returns the newest value if there is one now.
    ///
    /// # Errors
    /// There is no value yet, or none will follow.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.receiver.try_recv()
    }

    /// Returns the channel for `select!` or [`crossbeam_channel::Select`].
    pub fn channel(&self) -> &Receiver<T> {
        &self.receiver
    }

    /// Returns the number of values that were replaced before they were taken.
    pub fn dropped(&self) -> u64 {
        self.dropped.get()
    }

    /// Returns the counter of [`Self::dropped`]; it does not keep the channel connected.
    pub fn drop_counter(&self) -> DropCounter {
        self.dropped.clone()
    }

    /// Stops the sender, also one that waits for room.
    pub fn close(&self) {
        self.open.lock().take();
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
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    }

    #[test]
    fn last_value_survives_its_sender() {
        let (sender, receiver) = channel();
        sender.send(1).unwrap();
        drop(sender);
        assert_eq!(receiver.recv_timeout(Duration::from_secs(1)), Ok(1));
        assert_eq!(receiver.recv_timeout(Duration::from_secs(1)), Err(RecvTimeoutError::Disconnected));
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
