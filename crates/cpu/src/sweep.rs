//! One row of a sweep, block by block: costs, path costs and, in the last pass over the row, winners.

use super::aligned::AlignedArray;
use super::costs::Costs;
use super::disparity_windows::{DisparityWindow, DisparityWindows};
use super::input::{BLOCK, MAX_DIRECTIONS, PixelSpan, Range};
use super::lane::{Increment, Lane, TotalRule};
use super::maps::MapRow;
use super::memory::Streams;
use super::path_state::{BlockShape, BlockState, Columns, EdgeState};
use super::recurrence::{Accumulation, Block, SumOutput, aggregate_block, costs_as_totals};
use super::scan::{Predecessor, Predecessors, Sweep};
use super::vector::Vector;
use super::wavefront::{RowCursor, SequencedGuard, Wavefront};
use super::winner::{BlockTotals, RightWinners, TotalForm};
use fearless_simd::Simd;
use fearless_simd::prelude::*;
use stereopsis_base::image::Image;
use stereopsis_stereo::aggregate::penalty_table;
use stereopsis_stereo::params::{StereoParams, words};

pub(super) struct SweepInput<'a> {
    pub(super) params: &'a StereoParams,
    pub(super) range: Range,
    pub(super) luma: &'a Image<u8>,
    pub(super) costs: Costs<'a>,
    /// Candidates of each block; without gating there are none, and each block has the whole range.
    pub(super) windows: Option<&'a DisparityWindows>,
}

/// Results of a row of the image, which pass from thread to thread.
pub(super) struct Row<'a, E> {
    pub(super) volume: &'a mut [E],
    pub(super) map: MapRow<'a>,
}

/// Path costs of the last row of a pass, block by block.
pub(super) type PathStates<L> = Wavefront<BlockState<L>>;

