//! The recurrence of path costs for up to four directions, pixel after pixel along a block.
//!
//! `L = C + e` with the aggregation increment `e = min(L', L'(d - 1) + P1, L'(d + 1) + P1, min L' + P2) - min L'`, where `L'`
//! are the path costs of the predecessor (`crates/stereo/src/aggregate/paths.rs`). A path keeps `L`. Volumes keep the sum of
//! `e` over the directions: each is at most P2, so that a byte often suffices. The costs are added at the end:
//! `sum of L = sum of e + N C`.
//!
//! Before the start of a line all path costs are 0, so that `e` is 0 and `L = C`.

use super::input::{BLOCK, MAX_DIRECTIONS};
use super::lane::{Increment, Lane};
use super::memory::{Streams, prefetch};
use super::path_state::{
    ABOVE_LEFT, BlockShape, BlockState, EdgeState, LEFT, SLOTS, at_slot, load_neighbours, mask_borders, store_edge,
};
use super::scan::{Predecessor, Predecessors};
use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// Registers of the longest window that [`aggregate_block_fixed`] is compiled for.
const MAX_REGISTERS: usize = 32;

/// Pixels by which a volume is prefetched ahead.
const PREFETCH_DISTANCE: usize = 16;

/// Effect of a pass on the volume of sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accumulation {
    /// Stores the sums: the first pass over the row.
    First,
    /// Adds to the sums.
    Add,
    /// Adds to the sums and gives the totals: the last pass over the row.
    Final,
    /// Gives the totals without a volume: the only pass over the row.
    Single,
}

impl Accumulation {
    /// Whether the pass gives totals.
    pub(super) fn gives_totals(self) -> bool {
        matches!(self, Self::Final | Self::Single)
    }
}

/// A block and its arrays. Pixels of `p2`, `costs`, `volume` and `totals` are in the order of the picture's columns.
pub(super) struct Block<'a, L, E> {
    pub(super) shape: BlockShape,
    /// Whether paths go from the last pixel to the first.
    pub(super) mirrored: bool,
    pub(super) p1: L,
    /// P2 of each direction and pixel.
    pub(super) p2: &'a [[L; BLOCK]; MAX_DIRECTIONS],
    /// For each direction; minor steps in the order of the paths.
    pub(super) predecessors: &'a [Predecessors<'a>],
    pub(super) costs: &'a [L],
    pub(super) volume: &'a mut [E],
    pub(super) totals: &'a mut [u16],
    /// Distance of pixels in `totals`.
    pub(super) totals_pitch: usize,
    pub(super) output: SumOutput<'a>,
}

/// Destination of the sums of a pixel.
#[derive(Clone, Copy)]
pub(super) struct SumOutput<'a> {
    pub(super) accumulation: Accumulation,
    /// Whether some costs may be [`Lane::NONE`].
    pub(super) some_missing: bool,
    /// Number of all directions.
    pub(super) paths: u16,
    /// Where the sums are read again only by the other sweep.
    pub(super) streams: Option<&'a Streams>,
    /// Whether the sums of a pass fit into the integer type of path costs.
    pub(super) fit_lanes: bool,
}

impl SumOutput<'_> {
    /// Writes a register of sums to index `at` of the volume, or adds it to the values there and the costs, for the totals.
    #[inline(always)]
    fn put<S: Simd, L: Lane, E: Increment<L>>(
        self,
        simd: S,
        (sums, cost): (E::Sums<S>, L::V<S>),
        volume: &mut [E],
        at: usize,
        totals: &mut [u16],
    ) {
        if self.accumulation == Accumulation::Single {
            E::total::<S>(simd, self.some_missing, E::zero(simd), sums, cost, self.paths, totals);
            return;
        }
        let volume = &mut volume[at..][..<L::V<S> as SimdBase<S>>::LEN];
        match self.accumulation {
            Accumulation::First => match self.streams {
                Some(streams) => E::stream::<S>(sums, volume, streams),
                None => E::store::<S>(sums, volume),
            },
            Accumulation::Add => E::store::<S>(E::both::<S>(E::load(simd, volume), sums), volume),
            _ => E::total::<S>(simd, self.some_missing, E::load(simd, volume), sums, cost, self.paths, totals),
        }
    }
}

