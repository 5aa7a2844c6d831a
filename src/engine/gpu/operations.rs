//! Integer operations of a pixel in each stage, counted from the shaders: with the rate of a device they tell whether
//! arithmetic bounds a stage.
//!
//! Counted is what the WGSL says for one lane: additions, shifts, minima, comparisons, selections, bit counts,
//! conversions and shuffles, one for each component of a vector, whatever a device makes of it. Path costs of 16 bits count half, because
//! two of them fit into an instruction of 32 bits. Not counted are loads and stores, and what a loop finds unchanged in each
//! turn. Filters whose work depends on the picture have a round number, for a picture without surprises.

use super::kernels::{Local, Winner};
use super::layout::{Layout, Structure};
use super::shaders;
use super::variant::{Arithmetic, CostsFrom, Exchange};
use crate::stereo::cost::census::Shape;
use crate::stereo::cost::{Channel, Comparison, Scalar};
use crate::stereo::{Aggregation, CostKind, Median};

/// Rounded mean of 2 x 2 pixels, with the coordinates of four texels.
pub(super) const HALVE: u64 = 26;

/// Eight-bit brightness of a pixel: its place among the codes, the shift, and what lies inside.
pub(super) const BRIGHTNESS: u64 = 12;

/// Gradients of a pixel: four levels of brightness with their places, two slopes, and both put among the codes.
pub(super) const GRADIENTS: u64 = 42;

/// One pixel of the joint histogram: the guess, of which chance takes most, the partner, and two levels of brightness.
pub(super) const COUNT: u64 = 40;

/// A number of the table of mutual information, in one entry of its shader.
pub(super) fn table(entry: &str) -> u64 {
    match entry {
        "lines" => 2,
        "terms" => 2 * 5 * 6 + 8,
        // 25 numbers with their places and weights; then the logarithm, or the extremes
        "joint_logs" => 25 * 8 + 8,
        "negatives" => 25 * 8 + 12,
        _ => 6,
    }
}

/// Code of one pixel of one picture: each neighbour takes an index, a comparison, a shift and an "or"; the tile's texels
/// are found with about 30.
pub(super) fn transform(structure: &Structure) -> u64 {
    let each = match structure.cost.comparison() {
        Comparison::Difference(Scalar::Rank) => 3 * u64::from(structure.rank_window * structure.rank_window),
        Comparison::WindowedDifference => return 0,
        Comparison::Difference(Scalar::Brightness) | Comparison::LearnedTable => return BRIGHTNESS,
        Comparison::Hamming(shape) | Comparison::Tables { census: shape, .. } => {
            let Shape { width, height, symmetric } = shape;
            let neighbours = (width * height - 1) as u64;
            if symmetric { 5 * neighbours / 2 } else { 4 * neighbours }
        }
    };
    each + 30
}

/// Costs of a pixel: from codes, or of windows.
pub(super) fn cost(layout: &Layout) -> u64 {
    let structure = &layout.structure;
    if structure.cost.comparison() == Comparison::WindowedDifference {
        let window = u64::from(structure.sad_window);
        let (strip, columns) = (u64::from(shaders::STRIP), u64::from(shaders::SAD_COLUMNS));
        // a column's sums, with the rows above the strip and the columns that only lend theirs; then the window's
        let column_sums = 48 * (strip + window - 1) * columns / (strip * (columns + 1 - window));
        let window_sums = 7 * window + if structure.block_matching() { 8 } else { 21 };
        return u64::from(layout.words) * (column_sums + window_sums);
    }
    let lanes = u64::from(layout.words / layout.kernel.variant.words);
    // the first candidates of a lane and its place in the volume, once; the candidate and the row of each partner
    u64::from(layout.words) * (from_codes(structure.cost) + 4 * 2) + lanes * 12
}

/// The arms of a pixel of one picture: a place, a comparison and a loop for each pixel of an arm; in a picture without
/// surprises they are half as long as they may be.
pub(super) fn arms(local: &Local) -> u64 {
    4 * (10 * u64::from(local.reach) / 2 + 4)
}

