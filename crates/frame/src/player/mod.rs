//! Playback of pairs with random access (recordings, files): a thread reads ahead, and each pair is returned when it is due or sought.
//! Damaged pairs are skipped, and large jumps of the capture times do not delay playback.

use crate::{CaptureError, Cause, Next, RawPair, Speed, Transport};
use parking_lot::{Condvar, Mutex};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::console::counted;
use stereopsis_base::files;
use stereopsis_base::threads::{Panicked, join_or_detach};

/// Pairs with random access, numbered from 0.
pub trait Pairs: Send {
    /// Returns the noun for the source in messages: `recording`, `files`.
    fn collection(&self) -> &'static str;

    /// Reads a pair, whose capture time determines when it is due.
    ///
    /// # Errors
    /// The pair is damaged, or the source has ended.
    fn read(&mut self, k: u64) -> Result<RawPair, PairError>;
}

/// Reason why a pair cannot be read.
#[derive(Debug)]
pub enum PairError {
    /// Damage of one pair, which is skipped; others may be readable.
    Damaged(Cause),
    /// End of the source with an error.
    Lost(Cause),
    /// End of the source after fewer pairs than it promised.
    Ended {
        /// Number of its pairs.
        count: u64,
        /// Remark on the end.
        why: Cause,
    },
}

