//! Polled states of heads and engines, on a separate thread: a token alone proves nothing.
//!
//! A rig is served only if its head answers. An engine counts in the order of a rig while it answers, and owns the rig while its
//! number of results grows.

use crate::capture::threads::join_or_detach;
use crate::network::key::{Member, Role, all_status};
use crate::network::status::Status;
use crate::network::{Network, NetworkError, Presence};
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Interval of queries.
const INTERVAL: Duration = Duration::from_millis(500);
/// Time limit of answers; a frozen member delays all answers by this.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Time without an answer after which a member is ignored.
const UNHEARD: Duration = Duration::from_secs(3);

/// Counter with the time of its last growth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growing {
    number: u64,
    /// Time of the last growth.
    pub(super) grew: Instant,
    /// Duration between the last two growths.
    pub(super) interval: Duration,
}

impl Growing {
    fn of(number: u64, now: Instant) -> Self {
        Self { number, grew: now, interval: Duration::ZERO }
    }

    fn take(&mut self, number: u64, now: Instant) {
        if std::mem::replace(&mut self.number, number) != number {
            (self.grew, self.interval) = (now, now - self.grew);
        }
    }
}

/// State of a head or an engine by its last answers.
#[derive(Clone, Debug)]
struct Told {
    answered: Instant,
    /// Counters: of a head the captured pairs, by its own name; of an engine the results of each rig.
    numbers: BTreeMap<String, Growing>,
}

/// States of all members that answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard(BTreeMap<Member, Told>);

impl Heard {
    /// Whether a member answers.
    pub(super) fn answers(&self, member: &Member) -> bool {
        self.0.get(member).is_some_and(|told| told.answered.elapsed() < UNHEARD)
    }

    /// Returns the pairs of a rig, by its head.
    pub(super) fn pairs(&self, head: &Member) -> Option<Growing> {
        self.0.get(head)?.numbers.get(&head.name).copied()
    }

    /// Returns the results of a rig, by an engine; `None` without any.
    pub(super) fn results(&self, engine: &Member, rig: &str) -> Option<Growing> {
        self.0.get(engine)?.numbers.get(rig).copied()
    }

    /// Adds the answers of present members, by their state keys.
    fn take(&mut self, members: impl Iterator<Item = Member>, answers: &BTreeMap<String, Status>, now: Instant) {
        let mut before = std::mem::take(&mut self.0);
        for member in members {
            let known = before.remove(&member);
            let told = match answers.get(&member.status()) {
                Some(status) => Some(told(&member, status, known, now)),
                None => known,
            };
            self.0.extend(told.map(|told| (member, told)));
        }
    }
}

/// Updates a member's state. The first results of an engine count as growth.
fn told(member: &Member, status: &Status, known: Option<Told>, now: Instant) -> Told {
    let numbers: Vec<(String, u64)> = match (&status.head, &status.engine) {
        (Some(head), _) => vec![(member.name.clone(), head.captured)],
        (None, Some(engine)) => {
            let results = engine.rigs.iter().filter(|rig| rig.results > 0);
            results.map(|rig| (rig.rig.clone(), rig.results)).collect()
        }
        (None, None) => Vec::new(),
    };
    let mut before = known.map(|told| told.numbers).unwrap_or_default();
    let grown = numbers.into_iter().map(|(rig, number)| {
        let mut growing = before.remove(&rig).unwrap_or_else(|| Growing::of(number, now));
        growing.take(number, now);
        (rig, growing)
    });
    Told { answered: now, numbers: grown.collect() }
}

/// Thread that queries all members until it is dropped.
pub(super) struct Others {
    heard: Arc<Mutex<Arc<Heard>>>,
    /// Stop channel; `None` at the end.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Others {
    /// Starts the queries.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(super) fn ask(network: &Network, presence: &Arc<Presence>) -> Result<Self, NetworkError> {
        let heard = Arc::<Mutex<Arc<Heard>>>::default();
        let (stop, stopped) = bounded::<()>(0);
        let (network, presence, shared) = (network.clone(), Arc::clone(presence), Arc::clone(&heard));
        let work = move || {
            let mut heard = Heard::default();
            loop {
                match network.ask(&all_status(), None, TIMEOUT) {
                    Ok(answers) => {
                        let read = |(key, bytes): (String, Vec<u8>)| Some((key, serde_json::from_slice(&bytes).ok()?));
                        let answers: BTreeMap<String, Status> =
                            answers.into_iter().flatten().filter_map(read).collect();
                        let present = presence.present();
                        let asked =
                            present.members.into_iter().filter(|it| [Role::Head, Role::Engine].contains(&it.role));
                        heard.take(asked, &answers, Instant::now());
                        *shared.lock() = Arc::new(heard.clone());
                    }
                    Err(err) => log::warn!("{err}"),
                }
                if !matches!(stopped.recv_timeout(INTERVAL), Err(RecvTimeoutError::Timeout)) {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("others".into()).spawn(work);
        let thread = thread.map_err(|err| NetworkError::new(format!("no thread to ask others: {err}")))?;
        Ok(Self { heard, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns the latest states.
    pub(super) fn heard(&self) -> Arc<Heard> {
        Arc::clone(&self.heard.lock())
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            join_or_detach(thread, "the thread that asks other members");
        }
    }
}
