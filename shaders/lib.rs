//! Compute shaders of stereo matching in WGSL, a file for each stage, and the shaders that draw images and maps. This crate contains
//! text alone, for some of it in [permutations](source); the engine decides which entries run, and with which bindings.

mod permutations;

pub use permutations::source;

/// Returns the text of the file `stem.wgsl`.
///
/// # Panics
/// There is no such file; in a constant this is an error of the compiler.
pub const fn text(stem: &str) -> &'static str {
    let mut at = 0;
    while at < FILES.len() {
        if is_same(FILES[at].0.as_bytes(), stem.as_bytes()) {
            return FILES[at].1;
        }
        at += 1;
    }
    panic!("no shader has this name")
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

macro_rules! files {
    ($($stem:literal,)*) => { &[$(($stem, include_str!(concat!($stem, ".wgsl")))),*] };
}

/// Folder and name without the extension of every file, and its text.
pub const FILES: &[(&str, &str)] = files![
    "aggregate/costs",
    "aggregate/costs_from_codes",
    "aggregate/exchange_subgroup",
    "aggregate/exchange_workgroup",
    "aggregate/gate",
    "aggregate/lane",
    "aggregate/lane_1",
    "aggregate/lane_2",
    "aggregate/lane_4",
    "aggregate/paths",
    "aggregate/place",
    "aggregate/step_16",
    "aggregate/step_32",
    "aggregate/step_f16",
    "aggregate/sum",
    "aggregate/volumes",
    "common",
    "cost/absolute",
    "cost/ad_census",
    "cost/census",
    "cost/code_1",
    "cost/code_2",
    "cost/compare",
    "cost/gradient_census",
    "cost/mutual_information/histogram",
    "cost/mutual_information/start",
    "cost/mutual_information/table",
    "cost/rank",
    "cost/sad",
    "cost/transform",
    "disparity/exact_sums",
    "disparity/right",
    "disparity/sums_of_paths",
    "disparity/swapped",
    "disparity/winner_takes_all",
    "display",
    "filter/band",
    "filter/black_border",
    "filter/calm",
    "filter/choice",
    "filter/consistency",
    "filter/fill",
    "filter/median",
    "filter/moments",
    "filter/one_map",
    "filter/planes",
    "filter/records",
    "filter/regions",
    "filter/segments",
    "filter/spatial",
    "filter/speckle",
    "filter/temporal",
    "filter/weighted_median",
    "filter/winners",
    "gating/bounds",
    "gating/extremes",
    "gating/percentiles",
    "host_map",
    "local/adaptive_weight",
    "local/costs",
    "local/cross_columns",
    "local/cross_rows",
    "local/offsets",
    "local/store",
    "local/volume",
    "local/weighted_cross",
    "local/weights",
    "local/window",
    "picture",
    "pyramid",
    "space",
];
