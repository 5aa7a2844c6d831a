//! One row of a sweep, block by block: costs, path costs and, in the last pass over the row, winners.

use super::aligned::Aligned;
use super::costs::Costs;
use super::disparity_windows::{DisparityWindow, DisparityWindows};
use super::input::{BLOCK, MAX_DIRECTIONS, PixelSpan, Range};
use super::lane::{Increment, Lane, TotalRule};
use super::maps::MapRow;
use super::memory::Streams;
use super::path_state::{BlockShape, BlockState, Columns, EdgeState};
use super::recurrence::{Accumulation, Block, SumOutput, aggregate_block, costs_as_totals};
use super::scan::{Pass, Predecessor, Predecessors, Sweep};
use super::vector::Vector;
use super::wavefront::{RowCursor, Wavefront};
use super::winner::{BlockTotals, RightWinners, TotalForm};
use crate::image::Image;
use crate::stereo::aggregate::penalty_table;
use crate::stereo::params::StereoParams;
use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// Input of all threads.
pub(super) struct SweepInput<'a> {
    pub(super) params: &'a StereoParams,
    pub(super) range: Range,
    pub(super) luma: &'a Image<u8>,
    pub(super) costs: Costs<'a>,
    /// Candidates of each block; all of the range without gating.
    pub(super) windows: Option<&'a DisparityWindows>,
}

/// Results of a row of the picture, which pass from thread to thread.
pub(super) struct Row<'a, E> {
    /// Sums of the aggregation increments.
    pub(super) volume: &'a mut [E],
    pub(super) map: MapRow<'a>,
}

/// Path costs of the last row of a pass, block by block.
pub(super) type PathStates<L> = Wavefront<BlockState<L>>;

/// Buffers of one thread.
#[derive(Default)]
pub(super) struct Scratch<L, E> {
    p1: L,
    /// Whether the sums of a pass fit into the integer type of path costs.
    sums_fit: bool,
    penalties: Penalties,
    largest_sum: Option<u32>,
    /// Costs of a block; of a whole row where several passes follow each other.
    costs: Aligned<L>,
    /// Brightness steps of a row, and the P2 of each direction there, in whole blocks.
    steps: Vec<u8>,
    p2: Vec<L>,
    edge: EdgeState<L>,
    /// Sums of a pixel.
    sums: Aligned<E>,
    /// Sums of a row, which one pass hands to the next, in turn.
    rows: [Aligned<E>; 2],
    block_totals: BlockTotals,
    right: RightWinners,
}

impl<L: Lane, E: Increment<L>> Scratch<L, E> {
    pub(super) fn restart(&mut self, SweepInput { params, range, luma, .. }: &SweepInput<'_>) {
        let (range, width) = (*range, luma.width());
        self.p1 = L::from_u32(params.p1);
        self.penalties = Penalties::of(params);
        self.largest_sum = params.largest_accepted_sum();
        self.sums_fit = MAX_DIRECTIONS as u32 * params.largest_p2() <= L::NONE.into();
        self.steps.resize(width, 0);
        self.sums.resize(range.stride);
        self.p2.resize(width.next_multiple_of(BLOCK) * MAX_DIRECTIONS, L::default());
        self.block_totals.restart(range.stride, TotalForm::of(params.largest_sum(), range.stride));
    }

    pub(super) fn bytes(&self) -> usize {
        self.costs.bytes()
            + self.edge.bytes()
            + self.sums.bytes()
            + self.rows.iter().map(Aligned::bytes).sum::<usize>()
            + self.block_totals.bytes()
            + self.right.bytes()
    }
}

/// P2 of each brightness step.
enum Penalties {
    /// `max(smallest, largest - ((alpha * step) >> 4))`, which vector instructions compute for many pixels at once.
    Linear {
        largest: u16,
        alpha: u16,
        smallest: u16,
    },
    Table(Box<[u32; 256]>),
}

impl Default for Penalties {
    fn default() -> Self {
        Self::Linear { largest: 0, alpha: 0, smallest: 0 }
    }
}

