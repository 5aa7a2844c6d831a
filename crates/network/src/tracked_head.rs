//! Binds a receiver to one head: the one whose description it has, until its token is gone and another head of the name appears.
//! Two heads may share a name for a while, for example on two machines with one disk image after a power cut. A receiver of both would
//! show the pairs of one with the calibration of the other.

use super::error::NetworkError;
use super::head::Description;
use super::head_error::HeadError;
use super::inlet::{Inlet, Verdict};
use super::key::{Member, RigTopic, Role};
use super::presence::Presence;
use super::replies::ANSWER_TIMEOUT;
use super::session::Network;
use super::wire::{Content, Head, Refusal};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_frame::Cause;

/// Time for which messages with an unknown description are refused without a query; a query per message would stall the pairs.
const UNKNOWN_REFUSAL_TIME: Duration = Duration::from_secs(1);
/// Interval of queries to a head that may replace a lost one.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// Head that a receiver is bound to.
pub(super) struct TrackedHead {
    network: Network,
    rig: String,
    description: Arc<Mutex<Description>>,
    gate: Arc<Gate>,
    /// Number of presence changes processed so far.
    seen: u64,
    /// Heads that may replace the lost one, and the time of the next query.
    next: Option<(Vec<Member>, Instant)>,
}

/// Filter of messages before they replace queued ones.
struct Gate {
    presence: Arc<Presence>,
    /// Current head; `None` before the first description.
    known: Mutex<Option<CurrentHead>>,
}

struct CurrentHead {
    head: Member,
    /// Number of its newest description.
    number: u32,
    vain_until: Option<Instant>,
}

/// Result of accepting a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DescriptionChange {
    /// The description is unchanged.
    Unchanged,
    /// A new description was fetched.
    Renewed,
}

impl TrackedHead {
    /// Finds a head and receives its pairs; refuses those of other heads.
    ///
    /// # Errors
    /// There is no such head, there are two, or its answer is invalid.
    pub(super) fn open(network: &Network, rig: &str) -> Result<(Self, Inlet), HeadError> {
        let presence = network.presence()?;
        let gate = Arc::new(Gate { presence: Arc::clone(&presence), known: Mutex::new(None) });
        let judge = Arc::clone(&gate);
        // subscribe before the query: the head sends only if there is a receiver
        let inlet = Inlet::start(network, &RigTopic::Pair.rig(rig), Content::Pair, 1, move |head| judge.of(head))?;
        let description = only_head(network, &presence, rig)?;
        let tracked = Self {
            network: network.clone(),
            rig: rig.to_owned(),
            description: Arc::new(Mutex::new(description.clone())),
            gate,
            seen: 0,
            next: None,
        };
        tracked.keep_to(description);
        Ok((tracked, inlet))
    }

    /// Returns the shared description; it may change.
    pub(super) fn description(&self) -> &Arc<Mutex<Description>> {
        &self.description
    }

    fn keep_to(&self, description: Description) {
        let head = member_of(&self.rig, &description);
        *self.gate.known.lock() = Some(CurrentHead { head, number: description.number, vain_until: None });
        *self.description.lock() = description;
    }

    /// Checks a received message; fetches the description if the message has a newer one.
    ///
    /// # Errors
    /// The message comes from another head, or its description is unknown.
    pub(super) fn accept(&mut self, head: &Head) -> Result<DescriptionChange, Refusal> {
        let (boot, number) = self.description.lock().id();
        if head.boot != boot {
            return Err(Refusal::OtherHead);
        }
        if head.about <= number {
            return Ok(DescriptionChange::Unchanged);
        }
        let is_it = |description: &Description| description.boot == boot && description.number >= head.about;
        if let Some(description) = self.described(is_it) {
            self.keep_to(description);
            return Ok(DescriptionChange::Renewed);
        }
        if let Some(known) = &mut *self.gate.known.lock() {
            known.vain_until = Some(Instant::now() + UNKNOWN_REFUSAL_TIME);
        }
        Err(Refusal::UnknownDescription)
    }