/// Aggregated costs of a pixel, in one entry of the shaders.
pub(super) fn aggregate(layout: &Layout, local: &Local, entry: &str) -> u64 {
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
                // a weight takes 24, and a workgroup has as many of the left and the right picture as meet in it
                let weights = 24 * (2 * columns + candidates - 1) * side * side * 4 / (columns * candidates);
                // for each place of the window four products, weighted costs and sums, and their places
                side * side * (4 * 5 + 7 + 6) + weights + 4 * 2 + result
            }
            // arms of all lengths are as frequent, in a picture without surprises
            _ => (reach + 1) * (reach + 1) * (5 * 28 + 4 * 5 + 7 + halved) + result,
        }
}

/// One step of a path: all candidates of a pixel in one direction.
pub(super) fn step(layout: &Layout) -> u64 {
    let variant = layout.kernel.variant;
    let words = u64::from(layout.words);
    let lanes = words / u64::from(variant.words);
    let packed = if layout.kernel.wide { 4 } else { 6 };
    let of_word = load(layout) + UNPACKED + numbers(layout, following(layout)) + packed + converted(layout);
    // of a lane: where the line goes next 20, two places in volumes 10, brightness and P2 10, the loop 2
    words * of_word + lanes * (42 + exchanged(layout, 1))
}

/// Sums of stored directions, for one pixel.
pub(super) fn sum(layout: &Layout, volumes: u32) -> u64 {
    let lanes = u64::from(layout.words / layout.kernel.variant.words);
    u64::from(layout.words) * u64::from(volumes) * added(layout) + lanes * 8
}

/// Sums and the winners of both pictures, for one pixel.
pub(super) fn winner(layout: &Layout, winner: Winner) -> u64 {
    let Winner { volumes, earlier, fused, exact, rivals, drops, checked, .. } = winner;
    let words = u64::from(layout.words);
    let lanes = words / u64::from(layout.kernel.variant.words);
    let if_so = |is_so: bool, operations: u64| if is_so { operations } else { 0 };
    let masked = if_so(is_masked(layout), 4 * 3);
    let sums = if exact {
        0
    } else {
        // costs in pairs, times the paths, what each path adds, and the four sums of a word
        load(layout) + 3 + 2 + u64::from(volumes) * added(layout) + if_so(earlier, 2) + 4
    };
    let keys = 4 * 3 + masked; // with the sum goes the candidate; and the least of them
    let rivals = if_so(rivals, 4 * 5 + masked);
    let right = if_so(checked, 4 * 2);
    let walk = if_so(fused, UNPACKED + numbers(layout, following(layout)) + converted(layout) + 4 + 2);
    // of a lane: places 20, the neighbours' sums 40, sub-pixel and confidence 30, the loop 5
    let of_lane = 95 + if_so(drops, 9) + exchanged(layout, 4) + if_so(fused, 16 + exchanged(layout, 1));
    words * (sums + keys + rivals + right + walk) + lanes * of_lane
}

/// A pixel of a map, in one entry of a shader.
pub(super) fn of_map(stem: &str, structure: &Structure) -> u64 {
    match (stem, structure.median) {
        // 30 or 180 minima and maxima; what stands for an invalid neighbour; the tile
        ("filter/median", Median::Five) => 180 + 3 * 25 + 17,
        ("filter/median", _) => 30 + 3 * 9 + 13,
        ("disparity/right", _) => 8,
        // there and back: the mean 12, the place 4; the tile
        ("filter/temporal", _) => 30,
        ("filter/spatial", _) => 2 * (16 + 8),
        _ => 20,
    }
}

/// Four costs of a byte each become four numbers.
const UNPACKED: u64 = 6;

/// Operations on the numbers of path costs, for a word of four candidates: six of the recurrence, one for L, one for the
/// least; and a selection where some candidates do not exist.
fn following(layout: &Layout) -> u64 {
    4 * (8 + u64::from(is_masked(layout)))
}

/// Whether candidates have to be told from those that do not exist.
fn is_masked(layout: &Layout) -> bool {
    layout.kernel.gated || layout.words * 4 != layout.structure.candidates
}

/// Four costs become numbers of 16 bits, and four numbers whole ones again: each once, or by an operation or two on bits.
fn converted(layout: &Layout) -> u64 {
    match layout.kernel.variant.arithmetic {
        Arithmetic::U32 => 0,
        _ if layout.kernel.converts_by_bits() => 4 + 6,
        _ => 4 + 4,
    }
}

/// Numbers of 16 bits count half.
fn numbers(layout: &Layout, operations: u64) -> u64 {
    if layout.kernel.variant.arithmetic == Arithmetic::U32 { operations } else { operations.div_ceil(2) }
}

