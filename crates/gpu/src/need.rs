//! Memory of the machine that the engine needs, from the size and the parameters of a pair alone. Pairs in transfer lie there in any
//! case; the buffers of the device only where it has no memory of its own.

use super::buffers::RESULTS;
use super::graph::{DispatchGraph, GraphKey};
use super::layout::Structure;
use super::limits::Limits;
use super::slot::PairFormat;
use super::variant::VariantOverrides;
use stereopsis_base::process::memory::FreeMemory;
use stereopsis_frame::engine::demand::Demand;
use stereopsis_frame::engine::{EngineError, demand};

/// Maximum jobs in flight: one uploads, one computes, one is read back.
pub(super) const MAX_JOBS: usize = 3;

/// Properties of the device that decide the memory it needs.
#[derive(Clone, Copy)]
pub(super) struct DeviceProperties<'a> {
    pub(super) limits: &'a Limits,
    pub(super) overrides: &'a VariantOverrides,
    pub(super) max_work: u64,
    /// Whether the memory is the machine's: software, and GPUs beside the processor's cores.
    pub(super) shares_memory: bool,
}

/// Returns the structures of the levels of a pair, the pair itself first.
pub(super) fn structures(demand: &Demand) -> Vec<Structure> {
    let levels = Structure::levels_of(demand.size, &demand.params, demand.wants_right);
    let mut structures: Vec<_> = levels.into_iter().map(|(structure, _)| structure).collect();
    structures[0].colored = demand.params.reads_colors() && demand.colored;
    structures
}

/// Returns the maximum bytes with all pairs in flight; `None` for a demand that the device cannot fulfil at all.
pub(super) fn bytes(demand: &Demand, device: DeviceProperties<'_>) -> Option<u64> {
    let key = GraphKey::new(structures(demand), device.limits, None, device.overrides, device.max_work).ok()?;
    let graph = DispatchGraph::new(&key, device.limits, "").ok()?;
    Some(bytes_with(&graph, format(demand, &key), device.shares_memory))
}

pub(super) fn format(demand: &Demand, key: &GraphKey) -> PairFormat {
    let sides = if demand.wants_right || demand.params.choice { 2 } else { 1 };
    let colored = if key.structures[0].colored { sides } else { 0 };
    PairFormat::new(demand.size, demand.deep, colored, demand.wants_right)
}

pub(super) fn bytes_with(graph: &DispatchGraph, format: PairFormat, shares_memory: bool) -> u64 {
    let (width, height) = graph.size();
    let results = RESULTS as u64 * 4 * (width * height) as u64;
    let device = if shares_memory { graph.bytes() + results } else { 0 };
    device + MAX_JOBS as u64 * format.slot_bytes(shares_memory)
}

/// Refuses a graph for whose buffers and pairs the machine has no memory, of which the engine has `held` bytes already. `free` replaces
/// the system's figure.
pub(super) fn check(
    demand: &Demand,
    (key, graph): (&GraphKey, &DispatchGraph),
    device: DeviceProperties<'_>,
    held: u64,
    free: Option<FreeMemory>,
) -> Result<(), EngineError> {
    let this = bytes_with(graph, format(demand, key), device.shares_memory);
    let need = |other: &Demand| if other == demand { Some(this) } else { bytes(other, device) };
    demand::check(demand, demand::free(free), held, need)
}
