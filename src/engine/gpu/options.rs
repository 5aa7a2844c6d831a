//! What a caller may ask of the engine.

use super::tuning::Autotune;
use super::variant::VariantOverrides;

/// What a caller may ask of the engine beside parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a wish of its own")]
pub struct GpuOptions {
    /// Parts of the variant that are not left to the engine.
    pub overrides: VariantOverrides,
    /// Whether variants are tried while pairs are matched.
    pub autotune: Autotune,
    /// Nothing is kept for other engines: what is quickest.
    pub forgets: bool,
    /// Bytes that stored path costs may take; by default what suits the kind of adapter.
    pub path_bytes: Option<u64>,
    /// Each direction in a pass and a submission of its own, instead of all together: to see what that gains.
    pub sequential: bool,
    /// For tests: bytes of one binding, if less than the device allows.
    pub binding_bytes: Option<u64>,
    /// For tests: the adapter has no 16-bit integers.
    pub without_i16: bool,
    /// For tests: work of one submission, instead of what has been measured.
    pub max_work: Option<u64>,
    /// For tests: shaders check every index, divisor and loop while they run.
    pub checks: bool,
}
