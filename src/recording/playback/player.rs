//! Plays pairs that can be read in any order: ahead on a thread of its own, and given when they are due or sought.

use crate::capture::threads::{died, join_or_leave};
use crate::capture::{CaptureError, Next, RawPair, Speed, Transport};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

/// Pairs that can be read in any order, counted from 0.
pub(super) trait Pairs: Send {
    /// Reads one.
    fn read(&mut self, k: u64) -> Result<RawPair, PairError>;
}

/// Why a pair cannot be read.
#[derive(Debug)]
pub(super) enum PairError {
    /// It is damaged; others may not be.
    Damaged(String),
    /// Nothing can be read any more.
    Lost(CaptureError),
}

/// So many pairs are decoded ahead.
const AHEAD: u64 = 3;
/// How soon is looked whether something else is wished meanwhile.
const LOOK: Duration = Duration::from_millis(5);

/// What is read while pairs are played, for words.
const THREAD: &str = "the thread that reads the recording";
/// The longest wait between two pairs, in the time of the recording, or several usual ones where those are long.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// So many usual ones.
const LONGEST_WAITS: u32 = 4;

/// How far the next pair is.
enum Ahead {
    /// It is not decoded yet.
    Coming,
    /// It was taken then.
    Taken(SystemTime),
    /// It cannot be read.
    Damaged,
}

type Decoded = Result<Box<RawPair>, PairError>;

/// What the thread that decodes shall do, and what it has done.
struct Desk {
    /// The pair that is given next.
    next: u64,
    count: u64,
    looped: bool,
    decoded: VecDeque<(u64, Decoded)>,
    stop: bool,
}

#[derive(Clone)]
struct Shared(Arc<(Mutex<Desk>, Condvar)>);

/// Plays pairs as its transport says.
pub(super) struct Player {
    transport: Arc<Transport>,
    shared: Shared,
    thread: Option<JoinHandle<()>>,
    /// At the end it waits for somebody who seeks.
    hold_at_end: bool,
    /// Between two pairs, where their times do not tell.
    usual: Duration,
    /// When the last pair was taken, and when it was given.
    last: Option<(SystemTime, Instant)>,
    /// Why pairs were left out.
    damaged: BTreeMap<u64, String>,
    /// Before which pairs the recording's time jumps so far that playback does not wait so long, and how far.
    jumps: BTreeMap<u64, Duration>,
}

