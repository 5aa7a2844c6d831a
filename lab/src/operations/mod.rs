//! Bytes and integer operations of each stage of the GPU engine. With the rates of a device they show whether memory or arithmetic bounds
//! a stage. COUNTS.md has both for the usual parameters.
//!
//! Operations are those of costs, local aggregation, paths and winners, counted from the WGSL for one lane: additions, shifts, minima,
//! comparisons, selections, bit counts and shuffles, one for each component of a vector. A component of 16 bits counts half where the
//! device's compiler packs two of them into a register: floats are assumed to be packed everywhere, integers by `Limits::packs_i16`. Not
//! counted: loads, stores, loop invariants, and the other stages. Tests compare steps and winners with the compiled SPIR-V, and the page
//! with the graphs.

use stereopsis_gpu::graph::{Dispatch, DispatchGraph, Step, local_operations};
use stereopsis_gpu::kernels::WinnerConfig;
use stereopsis_gpu::layout::Layout;
use stereopsis_gpu::resource::Resource;
use stereopsis_gpu::shaders;
use stereopsis_gpu::variant::{CostSource, Exchange, PathBits};
use stereopsis_stereo::cost::{Channel, Comparison};

/// Work of one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub(super) struct StageWork {
    /// Stage as it is timed: `gates`, `information`, `cost`, `aggregation`, `paths`, `winner`, `filters`.
    pub(super) name: &'static str,
    /// Bytes that its kernels read and write: of volumes and maps every access, of codes and images the first one.
    pub(super) bytes: u64,
    pub(super) operations: u64,
    pub(super) dispatches: usize,
}

/// Returns the work of each stage, in the order in which they first run.
pub(super) fn work(graph: &DispatchGraph, packs_i16: bool) -> Vec<StageWork> {
    let mut stages: Vec<StageWork> = Vec::new();
    for step in graph.steps.iter().filter(|step| !step.dispatches.is_empty()) {
        let at = stages.iter().position(|stage| stage.name == step.stage).unwrap_or_else(|| {
            stages.push(StageWork { name: step.stage, bytes: 0, operations: 0, dispatches: 0 });
            stages.len() - 1
        });
        for dispatch in &step.dispatches {
            stages[at].bytes += dispatch.bytes;
            stages[at].operations += operations(graph, step, dispatch, packs_i16);
            stages[at].dispatches += 1;
        }
    }
    stages
}

/// Counts the operations of a dispatch; 0 for kernels that are not counted.
fn operations(graph: &DispatchGraph, step: &Step, dispatch: &Dispatch, packs_i16: bool) -> u64 {
    let layout = &graph.layouts[step.level];
    let (width, height) = layout.structure.size();
    let uniform = dispatch.resources.iter().find_map(|resource| match resource {
        Resource::DispatchParams(number) => Some(graph.dispatch_params[*number]),
        _ => None,
    });
    let Some(uniform) = uniform else { return 0 };
    // rows, lines of a direction, or pieces of rows
    let count = u64::from(uniform.end - uniform.first);
    let row = count * width as u64;
    let volumes = dispatch.resources.iter().filter(|resource| matches!(resource, Resource::Path(..))).count() as u32;
    match (step.name, dispatch.request.entry) {
        ("cost", _) => row * cost(layout),
        ("aggregation", entry) => {
            row * layout.structure.local().map_or(0, |local| local_operations(layout, &local, entry))
        }
        ("paths", _) => {
            let steps = if uniform.y_is_major == 1 { height } else { width };
            count * steps as u64 * self::step(layout, packs_i16)
        }
        ("sum", _) => row * sum(layout, volumes),
        ("left map", _) => {
            let structure = &layout.structure;
            let config = WinnerConfig {
                volumes,
                earlier: dispatch.resources.iter().any(|resource| matches!(resource, Resource::Sums(..))),
                fused: layout.kernel.variant.fused,
                exact: structure.exact(),
                rivals: structure.rivals,
                drops: structure.drops,
                checked: structure.is_diagonal(),
                keeps_sums: false,
            };
            row / u64::from(uniform.pieces) * winner(layout, config)
        }
        _ => 0,
    }
}

