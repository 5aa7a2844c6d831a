//! Polls the states of heads and engines on a separate thread, since a liveliness token alone does not prove that a program runs.
//! A rig is served only if its head answers. An engine counts in the order of a rig while it answers, and owns the rig while its
//! number of results grows.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_network::key::{Member, Role, all_status};
use stereopsis_network::status::Status;
use stereopsis_network::{Network, NetworkError, Presence, Repeated};

const INTERVAL: Duration = Duration::from_millis(500);
/// Time limit of answers. A frozen member delays all answers by this.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Time without an answer after which a member is ignored.
const ANSWER_LIFETIME: Duration = Duration::from_secs(3);

/// Counter of a member, with the time of its last growth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    number: u64,
    pub(super) grew: Instant,
    /// Duration between the last two growths.
    pub(super) interval: Duration,
}

impl Counter {
    fn of(number: u64, now: Instant) -> Self {
        Self { number, grew: now, interval: Duration::ZERO }
    }

    fn take(&mut self, number: u64, now: Instant) {
        if std::mem::replace(&mut self.number, number) != number {
            (self.grew, self.interval) = (now, now - self.grew);
        }
    }
}

/// State of a head or an engine according to its last answer.
#[derive(Clone, Debug)]
struct MemberState {
    answered: Instant,
    /// Counters by rig: the captured pairs of a head, or the results of an engine.
    numbers: BTreeMap<String, Counter>,
}

/// States of all members that have answered.
#[derive(Clone, Debug, Default)]
pub(super) struct MemberStates(BTreeMap<Member, MemberState>);

impl MemberStates {
    pub(super) fn answers(&self, member: &Member) -> bool {
        self.0.get(member).is_some_and(|state| state.answered.elapsed() < ANSWER_LIFETIME)
    }

    pub(super) fn pairs(&self, head: &Member) -> Option<Counter> {
        self.0.get(head)?.numbers.get(&head.name).copied()
    }

    /// Returns the number of an engine's results of a rig; `None` without results.
    pub(super) fn results(&self, engine: &Member, rig: &str) -> Option<Counter> {
        self.0.get(engine)?.numbers.get(rig).copied()
    }

    /// Adds the answers of present members, given by their status keys; forgets all other members.
    fn take(&mut self, members: impl Iterator<Item = Member>, answers: &BTreeMap<String, Status>, now: Instant) {
        let mut before = std::mem::take(&mut self.0);
        for member in members {
            let known = before.remove(&member);
            let state = match answers.get(&member.status()) {
                Some(status) => Some(updated_state(&member, status, known, now)),
                None => known,
            };
            self.0.extend(state.map(|state| (member, state)));
        }
    }
}

/// Updates a member's state. The first results of an engine count as growth.
fn updated_state(member: &Member, status: &Status, known: Option<MemberState>, now: Instant) -> MemberState {
    let numbers: Vec<(String, u64)> = match (&status.head, &status.engine) {
        (Some(head), _) => vec![(member.name.clone(), head.captured)],
        (None, Some(engine)) => {
            let results = engine.rigs.iter().filter(|rig| rig.results > 0);
            results.map(|rig| (rig.rig.clone(), rig.results)).collect()
        }
        (None, None) => Vec::new(),
    };
    let mut before = known.map(|state| state.numbers).unwrap_or_default();
    let grown = numbers.into_iter().map(|(rig, number)| {
        let mut counter = before.remove(&rig).unwrap_or_else(|| Counter::of(number, now));
        counter.take(number, now);
        (rig, counter)
    });
    MemberState { answered: now, numbers: grown.collect() }
}

/// Thread that queries all members until it is dropped.
pub(super) struct MemberPoller {
    states: Arc<Mutex<Arc<MemberStates>>>,
    _thread: Repeated,
}

impl MemberPoller {
    /// Starts the queries.
    ///
    /// # Errors
    /// The system provides no thread.
    pub(super) fn start(network: &Network, presence: &Arc<Presence>) -> Result<Self, NetworkError> {
        let states = Arc::<Mutex<Arc<MemberStates>>>::default();
        let (network, presence, shared) = (network.clone(), Arc::clone(presence), Arc::clone(&states));
        let mut known = MemberStates::default();
        let work = move || match network.ask_json(&all_status(), TIMEOUT) {
            Ok(answers) => {
                let present = presence.present();
                let asked = present.members.into_iter().filter(|it| [Role::Head, Role::Engine].contains(&it.role));
                known.take(asked, &answers.into_iter().collect(), Instant::now());
                *shared.lock() = Arc::new(known.clone());
            }
            Err(err) => log::warn!("{err}"),
        };
        let thread = Repeated::start("others", "ask others", INTERVAL, work)?;
        Ok(Self { states, _thread: thread })
    }

    pub(super) fn states(&self) -> Arc<MemberStates> {
        Arc::clone(&self.states.lock())
    }
}
