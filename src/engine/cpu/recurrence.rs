//! The recurrence of path costs for up to four directions, pixel after pixel along a block.
//!
//! `L = C + e` with the aggregation increment `e = min(L', L'(d - 1) + P1, L'(d + 1) + P1, min L' + P2) - min L'`, where `L'`
//! are the path costs of the predecessor (`src/stereo/aggregate/paths.rs`). A path keeps `L`. Volumes keep the sum of
//! `e` over the directions: each is at most P2, so that a byte often suffices. The costs are added at the end:
//! `sum of L = sum of e + N C`.
//!
//! Before the start of a line all path costs are 0, so that `e` is 0 and `L = C`.

use super::lane::{Increment, Lane};
use super::memory::{Streams, prefetch};
use super::path_state::{
    ABOVE_LEFT, BlockShape, BlockState, EdgeState, LEFT, SLOTS, at_slot, load_neighbours, mask_borders, store_edge,
};
use super::scan::{Predecessor, Predecessors};
use fearless_simd::Simd;
use fearless_simd::prelude::*;

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
    /// P2 of each pixel, a row of `p2_pitch` for each direction.
    pub(super) p2: &'a [L],
    pub(super) p2_pitch: usize,
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
    pub(super) streams: &'a Streams,
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
            Accumulation::First => E::stream::<S>(sums, volume, self.streams),
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
    let Block { shape, p2, p2_pitch, costs, volume, totals, totals_pitch, .. } = block;
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
            limit[r] = before[r].saturating_add(L::V::<S>::splat(simd, p2[r * p2_pitch + t]));
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

/// [`aggregate_block`] for `B` registers per pixel: the common cases, in which all lengths are known to the compiler. With
/// `FOUR` the predecessors are [`Predecessor::ALL`], and the path along the row needs one slot only. `GATED` is
/// [`BlockShape::gated`].
#[inline(always)]
pub(super) fn aggregate_block_fixed<S, L, E, const N: usize, const B: usize, const FOUR: bool, const GATED: bool>(
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
    let stride = B * len;
    let (room, pad) = if GATED { (block.shape.room, len) } else { (stride, 0) };
    let moved = load_neighbours(simd, &block.shape, state, edge, right, N);
    let slots = &mut state.slots[..SLOTS * N * room];
    let least = &mut state.least.as_chunks_mut::<N>().0[..SLOTS];
    let rules = SlotRule::all::<N>(block.predecessors);
    let Block { shape, p2, p2_pitch, costs, volume, totals, totals_pitch, .. } = block;
    let (pixels, output) = (shape.pixels, block.output);
    let none = L::V::<S>::splat(simd, L::NONE);
    let p1 = L::V::<S>::splat(simd, block.p1);
    let mut recent = L::V::<S>::splat(simd, edge.new.least[0]); // of the path along the row
    for i in 0..pixels {
        let t = if block.mirrored { pixels - 1 - i } else { i };
        let costs = &costs[t * stride..][..stride];
        let at = t * stride;
        if output.accumulation == Accumulation::Final {
            let next = if block.mirrored {
                at.wrapping_sub(PREFETCH_DISTANCE * stride)
            } else {
                at + PREFETCH_DISTANCE * stride
            };
            for b in 0..B {
                prefetch(volume, next.wrapping_add(b * len));
            }
        }
        let mut sums = [E::zero(simd); B];
        for r in 0..N {
            let along_row = FOUR && r == 0;
            let from = if FOUR { [LEFT, ABOVE_LEFT, i + 1, i + 2][r] } else { rules[r].slot(i) };
            let to = if along_row { LEFT } else { i + 1 };
            let before = if along_row { recent } else { L::V::<S>::splat(simd, least[from][r]) };
            let limit = before.saturating_add(L::V::<S>::splat(simd, p2[r * p2_pitch + t]));
            let mut line = [none; B];
            let from = (from * N + r) * room + pad;
            let here = &slots[from..][..stride];
            for b in 0..B {
                line[b] = L::V::<S>::from_slice(simd, &here[b * len..][..len]);
            }
            let (mut first_below, mut last_above) = (none, none);
            if GATED {
                (first_below, last_above) = (at_slot(simd, slots, from - len), at_slot(simd, slots, from + stride));
            }
            if if FOUR { r == 1 } else { rules[r].keeps_above_left } {
                let mut old = [none; B];
                let values = &slots[(to * N + r) * room + pad..][..stride];
                for b in 0..B {
                    old[b] = L::V::<S>::from_slice(simd, &values[b * len..][..len]);
                }
                let values = &mut slots[(ABOVE_LEFT * N + r) * room + pad..][..stride];
                for b in 0..B {
                    old[b].store_slice(&mut values[b * len..][..len]);
                }
                least[ABOVE_LEFT][r] = least[to][r];
            }
            let values = &mut slots[(to * N + r) * room + pad..][..stride];
            let mut smallest = none;
            for b in 0..B {
                let below = if b > 0 { line[b - 1] } else { first_below };
                let above = if b + 1 < B { line[b + 1] } else { last_above };
                let beside = L::shifted_up::<S>(below, line[b]).min(line[b].slide::<1>(above)).saturating_add(p1);
                let increment = line[b].min(limit).min(beside) - before;
                let path = L::V::<S>::from_slice(simd, &costs[b * len..][..len]).saturating_add(increment);
                sums[b] = E::plus::<S>(sums[b], increment);
                smallest = smallest.min(path);
                path.store_slice(&mut values[b * len..][..len]);
            }
            if along_row {
                recent = L::V::<S>::splat(simd, smallest.reduce_min());
            } else {
                least[to][r] = smallest.reduce_min();
            }
        }
        if GATED && (moved || i == 0) {
            for r in 0..N {
                let to = if FOUR && r == 0 { LEFT } else { i + 1 };
                let keeps_above_left = if FOUR { r == 1 } else { rules[r].keeps_above_left };
                let (old, new) = ((ABOVE_LEFT * N + r) * room, (to * N + r) * room);
                mask_borders(simd, slots, old, new, stride, keeps_above_left);
            }
        }
        let totals = &mut totals[t * totals_pitch..][..stride];
        for b in 0..B {
            let cost = L::V::<S>::from_slice(simd, &costs[b * len..][..len]);
            let totals = &mut totals[b * len..][..len];
            output.put::<S, L, E>(simd, (sums[b], cost), volume, at + b * len, totals);
        }
    }
    if FOUR {
        // the slot of the last pixel, which the next block reads
        slots.copy_within((LEFT * N) * room..(LEFT * N + 1) * room, pixels * N * room);
        least[pixels][0] = recent.as_slice()[0];
    }
    store_edge(state, edge, BlockShape { gated: GATED, room, ..shape }, N);
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
