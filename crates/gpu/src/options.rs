//! Options of the GPU engine beside the parameters of jobs.

use super::variant::VariantOverrides;
use stereopsis_base::process::memory::FreeMemory;
use stereopsis_frame::engine::Autotune;

/// Options of the engine beside the parameters of jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct GpuOptions {
    /// Overridden fields of the variant.
    pub overrides: VariantOverrides,
    /// Whether variants are measured while pairs are matched.
    pub autotune: Autotune,
    /// Whether stored measurements are neither read nor written.
    pub forgets: bool,
    /// Maximum bytes of stored path costs; by default according to the kind of adapter.
    pub path_bytes: Option<u64>,
    /// Whether each direction runs in a pass and a submission of its own, for comparison with all together.
    pub sequential: bool,
    /// Free memory of the machine, for tests, instead of the system's own figure.
    pub free: Option<FreeMemory>,
    /// Bytes of one binding, for tests, if less than the device allows.
    pub binding_bytes: Option<u64>,
    /// Fixed work of one submission, for tests, instead of an adapted one.
    pub max_work: Option<u64>,
    /// Whether shaders check every index, divisor and loop while they run, for tests.
    pub checks: bool,
}