/// Slot of each pixel's predecessor: `first + step * i` for pixel `i`, whose own slot is `i + 1`.
#[derive(Clone, Copy, Default)]
struct SlotRule<'a> {
    first: usize,
    step: usize,
    /// Pixels whose predecessor lies above left instead.
    minor_steps: Option<&'a [bool]>,
    /// Whether the predecessor of the next pixel may lie above left.
    keeps_above_left: bool,
}

impl<'a> SlotRule<'a> {
    fn of(predecessor: Predecessors<'a>) -> Self {
        let rule = Self { first: LEFT, step: 1, minor_steps: None, keeps_above_left: false };
        match predecessor {
            Predecessors::Same(Predecessor::Left) => rule,
            Predecessors::Same(Predecessor::AboveLeft) => {
                Self { first: ABOVE_LEFT, step: 0, keeps_above_left: true, ..rule }
            }
            Predecessors::Same(Predecessor::Above) => Self { first: LEFT + 1, ..rule },
            Predecessors::Same(Predecessor::AboveRight) => Self { first: LEFT + 2, ..rule },
            Predecessors::ByMinorStep(columns) => Self { minor_steps: Some(columns), keeps_above_left: true, ..rule },
        }
    }

    #[inline(always)]
    fn all<const N: usize>(predecessors: &[Predecessors<'a>]) -> [Self; N] {
        let mut rules = [Self::default(); N];
        for r in 0..N {
            rules[r] = Self::of(predecessors[r]);
        }
        rules
    }

    /// Slot of the predecessor of pixel `i`.
    #[inline(always)]
    fn slot(&self, i: usize) -> usize {
        if self.minor_steps.is_some_and(|minor_steps| minor_steps[i]) { ABOVE_LEFT } else { self.first + self.step * i }
    }
}

/// The recurrence for `N` directions along a block, for any number of registers per pixel. Some costs may be [`Lane::NONE`].
#[inline(always)]
pub(super) fn aggregate_block<S, L, E, const N: usize>(
    simd: S,
    block: Block<'_, L, E>,
    state: &mut BlockState<L>,
    edge: &mut EdgeState<L>,
    right: Option<&BlockState<L>>,
) where
    S: Simd,
    L: Lane,
    E: Increment<L>,
{
    let len = <L::V<S> as SimdBase<S>>::LEN;
    let stride = block.shape.window.len;
    let registers = stride / len;
    let (gated, room, pad) = (block.shape.gated, block.shape.room, block.shape.pad(len));
    let moved = load_neighbours(simd, &block.shape, state, edge, right, N);
    let Block { shape, p2, costs, volume, totals, totals_pitch, .. } = block;
    let (pixels, output) = (shape.pixels, block.output);
    let slots = &mut state.slots[..SLOTS * N * room];
    let least = &mut state.least[..SLOTS * N];
    let rules = SlotRule::all::<N>(block.predecessors);
    let none = L::V::<S>::splat(simd, L::NONE);
    let p1 = L::V::<S>::splat(simd, block.p1);
    for i in 0..pixels {
        let t = if block.mirrored { pixels - 1 - i } else { i };
        let costs = &costs[t * stride..][..stride];
        if output.accumulation == Accumulation::Final {
            let next = if block.mirrored { t.wrapping_sub(PREFETCH_DISTANCE) } else { t + PREFETCH_DISTANCE };
            for b in 0..registers {
                prefetch(volume, next.wrapping_mul(stride).wrapping_add(b * len));
            }
        }
        let mut from = [0; N];
        let mut before = [none; N];
        let mut limit = [none; N];
        let mut below = [none; N];
        let mut here = [none; N];
        for r in 0..N {
            let slot = rules[r].slot(i);
            from[r] = (slot * N + r) * room + pad;
            before[r] = L::V::<S>::splat(simd, least[slot * N + r]);
            limit[r] = before[r].saturating_add(L::V::<S>::splat(simd, p2[r][t]));
            here[r] = at_slot(simd, slots, from[r]);
            if gated {
                below[r] = at_slot(simd, slots, from[r] - len);
            }
        }
        let mut smallest = [none; N];
        for b in 0..registers {
            let cost = at_slot::<S, L>(simd, costs, b * len);
            let mut sums = E::zero(simd);
            for r in 0..N {
                let above =
                    if b + 1 < registers || gated { at_slot(simd, slots, from[r] + (b + 1) * len) } else { none };
                let beside = L::shifted_up::<S>(below[r], here[r]).min(here[r].slide::<1>(above)).saturating_add(p1);
                let increment = here[r].min(beside).min(limit[r]) - before[r];
                let path = cost.saturating_add(increment);
                sums = E::plus::<S>(sums, increment);
                smallest[r] = smallest[r].min(path);
                let to = ((i + 1) * N + r) * room + pad + b * len;
                if rules[r].keeps_above_left {
                    let old = at_slot::<S, L>(simd, slots, to);
                    old.store_slice(&mut slots[(ABOVE_LEFT * N + r) * room + pad + b * len..][..len]);
                }
                path.store_slice(&mut slots[to..][..len]);
                below[r] = here[r];
                here[r] = above;
            }
            let totals = &mut totals[t * totals_pitch + b * len..][..len];
            output.put::<S, L, E>(simd, (sums, cost), volume, t * stride + b * len, totals);
        }
        for r in 0..N {
            least[ABOVE_LEFT * N + r] = least[(i + 1) * N + r];
            least[(i + 1) * N + r] = smallest[r].reduce_min();
            if gated && (moved || i == 0) {
                let (old, new) = ((ABOVE_LEFT * N + r) * room, ((i + 1) * N + r) * room);
                mask_borders(simd, slots, old, new, stride, rules[r].keeps_above_left);
            }
        }
    }
    store_edge(state, edge, shape, N);
}

/// [`aggregate_block`] for windows of `W` candidates: the common cases, in which all lengths are known to the compiler. With
/// `FOUR` the predecessors are [`Predecessor::ALL`], and the path along the row needs one slot only. `GATED` is
/// [`BlockShape::gated`]. With `IN_LANES` the increments are summed in registers of path costs, see [`SumOutput::fit_lanes`].
#[inline(always)]
pub(super) fn aggregate_block_fixed<
    S,
    L,
    E,
    const N: usize,
    const W: usize,
    const FOUR: bool,
    const GATED: bool,
    const IN_LANES: bool,
>(
    simd: S,
    block: Block<'_, L, E>,
    state: &mut BlockState<L>,
    edge: &mut EdgeState<L>,
    right: Option<&BlockState<L>>,
) where
    S: Simd,
    L: Lane,
    E: Increment<L>,
{
    let len = <L::V<S> as SimdBase<S>>::LEN;
    let room = if GATED { block.shape.room } else { W };
    let moved = load_neighbours(simd, &block.shape, state, edge, right, N);
    let rules = SlotRule::all::<N>(block.predecessors);
    let Block { shape, p2, costs, volume, totals, totals_pitch, .. } = block;
    let output = block.output;
    let pixels = shape.pixels.min(BLOCK); // it is, and the compiler sees that no slot lies outside
    let costs = &costs.as_chunks::<W>().0[..pixels];
    let volume = volume.as_chunks_mut::<W>().0;
    let mut slots = Slots::<L, N, W> {
        values: &mut state.slots[..SLOTS * N * room],
        least: &mut state.least.as_chunks_mut::<N>().0[..SLOTS],
        room,
        pad: if GATED { len } else { 0 },
        gated: GATED,
        p1: block.p1,
    };
    let mut recent = edge.new.least[0]; // of the path along the row
    let mut sums = PixelSums::<S, L, E, IN_LANES>::zero(simd); // once: the first direction of each pixel replaces them
    for i in 0..pixels {
        let t = if block.mirrored { pixels - 1 - i } else { i };
        if output.accumulation == Accumulation::Final {
            let next = if block.mirrored { t.wrapping_sub(PREFETCH_DISTANCE) } else { t + PREFETCH_DISTANCE };
            for b in 0..W / len {
                prefetch(volume.as_flattened(), next.wrapping_mul(W).wrapping_add(b * len));
            }
        }
        let costs = &costs[t];
        if FOUR {
            recent = slots.follow(simd, (0, LEFT, LEFT, false), (recent, p2[0][t]), costs, &mut sums);
            slots.follow_from_above(simd, (1, ABOVE_LEFT, i + 1, true), p2[1][t], costs, &mut sums);
            slots.follow_from_above(simd, (2, i + 1, i + 1, false), p2[2][t], costs, &mut sums);
            slots.follow_from_above(simd, (3, i + 2, i + 1, false), p2[3][t], costs, &mut sums);
        } else {
            for r in 0..N {
                let step = (r, rules[r].slot(i), i + 1, rules[r].keeps_above_left);
                slots.follow_from_above(simd, step, p2[r][t], costs, &mut sums);
            }
        }
        if GATED && (moved || i == 0) {
            for r in 0..N {
                let to = if FOUR && r == 0 { LEFT } else { i + 1 };
                let keeps_above_left = if FOUR { r == 1 } else { rules[r].keeps_above_left };
                let (old, new) = ((ABOVE_LEFT * N + r) * room, (to * N + r) * room);
                mask_borders(simd, slots.values, old, new, W, keeps_above_left);
            }
        }
        let volume: &mut [E] = volume.get_mut(t).map_or(&mut [], |pixel| pixel); // none in a single pass
        let totals: &mut [u16; W] = totals[t * totals_pitch..].first_chunk_mut().expect("totals of all candidates");
        for b in 0..W / len {
            let place = b * len..(b + 1) * len;
            let cost = L::V::<S>::from_slice(simd, &costs[place.clone()]);
            output.put::<S, L, E>(simd, (sums.of(simd, b), cost), volume, place.start, &mut totals[place]);
        }
    }
    if FOUR {
        // the slot of the last pixel, which the next block reads
        slots.values.copy_within((LEFT * N) * room..(LEFT * N + 1) * room, pixels * N * room);
        slots.least[pixels][0] = recent;
    }
    store_edge(state, edge, BlockShape { gated: GATED, room, ..shape }, N);
}

/// Sums of the increments of one pixel: registers of path costs with `IN_LANES`, of sums without.
struct PixelSums<S: Simd, L: Lane, E: Increment<L>, const IN_LANES: bool> {
    lanes: [L::V<S>; MAX_REGISTERS],
    sums: [E::Sums<S>; MAX_REGISTERS],
}

impl<S: Simd, L: Lane, E: Increment<L>, const IN_LANES: bool> PixelSums<S, L, E, IN_LANES> {
    #[inline(always)]
    fn zero(simd: S) -> Self {
        let lanes = L::V::<S>::splat(simd, L::default());
        Self { lanes: [lanes; MAX_REGISTERS], sums: [E::zero(simd); MAX_REGISTERS] }
    }