impl Penalties {
    /// The formula where it gives the whole [`penalty_table`], else that.
    fn of(params: &StereoParams) -> Self {
        let table = penalty_table(params);
        let [largest, smallest] = [table[0], table[255]].map(|p2| p2 as u16);
        let alpha = params.p2_alpha.min(u32::from(u16::MAX / u16::from(u8::MAX))) as u16;
        let fits = |alpha: &u16| {
            (0..=u8::MAX).zip(table).all(|(step, p2)| linear(largest, *alpha, smallest, step) == p2 as u16)
        };
        match [0, alpha].into_iter().find(fits) {
            Some(alpha) => Self::Linear { largest, alpha, smallest },
            None => Self::Table(Box::new(table)),
        }
    }

    /// P2 for each of the brightness steps.
    #[inline(always)]
    fn fill<L: Lane>(&self, steps: &[u8], out: &mut [L]) {
        match *self {
            Self::Linear { largest, alpha, smallest } => {
                for (out, &step) in out.iter_mut().zip(steps) {
                    *out = L::from_u32(linear(largest, alpha, smallest, step).into());
                }
            }
            Self::Table(ref table) => {
                for (out, &step) in out.iter_mut().zip(steps) {
                    *out = L::from_u32(table[usize::from(step)]);
                }
            }
        }
    }
}

#[inline(always)]
fn linear(largest: u16, alpha: u16, smallest: u16, step: u8) -> u16 {
    largest.saturating_sub((alpha * u16::from(step)) >> 4).max(smallest)
}

/// A row in the order of its sweep.
#[derive(Clone, Copy)]
pub(super) struct RowVisit {
    /// Its number in the order of the sweep.
    pub(super) v: usize,
    /// Whether no sweep has processed it.
    pub(super) first: bool,
    /// Whether no sweep will process it later.
    pub(super) last: bool,
}

/// A row in one pass.
struct PassRow<'a> {
    pass: &'a Pass,
    /// Number of the row in the order of the sweep.
    v: usize,
    y: usize,
    /// The row before in the sweep.
    above: Option<usize>,
    accumulation: Accumulation,
    /// Number of the pass, and how many the sweep has.
    place: (usize, usize),
}

