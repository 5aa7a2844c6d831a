//! Census: all members with their states, engines and clocks at one time, for `stereopsis net` and the window's list.

use super::access::{Access, names};
use super::clock::{ClockEstimate, ClockOffset};
use super::error::NetworkError;
use super::key::{Member, RigTopic, Role, all_status};
use super::presence::Present;
use super::rendezvous;
use super::repeated::Repeated;
use super::replies::ANSWER_TIMEOUT;
use super::session::Network;
use super::status::{HeadStatus, MemberReport, RigStatus, Status};
use parking_lot::Mutex;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::console;
use stereopsis_base::image::Picture;
use stereopsis_frame::{MaxPixels, Side};
use stereopsis_images::decode::decode_picture;

/// Members, engine assignments and clocks at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Census {
    /// Members of this protocol version.
    pub members: Vec<MemberReport>,
    /// Name of each rig's engine; `None` without one.
    pub engines: BTreeMap<String, Option<String>>,
    /// Offset of each head's clock from this machine's.
    pub clocks: BTreeMap<String, ClockOffset>,
    /// Other protocol versions in use; their members are not listed.
    pub other_versions: Vec<u8>,
}

/// Taker of censuses, which keeps the clock exchanges between them.
pub struct CensusTaker {
    network: Network,
    clocks: BTreeMap<String, ClockEstimate>,
}

impl CensusTaker {
    /// Creates a taker for this network.
    pub fn new(network: Network) -> Self {
        Self { network, clocks: BTreeMap::new() }
    }

    /// Queries all members; blocks for at most some seconds.
    ///
    /// # Errors
    /// The session has ended, the connection to the router is lost, or the network does not answer in time.
    pub fn take(&mut self) -> Result<Census, NetworkError> {
        let Present { members, other_versions } = self.network.presence()?.present();
        let mut status: BTreeMap<_, Status> =
            self.network.ask_json(&all_status(), ANSWER_TIMEOUT)?.into_iter().collect();
        let of = |role| members.iter().filter(move |member| member.role == role).map(|head| head.name.clone());
        let (rigs, cameras) = (of(Role::Head).collect::<Vec<_>>(), of(Role::Camera).collect::<Vec<_>>());
        let heads = members.iter().filter(|member| [Role::Head, Role::Camera].contains(&member.role));
        let answered: BTreeSet<_> =
            heads.filter(|head| status.contains_key(&head.status())).map(|head| head.name.clone()).collect();
        self.clocks.retain(|name, _| rigs.contains(name) || cameras.contains(name));
        let mut clocks = BTreeMap::new();
        for name in rigs.iter().chain(&cameras).filter(|name| answered.contains(*name)) {
            let estimate = self.clocks.entry(name.clone()).or_default();
            estimate.ask(&self.network, name, None, ANSWER_TIMEOUT)?;
            let offset = estimate.offset(Instant::now());
            clocks.extend(offset.map(|offset| (name.clone(), offset)));
        }
        let engines = rigs.iter().map(|rig| (rig.clone(), engine_of(rig, &members, &status))).collect();
        // queries without a router end at once, with no member as their answer
        if !self.network.is_connected() {
            return Err(NetworkError::RouterGone(names(&self.network.access().connect)));
        }
        let reported = |member: Member| MemberReport { status: status.remove(&member.status()), member };
        Ok(Census {
            members: members.into_iter().map(reported).collect(),
            engines,
            clocks,
            other_versions: other_versions.into_iter().collect(),
        })
    }

    /// Requests a thumbnail from each head that answered.
    fn pictures(&self, census: &Census) -> Pictures {
        let answered = census.members.iter().filter(|report| report.status.as_ref().is_some_and(|s| s.head.is_some()));
        let pictures = answered.filter_map(|MemberReport { member: head, .. }| {
            let answers = self.network.ask(&RigTopic::Picture.rig(&head.name), None, ANSWER_TIMEOUT).ok()?;
            let (_, bytes) = answers.into_iter().flatten().next()?;
            Some((head.name.clone(), Arc::new(decode_picture(&bytes, true, MAX_THUMBNAIL).ok()?)))
        });
        pictures.collect()
    }
}

