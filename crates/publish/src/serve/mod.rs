//! Engine on the network: matches the rigs assigned to it by [`rendezvous`], and publishes their results.
//!
//! ```text
//!  presence: heads, engines ─▶ order of the engines of each rig ─▶ for each of mine a source, a pipeline and a published stream
//!  others: who answers, whose results come ─┘
//! ```
//!
//! The first engine in the order of a rig owns it. When engines come or go, the previous owner continues until results of an
//! earlier engine arrive, so that none is missed; viewers show one result of each pair at most. If pairs of a rig arrive but no
//! results of earlier engines for two seconds, the next engine takes it, so that an idle engine blocks no rig.

mod others;
mod rig;
mod speed;

use crate::capture::MaxPixels;
use crate::engine::OpenOptions;
use crate::live::{EngineSource, Remote};
use crate::network::key::{Member, Role};
use crate::network::status::{EngineStatus, Speed, Status};
use crate::network::{Membership, Network, NetworkError, rendezvous};
use others::{Heard, Others};
use parking_lot::Mutex;
use rig::{RunOptions, ServedRig};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub use speed::{Stub, measure};

/// Polling interval of the rigs.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Time without results of an earlier engine after which the next one takes a rig; the one behind it waits twice as long, and so
/// on.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(2);
/// Rigs of one engine.
const MAX_RIGS: usize = 64;
/// Rigs opened simultaneously: each needs a thread and a pipeline.
const MAX_OPENING: usize = 4;
/// Engines considered in the assignment of a rig.
const MAX_ENGINES: usize = 256;
/// Interval of updates of the published state.
const STATUS_INTERVAL: Duration = Duration::from_millis(500);

/// Opens another publisher of a rig's run, by the rig's name.
pub type RemoteOf = Arc<dyn Fn(&str) -> Result<Arc<dyn Remote>, String> + Send + Sync>;

/// Options of an engine on the network.
pub struct ServeOptions {
    /// Name, unique among all engines.
    pub name: String,
    /// Engine options for each rig.
    pub engine: OpenOptions,
    /// Measured speed, which determines the weight.
    pub speed: Speed,
    /// Substitute for an engine, to measure the network.
    pub stub: Option<Stub>,
    /// Rigs to serve; empty for all.
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
    others: Others,
    membership: Membership,
    orders: rendezvous::Orders,
    /// Heads of rigs that may be this engine's.
    places: BTreeMap<String, Place>,
    /// Presence changes and answers from which the places were computed.
    placed: Option<(u64, Arc<Heard>)>,
    rigs: BTreeMap<String, ServedRig>,
    told: Arc<Mutex<EngineStatus>>,
    status_due: Instant,
    has_said_full: bool,
}

/// Place of this engine in the order of a rig.
struct Place {
    head: Member,
    /// Earlier engines, the first one first.
    earlier: Vec<Member>,
    /// Time at which this engine learned of the rig.
    since: Instant,
}

impl Place {
    /// Whether to take the rig now, and the reason if another engine is earlier in the order.
    fn is_mine(&self, heard: &Heard) -> Option<String> {
        let Some(first) = self.earlier.first() else { return Some(String::new()) };
        let pairs_come = heard.pairs(&self.head).is_some_and(|pairs| pairs.grew.elapsed() < SILENCE_TIMEOUT);
        let is_silent = self.earlier.iter().all(|engine| {
            let results = heard.results(engine, &self.head.name);
            // an engine that needs seconds per result is not silent
            let patience = results.map_or(SILENCE_TIMEOUT, |results| SILENCE_TIMEOUT.max(3 * results.interval));
            results.map_or(self.since, |results| results.grew.max(self.since)).elapsed() > patience
        });
        let waits = SILENCE_TIMEOUT * self.earlier.len() as u32;
        (pairs_come && is_silent && self.since.elapsed() > waits)
            .then(|| format!(": engine '{}' gives no results of it", first.name))
    }
}

impl Server {
    /// Announces the engine.
    ///
    /// # Errors
    /// The name is invalid or taken, or the session has ended.
    pub fn start(network: Network, options: ServeOptions) -> Result<Self, NetworkError> {
        crate::network::key::check_rig(&options.name).map_err(NetworkError::new)?;
        let weight = rendezvous::weight(options.speed.pairs_per_s);
        let only = options.rigs.iter().cloned().collect();
        let member = Member { only, ..Member::new(Role::Engine, options.name.clone(), weight) };
        let told = EngineStatus {
            adapter: "none open yet".to_owned(),
            measured: vec![options.speed.clone()],
            rigs: Vec::new(),
        };
        let told = Arc::new(Mutex::new(told));
        let shared = Arc::clone(&told);
        let detail = move |status: &mut Status| status.engine = Some(shared.lock().clone());
        let membership = Membership::start(&network, &member, Vec::new(), detail)?;
        let others = Others::ask(&network, membership.presence())?;
        Ok(Self {
            network,
            options,
            member,
            others,
            membership,
            orders: rendezvous::Orders::default(),
            places: BTreeMap::new(),
            placed: None,
            rigs: BTreeMap::new(),
            told,
            status_due: Instant::now(),
            has_said_full: false,
        })
    }