impl Player {
    pub(super) fn start(
        mut pairs: Box<dyn Pairs>,
        transport: Arc<Transport>,
        hold_at_end: bool,
    ) -> Result<Self, CaptureError> {
        let playing = transport.get();
        let count = playing.len();
        let next = transport.wanted().map_or(0, |(pair, _)| pair);
        let usual = usual(&playing.times);
        let desk = Desk { next, count, looped: playing.looped, decoded: VecDeque::new(), stop: false };
        let shared = Shared(Arc::new((Mutex::new(desk), Condvar::new())));
        let for_thread = shared.clone();
        let work = move || {
            while let Some(k) = for_thread.to_decode() {
                let pair = pairs.read(k).map(Box::new);
                for_thread.put(k, pair);
            }
        };
        let thread = std::thread::Builder::new().name("recording".into()).spawn(work);
        let thread = thread.map_err(|err| CaptureError::File(format!("cannot start {THREAD}: {err}")))?;
        let (damaged, jumps) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { transport, shared, thread: Some(thread), hold_at_end, usual, last: None, damaged, jumps })
    }

    pub(super) fn transport(&self) -> &Arc<Transport> {
        &self.transport
    }

    /// Between two pairs, as they were recorded.
    pub(super) fn usual_interval(&self) -> Duration {
        self.usual
    }

    /// Pairs that could not be read, and why.
    pub(super) fn damaged(&self) -> &BTreeMap<u64, String> {
        &self.damaged
    }

    /// Where the recording's time jumps: a sentence for all of it, once there was one.
    pub(super) fn jumps(&self) -> Option<String> {
        let (pair, jump) = self.jumps.first_key_value()?;
        let more =
            if self.jumps.len() > 1 { format!(", and {} times more", self.jumps.len() - 1) } else { String::new() };
        let (jump_s, wait_s) = (jump.as_secs_f64(), self.longest_wait().as_secs_f64());
        Some(format!(
            "the recording's time goes on by {jump_s:.0} s at pair {pair}{more}: playback waits for {wait_s:.0} s"
        ))
    }

    fn longest_wait(&self) -> Duration {
        LONGEST_WAIT.max(self.usual.saturating_mul(LONGEST_WAITS))
    }

    /// The next pair with its number, waiting for at most `patience`.
    pub(super) fn next(&mut self, patience: Duration) -> Result<Next, CaptureError> {
        let deadline = Instant::now() + patience;
        loop {
            let now = Instant::now();
            let wait = (deadline.saturating_duration_since(now)).min(LOOK);
            match self.transport.wanted() {
                None if !self.hold_at_end && self.transport.get().at_end() => return Ok(Next::End),
                None => std::thread::sleep(wait),
                Some((k, sought)) => {
                    let looped = self.transport.get().looped;
                    // asked first: what it has put before its end is there then
                    let is_dead = self.thread.as_ref().is_none_or(JoinHandle::is_finished);
                    let due = match self.shared.peek(k, looped, wait) {
                        Ahead::Coming if is_dead => return Err(CaptureError::File(died(THREAD))),
                        Ahead::Coming => None,
                        Ahead::Taken(time) if !sought => Some(self.due(time)),
                        Ahead::Taken(_) | Ahead::Damaged => Some(now),
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

    /// When a pair is due that was taken at this time.
    fn due(&self, time: SystemTime) -> Instant {
        let (Some((last, given)), Speed::Times(speed)) = (self.last, self.transport.get().speed) else {
            return Instant::now();
        };
        // from the last one to the first one time goes back
        let between = time.duration_since(last).unwrap_or(self.usual).min(self.longest_wait());
        let between = Duration::try_from_secs_f64(between.as_secs_f64() / speed.max(f64::MIN_POSITIVE));
        between.ok().and_then(|between| given.checked_add(between)).unwrap_or(given)
    }

    /// Notes a jump of the recording's time before this pair.
    fn look_for_jump(&mut self, k: u64, time: SystemTime) {
        let between = self.last.and_then(|(last, _)| time.duration_since(last).ok());
        if let Some(jump) = between.filter(|between| *between > self.longest_wait()) {
            self.jumps.insert(k, jump);
        }
    }

    /// Gives a decoded pair, or leaves out one that is damaged.
    fn take(&mut self, k: u64, sought: bool, due: Instant) -> Result<Option<Box<RawPair>>, CaptureError> {
        let Some(decoded) = self.shared.take(k) else { return Ok(None) };
        match decoded {
            Ok(mut pair) => {
                self.transport.given(k);
                if !sought {
                    self.look_for_jump(k, pair.capture_time);
                }
                let now = Instant::now();
                // who was slow goes on from now
                let is_late = now.saturating_duration_since(due) > self.usual;
                self.last = Some((pair.capture_time, if sought || is_late { now } else { due }));
                pair.sequence = k;
                Ok(Some(pair))
            }
            Err(PairError::Damaged(why)) => {
                self.transport.given(k);
                self.damaged.insert(k, why.clone());
                if self.damaged.len() as u64 == self.transport.get().len() {
                    return Err(CaptureError::File(format!("no pair of the recording can be read: {why}")));
                }
                log::warn!("pair {k} is left out: {why}");
                Ok(None)
            }
            Err(PairError::Lost(err)) => Err(err),
        }
    }
}

/// What most often lies between two pairs: a clock that jumps once does not change it.
fn usual(times: &[Duration]) -> Duration {
    let mut between: Vec<Duration> = times.windows(2).map(|two| two[1].saturating_sub(two[0])).collect();
    if between.is_empty() {
        return Duration::ZERO;
    }
    let middle = between.len() / 2;
    *between.select_nth_unstable(middle).1
}

impl Drop for Player {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.0.1.notify_all();
        if let Some(thread) = self.thread.take() {
            join_or_leave(thread, THREAD);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Desk> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For the thread: what it shall decode, waiting for it; `None` when it shall stop.
    fn to_decode(&self) -> Option<u64> {
        let desk = self.lock();
        let mut desk = self.0.1.wait_while(desk, |desk| !desk.stop && desk.missing().is_none());
        let desk = desk.as_mut().ok()?;
        if desk.stop { None } else { desk.missing() }
    }

    /// For the thread: it has decoded this.
    fn put(&self, k: u64, pair: Decoded) {
        let mut desk = self.lock();
        if desk.ahead().any(|ahead| ahead == k) {
            desk.decoded.push_back((k, pair));
        }
        self.0.1.notify_all();
    }

    /// How far this pair is, which is given next; waits a little for it.
    fn peek(&self, k: u64, looped: bool, patience: Duration) -> Ahead {
        let mut desk = self.lock();
        if desk.next != k || desk.looped != looped {
            (desk.next, desk.looped) = (k, looped);
            let ahead: Vec<u64> = desk.ahead().collect();
            desk.decoded.retain(|(number, _)| ahead.contains(number));
            self.0.1.notify_all();
        }
        let waited =
            self.0.1.wait_timeout_while(desk, patience, |desk| desk.decoded.iter().all(|(number, _)| *number != k));
        let (desk, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let found = desk.decoded.iter().find(|(number, _)| *number == k);
        match found {
            None => Ahead::Coming,
            Some((_, Ok(pair))) => Ahead::Taken(pair.capture_time),
            Some((_, Err(_))) => Ahead::Damaged,
        }
    }

    fn take(&self, k: u64) -> Option<Decoded> {
        let mut desk = self.lock();
        let place = desk.decoded.iter().position(|(number, _)| *number == k)?;
        let (_, decoded) = desk.decoded.remove(place)?;
        if let Some(next) = desk.after(k) {
            desk.next = next;
        }
        self.0.1.notify_all();
        Some(decoded)
    }
}

impl Desk {
    fn after(&self, k: u64) -> Option<u64> {
        if k + 1 < self.count { Some(k + 1) } else { self.looped.then_some(0) }
    }

    /// What will be given next, as far as it is decoded ahead.
    fn ahead(&self) -> impl Iterator<Item = u64> + '_ {
        let wanted = AHEAD.min(self.count) as usize;
        std::iter::successors(Some(self.next), |&k| self.after(k)).take(wanted)
    }

    fn missing(&self) -> Option<u64> {
        self.ahead().find(|k| self.decoded.iter().all(|(number, _)| number != k))
    }
}

#[cfg(test)]
mod tests;