/// Fault of playback itself.
#[derive(Debug, thiserror::Error)]
enum PlayerError {
    #[error("cannot start {}: {}", thread_name(.collection), files::cause(.cause))]
    NoThread { collection: &'static str, cause: io::Error },
    #[error("no pair of the {collection} can be read: {why}")]
    NoPair { collection: &'static str, why: Cause },
}

const READ_AHEAD: u64 = 3;
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Maximum wait between two pairs.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// Maximum wait between two pairs, in median intervals; the larger of both limits applies.
const MAX_WAIT_INTERVALS: u32 = 4;

enum NextPair {
    Pending,
    /// Read, with its capture time.
    Ready(SystemTime),
    Damaged,
}

type Decoded = Result<Box<RawPair>, PairError>;

/// Queue of pairs that are read ahead.
struct ReadAhead {
    next: u64,
    count: u64,
    looped: bool,
    decoded: VecDeque<(u64, Decoded)>,
    stop: bool,
}

#[derive(Clone)]
struct ReadAheadQueue(Arc<(Mutex<ReadAhead>, Condvar)>);

/// Player of pairs, controlled by a transport.
pub struct Player {
    transport: Arc<Transport>,
    shared: ReadAheadQueue,
    thread: Option<JoinHandle<()>>,
    /// Whether playback waits for a seek at the end instead of ending.
    hold_at_end: bool,
    collection: &'static str,
    /// Median interval of pairs, used when capture times go back.
    median_interval: Duration,
    /// Capture time and due time of the last pair.
    last: Option<(SystemTime, Instant)>,
    /// Errors of damaged pairs, by their numbers.
    damaged: BTreeMap<u64, String>,
    /// Remark on an end before the promised one.
    early_end: Option<String>,
    /// Jumps of the capture time by more than the maximum wait, by the number of the pair after the jump.
    jumps: BTreeMap<u64, Duration>,
}

impl Player {
    /// Starts reading ahead. `median_interval` is the median time between pairs. At the end, playback ends, or with `hold_at_end` waits
    /// for a seek.
    ///
    /// # Errors
    /// The system provides no thread.
    pub fn start(
        mut pairs: Box<dyn Pairs>,
        transport: Arc<Transport>,
        median_interval: Duration,
        hold_at_end: bool,
    ) -> Result<Self, CaptureError> {
        let playing = transport.get();
        let count = playing.num_pairs();
        let next = transport.next_pair().map_or(0, |(pair, _)| pair);
        let collection = pairs.collection();
        let state = ReadAhead { next, count, looped: playing.looped, decoded: VecDeque::new(), stop: false };
        let shared = ReadAheadQueue(Arc::new((Mutex::new(state), Condvar::new())));
        let for_thread = shared.clone();
        let work = move || {
            while let Some(k) = for_thread.next_number() {
                let pair = pairs.read(k).map(Box::new);
                for_thread.put(k, pair);
            }
        };
        let thread = std::thread::Builder::new().name(collection.into()).spawn(work);
        let cannot = |cause| CaptureError::File(PlayerError::NoThread { collection, cause }.into());
        let thread = Some(thread.map_err(cannot)?);
        let (last, damaged, early_end, jumps) = (None, BTreeMap::new(), None, BTreeMap::new());
        Ok(Self {
            transport,
            shared,
            thread,
            hold_at_end,
            collection,
            median_interval,
            last,
            damaged,
            early_end,
            jumps,
        })
    }

    /// Returns the playback control.
    pub fn transport(&self) -> &Arc<Transport> {
        &self.transport
    }

    /// Returns the median interval of pairs.
    pub fn median_interval(&self) -> Duration {
        self.median_interval
    }

    /// Returns the error of the pair at the position of playback, if playback holds at the end and the pair is damaged.
    pub fn unreadable(&self) -> Option<String> {
        let position = self.transport.get().position.filter(|_| self.hold_at_end)?;
        self.damaged.get(&position).cloned()
    }

    /// Returns remarks on the pairs that could not be read, and on an end before the promised one.
    pub fn left_out(&self) -> impl Iterator<Item = String> {
        let collection = self.collection;
        let damaged = self.damaged.values().next().map(|why| match self.damaged.len() {
            1 => format!("a pair of the {collection} was left out: {why}"),
            many => format!("{many} pairs of the {collection} were left out: {why}"),
        });
        damaged.into_iter().chain(self.early_end.clone())
    }

    /// Returns a remark on the jumps of the capture time so far.
    pub fn jumps(&self) -> Option<String> {
        let (pair, jump) = self.jumps.first_key_value()?;
        let more = if self.jumps.len() > 1 {
            format!(", and {} more", counted(self.jumps.len() as u64 - 1, "time"))
        } else {
            String::new()
        };
        let (jump_s, wait_s) = (jump.as_secs_f64(), self.max_wait().as_secs_f64());
        Some(format!(
            "the {}'s time goes on by {jump_s:.0} s at pair {pair}{more}: playback waits for {wait_s:.0} s",
            self.collection
        ))
    }

    fn max_wait(&self) -> Duration {
        MAX_WAIT.max(self.median_interval.saturating_mul(MAX_WAIT_INTERVALS))
    }

    /// Waits for the next pair, at most `timeout`.
    ///
    /// # Errors
    /// No further pair can be read.
    pub fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        let deadline = Instant::now() + timeout;
        loop {
            let now = Instant::now();
            let wait = (deadline.saturating_duration_since(now)).min(POLL_INTERVAL);
            match self.transport.next_pair() {
                None if !self.hold_at_end && self.transport.get().at_end() => return Ok(Next::End),
                None => std::thread::sleep(wait),
                Some((k, sought)) => {
                    let looped = self.transport.get().looped;
                    // check this before the queue: pairs that the thread read before its end are then in the queue
                    let is_dead = self.thread.as_ref().is_none_or(JoinHandle::is_finished);
                    let due = match self.shared.peek(k, looped, wait) {
                        NextPair::Pending if is_dead => {
                            return Err(Panicked(thread_name(self.collection)).into());
                        }
                        NextPair::Pending => None,
                        NextPair::Ready(time) if !sought => Some(self.due(time)),
                        NextPair::Ready(_) | NextPair::Damaged => Some(now),
                    };
                    match due.map(|due| (due, due.saturating_duration_since(Instant::now()))) {
                        None => {}
                        Some((_, early)) if !early.is_zero() => std::thread::sleep(early.min(wait)),
                        Some((due, _)) => {
                            if let Some(pair) = self.take(k, sought, due)? {
                                return Ok(Next::Pair(pair));
                            }
                        }
                    }
                }
            }
            if Instant::now() >= deadline {
                return Ok(Next::Waiting);
            }
        }
    }

    /// Returns the time at which a pair with this capture time is due.
    fn due(&self, time: SystemTime) -> Instant {
        let (Some((last, given)), Speed::Times(speed)) = (self.last, self.transport.get().speed) else {
            return Instant::now();
        };
        // in a loop, the capture time goes back to that of the first pair
        let between = time.duration_since(last).unwrap_or(self.median_interval).min(self.max_wait());
        let between = Duration::try_from_secs_f64(between.as_secs_f64() / speed.max(f64::MIN_POSITIVE));
        between.ok().and_then(|between| given.checked_add(between)).unwrap_or(given)
    }

    fn note_jump(&mut self, k: u64, time: SystemTime) {
        let between = self.last.and_then(|(last, _)| time.duration_since(last).ok());
        if let Some(jump) = between.filter(|between| *between > self.max_wait()) {
            self.jumps.insert(k, jump);
        }
    }

    /// Takes a pair from the queue; `None` for a damaged one.
    fn take(&mut self, k: u64, sought: bool, due: Instant) -> Result<Option<Box<RawPair>>, CaptureError> {
        let Some(decoded) = self.shared.take(k) else { return Ok(None) };
        match decoded {
            Ok(mut pair) => {
                self.transport.delivered(k);
                if !sought {
                    self.note_jump(k, pair.capture_time);
                }
                let now = Instant::now();
                // after a slow reader, due times continue from now
                let is_late = now.saturating_duration_since(due) > self.median_interval;
                self.last = Some((pair.capture_time, if sought || is_late { now } else { due }));
                pair.sequence = k;
                Ok(Some(pair))
            }
            Err(PairError::Damaged(why)) => {
                self.transport.delivered(k);
                self.damaged.insert(k, why.to_string());
                if self.damaged.len() as u64 == self.transport.get().num_pairs() {
                    let collection = self.collection;
                    return Err(CaptureError::File(PlayerError::NoPair { collection, why }.into()));
                }
                log::warn!("pair {k} is left out: {why}");
                Ok(None)
            }
            Err(PairError::Lost(why)) => Err(CaptureError::File(why)),
            Err(PairError::Ended { count: 0, why }) => Err(CaptureError::File(why)),
            Err(PairError::Ended { count, why }) => {
                log::warn!("{why}");
                self.transport.shorten(count);
                self.shared.shorten(count);
                self.damaged.retain(|pair, _| *pair < count);
                self.early_end = Some(why.to_string());
                Ok(None)
            }
        }
    }
}

fn thread_name(collection: &str) -> String {
    format!("the thread that reads the {collection}")
}

/// Returns the median interval of these times; single jumps of the clock do not affect it.
pub fn median_interval(times: &[Duration]) -> Duration {
    let mut between: Vec<Duration> = times.windows(2).map(|two| two[1].saturating_sub(two[0])).collect();
    if between.is_empty() {
        return Duration::ZERO;
    }
    let middle = between.len() / 2;
    *between.select_nth_unstable(middle).1
}

impl Drop for Player {
    fn drop(&mut self) {
        self.shared.0.0.lock().stop = true;
        self.shared.0.1.notify_all();
        if let Some(thread) = self.thread.take() {
            join_or_detach(thread, &thread_name(self.collection));
        }
    }
}

impl ReadAheadQueue {
    /// Waits for the number of the next pair to read; `None` to stop. Called by the thread.
    fn next_number(&self) -> Option<u64> {
        let mut state = self.0.0.lock();
        self.0.1.wait_while(&mut state, |state| !state.stop && state.missing().is_none());
        if state.stop { None } else { state.missing() }
    }