/// All passes of the sweep over one row.
#[inline(always)]
pub(super) fn process_row<S: Vector, L: Lane, E: Increment<L>>(
    simd: S,
    input: &SweepInput<'_>,
    sweep: &Sweep,
    cursors: &mut [RowCursor<'_, BlockState<L>>],
    visit: RowVisit,
    row: &mut Row<'_, E>,
    scratch: &mut Scratch<L, E>,
) {
    let (passes, height) = (sweep.passes.len(), input.luma.height());
    for (p, (pass, cursor)) in sweep.passes.iter().zip(cursors).enumerate() {
        let (first, last) = (visit.first && p == 0, visit.last && p + 1 == passes);
        let accumulation = match (first, last) {
            (true, false) => Accumulation::First,
            (false, false) => Accumulation::Add,
            (false, true) => Accumulation::Final,
            (true, true) => Accumulation::Single,
        };
        let v = visit.v;
        let above = v.checked_sub(1).map(|above| sweep.y(above, height));
        let pass_row = PassRow { pass, v, y: sweep.y(v, height), above, accumulation, place: (p, passes) };
        run_pass(simd, input, pass_row, cursor, row, scratch);
    }
}

/// One pass along the row.
#[inline(always)]
fn run_pass<S: Vector, L: Lane, E: Increment<L>>(
    simd: S,
    input: &SweepInput<'_>,
    PassRow { pass, v, y, above, accumulation, place: (p, passes) }: PassRow<'_>,
    cursor: &mut RowCursor<'_, BlockState<L>>,
    row: &mut Row<'_, E>,
    scratch: &mut Scratch<L, E>,
) {
    let Range { stride, .. } = input.range;
    let width = input.luma.width();
    let directions = pass.directions.len();
    let Scratch { p1, sums_fit, penalties, largest_sum, costs, steps, p2, edge, sums, rows, block_totals, right } =
        scratch;
    let register = <L::V<S> as SimdBase<S>>::LEN;
    let room = room(input.range, input.windows, register);
    edge.restart(directions, room);
    let with_right = !row.map.right.is_empty();
    if accumulation.gives_totals() && with_right {
        right.restart(width, input.range, block_totals.form);
    }
    let p2_pitch = width.next_multiple_of(BLOCK);
    let luma = input.luma.row(y);
    let luma_above = above.map_or(luma, |above| input.luma.row(above));
    let mut predecessors = [Predecessors::Same(Predecessor::Above); MAX_DIRECTIONS];
    for (r, scan) in pass.directions.iter().enumerate() {
        predecessors[r] = scan.predecessors(v, pass.mirrored);
        brightness_steps(luma, luma_above, pass.mirrored, predecessors[r], steps);
        penalties.fill(steps, &mut p2[r * p2_pitch..]);
    }
    let rule = TotalRule {
        form: block_totals.form,
        some_missing: input.range.candidates < stride || input.windows.is_some(),
        paths: input.params.paths as u16,
    };
    let streams = Streams::begin();
    let is_only_pass = passes == 1;
    // passes over a row hand their sums on in the cache; between the sweeps they lie in the volume
    let [before, after] = rows;
    let (before, after) = if p % 2 == 1 { (before, after) } else { (after, before) };
    let (stored, target): (&[E], &mut [E]) = if accumulation.gives_totals() {
        (if p == 0 { row.volume } else { before }, &mut [])
    } else if p + 1 == passes {
        (before, row.volume)
    } else {
        after.resize(input.windows.map_or(width * stride, |windows| windows.row_len(y)));
        (if p == 0 { row.volume } else { before }, after)
    };
    costs.resize(stride * if is_only_pass { BLOCK } else { width });
    let blocks = width.div_ceil(BLOCK);
    for c in 0..blocks {
        let from = BLOCK * if pass.mirrored { blocks - 1 - c } else { c };
        let pixels = BLOCK.min(width - from);
        let whole = (DisparityWindow { first: 0, len: stride }, from * stride);
        let (window, start) = input.windows.map_or(whole, |windows| windows.at(from, y));
        let costs = &mut costs[if is_only_pass { 0 } else { start }..][..pixels * window.len];
        if p == 0 {
            input.costs.fill(simd, PixelSpan { width, x: from, y, pixels }, window, input.range, input.windows, costs);
        }
        for (r, predecessor) in predecessors.iter_mut().enumerate().take(directions) {
            if let Predecessors::ByMinorStep(columns) = pass.directions[r].predecessors(v, pass.mirrored) {
                let first = if pass.mirrored { width - from - pixels } else { from };
                *predecessor = Predecessors::ByMinorStep(&columns[first..first + pixels]);
            }
        }
        let (totals, totals_pitch) = block_totals.begin(window);
        let mut block_p2 = Columns::default();
        for (of_block, row) in block_p2.iter_mut().zip(p2.chunks_exact(p2_pitch)) {
            of_block.copy_from_slice(&row[from..from + BLOCK]);
        }
        let place = start..start + pixels * window.len;
        let mut block = Block {
            shape: BlockShape { pixels, mirrored: pass.mirrored, window, gated: input.windows.is_some(), room },
            p1: *p1,
            p2: &block_p2,
            predecessors: &predecessors[..directions],
            costs,
            stored: stored.get(place.clone()).unwrap_or_default(),
            volume: target.get_mut(place).unwrap_or_default(),
            sums,
            totals,
            totals_pitch,
            output: SumOutput {
                accumulation,
                rule,
                streams: (p + 1 == passes).then_some(&streams), // what the next pass adds to is read at once
                fit_lanes: *sums_fit,
            },
        };
        match cursor.advance() {
            Some((state, right)) => scan_block(simd, block, state, edge, right),
            None => costs_as_totals::<S, L, E>(simd, &mut block),
        }
        if accumulation.gives_totals() {
            block_totals.left(simd, input.params, *largest_sum, row.map.block(from, pixels));
            if with_right {
                right.update(simd, block_totals, from, pixels, pass.mirrored);
            }
        }
    }
    cursor.advance(); // releases the last block
    if accumulation.gives_totals() && with_right {
        right.finish(simd, input.params.min_disparity, row.map.right);
    }
}

/// Values of a slot for one direction; with gating, with a register on either side.
pub(super) fn room(range: Range, windows: Option<&DisparityWindows>, register: usize) -> usize {
    if windows.is_some() { range.stride + 2 * register } else { range.stride }
}

/// Calls the recurrence compiled for this number of directions and registers.
#[inline(always)]
fn scan_block<S: Vector, L: Lane, E: Increment<L>>(
    simd: S,
    block: Block<'_, L, E>,
    state: &mut BlockState<L>,
    edge: &mut EdgeState<L>,
    right: Option<&BlockState<L>>,
) {
    let four = block.predecessors.len() == MAX_DIRECTIONS
        && block
            .predecessors
            .iter()
            .zip(Predecessor::ALL)
            .all(|(&predecessor, from)| matches!(predecessor, Predecessors::Same(f) if f == from));
    let gated = block.shape.gated;
    // sums as wide as path costs are in lanes anyway
    let in_lanes = size_of::<E>() > size_of::<L>() && block.output.fit_lanes;
    macro_rules! fixed {
        ($directions:literal, $candidates:literal, $four:literal, $gated:literal, $in_lanes:literal) => {
            apart(
                simd,
                #[inline(always)]
                || {
                    aggregate_block::<S, L, E, $directions, $candidates, { $candidates / 8 }, $four, $gated, $in_lanes>(
                        simd, block, state, edge, right,
                    );
                },
            )
        };
    }
    match (block.predecessors.len(), block.shape.window.len, gated) {
        (4, 64, false) if four => fixed!(4, 64, true, false, false),
        (4, 96, false) if four => fixed!(4, 96, true, false, false),
        (4, 128, false) if four => fixed!(4, 128, true, false, false),
        (4, 192, false) if four => fixed!(4, 192, true, false, false),
        (4, 256, false) if four => fixed!(4, 256, true, false, false),
        (4, 32, true) if four => fixed!(4, 32, true, true, false),
        (4, 64, true) if four => fixed!(4, 64, true, true, false),
        (4, 96, true) if four => fixed!(4, 96, true, true, false),
        (4, 128, true) if four => fixed!(4, 128, true, true, false),
        (4, 64, false) if in_lanes => fixed!(4, 64, false, false, true),
        (4, 128, false) if in_lanes => fixed!(4, 128, false, false, true),
        (4, 32, true) if in_lanes => fixed!(4, 32, false, true, true),
        (4, 64, true) if in_lanes => fixed!(4, 64, false, true, true),
        (4, 64, false) => fixed!(4, 64, false, false, false),
        (4, 128, false) => fixed!(4, 128, false, false, false),
        (2, 64, false) => fixed!(2, 64, false, false, false),
        (2, 128, false) => fixed!(2, 128, false, false, false),
        _ => fixed!(0, 0, false, false, false),
    }
}

/// Runs a loop as a function of its own, for the same instructions: with all of them in one, a compiler takes minutes.
#[inline(never)]
fn apart<S: Simd>(simd: S, run: impl FnOnce()) {
    simd.vectorize(run);
}

/// Brightness step between each pixel of a row and its predecessor. Where that lies outside a path starts, and the step has no
/// effect.
#[inline(always)]
fn brightness_steps(here: &[u8], above: &[u8], mirrored: bool, predecessor: Predecessors<'_>, steps: &mut [u8]) {
    let width = here.len();
    let back: isize = if mirrored { 1 } else { -1 };
    match predecessor {
        Predecessors::Same(Predecessor::Left) => differences(here, here, back, steps),
        Predecessors::Same(Predecessor::AboveLeft) => differences(here, above, back, steps),
        Predecessors::Same(Predecessor::Above) => differences(here, above, 0, steps),
        Predecessors::Same(Predecessor::AboveRight) => differences(here, above, -back, steps),
        Predecessors::ByMinorStep(minor_steps) => {
            differences(here, here, back, steps);
            for x in 0..width {
                let u = if mirrored { width - 1 - x } else { x };
                if minor_steps[u] {
                    steps[x] = here[x].abs_diff(above[x.saturating_add_signed(back).min(width - 1)]);
                }
            }
        }
    }
}

/// Differences of brightness between pixels and those `by` columns further; 0 where these lie outside.
#[inline(always)]
fn differences(here: &[u8], there: &[u8], by: isize, out: &mut [u8]) {
    let width = here.len();
    let (first, last) = (usize::from(by < 0).min(width), width - usize::from(by > 0));
    out[..first].fill(0);
    out[last..].fill(0);
    let there = &there[first.saturating_add_signed(by)..];
    for (out, (here, there)) in out[first..last].iter_mut().zip(here[first..last].iter().zip(there)) {
        *out = here.abs_diff(*there);
    }
}
