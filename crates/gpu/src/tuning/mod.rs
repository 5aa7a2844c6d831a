//! Search for the quickest variant: on the pairs of a running pipeline, or all at once as a study. All variants give the same bits. Fang
//! et al. (2012) name such tuning as the step after their model.

mod selector;
mod autotuner;
mod clock;
mod study;
#[cfg(test)]
mod tests;

use autotuner::Autotuner;
pub use clock::{Clock, RESTED, burst};
pub(super) use selector::VariantSelector;
pub use study::{Study, Trial, device_ms, study};

use super::device::Gpu;
use super::layout::Structure;
use super::variant::Variant;
use stereopsis_frame::engine::cached::Measurements;

/// Quickest variant for one adapter, driver and size.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Record {
    /// Variant that was measured.
    pub variant: Variant,
    /// Time of a pair on the device, ms.
    pub ms: f64,
}

/// Returns the user's records, by [`record_key`].
pub fn records() -> Measurements {
    Measurements::named("gpu-variants.json")
}

/// Returns the key of a measurement: everything on which the quickest variant depends.
pub fn record_key(gpu: &Gpu, structure: &Structure) -> String {
    let info = gpu.adapter.get_info();
    let Structure { width, height, candidates, comparison, paths, .. } = structure;
    let requirements = structure.requirements();
    let options = [
        (requirements.wide, "wide"),
        (requirements.has_row_path, "along rows"),
        (structure.is_diagonal(), "checked"),
        (structure.swapped, "swapped"),
        (structure.rivals, "rivals"),
        (structure.gates.is_some(), "gated"),
    ];
    let options: Vec<_> = options.iter().filter(|(is_on, _)| *is_on).map(|(_, word)| *word).collect();
    format!(
        "{} | {} {} {} | {width}x{height}x{candidates} {comparison:?} paths {paths} {}",
        env!("CARGO_PKG_VERSION"),
        info.name,
        info.driver,
        info.driver_info,
        options.join(" ")
    )
}
