//! What each member tells of itself: for the table of `net`, the window, and other programs as JSON.

use super::inlet::InletCounts;
use super::key::Member;
use super::outlet::OutletCounts;
use crate::capture::CameraState;
use crate::capture::pairing::Side;
use crate::rate::LatencySince;
use serde::{Deserialize, Serialize};

/// State of a member.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// Version of its program.
    pub stereopsis: String,
    /// Name of its machine.
    pub host: String,
    /// How long it runs, s.
    pub uptime_s: f64,
    /// Its processor time in per cent of one core, since its start.
    pub cpu_percent: Option<f64>,
    /// Where others can connect to it.
    pub listens: Vec<String>,
    /// Of a head.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<HeadStatus>,
    /// Of an engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineStatus>,
}

/// State of a head.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeadStatus {
    /// Its source, as for `--source`.
    pub source: String,
    /// Width of one view's raw picture, px.
    pub width: usize,
    /// Height of one view's raw picture, px.
    pub height: usize,
    /// The camera of a head that has one alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<Side>,
    /// Pairs that came from the source.
    pub captured: u64,
    /// Pairs per second.
    pub rate_hz: f64,
    /// Pairs that the source left out.
    pub dropped_by_source: u64,
    /// Pictures of one camera without a partner.
    pub unpaired: u64,
    /// Its cameras.
    pub cameras: Vec<CameraState>,
    /// What goes to the network.
    pub sent: OutletCounts,
    /// Conditions that a user should know.
    pub remarks: Vec<String>,
    /// Why no pairs come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// State of an engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineStatus {
    /// What computes: `cpu`, `gpu`, and the device.
    pub adapter: String,
    /// Speeds that it has measured.
    pub measured: Vec<Speed>,
    /// Its rigs.
    pub rigs: Vec<RigStatus>,
}

/// A measured speed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Speed {
    /// Columns and rows of a view, px.
    pub size: (usize, usize),
    /// Disparities that are searched.
    pub num_disparities: u32,
    /// Pairs that it could match in a second, from the time of one.
    pub pairs_per_s: f64,
}

/// State of one rig at its engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RigStatus {
    /// Its name.
    pub rig: String,
    /// Results so far.
    pub results: u64,
    /// Results per second.
    pub rate_hz: f64,
    /// From the pair's capture at the head, or its arrival here, to its result, half are quicker, ms.
    pub latency_ms: Option<f64>,
    /// Event from which that counts.
    pub latency_since: LatencySince,
    /// Pairs that came and were not matched.
    pub dropped: u64,
    /// What comes from the head.
    pub received: InletCounts,
    /// What goes to those who watch.
    pub sent: OutletCounts,
    /// Why no results come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A member with its state, where it answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reported {
    /// Its role.
    pub role: super::key::Role,
    /// Its name.
    pub name: String,
    /// Number of its run.
    pub boot: u64,
    /// Weight of an engine.
    pub weight: u32,
    /// Its state; `None` where it did not answer in time.
    pub status: Option<Status>,
}

impl Reported {
    /// A member, and what it answered.
    pub fn of(member: &Member, status: Option<Status>) -> Self {
        let Member { role, name, boot, weight, .. } = member.clone();
        Self { role, name, boot, weight, status }
    }
}

/// The name of this machine.
pub fn host() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}
