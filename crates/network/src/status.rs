//! States of members as they answer queries: for the table of `stereopsis net`, the window, and as JSON for other programs.

use super::inlet::InletCounts;
use super::key::Member;
use super::outlet::OutletCounts;
use serde::{Deserialize, Serialize};
use stereopsis_base::rate::LatencySince;
use stereopsis_frame::{CameraState, Side};

/// State of a member.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// Version of the program.
    pub stereopsis: String,
    /// Name of the machine.
    pub host: String,
    /// Uptime, s.
    pub uptime_s: f64,
    /// Mean processor load since the start, per cent of one core.
    pub cpu_percent: Option<f64>,
    /// Addresses that others can connect to.
    pub listens: Vec<String>,
    /// State of its head.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<HeadStatus>,
    /// State of its engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineStatus>,
}

/// State of a head.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeadStatus {
    /// Source, as for `--source`.
    pub source: String,
    /// Width of one view's raw image, px.
    pub width: usize,
    /// Height of one view's raw image, px.
    pub height: usize,
    /// Side of a single-camera head.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<Side>,
    /// Number of pairs received from the source.
    pub captured: u64,
    /// Pairs per second.
    pub rate_hz: f64,
    /// Number of pairs that the source dropped.
    pub dropped_by_source: u64,
    /// Number of images without a partner.
    pub unpaired: u64,
    /// States of its cameras.
    pub cameras: Vec<CameraState>,
    /// Counters of the stream to the network.
    pub sent: OutletCounts,
    /// Conditions to show to the user.
    pub remarks: Vec<String>,
    /// Error that stops the pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// State of an engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineStatus {
    /// Engine: `cpu` or `gpu`, and the device.
    pub adapter: String,
    /// Measured speeds.
    pub measured: Vec<Speed>,
    /// States of its rigs.
    pub rigs: Vec<RigStatus>,
}

/// Measured speed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Speed {
    /// Columns and rows of a view, px.
    pub size: (usize, usize),
    /// Number of disparities.
    pub num_disparities: u32,
    /// Rate computed from the time of one pair, pairs/s.
    pub pairs_per_s: f64,
}

/// State of one rig at its engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RigStatus {
    /// Name of the rig.
    pub rig: String,
    /// Number of results so far.
    pub results: u64,
    /// Results per second.
    pub rate_hz: f64,
    /// Median time from the capture at the head, or the arrival here, to the result, ms.
    pub latency_ms: Option<f64>,
    /// Start event of the latency.
    pub latency_since: LatencySince,
    /// Number of received pairs that were not matched.
    pub dropped: u64,
    /// Counters of the stream from the head.
    pub received: InletCounts,
    /// Counters of the stream of results.
    pub sent: OutletCounts,
    /// Error that stops the results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Member with its state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemberReport {
    /// Member.
    #[serde(flatten)]
    pub member: Member,
    /// State; `None` if it did not answer in time.
    pub status: Option<Status>,
}

/// Returns the name of this machine.
pub fn host() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}