#[derive(Default)]
pub(super) struct Scratch<L, E> {
    p1: L,
    /// Whether the sums of a pass fit into the integer type of path costs.
    sums_fit: bool,
    penalties: Penalties,
    largest_sum: Option<u32>,
    /// Costs of a block, or of a whole row where it has several passes.
    costs: AlignedArray<L>,
    /// Brightness steps of a row, and the P2 of each direction there, in whole blocks.
    steps: Vec<u8>,
    p2: Vec<L>,
    edge: EdgeState<L>,
    sums: AlignedArray<E>,
    /// Sums of a row, which one pass hands to the next; passes use the two in turn.
    rows: [AlignedArray<E>; 2],
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
            + self.rows.iter().map(AlignedArray::bytes).sum::<usize>()
            + self.block_totals.bytes()
            + self.right.bytes()
    }
}

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
    /// Chooses the formula where it reproduces the whole [`penalty_table`], else the table.
    fn of(params: &StereoParams) -> Self {
        let table = penalty_table(params.adaptive_p2, &words::Penalties::of(params));
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

/// Number of polls of the row before until its thread is asked to exchange rows: about as long as a few blocks.
const PATIENCE: u32 = 100;

/// Row on its way through the passes of a sweep. Threads may exchange it between two blocks.
pub(super) struct RowTask<'a, 'map, L, E> {
    pub(super) sweep: &'a Sweep,
    pub(super) v: usize,
    /// Whether no sweep has processed the row before.
    pub(super) first: bool,
    /// Whether no sweep will process the row later.
    pub(super) last: bool,
    pub(super) cursors: Vec<RowCursor<'a, BlockState<L>>>,
    pub(super) row: SequencedGuard<'a, Row<'map, E>>,
    pub(super) scratch: &'a mut Scratch<L, E>,
    /// Pass, and the next block in its order.
    pub(super) place: (usize, usize),
}

impl<'a, L: Lane, E: Increment<L>> RowTask<'a, '_, L, E> {
    /// Returns a test whether a wait for the row before is over, see [`RowCursor::end_of_wait`].
    pub(super) fn end_of_wait(&self) -> impl Fn() -> bool + use<'a, L, E> {
        self.cursors[self.place.0].end_of_wait()
    }

    /// Processes the blocks of all passes. Returns `false` before the end if the row before does not release a block for long, or if
    /// the thread of the next row asks for this one.
    #[inline(always)]
    pub(super) fn proceed<S: Vector>(
        &mut self,
        simd: S,
        input: &SweepInput<'_>,
        mut is_asked: impl FnMut() -> bool,
    ) -> bool {
        while self.place.0 < self.sweep.passes.len() {
            if !self.run_pass(simd, input, &mut is_asked) {
                return false;
            }
            self.place = (self.place.0 + 1, 0);
        }
        true
    }

    fn accumulation(&self) -> Accumulation {
        let p = self.place.0;
        match (self.first && p == 0, self.last && p + 1 == self.sweep.passes.len()) {
            (true, false) => Accumulation::First,
            (false, false) => Accumulation::Add,
            (false, true) => Accumulation::Final,
            (true, true) => Accumulation::Single,
        }
    }

    fn predecessors(&self) -> ([Predecessors<'a>; MAX_DIRECTIONS], usize) {
        let pass = &self.sweep.passes[self.place.0];
        let mut predecessors = [Predecessors::Same(Predecessor::Above); MAX_DIRECTIONS];
        for (predecessor, scan) in predecessors.iter_mut().zip(&pass.directions) {
            *predecessor = scan.predecessors(self.v, pass.mirrored);
        }
        (predecessors, pass.directions.len())
    }

    #[inline(always)]
    fn begin_pass<S: Vector>(&mut self, input: &SweepInput<'_>) {
        let (width, height) = input.luma.size();
        let (passes, stride) = (self.sweep.passes.len(), input.range.stride);
        let (y, mirrored) = (self.sweep.y(self.v, height), self.sweep.passes[self.place.0].mirrored);
        let (predecessors, directions) = self.predecessors();
        let is_right_needed = self.accumulation().gives_totals() && !self.row.map.right.is_empty();
        let Scratch { penalties, costs, steps, p2, edge, rows, block_totals, right, .. } = &mut *self.scratch;
        edge.restart(directions, room(input.range, input.windows, <L::V<S> as SimdBase<S>>::LEN));
        if is_right_needed {
            right.restart(width, input.range, block_totals.form);
        }
        let luma = input.luma.row(y);
        let above = self.v.checked_sub(1).map_or(luma, |above| input.luma.row(self.sweep.y(above, height)));
        for (&predecessor, p2) in
            predecessors[..directions].iter().zip(p2.chunks_exact_mut(width.next_multiple_of(BLOCK)))
        {
            brightness_steps(luma, above, mirrored, predecessor, steps);
            penalties.fill(steps, p2);
        }
        costs.resize(stride * if passes == 1 { BLOCK } else { width });
        if self.place.0 + 1 < passes {
            rows[self.place.0 % 2].resize(input.windows.map_or(width * stride, |windows| windows.row_len(y)));
        }
    }

    /// Processes the blocks of the pass; the return value is that of [`Self::proceed`].
    #[inline(always)]
    fn run_pass<S: Vector>(&mut self, simd: S, input: &SweepInput<'_>, mut is_asked: impl FnMut() -> bool) -> bool {
        if self.place.1 == 0 {
            self.begin_pass::<S>(input);
        }
        let Range { stride, candidates, .. } = input.range;
        let (width, height) = input.luma.size();
        let (v, y, accumulation) = (self.v, self.sweep.y(self.v, height), self.accumulation());
        let (mut predecessors, directions) = self.predecessors();
        let Self { sweep, cursors, row, scratch, place: (p, next), .. } = self;
        let (p, passes, pass, cursor) = (*p, sweep.passes.len(), &sweep.passes[*p], &mut cursors[*p]);
        let Scratch { p1, sums_fit, largest_sum, costs, p2, edge, sums, rows, block_totals, right, .. } =
            &mut **scratch;
        let is_right_needed = accumulation.gives_totals() && !row.map.right.is_empty();
        let rule = TotalRule {
            form: block_totals.form,
            some_missing: candidates < stride || input.windows.is_some(),
            paths: input.params.paths as u16,
        };
        let room = room(input.range, input.windows, <L::V<S> as SimdBase<S>>::LEN);
        let streams = Streams::begin();
        // passes over a row hand their sums on in the cache; between the sweeps the sums lie in the volume
        let [before, after] = rows;
        let (before, after) = if p % 2 == 1 { (before, after) } else { (after, before) };
        let Row { volume, map } = &mut **row;
        let (stored, target): (&[E], &mut [E]) = if accumulation.gives_totals() {
            (if p == 0 { volume } else { before }, &mut [])
        } else if p + 1 == passes {
            (before, volume)
        } else {
            (if p == 0 { volume } else { before }, after)
        };
        let mut patience = PATIENCE;
        let blocks = width.div_ceil(BLOCK);
        while *next < blocks {
            while !cursor.is_ready() {
                if patience == 0 {
                    return false;
                }
                patience -= 1;
                std::hint::spin_loop();
            }
            if is_asked() {
                return false;
            }
            let from = BLOCK * if pass.mirrored { blocks - 1 - *next } else { *next };
            let pixels = BLOCK.min(width - from);
            let whole = (DisparityWindow { first: 0, len: stride }, from * stride);
            let (window, start) = input.windows.map_or(whole, |windows| windows.at(from, y));
            let costs = &mut costs[if passes == 1 { 0 } else { start }..][..pixels * window.len];
            if p == 0 {
                let span = PixelSpan { width, x: from, y, pixels };
                input.costs.fill(simd, span, window, input.range, input.windows, costs);
            }
            for (scan, predecessor) in pass.directions.iter().zip(&mut predecessors) {
                if let Predecessors::ByMinorStep(columns) = scan.predecessors(v, pass.mirrored) {
                    let first = if pass.mirrored { width - from - pixels } else { from };
                    *predecessor = Predecessors::ByMinorStep(&columns[first..first + pixels]);
                }
            }
            let (totals, totals_pitch) = block_totals.begin(window);
            let mut block_p2 = Columns::default();
            for (of_block, row) in block_p2.iter_mut().zip(p2.chunks_exact(width.next_multiple_of(BLOCK))) {
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
                    streams: (p + 1 == passes).then_some(&streams), // the next pass would read its sums at once
                    fit_lanes: *sums_fit,
                },
            };
            match cursor.advance() {
                Some((state, right)) => scan_block(simd, block, state, edge, right),
                None => costs_as_totals::<S, L, E>(simd, &mut block),
            }
            if accumulation.gives_totals() {
                block_totals.left(simd, input.params, *largest_sum, map.block(from, pixels));
                if is_right_needed {
                    right.update(simd, block_totals, from, pixels, pass.mirrored);
                }
            }
            *next += 1;
        }
        cursor.advance(); // releases the last block
        if is_right_needed {
            right.finish(simd, input.params.min_disparity, map.right);
        }
        true
    }
}

/// Returns the number of values of a slot for one direction; with gating, with a register on either side.
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
    if !S::HAS_FIXED_LOOPS {
        return fixed!(0, 0, false, false, false);
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

/// Runs a loop as a function of its own with the same instructions: with all loops in one function, a compiler takes minutes.
#[inline(never)]
fn apart<S: Simd>(simd: S, run: impl FnOnce()) {
    simd.vectorize(run);
}

/// Computes the brightness step between each pixel of a row and its predecessor. A path starts where the predecessor lies outside,
/// and the step has no effect there.
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

/// Computes differences of brightness between pixels and those `by` columns further; 0 where these lie outside.
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
