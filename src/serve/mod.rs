//! An engine on the network: matches the rigs that are its own by [`rendezvous`], and publishes their results.
//!
//! ```text
//!  presence: heads, engines ─▶ which rigs are mine? ─▶ for each a source, a pipeline and a published stream
//! ```
//!
//! A rig moves when an engine comes or goes. The engine that had it goes on until results of the next one come, so that none is
//! missed; who watches shows one result of each pair at most.

mod rig;
mod speed;

use crate::capture::MaxPixels;
use crate::engine::OpenOptions;
use crate::live::{EngineSource, Remote};
use crate::network::key::{Member, Role};
use crate::network::status::{EngineStatus, Speed, Status};
use crate::network::{Membership, Network, NetworkError, Presence, rendezvous};
use parking_lot::Mutex;
use rig::{RunOptions, ServedRig};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub use speed::{Stub, measure};

/// How often rigs are looked after.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How often the state that others can ask for is brought up to date.
const STATUS_INTERVAL: Duration = Duration::from_millis(500);

/// Opens what makes the run of a rig visible elsewhere, by the rig's name.
pub type RemoteOf = Arc<dyn Fn(&str) -> Result<Arc<dyn Remote>, String> + Send + Sync>;

/// How an engine serves.
pub struct ServeOptions {
    /// Its name; must be another one than those of all other engines.
    pub name: String,
    /// The engine that is opened for each rig.
    pub engine: OpenOptions,
    /// Its speed, from which its weight follows.
    pub speed: Speed,
    /// Stands for an engine in measurements of the network.
    pub stub: Option<Stub>,
    /// Only these rigs, where some are named.
    pub rigs: Vec<String>,
    /// Limit on the size of pictures of a rig.
    pub max_pixels: MaxPixels,
    /// Makes each rig visible elsewhere.
    pub remote: Option<RemoteOf>,
}

/// An engine on the network.
pub struct Server {
    network: Network,
    options: ServeOptions,
    member: Member,
    presence: Presence,
    rigs: BTreeMap<String, ServedRig>,
    told: Arc<Mutex<EngineStatus>>,
    status_due: Instant,
    _membership: Membership,
}

impl Server {
    /// Announces the engine.
    ///
    /// # Errors
    /// The name is impossible or taken, or the session has ended.
    pub fn start(network: Network, options: ServeOptions) -> Result<Self, NetworkError> {
        crate::network::key::check_rig(&options.name).map_err(NetworkError::new)?;
        let presence = Presence::follow(&network, || {})?;
        let is_taken = crate::network::present(&network)?.of(Role::Engine).any(|engine| engine.name == options.name);
        if is_taken {
            return Err(NetworkError::new(format!(
                "there is an engine of the name '{}' already: choose another with --name",
                options.name
            )));
        }
        let weight = rendezvous::weight(options.speed.pairs_per_s);
        let member = Member::new(Role::Engine, options.name.clone(), weight);
        let told = EngineStatus {
            adapter: "none open yet".to_owned(),
            measured: vec![options.speed.clone()],
            rigs: Vec::new(),
        };
        let told = Arc::new(Mutex::new(told));
        let shared = Arc::clone(&told);
        let detail = move |status: &mut Status| status.engine = Some(shared.lock().clone());
        let membership = Membership::start(&network, &member, Vec::new(), detail)?;
        let (rigs, status_due) = (BTreeMap::new(), Instant::now());
        Ok(Self { network, options, member, presence, rigs, told, status_due, _membership: membership })
    }

    /// Serves until `interrupt`; `say` gets what a user should know.
    pub fn run(&mut self, interrupt: &AtomicBool, say: &mut dyn FnMut(String)) {
        while !interrupt.load(Ordering::Acquire) {
            self.poll(say);
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Takes new rigs, leaves others, and hands on changed parameters.
    fn poll(&mut self, say: &mut dyn FnMut(String)) {
        let present = self.presence.present();
        for head in present.of(Role::Head) {
            let is_allowed = self.options.rigs.is_empty() || self.options.rigs.contains(&head.name);
            let is_mine = is_allowed && rendezvous::owner(&head.name, &present.members) == Some(&self.member);
            match self.rigs.get_mut(&head.name) {
                None if is_mine => {
                    say(format!("taking rig '{}'", head.name));
                    let how = RunOptions {
                        boot: self.member.boot,
                        engine: self.engine(),
                        max_pixels: self.options.max_pixels,
                        remote: self.options.remote.clone(),
                    };
                    let rig = ServedRig::open(self.network.clone(), head, how);
                    self.rigs.insert(head.name.clone(), rig);
                }
                Some(rig) => rig.set_mine(is_mine, &self.network),
                None => {}
            }
        }
        self.rigs.retain(|name, rig| {
            let goes = if present.head(name).is_none() { Some("its head is gone".to_owned()) } else { rig.poll() };
            if let Some(why) = &goes {
                say(format!("leaving rig '{name}': {why}"));
            }
            goes.is_none()
        });
        if Instant::now() >= self.status_due {
            self.status_due = Instant::now() + STATUS_INTERVAL;
            self.tell();
        }
    }

    fn engine(&self) -> EngineSource {
        match &self.options.stub {
            Some(stub) => EngineSource::Opened(Box::new(stub.clone()), self.options.engine.clone()),
            None => EngineSource::Open(self.options.engine.clone()),
        }
    }

    /// Tells others the state.
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