/// Counts the costs of a pixel: from codes, or of windows.
fn cost(layout: &Layout) -> u64 {
    let structure = &layout.structure;
    if structure.is_windowed() {
        let window = u64::from(structure.sad_window);
        let (strip, columns) = (u64::from(shaders::STRIP), u64::from(shaders::SAD_COLUMNS));
        // a column's sums, with the rows above the strip and the columns that only lend theirs; then the window's
        let column_sums = 48 * (strip + window - 1) * columns / (strip * (columns + 1 - window));
        let window_sums = 7 * window + if structure.block_matching() { 8 } else { 21 };
        return u64::from(layout.words) * (column_sums + window_sums);
    }
    let lanes = u64::from(layout.words / layout.kernel.variant.words);
    // the first candidates of a lane, its place in the volume, and that of its first partner, once
    u64::from(layout.words) * from_codes(structure.comparison) + lanes * 18
}

/// Counts one step of a path: all candidates of a pixel in one direction.
fn step(layout: &Layout, packs_i16: bool) -> u64 {
    let variant = layout.kernel.variant;
    let words = u64::from(layout.words);
    let lanes = words / u64::from(variant.words);
    // of a lane: where the line goes next 10, its place in the volumes 5, brightness and P2 9, the limit 1, the loop 2; whether there is
    // such a step, where several are made in a turn
    let of_lane = 27 + exchanged(layout, 1) + if variant.ahead > 1 { 2 } else { 0 };
    if variant.path_bits == PathBits::I16 {
        // bytes to numbers 1 a candidate, bytes again 1; to and from 32 bits 7
        let of_candidate = FOLLOWING + masked(layout) + 2;
        // two at once, with their neighbours' values put together 1
        let of_word = if packs_i16 { 2 * (of_candidate + 1) } else { 4 * of_candidate };
        return words * of_word + lanes * (of_lane + 7);
    }
    if variant.path_bits == PathBits::F16 {
        // two candidates at once: bytes to numbers 7, pairs of neighbours 2, bytes again 6; P2, the limit and the minimum 3
        let absent = if is_masked(layout) { 5 } else { 0 };
        let of_word = load(layout) + 2 * (FOLLOWING + absent) + 7 + 2 + 6;
        return words * of_word + lanes * (of_lane + 3);
    }
    let packed = if layout.kernel.wide { 4 } else { 6 };
    words * (load(layout) + UNPACKED + following(layout) + packed) + lanes * of_lane
}

fn sum(layout: &Layout, volumes: u32) -> u64 {
    let lanes = u64::from(layout.words / layout.kernel.variant.words);
    u64::from(layout.words) * added(layout, volumes) + lanes * 8
}

fn winner(layout: &Layout, winner: WinnerConfig) -> u64 {
    let WinnerConfig { volumes, earlier, fused, exact, rivals, drops, checked, .. } = winner;
    let words = u64::from(layout.words);
    let lanes = words / u64::from(layout.kernel.variant.words);
    let if_so = |is_so: bool, operations: u64| if is_so { operations } else { 0 };
    let sums = if exact {
        0
    } else {
        // costs in pairs, times the paths, and the increments of each path
        load(layout) + 3 + 2 + added(layout, volumes) + if_so(earlier, 2)
    };
    let keys = 4 * (2 + 1 + masked(layout)); // the sum above the candidate; and the least of them
    let rivals_in_word = if_so(rivals, 4 * 4);
    let right = if_so(checked, 4);
    let walk = if_so(fused, UNPACKED + following(layout) + 4 + 2);
    // of a lane: the pixel and its place 14, the next one's 6, the neighbours' sums 36, whose pixel it is 1, loops 3; once for as many
    // pixels as lanes: sub-pixel, confidence and the word of the map 60
    let shared = (60 + if_so(drops, 9)).div_ceil(lanes);
    let of_lane = 54
        + shared
        + if_so(checked, 8)
        + exchanged(layout, 3 + u64::from(rivals))
        + if_so(fused, 16 + exchanged(layout, 1))
        + if_so(layout.kernel.variant.ahead > 1, 6);
    words * (sums + keys + rivals_in_word + right + walk) + lanes * of_lane
}