    /// Adds a direction to register `b`; the first one of a pixel replaces the sums of the pixel before.
    #[inline(always)]
    fn add(&mut self, simd: S, b: usize, increment: L::V<S>, is_first: bool) {
        if IN_LANES {
            self.lanes[b] = if is_first { increment } else { self.lanes[b] + increment };
        } else {
            let before = if is_first { E::zero(simd) } else { self.sums[b] };
            self.sums[b] = E::plus::<S>(before, increment);
        }
    }

    /// Register `b` of the sums.
    #[inline(always)]
    fn of(&self, simd: S, b: usize) -> E::Sums<S> {
        if IN_LANES { E::plus::<S>(E::zero(simd), self.lanes[b]) } else { self.sums[b] }
    }
}

/// Path costs of a [`BlockState`] of `N` directions, for windows of `W` candidates.
struct Slots<'a, L, const N: usize, const W: usize> {
    values: &'a mut [L],
    least: &'a mut [[L; N]],
    /// As in [`BlockShape`].
    room: usize,
    pad: usize,
    gated: bool,
    p1: L,
}

impl<L: Lane, const N: usize, const W: usize> Slots<'_, L, N, W> {
    #[inline(always)]
    fn line(&self, at: usize) -> &[L; W] {
        self.values[at..].first_chunk().expect("a slot has room for the window")
    }

    #[inline(always)]
    fn line_mut(&mut self, at: usize) -> &mut [L; W] {
        self.values[at..].first_chunk_mut().expect("a slot has room for the window")
    }

    /// [`Self::follow`] with the smallest path costs of the slots.
    #[inline(always)]
    fn follow_from_above<S: Simd, E: Increment<L>, const IN_LANES: bool>(
        &mut self,
        simd: S,
        step: (usize, usize, usize, bool),
        p2: L,
        costs: &[L; W],
        sums: &mut PixelSums<S, L, E, IN_LANES>,
    ) {
        let (r, from, to, keeps_above_left) = step;
        let before = self.least[from][r];
        if keeps_above_left {
            self.least[ABOVE_LEFT][r] = self.least[to][r];
        }
        self.least[to][r] = self.follow(simd, step, (before, p2), costs, sums);
    }

    /// Direction `r` of one pixel, from slot `from` to slot `to`; gives the smallest path cost. With `keeps_above_left` the former
    /// values of slot `to` become those of [`ABOVE_LEFT`].
    #[inline(always)]
    fn follow<S: Simd, E: Increment<L>, const IN_LANES: bool>(
        &mut self,
        simd: S,
        (r, from, to, keeps_above_left): (usize, usize, usize, bool),
        (before, p2): (L, L),
        costs: &[L; W],
        sums: &mut PixelSums<S, L, E, IN_LANES>,
    ) -> L {
        let len = <L::V<S> as SimdBase<S>>::LEN;
        let none = L::V::<S>::splat(simd, L::NONE);
        let p1 = L::V::<S>::splat(simd, self.p1);
        let before = L::V::<S>::splat(simd, before);
        let limit = before.saturating_add(L::V::<S>::splat(simd, p2));
        let (from, to) = ((from * N + r) * self.room + self.pad, (to * N + r) * self.room + self.pad);
        let above_left = (ABOVE_LEFT * N + r) * self.room + self.pad;
        let (mut below, mut last) = (none, none);
        if self.gated {
            (below, last) = (at_slot(simd, self.values, from - len), at_slot(simd, self.values, from + W));
        }
        let mut here = at_slot::<S, L>(simd, self.line(from), 0);
        let mut smallest = none;
        for b in 0..W / len {
            let place = b * len..(b + 1) * len;
            let above = if b + 1 < W / len { at_slot::<S, L>(simd, self.line(from), (b + 1) * len) } else { last };
            if keeps_above_left {
                // candidates up to this one of the slot above left have been read
                let old = L::V::<S>::from_slice(simd, &self.line(to)[place.clone()]);
                old.store_slice(&mut self.line_mut(above_left)[place.clone()]);
            }
            let beside = L::shifted_up::<S>(below, here).min(here.slide::<1>(above)).saturating_add(p1);
            let increment = here.min(limit).min(beside) - before;
            let path = L::V::<S>::from_slice(simd, &costs[place.clone()]).saturating_add(increment);
            sums.add(simd, b, increment, r == 0);
            smallest = smallest.min(path);
            path.store_slice(&mut self.line_mut(to)[place]);
            (below, here) = (here, above);
        }
        smallest.reduce_min()
    }
}

/// Totals without paths: the costs.
#[inline(always)]
pub(super) fn costs_as_totals<S: Simd, L: Lane, E: Increment<L>>(simd: S, block: &mut Block<'_, L, E>) {
    let len = <L::V<S> as SimdBase<S>>::LEN;
    let stride = block.shape.window.len;
    for t in 0..block.shape.pixels {
        for b in 0..stride / len {
            let cost = at_slot::<S, L>(simd, block.costs, t * stride + b * len);
            let to = &mut block.totals[t * block.totals_pitch + b * len..][..len];
            E::total::<S>(simd, true, E::zero(simd), E::zero(simd), cost, 1, to);
        }
    }
}
