//! Measures the ages of results on arrival: time from the capture at the head, by the clocks' offsets.

use super::census::CensusTaker;
use super::error::NetworkError;
use super::inlet::{Inlet, InletCounts, Verdict};
use super::key::RigTopic;
use super::outlet::now_ns;
use super::session::Network;
use super::wire::Content;
use parking_lot::Mutex;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Ages and counts of the received results of all rigs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Ages {
    /// Number of received results.
    pub results: u64,
    /// Median time from the left image's capture to its arrival, ms.
    pub age_ms_p50: f64,
    /// 99th percentile of that time, ms.
    pub age_ms_p99: f64,
    /// Counters of each rig's stream.
    pub rigs: BTreeMap<String, InletCounts>,
}

/// Receives the results of all rigs for this time, and blocks until then.
///
/// # Errors
/// The session has ended.
pub fn watch_results(network: &Network, time: Duration) -> Result<Ages, NetworkError> {
    let census = CensusTaker::new(network.clone()).take()?;
    let ages = Arc::<Mutex<Vec<f64>>>::default();
    let mut inlets = BTreeMap::new();
    for rig in census.engines.keys() {
        // capture times are given by the head's clock
        let ahead_s = census.clocks.get(rig).map_or(0.0, |clock| clock.offset_s);
        let noted = Arc::clone(&ages);
        let inlet = Inlet::start(network, &RigTopic::Result.rig(rig), Content::Result, 1, move |head| {
            let age_s = (i128::from(now_ns()) - i128::from(head.taken_ns)) as f64 / 1e9 + ahead_s;
            noted.lock().push(1e3 * age_s);
            Verdict::Take
        });
        inlets.insert(rig.clone(), inlet?);
    }
    std::thread::sleep(time);
    let mut sorted = ages.lock().clone();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted.get((share * sorted.len() as f64) as usize).copied().unwrap_or_default();
    Ok(Ages {
        results: sorted.len() as u64,
        age_ms_p50: at(0.5),
        age_ms_p99: at(0.99),
        rigs: inlets.iter().map(|(rig, inlet)| (rig.clone(), inlet.counts())).collect(),
    })
}