    /// Adds a pair unless it is no longer needed. Called by the thread.
    fn put(&self, k: u64, pair: Decoded) {
        let mut state = self.0.0.lock();
        if state.ahead().any(|ahead| ahead == k) {
            state.decoded.push_back((k, pair));
        }
        self.0.1.notify_all();
    }

    /// Makes pair `k` the next one, and waits for its state, at most `timeout`.
    fn peek(&self, k: u64, looped: bool, timeout: Duration) -> NextPair {
        let mut state = self.0.0.lock();
        if state.next != k || state.looped != looped {
            (state.next, state.looped) = (k, looped);
            let ahead: Vec<u64> = state.ahead().collect();
            state.decoded.retain(|(number, _)| ahead.contains(number));
            self.0.1.notify_all();
        }
        let is_missing = |state: &mut ReadAhead| state.decoded.iter().all(|(number, _)| *number != k);
        self.0.1.wait_while_for(&mut state, is_missing, timeout);
        let found = state.decoded.iter().find(|(number, _)| *number == k);
        match found {
            None => NextPair::Pending,
            Some((_, Ok(pair))) => NextPair::Ready(pair.capture_time),
            Some((_, Err(_))) => NextPair::Damaged,
        }
    }

    /// Ends after `count` pairs.
    fn shorten(&self, count: u64) {
        let mut state = self.0.0.lock();
        state.count = count;
        state.decoded.retain(|(number, _)| *number < count);
        state.next = if state.looped { 0 } else { state.next.min(count) };
        self.0.1.notify_all();
    }

    fn take(&self, k: u64) -> Option<Decoded> {
        let mut state = self.0.0.lock();
        let place = state.decoded.iter().position(|(number, _)| *number == k)?;
        let (_, decoded) = state.decoded.remove(place)?;
        if let Some(next) = state.after(k) {
            state.next = next;
        }
        self.0.1.notify_all();
        Some(decoded)
    }
}

impl ReadAhead {
    fn after(&self, k: u64) -> Option<u64> {
        if k + 1 < self.count { Some(k + 1) } else { self.looped.then_some(0) }
    }

    /// Iterates over the numbers of the pairs to read ahead.
    fn ahead(&self) -> impl Iterator<Item = u64> + '_ {
        let wanted = READ_AHEAD.min(self.count) as usize;
        std::iter::successors(Some(self.next).filter(|next| *next < self.count), |&k| self.after(k)).take(wanted)
    }

    fn missing(&self) -> Option<u64> {
        self.ahead().find(|k| self.decoded.iter().all(|(number, _)| number != k))
    }
}

#[cfg(test)]
mod tests;
