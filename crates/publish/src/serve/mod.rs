//! Engine on the network: matches the pairs of the rigs that [`rendezvous`] hashing assigns to it, and publishes their results.
//!
//! ```text
//!  presence: heads, engines ──────────────┬▶ order of the engines of each rig ─▶ a source, a pipeline and a stream for each owned rig
//!  members: their answers, their results ─┘
//! ```
//!
//! The first engine in the order of a rig owns it. When engines come or go, the previous owner continues until results of an earlier
//! engine arrive, so that no pair lacks a result; viewers show at most one result of each pair. If a rig delivers pairs but earlier
//! engines deliver no results for two seconds, the next engine takes the rig, so that an idle engine blocks none.

mod members;
mod rig;
mod speed;

use members::{MemberPoller, MemberStates};
use parking_lot::Mutex;
use rig::ServedRig;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use stereopsis_engine::OpenOptions;
use stereopsis_engine::worker::EngineSource;
use stereopsis_frame::MaxPixels;
use stereopsis_network::key::{Member, Role};
use stereopsis_network::status::{EngineStatus, Speed, Status};
use stereopsis_network::{Membership, Network, NetworkError, rendezvous};

pub use rig::RemoteOf;
pub use speed::{Stub, measure};

const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Time without results of an earlier engine after which the next one takes a rig. The second next waits twice as long, and so on.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(2);
const MAX_RIGS: usize = 64;
/// Maximum number of rigs opened simultaneously: each needs a thread and a pipeline.
const MAX_OPENING: usize = 4;
const MAX_ENGINES: usize = 256;
const STATUS_INTERVAL: Duration = Duration::from_millis(500);

/// Options of an engine on the network.
pub struct ServeOptions {
    /// Name, unique among all engines.
    pub name: String,
    /// Engine options for each rig.
    pub engine: OpenOptions,
    /// Measured speed, which determines the weight.
    pub speed: Speed,
    /// Stub in place of an engine, to measure the network.
    pub stub: Option<Stub>,
    /// Names of the rigs to serve; empty for all.
    pub rigs: Vec<String>,
    /// Largest image size of a rig.
    pub max_pixels: MaxPixels,
    /// Additional publisher of each rig.
    pub remote: Option<RemoteOf>,
}

/// Engine on the network.
pub struct Server {
    network: Network,
    options: ServeOptions,
    member: Member,
    poller: MemberPoller,
    membership: Membership,
    orders: rendezvous::Orders,
    /// Places by rig, for the rigs that this engine may own.
    places: BTreeMap<String, Place>,
    /// Number of presence changes and answers from which the places were computed.
    placed: Option<(u64, Arc<MemberStates>)>,
    rigs: BTreeMap<String, ServedRig>,
    status: Arc<Mutex<EngineStatus>>,
    status_due: Instant,
    has_reported_full: bool,
}

/// Place of this engine in the order of a rig.
struct Place {
    head: Member,
    /// Engines before this one, in their order.
    earlier: Vec<Member>,
    /// Time at which this engine first saw the rig.
    since: Instant,
}

impl Place {
    /// Returns the reason if this engine must take the rig now, empty for the first engine in the order; `None` otherwise.
    fn reason_to_take(&self, states: &MemberStates) -> Option<String> {
        let Some(first) = self.earlier.first() else { return Some(String::new()) };
        let pairs_come = states.pairs(&self.head).is_some_and(|pairs| pairs.grew.elapsed() < SILENCE_TIMEOUT);
        let is_silent = self.earlier.iter().all(|engine| {
            let results = states.results(engine, &self.head.name);
            // a slow engine, which needs seconds per result, is not silent
            let patience = results.map_or(SILENCE_TIMEOUT, |results| SILENCE_TIMEOUT.max(3 * results.interval));
            results.map_or(self.since, |results| results.grew.max(self.since)).elapsed() > patience
        });
        let waits = SILENCE_TIMEOUT * self.earlier.len() as u32;
        (pairs_come && is_silent && self.since.elapsed() > waits)
            .then(|| format!(": engine '{}' gives no results of it", first.name))
    }
}

impl Server {
    /// Announces the engine on the network.
    ///
    /// # Errors
    /// The name is invalid or taken, or the session has ended.
    pub fn start(network: Network, options: ServeOptions) -> Result<Self, NetworkError> {
        stereopsis_network::key::check_rig(&options.name)?;
        let weight = rendezvous::weight(options.speed.pairs_per_s);
        let only = options.rigs.iter().cloned().collect();
        let member = Member { only, ..Member::new(Role::Engine, options.name.clone(), weight) };
        let status = EngineStatus {
            adapter: "none open yet".to_owned(),
            measured: vec![options.speed.clone()],
            rigs: Vec::new(),
        };
        let status = Arc::new(Mutex::new(status));
        let shared = Arc::clone(&status);
        let detail = move |status: &mut Status| status.engine = Some(shared.lock().clone());
        let membership = Membership::start(&network, &member, Vec::new(), detail)?;
        let poller = MemberPoller::start(&network, membership.presence())?;
        Ok(Self {
            network,
            options,
            member,
            poller,
            membership,
            orders: rendezvous::Orders::default(),
            places: BTreeMap::new(),
            placed: None,
            rigs: BTreeMap::new(),
            status,
            status_due: Instant::now(),
            has_reported_full: false,
        })
    }