    /// Switches to another head of the name when the current one is gone; returns whether it has switched.
    pub(super) fn follow(&mut self) -> bool {
        let changes = self.gate.presence.changes();
        if std::mem::replace(&mut self.seen, changes) != changes {
            let tracked = member_of(&self.rig, &self.description.lock());
            let others = self.gate.presence.look(|present| {
                if present.members.contains(&tracked) { Vec::new() } else { present.named(tracked.role, &self.rig) }
            });
            self.next = (!others.is_empty()).then(|| (others, Instant::now()));
        }
        let Some((others, due)) = &mut self.next else { return false };
        if Instant::now() < *due {
            return false;
        }
        *due = Instant::now() + RETRY_INTERVAL;
        let boots: BTreeSet<u64> = others.iter().map(|other| other.boot).collect();
        let Some(description) = self.described(|description| boots.contains(&description.boot)) else { return false };
        log::info!("rig '{}': its head was started again", self.rig);
        self.next = None;
        self.keep_to(description);
        true
    }

    /// Fetches the matching description with the smallest run id.
    fn described(&self, fits: impl Fn(&Description) -> bool) -> Option<Description> {
        let answers = descriptions(&self.network, &self.rig).map_err(|err| log::warn!("{err}")).ok()?;
        answers.into_iter().flatten().filter(fits).min_by_key(|description| description.boot)
    }
}

impl Gate {
    /// Judges a message from its header.
    fn of(&self, head: &Head) -> Verdict {
        let known = self.known.lock();
        let Some(known) = &*known else { return Verdict::Take };
        if head.boot != known.head.boot {
            // the current head may have restarted: its new token will come soon
            let is_there = self.presence.look(|present| present.members.contains(&known.head));
            return if is_there { Verdict::Refuse(Refusal::OtherHead) } else { Verdict::Leave };
        }
        let is_vain = known.vain_until.is_some_and(|until| Instant::now() < until);
        if head.about > known.number && is_vain { Verdict::Refuse(Refusal::UnknownDescription) } else { Verdict::Take }
    }
}

fn member_of(rig: &str, description: &Description) -> Member {
    let role = if description.camera.is_some() { Role::Camera } else { Role::Head };
    Member { role, name: rig.to_owned(), boot: description.boot, weight: 0, only: BTreeSet::new() }
}

/// Fetches the descriptions of all heads of a name; returns an error for each invalid one.
fn descriptions(network: &Network, rig: &str) -> Result<Vec<Result<Description, Cause>>, NetworkError> {
    let answers = network.ask(&RigTopic::About.rig(rig), None, ANSWER_TIMEOUT)?;
    let read = |answer: super::session::AnswerResult| {
        let (_, bytes) = answer?;
        let mut description: Description = serde_json::from_slice(&bytes)?;
        let (about, wrong) = description.about.validated();
        description.about = about;
        if let Some(wrong) = wrong {
            log::warn!("rig '{rig}': {wrong}");
        }
        Ok(description)
    };
    Ok(answers.into_iter().map(read).collect())
}

/// Fetches the description of the only head of a name. Retries for a while: a new head may not answer yet, a new session may not have
/// seen it yet, and a duplicate may end.
fn only_head(network: &Network, presence: &Presence, rig: &str) -> Result<Description, HeadError> {
    let end = Instant::now() + ANSWER_TIMEOUT;
    loop {
        let (mut heads, mut failure) = (Vec::new(), None);
        for answer in descriptions(network, rig)? {
            match answer {
                Ok(head) => heads.push(head),
                Err(why) => failure = failure.or(Some(why)),
            }
        }
        heads.sort_by_key(Description::id);
        heads.dedup_by_key(|head| head.boot);
        match (heads.len(), failure) {
            (1, _) => return Ok(heads.remove(0)),
            _ if Instant::now() < end => std::thread::sleep(Duration::from_millis(100)),
            (0, failure) => return Err(no_head(network, presence, rig, failure)),
            (count, _) => return Err(HeadError::Several { rig: rig.to_owned(), count }),
        }
    }
}

/// Returns the error of a missing head, with the names of existing heads.
fn no_head(network: &Network, presence: &Presence, rig: &str, failure: Option<Cause>) -> HeadError {
    let (rig, router) = (rig.to_owned(), network.access().connect.first().cloned());
    if let Some(cause) = failure {
        return HeadError::Senseless { rig, router, cause };
    }
    let there = presence.present();
    if !there.heads(&rig).is_empty() {
        return HeadError::Unanswered { rig, router };
    }
    let heads = there.of(Role::Head).map(|head| head.name.clone()).collect();
    HeadError::Missing { rig, router, heads, other_version: there.other_versions.first().copied() }
}
