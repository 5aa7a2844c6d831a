//! Integer operations of a pixel in the stages whose arithmetic matters: costs, local aggregation, paths, winners. With the rate of a
//! device they show whether arithmetic bounds a stage; for local aggregation they also decide how dispatches are split.
//!
//! Counted from the WGSL for one lane: additions, shifts, minima, comparisons, selections, bit counts and shuffles, one for each
//! component of a vector. A component of 16 bits counts half where the device's compiler packs two of them into a register: floats are
//! assumed to be packed everywhere, integers by [`packs_i16`](super::limits::Limits::packs_i16). Not counted: loads, stores, loop
//! invariants, and the other stages. Arms of local aggregation are assumed to have half their maximum length. A test compares steps and
//! winners with the compiled SPIR-V.

use super::kernels::{LocalConfig, WinnerConfig};
use super::layout::Layout;
use super::shaders;
use super::variant::{CostSource, Exchange, PathBits};
use stereopsis_stereo::Aggregation;
use stereopsis_stereo::cost::{Channel, Comparison};

/// Counts the costs of a pixel: from codes, or of windows.
pub(super) fn cost(layout: &Layout) -> u64 {
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

pub(super) fn aggregate(layout: &Layout, local: &LocalConfig, entry: &str) -> u64 {
    let (words, reach) = (u64::from(layout.words), u64::from(local.reach));
    let side = 2 * reach + 1;
    let result = if local.exact { 4 } else { 4 * 2 + 6 };
    // costs in pairs, added; the same for two of them in a window
    let (pairs, halved) = (3 + 2, 16);
    let shared = |columns: u32| (u64::from(columns), u64::from(local.own_columns()));
    words
        * match (local.kind, entry) {
            (Aggregation::Window, _) => {
                let (columns, own) = shared(shaders::SAD_COLUMNS);
                let strip = u64::from(local.strip());
                // two places and their pairs, for each column that a workgroup has; then the window's sums
                let column_sums = (2 * (pairs + 12) * strip + (pairs + 12) * 2 * reach) * columns / (own * strip);
                column_sums + 7 * side + 4 + result
            }
            (Aggregation::Cross, "rows") => {
                let (columns, own) = shared(shaders::LOCAL_RUNS * shaders::LOCAL_RUN);
                // a sum from the left with its share of the totals; for each candidate arms 7, two places 7, halves 6
                (pairs + 10 + 2 + u64::from(shaders::LOCAL_RUNS) / 8) * columns / own + 4 * 21 + 6
            }
            // for each candidate the partner 4, arms 8, rows and strips 30, the mean 8
            (Aggregation::Cross, _) => 4 * 50 + 10 + result,
            (Aggregation::AdaptiveWeight, _) => {
                let columns = u64::from(shaders::LOCAL_COLUMNS);
                let candidates = 4 * u64::from(local.words(layout.words));
                // a weight takes 24, and a workgroup has as many of the left and the right image as meet in it
                let weights = 24 * (2 * columns + candidates - 1) * side * side * 4 / (columns * candidates);
                // for each place of the window four products, weighted costs and sums, and their places
                side * side * (4 * 5 + 7 + 6) + weights + 4 * 2 + result
            }
            // assumes that arms of all lengths are equally frequent
            _ => (reach + 1) * (reach + 1) * (5 * 28 + 4 * 5 + 7 + halved) + result,
        }
}

/// Counts one step of a path: all candidates of a pixel in one direction.
pub(super) fn step(layout: &Layout) -> u64 {
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
        let of_word = if layout.packs_i16 { 2 * (of_candidate + 1) } else { 4 * of_candidate };
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

pub(super) fn sum(layout: &Layout, volumes: u32) -> u64 {
    let lanes = u64::from(layout.words / layout.kernel.variant.words);
    u64::from(layout.words) * added(layout, volumes) + lanes * 8
}

pub(super) fn winner(layout: &Layout, winner: WinnerConfig) -> u64 {
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
mod tests {
    use super::*;
    use crate::layout::Structure;
    use crate::limits::Limits;
    use crate::variant::{Variant, WORDS};
    use stereopsis_stereo::{CostKind, StereoParams};

    fn layout(params: &StereoParams, change: impl Fn(&mut Variant)) -> Layout {
        layout_on(true, params, change)
    }

    /// Returns the layout on a device whose compiler packs 16-bit integers, or does not.
    fn layout_on(packs_i16: bool, params: &StereoParams, change: impl Fn(&mut Variant)) -> Layout {
        let limits = Limits {
            subgroup: 32,
            workgroup: 1024,
            has_f16: true,
            has_i16: true,
            packs_i16,
            discrete: true,
            integrated: false,
            binding_bytes: 1 << 30,
            storage_buffers: 32,
            side_px: 16384,
            path_bytes: 4 << 30,
        };
        let structure = Structure::levels((640, 480), params).remove(0).0;
        let mut variant = Variant::baseline(&limits, &structure.requirements());
        change(&mut variant);
        Layout::new(structure, variant, &limits, "test").unwrap()
    }

    /// Returns the parameters of docs/performance.md.
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
                    assert_close(&what, step(&layout), counted, tolerance);
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