/// Finds the engine of a rig: the first in rendezvous order that computes its results; otherwise the first that answers; otherwise any
/// that matches the rig by its token.
fn engine_of(rig: &str, members: &BTreeSet<Member>, status: &BTreeMap<String, Status>) -> Option<String> {
    let has_results = |member: &Member| {
        let engine = status.get(&member.status()).and_then(|status| status.engine.as_ref());
        engine.is_some_and(|engine| engine.rigs.iter().any(|at| at.rig == rig && at.rate_hz > 0.0))
    };
    let answers = |member: &&Member| status.contains_key(&member.status());
    let working = members.iter().filter(|member| has_results(member));
    let owner = rendezvous::owner(rig, working)
        .or_else(|| rendezvous::owner(rig, members.iter().filter(answers)))
        .or_else(|| members.iter().find(|member| member.matches(rig)));
    owner.map(|engine| engine.name.clone())
}

const COLUMNS: [&str; 6] = ["what", "name", "machine", "rate", "dropped", "state"];

impl Census {
    /// Formats the census as a text table.
    pub fn table(&self) -> String {
        let mut rows: Vec<[String; 6]> = vec![COLUMNS.map(str::to_owned)];
        rows.extend(self.members.iter().flat_map(|member| self.rows(member)));
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        let widths: [usize; 6] = std::array::from_fn(width);
        let line = |row: &[String; 6]| {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let mut lines: Vec<_> = rows.iter().map(line).collect();
        if self.members.is_empty() {
            lines = vec!["no head, no engine and no router of stereopsis is there".to_owned()];
        }
        for version in &self.other_versions {
            lines.push(format!(
                "others speak version {version} of the protocol, and this program speaks {}: use the same version of stereopsis on all \
                 machines",
                super::key::VERSION
            ));
        }
        lines.join("\n") + "\n"
    }

    /// Returns the rows of a member; an engine has an additional row for each rig.
    fn rows(&self, report: &MemberReport) -> Vec<[String; 6]> {
        let MemberReport { member: Member { role, name, weight, .. }, status } = report;
        let Some(status) = status else {
            let state = "does not answer".to_owned();
            return vec![[role.to_string(), name.clone(), String::new(), String::new(), String::new(), state]];
        };
        let row = |rate: String, dropped: String, state: String| {
            let machine = format!("{} {}", console::foreign(&status.host), console::foreign(&status.stereopsis));
            [role.to_string(), name.clone(), machine, rate, dropped, state]
        };
        if let Some(head) = &status.head {
            let clock = self.clocks.get(name).map(|clock| format!("; {clock}")).unwrap_or_default();
            let engine = match self.engines.get(name) {
                Some(Some(engine)) if self.at_engine(name).is_some_and(|at| at.rate_hz > 0.0) => {
                    format!("; engine {engine}")
                }
                Some(Some(engine)) => format!("; engine {engine} (no results)"),
                Some(None) => "; no engine".to_owned(),
                None => String::new(), // a head of one camera has no engine
            };
            let error = head.error.as_ref().map(|error| format!("; {}", console::foreign(error))).unwrap_or_default();
            let state =
                format!("{}x{} of {}{engine}{clock}{error}", head.width, head.height, console::foreign(&head.source));
            return vec![row(format!("{:.1}/s", head.rate_hz), places(&drops_of_head(head)), state)];
        }
        let Some(engine) = &status.engine else {
            return vec![row(
                String::new(),
                String::new(),
                format!("at {}", console::foreign(&status.listens.join(", "))),
            )];
        };
        let state = format!("{}, weight {weight}", console::foreign(&engine.adapter));
        let mut rows = vec![row(String::new(), String::new(), state)];
        for rig in &engine.rigs {
            let latency = rig.latency_ms.map(|ms| format!(", {ms:.0} ms{}", rig.latency_since)).unwrap_or_default();
            let error = rig.error.as_ref().map(|error| format!("; {}", console::foreign(error))).unwrap_or_default();
            let state = format!("matches {}{latency}{error}", console::foreign(&rig.rig));
            rows.push([
                String::new(),
                String::new(),
                String::new(),
                format!("{:.1}/s", rig.rate_hz),
                places(&drops_at_engine(rig)),
                state,
            ]);
        }
        rows
    }
}

fn drops_of_head(head: &HeadStatus) -> [(u64, &'static str); 3] {
    [(head.dropped_by_source, "source"), (head.unpaired, "unpaired"), (head.sent.dropped, "slot")]
}

fn drops_at_engine(rig: &RigStatus) -> [(u64, &'static str); 4] {
    let received = &rig.received;
    [
        (received.dropped_by_network, "network"),
        (received.dropped_here, "receiver"),
        (rig.dropped, "engine"),
        (rig.sent.dropped, "slot"),
    ]
}

/// Formats drop counts with their places; `0` without drops.
fn places(dropped: &[(u64, &str)]) -> String {
    let some: Vec<_> =
        dropped.iter().filter(|(count, _)| *count > 0).map(|(count, place)| format!("{place} {count}")).collect();
    if some.is_empty() { "0".to_owned() } else { some.join(", ") }
}

const CENSUS_INTERVAL: Duration = Duration::from_secs(1);

/// Newest census, or the error instead; `None` before the first one.
type CensusResult = Option<Result<Census, Arc<NetworkError>>>;
type Pictures = BTreeMap<String, Arc<Picture>>;

/// Maximum size of a thumbnail from a head, px.
const MAX_THUMBNAIL: MaxPixels = MaxPixels(512 * 512);

/// Background thread that takes a census and the thumbnails of the heads every second, until it is dropped.
pub struct CensusWatch {
    router: String,
    newest: Arc<Mutex<(CensusResult, Pictures)>>,
    _thread: Option<Repeated>,
}

impl CensusWatch {
    /// Connects to a router such as `192.168.1.5:7447`, and reconnects when it is lost; calls `wake` after each census.
    pub fn start(router: &str, config: Option<PathBuf>, wake: impl Fn() + Send + 'static) -> Self {
        let newest = Arc::<Mutex<(CensusResult, Pictures)>>::default();
        let (shared, words) = (Arc::clone(&newest), router.to_owned());
        let mut taker = None;
        let work = move || {
            let taken = census(&mut taker, &words, config.as_ref()).map_err(Arc::new);
            if taken.is_err() {
                taker = None;
            }
            let pictures = match (&taker, &taken) {
                (Some(taker), Ok(census)) => taker.pictures(census),
                _ => Pictures::new(),
            };
            *shared.lock() = (Some(taken), pictures);
            wake();
        };
        let thread = Repeated::start("census", "look for rigs", CENSUS_INTERVAL, work);
        // not joined: the thread may block on a router that does not answer
        let thread = thread.map(Repeated::detached).map_err(|err| newest.lock().0 = Some(Err(Arc::new(err))));
        Self { router: router.to_owned(), newest, _thread: thread.ok() }
    }

    /// Returns the router's address.
    pub fn router(&self) -> &str {
        &self.router
    }

    /// Returns the newest census, or the error instead; `None` before the first one.
    pub fn newest(&self) -> CensusResult {
        self.newest.lock().0.clone()
    }

    /// Returns the newest thumbnail of a head; each new one is a new `Arc`.
    pub fn picture(&self, head: &str) -> Option<Arc<Picture>> {
        self.newest.lock().1.get(head).cloned()
    }
}

/// Takes a census; opens a session if there is none.
fn census(taker: &mut Option<CensusTaker>, router: &str, config: Option<&PathBuf>) -> Result<Census, NetworkError> {
    if let Some(open) = taker {
        return open.take();
    }
    let access = Access { config: config.cloned(), ..Access::to(router.parse()?) };
    taker.insert(CensusTaker::new(Network::open(&access)?)).take()
}

impl Census {
    fn status(&self, role: Role, name: &str) -> Option<&Status> {
        let is_it = |report: &&MemberReport| report.member.role == role && report.member.name == name;
        self.members.iter().find(is_it)?.status.as_ref()
    }

    /// Returns the state of a head if it answered.
    pub fn head(&self, rig: &str) -> Option<&HeadStatus> {
        self.status(Role::Head, rig)?.head.as_ref()
    }

    /// Returns a rig's state at its engine if that answered.
    pub fn at_engine(&self, rig: &str) -> Option<&RigStatus> {
        let engine = self.engines.get(rig)?.as_ref()?;
        let rigs = &self.status(Role::Engine, engine)?.engine.as_ref()?.rigs;
        rigs.iter().find(|at_engine| at_engine.rig == rig)
    }

    /// Returns the names of single-camera heads of this side.
    pub fn cameras(&self, side: Side) -> impl Iterator<Item = &str> {
        let is_it = move |report: &&MemberReport| {
            let head = report.status.as_ref().and_then(|status| status.head.as_ref());
            report.member.role == Role::Camera && head.is_some_and(|head| head.camera == Some(side))
        };
        self.members.iter().filter(is_it).map(|report| report.member.name.as_str())
    }

    /// Formats a rig's dropped pairs: `0`, or counts with places.
    pub fn drops(&self, rig: &str) -> String {
        let at_head = self.head(rig).into_iter().flat_map(drops_of_head);
        let at_engine = self.at_engine(rig).into_iter().flat_map(drops_at_engine);
        places(&at_head.chain(at_engine).collect::<Vec<_>>())
    }
}
