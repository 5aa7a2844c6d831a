//! Everyone who is there, with their states and clocks: the data of `net` and of the window's list.

use super::access::Access;
use super::clock::{ClockEstimate, ClockOffset};
use super::key::{Member, Role, all_status};
use super::presence::{Present, present};
use super::rendezvous;
use super::session::{ANSWER_TIMEOUT, Network, NetworkError};
use super::status::{Reported, Status};
use crate::console;
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use parking_lot::Mutex;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// All members, and which engine has which rig.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Census {
    /// The members.
    pub members: Vec<Reported>,
    /// The engine of each rig, by name; `None` where there is no engine.
    pub engines: BTreeMap<String, Option<String>>,
    /// How far the clock of each rig's head is ahead of this machine's.
    pub clocks: BTreeMap<String, ClockOffset>,
    /// Versions of the protocol that others speak, whose members are not listed.
    pub other_versions: Vec<u8>,
}

/// Takes a census, and keeps the clocks' exchanges from one to the next.
pub struct CensusTaker {
    network: Network,
    clocks: BTreeMap<String, ClockEstimate>,
}

impl CensusTaker {
    /// On this network.
    pub fn new(network: Network) -> Self {
        Self { network, clocks: BTreeMap::new() }
    }

    /// Asks all members; waits for some seconds at most.
    ///
    /// # Errors
    /// The session has ended.
    pub fn take(&mut self) -> Result<Census, NetworkError> {
        let Present { members, other_versions } = present(&self.network)?;
        let answers = self.network.ask(&all_status(), None, ANSWER_TIMEOUT)?;
        let status = |(key, bytes): (String, Vec<u8>)| Some((key, serde_json::from_slice::<Status>(&bytes).ok()?));
        let mut status: BTreeMap<_, _> = answers.into_iter().flatten().filter_map(status).collect();
        let rigs: Vec<_> =
            members.iter().filter(|member| member.role == Role::Head).map(|head| head.name.clone()).collect();
        self.clocks.retain(|rig, _| rigs.contains(rig));
        let mut clocks = BTreeMap::new();
        for rig in &rigs {
            let estimate = self.clocks.entry(rig.clone()).or_default();
            estimate.ask(&self.network, rig, ANSWER_TIMEOUT)?;
            let offset = estimate.offset(Instant::now());
            clocks.extend(offset.map(|offset| (rig.clone(), offset)));
        }
        let engine = |rig: &String| rendezvous::owner(rig, &members).map(|engine| engine.name.clone());
        let engines = rigs.iter().map(|rig| (rig.clone(), engine(rig))).collect();
        let reported = |member: &Member| Reported::of(member, status.remove(&member.status()));
        Ok(Census {
            members: members.iter().map(reported).collect(),
            engines,
            clocks,
            other_versions: other_versions.into_iter().collect(),
        })
    }
}

/// Names of columns.
const COLUMNS: [&str; 6] = ["what", "name", "machine", "rate", "dropped", "state"];

impl Census {
    /// A table for people.
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

    /// The rows of a member; an engine has one more for each of its rigs.
    fn rows(&self, member: &Reported) -> Vec<[String; 6]> {
        let Reported { role, name, weight, status, .. } = member;
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
            let engine = match self.engines.get(name).and_then(Option::as_ref) {
                Some(engine) => format!("engine {engine}"),
                None => "no engine".to_owned(),
            };
            let error = head.error.as_ref().map(|error| format!("; {}", console::foreign(error))).unwrap_or_default();
            let state =
                format!("{}x{} of {}; {engine}{clock}{error}", head.width, head.height, console::foreign(&head.source));
            let dropped =
                [(head.dropped_by_source, "source"), (head.unpaired, "unpaired"), (head.sent.dropped, "slot")];
            return vec![row(format!("{:.1}/s", head.rate_hz), places(&dropped), state)];
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
            let received = &rig.received;
            let dropped = [
                (received.dropped_by_network, "network"),
                (received.dropped_here, "receiver"),
                (rig.dropped, "engine"),
                (rig.sent.dropped, "slot"),
            ];
            let latency = rig.latency_ms.map(|ms| format!(", {ms:.0} ms")).unwrap_or_default();
            let error = rig.error.as_ref().map(|error| format!("; {}", console::foreign(error))).unwrap_or_default();
            let state = format!("matches {}{latency}{error}", console::foreign(&rig.rig));
            rows.push([
                String::new(),
                String::new(),
                String::new(),
                format!("{:.1}/s", rig.rate_hz),
                places(&dropped),
                state,
            ]);
        }
        rows
    }
}