/// Costs of four candidates as a kernel gets them: from a volume they come ready.
fn load(layout: &Layout) -> u64 {
    match layout.kernel.variant.costs {
        CostsFrom::Volume => 0,
        CostsFrom::Codes => from_codes(layout.structure.cost),
    }
}

/// Four costs from codes: the partner's place, four operations and the row, the distance, and the word.
fn from_codes(cost: CostKind) -> u64 {
    let distance = match cost.comparison() {
        Comparison::Hamming(shape) if shape.bits() > 32 => 5,
        Comparison::Hamming(_) | Comparison::Difference(_) => 2,
        Comparison::WindowedDifference => 5,
        // an index, a shift and a mask; Hamming distance, difference, an index and a sum
        Comparison::LearnedTable => 6,
        Comparison::Tables { channel: Channel::Brightness, .. } => 11,
        // two differences of bytes, each with two shifts, two masks and a sign
        Comparison::Tables { channel: Channel::Gradients, .. } => 19,
    };
    4 * (4 + 1 + distance) + 6
}

/// Adding what a path adds, for a word of four candidates.
fn added(layout: &Layout) -> u64 {
    if layout.kernel.wide { 2 } else { 3 + 2 }
}

/// What a lane does to hear its neighbours, and the smallest of `numbers` numbers of all lanes.
fn exchanged(layout: &Layout, numbers: u64) -> u64 {
    let variant = layout.kernel.variant;
    match variant.exchange {
        Exchange::Subgroup => 4 + numbers * 2 * u64::from((layout.words / variant.words).ilog2()),
        Exchange::Workgroup => 20 + 4 * numbers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::gpu::layout::Limits;
    use crate::engine::gpu::variant::{Abilities, Variant};
    use crate::stereo::StereoParams;

    fn layout(params: &StereoParams, change: impl Fn(&mut Variant)) -> Layout {
        let abilities = Abilities { subgroup: 32, f16: true, i16: true, workgroup: 1024, discrete: true };
        let limits =
            Limits { abilities, binding_bytes: 1 << 30, storage_buffers: 32, side_px: 16384, path_bytes: 4 << 30 };
        let structure = Structure::levels((640, 480), params).remove(0).0;
        let mut variant = Variant::sound(&abilities, &structure.demands());
        change(&mut variant);
        Layout::new(structure, variant, &limits, "test").unwrap()
    }

    #[test]
    fn a_step_takes_about_eleven_operations_a_candidate_and_its_share_of_a_lane() {
        let params = StereoParams { num_disparities: 128, ..StereoParams::default() };
        let each = |change: fn(&mut Variant)| step(&layout(&params, change)) as f64 / 128.0;
        let by_lane = (42.0 + 4.0 + 2.0 * 3.0) / 16.0;
        assert!((each(|_| ()) - 11.0 - by_lane).abs() < 1e-9, "{}", each(|_| ()));
        // of 16 bits the eight on numbers count half, and each is converted twice
        assert!((each(|v| v.arithmetic = Arithmetic::U16) - 9.0 - by_lane).abs() < 1e-9);
        assert!((each(|v| v.arithmetic = Arithmetic::F16) - 9.5 - by_lane).abs() < 1e-9);
        // a lane with fewer candidates spends more on each
        assert!(each(|v| v.words = 1) > each(|v| v.words = 2));
        // codes: partner, row, exclusive "or", bits, and a share of the word
        assert!((each(|v| v.costs = CostsFrom::Codes) - each(|_| ()) - 8.5).abs() < 1e-9);
    }

    #[test]
    fn more_to_do_takes_more() {
        let base = StereoParams { num_disparities: 100, ..StereoParams::default() };
        let choose = |volumes, rivals, checked, fused| {
            let what = Winner {
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
        let of = |cost| Structure::levels((64, 48), &StereoParams { cost, ..base.clone() }).remove(0).0;
        assert!(transform(&of(CostKind::Census9x7)) > transform(&of(CostKind::Census5x5)));
        assert_eq!(transform(&of(CostKind::Sad)), 0);
        let sad = |sad_window| cost(&layout(&StereoParams { cost: CostKind::Sad, sad_window, ..base.clone() }, |_| ()));
        assert!(sad(11) > sad(3));
    }
}