/// Operations that turn four costs of a byte each into four numbers.
const UNPACKED: u64 = 6;

/// Operations on the path cost of a candidate: five of the recurrence, one for L, one for the minimum.
const FOLLOWING: u64 = 7;

fn following(layout: &Layout) -> u64 {
    4 * (FOLLOWING + masked(layout))
}

/// Counts the masking of a candidate that may not exist: its position in the gate, and a selection.
fn masked(layout: &Layout) -> u64 {
    if is_masked(layout) { 3 } else { 0 }
}

fn is_masked(layout: &Layout) -> bool {
    layout.kernel.gated || layout.words * 4 != layout.structure.candidates
}

/// Counts the loading of four candidates' costs: costs from a volume need no operation.
fn load(layout: &Layout) -> u64 {
    match layout.kernel.variant.costs {
        CostSource::Volume => 0,
        CostSource::Codes => from_codes(layout.structure.comparison),
    }
}

/// Counts four costs from codes: the candidate, the partner's place 3, the distance, and the word.
fn from_codes(comparison: Comparison) -> u64 {
    let distance = match comparison {
        Comparison::Hamming(shape) if shape.bits() > 32 => 5,
        Comparison::Hamming(_) | Comparison::Difference(_) => 2,
        Comparison::WindowedDifference => 5,
        // an index, a shift and a mask; Hamming distance, difference, an index and a sum
        Comparison::LearnedTable => 6,
        Comparison::Tables { channel: Channel::Brightness, .. } => 11,
        // two differences of bytes, each with two shifts, two masks and a sign
        Comparison::Tables { channel: Channel::Gradients, .. } => 19,
    };
    4 * (1 + 3 + distance) + 6
}

/// Counts the addition of the increments of paths, for a word of four candidates.
fn added(layout: &Layout, volumes: u32) -> u64 {
    let each = if layout.kernel.wide { 2 } else { 4 };
    u64::from(volumes) * each + if layout.kernel.wide { 2 } else { 2 + 3 }
}

/// Counts a lane's exchange of values with its neighbours and the search for `numbers` minima over all lanes.
fn exchanged(layout: &Layout, numbers: u64) -> u64 {
    let variant = layout.kernel.variant;
    match variant.exchange {
        Exchange::Subgroup => 4 + numbers * 2 * u64::from((layout.words / variant.words).ilog2()),
        Exchange::Workgroup => 20 + 4 * numbers,
    }
}

#[cfg(test)]
mod counted;
#[cfg(test)]
mod page;

#[cfg(test)]
mod tests {
    use super::page::LIMITS;
    use super::*;
    use stereopsis_gpu::layout::Structure;
    use stereopsis_gpu::limits::Limits;
    use stereopsis_gpu::variant::{Variant, WORDS};
    use stereopsis_stereo::{CostKind, StereoParams};

    fn layout(params: &StereoParams, change: impl Fn(&mut Variant)) -> Layout {
        layout_on(true, params, change)
    }

    /// Returns the layout on a device whose compiler packs 16-bit integers, or does not.
    fn layout_on(packs_i16: bool, params: &StereoParams, change: impl Fn(&mut Variant)) -> Layout {
        let limits = Limits { packs_i16, ..LIMITS };
        let structure = Structure::levels((640, 480), params).remove(0).0;
        let mut variant = Variant::baseline(&limits, &structure.requirements());
        change(&mut variant);
        Layout::new(structure, variant, &limits, "test").unwrap()
    }