/// Numbers of drops with their places; 0 where there are none.
fn places(dropped: &[(u64, &str)]) -> String {
    let some: Vec<_> =
        dropped.iter().filter(|(count, _)| *count > 0).map(|(count, place)| format!("{place} {count}")).collect();
    if some.is_empty() { "0".to_owned() } else { some.join(", ") }
}

/// How often a census is taken.
const CENSUS_INTERVAL: Duration = Duration::from_secs(1);

/// Takes a census each second, on a thread of its own, until it is dropped.
pub struct CensusWatch {
    router: String,
    newest: Arc<Mutex<Option<Result<Census, String>>>>,
    /// `None` at the end.
    stop: Option<Sender<()>>,
}

impl CensusWatch {
    /// Connects to a router, such as `192.168.1.5:7447`, and does so again where it is lost; `wake` is called after each census.
    pub fn start(router: &str, config: Option<PathBuf>, wake: impl Fn() + Send + 'static) -> Self {
        let newest = Arc::<Mutex<Option<Result<Census, String>>>>::default();
        let (stop, stopped) = bounded::<()>(0);
        let (shared, words) = (Arc::clone(&newest), router.to_owned());
        let work = move || {
            let mut taker = None;
            loop {
                let taken = census(&mut taker, &words, config.as_ref());
                if taken.is_err() {
                    taker = None;
                }
                *shared.lock() = Some(taken);
                wake();
                if !matches!(stopped.recv_timeout(CENSUS_INTERVAL), Err(RecvTimeoutError::Timeout)) {
                    return;
                }
            }
        };
        // it may wait for a router that does not answer, and is not joined
        if let Err(err) = std::thread::Builder::new().name("census".into()).spawn(work) {
            *newest.lock() = Some(Err(format!("no thread to look for rigs: {err}")));
        }
        Self { router: router.to_owned(), newest, stop: Some(stop) }
    }

    /// The router.
    pub fn router(&self) -> &str {
        &self.router
    }

    /// The newest census, or why there is none; `None` before the first one.
    pub fn newest(&self) -> Option<Result<Census, String>> {
        self.newest.lock().clone()
    }
}

impl Drop for CensusWatch {
    fn drop(&mut self) {
        self.stop = None;
    }
}

/// Takes a census, with a session that is opened where there is none.
fn census(taker: &mut Option<CensusTaker>, router: &str, config: Option<&PathBuf>) -> Result<Census, String> {
    if taker.is_none() {
        let access = Access { config: config.cloned(), ..Access::to(router.parse()?) };
        *taker = Some(CensusTaker::new(Network::open(&access).map_err(|err| err.to_string())?));
    }
    let Some(open) = taker.as_mut().filter(|open| open.network.is_connected()) else {
        return Err(format!("the router at {router} is gone; looking for it"));
    };
    open.take().map_err(|err| err.to_string())
}

impl Census {
    /// The state of a head, where it answered.
    pub fn head(&self, rig: &str) -> Option<&super::status::HeadStatus> {
        let is_it = |member: &&Reported| member.role == Role::Head && member.name == rig;
        self.members.iter().find(is_it)?.status.as_ref()?.head.as_ref()
    }
}