    /// Serves until `interrupt`; `say` gets messages for the user.
    ///
    /// # Errors
    /// Another engine of the name started simultaneously, and has precedence.
    pub fn run(&mut self, interrupt: &AtomicBool, say: &mut dyn FnMut(String)) -> Result<(), NetworkError> {
        while !interrupt.load(Ordering::Acquire) {
            self.poll(say);
            if Instant::now() >= self.status_due {
                self.status_due = Instant::now() + STATUS_INTERVAL;
                self.tell();
                self.membership.yields().map_or(Ok(()), Err)?;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    /// Takes new rigs, releases others, and forwards changed parameters.
    fn poll(&mut self, say: &mut dyn FnMut(String)) {
        let heard = self.others.heard();
        self.place(&heard);
        for (name, place) in &self.places {
            if let Some(rig) = self.rigs.get_mut(name) {
                rig.set_earlier(&place.earlier, &self.network);
                continue;
            }
            let Some(why) = place.is_mine(&heard) else { continue };
            if self.rigs.values().filter(|rig| rig.is_opening()).count() >= MAX_OPENING {
                continue;
            }
            if self.rigs.len() >= MAX_RIGS {
                if !std::mem::replace(&mut self.has_said_full, true) {
                    say(format!(
                        "rig '{name}' is not taken: an engine has {MAX_RIGS} rigs at most; start another engine"
                    ));
                }
                continue;
            }
            say(format!("taking rig '{name}'{why}"));
            let (boot, engine, remote) = (self.member.boot, self.engine(), self.options.remote.clone());
            let how = RunOptions { boot, engine, max_pixels: self.options.max_pixels, remote };
            let rig = ServedRig::open(self.network.clone(), &place.head, how);
            self.rigs.insert(name.clone(), rig);
        }
        let presence = self.membership.presence();
        self.rigs.retain(|name, rig| {
            let is_gone = presence.look(|present| present.head(name).is_none());
            let goes = if is_gone { Some("its head is gone".to_owned()) } else { rig.poll() };
            if let Some(why) = &goes {
                say(format!("leaving rig '{name}': {why}"));
            }
            goes.is_none()
        });
    }

    /// Computes the places of this engine if the members or their answers have changed.
    fn place(&mut self, heard: &Arc<Heard>) {
        let changes = self.membership.presence().changes();
        if self.placed.as_ref().is_some_and(|(seen, known)| *seen == changes && Arc::ptr_eq(known, heard)) {
            return;
        }
        self.placed = Some((changes, Arc::clone(heard)));
        let present = self.membership.presence().present();
        let answers = |member: &&Member| heard.answers(member);
        let others = present.of(Role::Engine).filter(|engine| **engine != self.member);
        let engines: Vec<_> = others.filter(answers).take(MAX_ENGINES).chain([&self.member]).collect();
        let heads: BTreeSet<_> =
            present.of(Role::Head).filter(answers).filter(|head| self.member.matches(&head.name)).collect();
        self.orders.retain(|rig| heads.iter().any(|head| head.name == *rig));
        let mut before = std::mem::take(&mut self.places);
        // of two heads of a name the newest is taken; an engine with the other one keeps it
        for head in heads {
            let order = self.orders.of(&head.name, engines.iter().copied());
            let earlier = order.into_iter().take_while(|engine| **engine != self.member).cloned().collect();
            let since = before.remove(&head.name).map_or_else(Instant::now, |place| place.since);
            self.places.insert(head.name.clone(), Place { head: head.clone(), earlier, since });
        }
    }

    fn engine(&self) -> EngineSource {
        match &self.options.stub {
            Some(stub) => EngineSource::Opened(Box::new(stub.clone()), self.options.engine.clone()),
            None => EngineSource::Open(self.options.engine.clone()),
        }
    }

    /// Publishes the state.
    fn tell(&mut self) {
        let mut told = self.told.lock();
        told.rigs = self.rigs.values().map(ServedRig::status).collect();
        let adapter = self.rigs.values().find_map(ServedRig::adapter);
        told.adapter = adapter.unwrap_or_else(|| std::mem::take(&mut told.adapter));
        for speed in self.rigs.values().filter_map(ServedRig::speed) {
            let is_same = |known: &Speed| (known.size, known.num_disparities) == (speed.size, speed.num_disparities);
            match told.measured.iter().position(is_same) {
                Some(at) => told.measured[at] = speed,
                None if told.measured.len() < 64 => told.measured.push(speed),
                None => {}
            }
        }
    }
}