    /// Returns the parameters of COUNTS.md.
    fn chosen() -> StereoParams {
        StereoParams { num_disparities: 128, ..StereoParams::default() }
    }

    /// Compares the operations of this file's formulas with those counted in SPIR-V, for each candidate. The latter include invariants of
    /// the loop.
    fn assert_close(what: &str, told: u64, counted: f64, tolerance: f64) {
        let (told, counted) = (told as f64 / 128.0, counted / 128.0);
        assert!((counted - told).abs() <= tolerance * told, "{what}: {told:.2} operations, {counted:.2} in SPIR-V");
    }

    #[test]
    fn step_formula_matches_spirv() {
        let all = [PathBits::I32, PathBits::F16].into_iter().flat_map(|bits| WORDS.map(|words| (bits, words)));
        for (path_bits, words) in all.chain([(PathBits::I16, 4)]) {
            for (gating, tolerance) in [(None, 0.05), (Some(2), 0.25)] {
                for (packs_i16, ahead) in [(true, 1), (false, 1), (true, 2), (false, 4)] {
                    let params = StereoParams { gating, ..chosen() };
                    let layout = layout_on(packs_i16, &params, |v| *v = Variant { words, path_bits, ahead, ..*v });
                    // as many pixels in a turn as they are loaded ahead
                    let lanes = f64::from(layout.words / words) / f64::from(ahead);
                    let counted = lanes * counted::in_loop(&layout.kernel.paths().text, "follow", 1, packs_i16);
                    let what = format!("path_bits={path_bits} {words} {gating:?} packs {packs_i16} ahead {ahead}");
                    assert_close(&what, step(&layout, packs_i16), counted, tolerance);
                }
            }
        }
    }

    #[test]
    fn winner_formula_matches_spirv() {
        for (fused, rivals, ahead) in [(false, false, 1), (false, true, 1), (true, false, 1), (false, false, 2)] {
            let layout = layout(&chosen(), |v| *v = Variant { ahead, fused, ..*v });
            let what = WinnerConfig {
                volumes: 8 - u32::from(fused),
                earlier: false,
                fused,
                exact: false,
                rivals,
                drops: false,
                checked: true,
                keeps_sums: false,
            };
            // as many pixels as lanes in a turn
            let lanes = layout.words / layout.kernel.variant.words;
            let counted = counted::in_loop(&layout.kernel.winner(what).text, "choose", lanes, true);
            assert_close(
                &format!("fused {fused}, rivals {rivals}, ahead {ahead}"),
                winner(&layout, what),
                counted,
                0.05,
            );
        }
    }

    #[test]
    fn cost_formula_matches_spirv() {
        let layout = layout(&chosen(), |_| ());
        let lanes = f64::from(layout.words / layout.kernel.variant.words);
        let counted = lanes * counted::in_loop(&layout.kernel.compare().text, "compare", 1, true);
        assert_close("costs", cost(&layout), counted, 0.05);
    }

    #[test]
    fn more_to_do_takes_more() {
        let base = StereoParams { num_disparities: 100, ..StereoParams::default() };
        let choose = |volumes, rivals, checked, fused| {
            let what = WinnerConfig {
                volumes,
                earlier: false,
                fused,
                exact: false,
                rivals,
                drops: false,
                checked,
                keeps_sums: false,
            };
            winner(&layout(&base, |v| v.fused = fused), what)
        };
        let least = choose(7, false, false, false);
        assert!(choose(8, false, false, false) > least);
        assert!(choose(7, true, false, false) > least && choose(7, false, true, false) > least);
        assert!(choose(7, false, false, true) > least);
        let sad = |sad_window| cost(&layout(&StereoParams { cost: CostKind::Sad, sad_window, ..base.clone() }, |_| ()));
        assert!(sad(11) > sad(3));
    }
}