    /// Serves until `interrupt`; `report` receives messages for the user.
    ///
    /// # Errors
    /// Another engine of the name started simultaneously, and has precedence.
    pub fn run(&mut self, interrupt: &AtomicBool, report: &mut dyn FnMut(String)) -> Result<(), NetworkError> {
        while !interrupt.load(Ordering::Acquire) {
            self.poll(report);
            if Instant::now() >= self.status_due {
                self.status_due = Instant::now() + STATUS_INTERVAL;
                self.publish_status();
                self.membership.yields().map_or(Ok(()), Err)?;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    /// Takes new rigs, releases others, and forwards changed parameters.
    fn poll(&mut self, report: &mut dyn FnMut(String)) {
        let states = self.poller.states();
        self.place(&states);
        for (name, place) in &self.places {
            if let Some(rig) = self.rigs.get_mut(name) {
                rig.set_earlier(&place.earlier, &self.network);
                continue;
            }
            let Some(why) = place.reason_to_take(&states) else { continue };
            if self.rigs.values().filter(|rig| rig.is_opening()).count() >= MAX_OPENING {
                continue;
            }
            if self.rigs.len() >= MAX_RIGS {
                if !std::mem::replace(&mut self.has_reported_full, true) {
                    report(format!(
                        "rig '{name}' is not taken: an engine has {MAX_RIGS} rigs at most; start another engine"
                    ));
                }
                continue;
            }
            report(format!("taking rig '{name}'{why}"));
            let ServeOptions { max_pixels, remote, .. } = &self.options;
            let (network, boot) = (self.network.clone(), self.member.boot);
            let rig = ServedRig::open(network, &place.head, boot, self.engine(), *max_pixels, remote.clone());
            self.rigs.insert(name.clone(), rig);
        }
        let presence = self.membership.presence();
        self.rigs.retain(|name, rig| {
            let is_gone = presence.look(|present| present.head(name).is_none());
            let goes = if is_gone { Some("its head is gone".to_owned()) } else { rig.poll() };
            if let Some(why) = &goes {
                report(format!("leaving rig '{name}': {why}"));
            }
            goes.is_none()
        });
    }

    /// Computes the places of this engine again if the members or their answers have changed.
    fn place(&mut self, states: &Arc<MemberStates>) {
        let changes = self.membership.presence().changes();
        if self.placed.as_ref().is_some_and(|(seen, known)| *seen == changes && Arc::ptr_eq(known, states)) {
            return;
        }
        self.placed = Some((changes, Arc::clone(states)));
        let present = self.membership.presence().present();
        let answers = |member: &&Member| states.answers(member);
        let others = present.of(Role::Engine).filter(|engine| **engine != self.member);
        let engines: Vec<_> = others.filter(answers).take(MAX_ENGINES).chain([&self.member]).collect();
        let heads: BTreeSet<_> =
            present.of(Role::Head).filter(answers).filter(|head| self.member.matches(&head.name)).collect();
        self.orders.retain(|rig| heads.iter().any(|head| head.name == *rig));
        let before = std::mem::take(&mut self.places);
        // of two heads of one name the newest wins; an engine that serves the other one keeps it
        for head in heads {
            let order = self.orders.of(&head.name, engines.iter().copied());
            let earlier = order.into_iter().take_while(|engine| **engine != self.member).cloned().collect();
            let since = before.get(&head.name).map_or_else(Instant::now, |place| place.since);
            self.places.insert(head.name.clone(), Place { head: head.clone(), earlier, since });
        }
    }

    fn engine(&self) -> EngineSource {
        match &self.options.stub {
            Some(stub) => EngineSource::Opened(Box::new(stub.clone()), self.options.engine.clone()),
            None => EngineSource::Open(self.options.engine.clone()),
        }
    }

    fn publish_status(&mut self) {
        let mut status = self.status.lock();
        status.rigs = self.rigs.values().map(ServedRig::status).collect();
        let adapter = self.rigs.values().find_map(ServedRig::adapter);
        status.adapter = adapter.unwrap_or_else(|| std::mem::take(&mut status.adapter));
        for speed in self.rigs.values().filter_map(ServedRig::speed) {
            let is_same = |known: &Speed| (known.size, known.num_disparities) == (speed.size, speed.num_disparities);
            match status.measured.iter().position(is_same) {
                Some(at) => status.measured[at] = speed,
                None if status.measured.len() < 64 => status.measured.push(speed),
                None => {}
            }
        }
    }
}
