//! The recurrence of path costs for up to four directions, pixel after pixel along a block.
//!
//! `L = C + e` with the aggregation increment `e = min(L', L'(d - 1) + P1, L'(d + 1) + P1, min L' + P2) - min L'`, where `L'`
//! are the path costs of the predecessor (`crates/stereo/src/aggregate/paths.rs`). A path keeps `L`. Volumes keep the sum of
//! `e` over the directions: each is at most P2, so that a byte often suffices. The costs are added at the end:
//! `sum of L = sum of e + N C`.
//!
//! Before the start of a line all path costs are 0, so that `e` is 0 and `L = C`.

use super::input::BLOCK;
use super::lane::{Increment, Lane, TotalRule};
use super::memory::{Streams, prefetch};
use super::path_state::{
    ABOVE_LEFT, BEYOND, BlockShape, BlockState, Columns, EdgeState, Entered, SLOTS, at_slot, enter, leave, mask_borders,
};
use super::scan::{Predecessor, Predecessors};
use super::simd::prefers_loads;
use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// Registers of the longest window.
const MAX_REGISTERS: usize = 128;

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
    pub(super) p1: L,
    /// P2 of each direction and pixel.
    pub(super) p2: &'a Columns<L>,
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
    pub(super) rule: TotalRule,
    /// Where the sums are read again only by the other sweep.
    pub(super) streams: Option<&'a Streams>,
    /// Whether the sums of a pass fit into the integer type of path costs.
    pub(super) fit_lanes: bool,
}

impl SumOutput<'_> {
    /// Writes a register of sums of pixel `t` to index `at` of its part of the volume, or adds it to the values there and the costs, for
    /// the totals.
    #[inline(always)]
    fn put<S: Simd, L: Lane, E: Increment<L>>(
        self,
        simd: S,
        t: usize,
        (sums, cost): (E::Sums<S>, L::V<S>),
        volume: &mut [E],
        at: usize,
        totals: &mut [u16],
    ) {
        let len = <L::V<S> as SimdBase<S>>::LEN;
        if self.accumulation == Accumulation::Single {
            E::total::<S>(simd, self.rule, t, (E::zero(simd), sums), cost, &mut totals[at..][..len]);
            return;
        }
        let volume = &mut volume[at..][..len];
        match self.accumulation {
            Accumulation::First => match self.streams {
                Some(streams) => E::stream::<S>(sums, volume, streams),
                None => E::store::<S>(sums, volume),
            },
            Accumulation::Add => E::store::<S>(E::both::<S>(E::load(simd, volume), sums), volume),
            _ => E::total::<S>(simd, self.rule, t, (E::load(simd, volume), sums), cost, &mut totals[at..][..len]),
        }
    }
}

/// The recurrence along a block for `N` directions and windows of `W` candidates, 0 for any number of either. With `FOUR` the
/// predecessors are [`Predecessor::ALL`]. `GATED` is [`BlockShape::gated`], which is read where the window has any length. With
/// `IN_LANES` the increments are summed in registers of path costs, see [`SumOutput::fit_lanes`].
#[inline(always)]
pub(super) fn aggregate_block<
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
    let Block { shape, p2, costs, volume, totals, totals_pitch, output, .. } = block;
    let gated = if W == 0 { shape.gated } else { GATED };
    let stride = if W == 0 { shape.window.len } else { W };
    let room = if W == 0 || GATED { shape.room } else { W };
    let predecessors = if N == 0 { block.predecessors } else { &block.predecessors[..N] };
    // they are, and the compiler sees that no pixel lies outside
    let pixels = shape.pixels.min(BLOCK);
    let shape = BlockShape { pixels, gated, room, ..shape };
    let mut entered = enter(simd, &shape, predecessors, state, edge, right);
    let mut limits = entered.before;
    for (limits, p2) in limits.iter_mut().zip(p2) {
        for t in 0..BLOCK {
            limits[t] = limits[t].plus(p2[t]);
        }
    }
    let slots = &mut state.slots[..SLOTS * predecessors.len() * room];
    let slots = Slots::<L> { values: slots, room, stride, pad: if gated { len } else { 0 }, gated, p1: block.p1 };
    let mut walk = Walk { slots, entered: &mut entered, limits: &limits, least: &mut state.least, p2, pixels };
    let mut sums = PixelSums::<S, L, E, IN_LANES>::zero(simd); // once: the first direction of each pixel replaces them
    for i in 0..pixels {
        let t = if shape.mirrored { pixels - 1 - i } else { i };
        if output.accumulation == Accumulation::Final {
            let next = if shape.mirrored { t.wrapping_sub(PREFETCH_DISTANCE) } else { t + PREFETCH_DISTANCE };
            for b in 0..stride / len {
                prefetch(volume, next.wrapping_mul(stride).wrapping_add(b * len));
            }
        }
        let costs = &costs[t * stride..][..stride];
        if FOUR {
            // one after the other, so that the compiler knows each
            walk.advance(simd, (0, Predecessors::Same(Predecessor::ALL[0])), (i, t), costs, &mut sums);
            walk.advance(simd, (1, Predecessors::Same(Predecessor::ALL[1])), (i, t), costs, &mut sums);
            walk.advance(simd, (2, Predecessors::Same(Predecessor::ALL[2])), (i, t), costs, &mut sums);
            walk.advance(simd, (3, Predecessors::Same(Predecessor::ALL[3])), (i, t), costs, &mut sums);
        } else {
            for (r, &predecessor) in predecessors.iter().enumerate() {
                walk.advance(simd, (r, predecessor), (i, t), costs, &mut sums);
            }
        }
        // there are none in a single pass
        let volume = if output.accumulation == Accumulation::Single { &mut [][..] } else { &mut volume[t * stride..][..stride] };
        let totals = &mut totals[t * totals_pitch..][..stride];
        for b in 0..stride / len {
            let cost = L::V::<S>::from_slice(simd, &costs[b * len..][..len]);
            output.put::<S, L, E>(simd, t, (sums.of(simd, b), cost), volume, b * len, totals);
        }
    }
    leave(&shape, predecessors, state, edge, &entered);
}

/// All directions on their way through a block.
struct Walk<'a, L> {
    slots: Slots<'a, L>,
    entered: &'a mut Entered<L>,
    /// `before` of [`Entered`] and P2.
    limits: &'a Columns<L>,
    least: &'a mut Columns<L>,
    p2: &'a Columns<L>,
    pixels: usize,
}

impl<L: Lane> Walk<'_, L> {
    /// Direction `r` at the pixel of column `t`, number `i` in the order of the paths.
    #[inline(always)]
    fn advance<S: Simd, E: Increment<L>, const IN_LANES: bool>(
        &mut self,
        simd: S,
        (r, predecessor): (usize, Predecessors<'_>),
        (i, t): (usize, usize),
        costs: &[L],
        sums: &mut PixelSums<S, L, E, IN_LANES>,
    ) {
        let Self { slots, entered, limits, least, p2, pixels } = self;
        let own = entered.routes[r].slot(i);
        let splat = |value: L| L::V::<S>::splat(simd, value);
        let (mut from, mut to, mut along) = (own, own, false);
        let (mut before, mut limit) = (splat(entered.before[r][t]), splat(limits[r][t]));
        match predecessor {
            Predecessors::Same(Predecessor::Above) => {}
            Predecessors::Same(Predecessor::AboveLeft) => from = if i == 0 { BEYOND } else { own },
            Predecessors::Same(Predecessor::AboveRight) => from = if i + 1 == *pixels { BEYOND } else { own },
            Predecessors::Same(Predecessor::Left) => {
                (from, to, along) = (BEYOND, BEYOND, true);
                before = splat(entered.recent[r]);
                limit = before.saturating_add(splat(p2[r][t]));
            }
            Predecessors::ByMinorStep(minor_steps) => {
                if minor_steps.get(i + 1) == Some(&true) {
                    slots.copy(r, own, ABOVE_LEFT + (i + 1) % 2);
                }
                along = true;
                if minor_steps[i] {
                    from = ABOVE_LEFT + i % 2;
                } else {
                    from = if i == 0 { BEYOND } else { entered.routes[r].slot(i - 1) };
                    before = splat(entered.recent[r]);
                    limit = before.saturating_add(splat(p2[r][t]));
                }
            }
        }
        let smallest = slots.follow(simd, Step { r, from, to, along }, (before, limit), costs, sums);
        if along {
            entered.recent[r] = smallest;
        }
        least[r][t] = smallest;
        if slots.gated && (entered.moved || (along && i == 0)) {
            let stride = slots.stride;
            mask_borders(simd, slots.line(r, to), stride);
        }
    }
}

/// Direction `r` at one pixel.
#[derive(Clone, Copy)]
struct Step {
    r: usize,
    /// Slot of the predecessor, and of the pixel.
    from: usize,
    to: usize,
    /// Whether the next pixel follows this one.
    along: bool,
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

/// Path costs of a [`BlockState`].
struct Slots<'a, L> {
    values: &'a mut [L],
    /// As in [`BlockShape`].
    room: usize,
    /// Candidates of the window, and the index of the first one in a slot: with gating, behind one register.
    stride: usize,
    pad: usize,
    gated: bool,
    p1: L,
}

impl<L: Lane> Slots<'_, L> {
    /// A slot of direction `r`, with the room beside its window.
    #[inline(always)]
    fn line(&mut self, r: usize, slot: usize) -> &mut [L] {
        &mut self.values[(r * SLOTS + slot) * self.room..][..self.room]
    }

    #[inline(always)]
    fn copy(&mut self, r: usize, from: usize, to: usize) {
        let [from, to] = [from, to].map(|slot| (r * SLOTS + slot) * self.room);
        self.values.copy_within(from..from + self.room, to);
    }

    /// The candidates of a slot.
    #[inline(always)]
    fn window(&self, r: usize, slot: usize) -> &[L] {
        &self.values[(r * SLOTS + slot) * self.room + self.pad..][..self.stride]
    }

    /// Register `b` of a slot, `by` candidates further.
    #[inline(always)]
    fn register<S: Simd>(&self, simd: S, (r, slot): (usize, usize), b: usize, by: isize) -> L::V<S> {
        let len = <L::V<S> as SimdBase<S>>::LEN;
        L::V::<S>::from_slice(simd, &self.window(r, slot)[(b * len).wrapping_add_signed(by)..][..len])
    }

    #[inline(always)]
    fn store<S: Simd>(&mut self, (r, slot): (usize, usize), b: usize, paths: L::V<S>) {
        let len = <L::V<S> as SimdBase<S>>::LEN;
        let window = &mut self.values[(r * SLOTS + slot) * self.room + self.pad..][..self.stride];
        paths.store_slice(&mut window[b * len..][..len]);
    }

    /// One step of a direction from the smallest path cost of the predecessor, and that and P2; gives the smallest path cost. Slots may be the same, so no register is stored before the next one has
    /// been read. The neighbours of candidates come from unaligned loads where that is faster, unless the slot has just been stored.
    #[inline(always)]
    fn follow<S: Simd, E: Increment<L>, const IN_LANES: bool>(
        &mut self,
        simd: S,
        step: Step,
        (before, limit): (L::V<S>, L::V<S>),
        costs: &[L],
        sums: &mut PixelSums<S, L, E, IN_LANES>,
    ) -> L {
        let len = <L::V<S> as SimdBase<S>>::LEN;
        let (none, p1) = (L::V::<S>::splat(simd, L::NONE), L::V::<S>::splat(simd, self.p1));
        let (from, to) = ((step.r, step.from), (step.r, step.to));
        let (loads, registers) = (prefers_loads(simd) && !step.along, self.stride / len);
        let (mut below, mut last) = (none, none);
        if self.gated {
            let at = (from.0 * SLOTS + from.1) * self.room;
            (below, last) = (at_slot(simd, self.values, at), at_slot(simd, self.values, at + self.pad + self.stride));
        }
        let mut here = self.register(simd, from, 0, 0);
        let mut smallest = none;
        let mut held = none; // of the register before, while its neighbours are read
        for b in 0..registers {
            let is_last = b + 1 == registers;
            let above = if is_last { last } else { self.register(simd, from, b + 1, 0) };
            let lower = if loads && b > 0 { self.register(simd, from, b, -1) } else { L::shifted_up::<S>(below, here) };
            let upper = if loads && !is_last { self.register(simd, from, b, 1) } else { here.slide::<1>(above) };
            let increment = here.min(limit).min(lower.min(upper).saturating_add(p1)) - before;
            let path = L::V::<S>::from_slice(simd, &costs[b * len..][..len]).saturating_add(increment);
            sums.add(simd, b, increment, step.r == 0);
            smallest = smallest.min(path);
            if b > 0 {
                self.store::<S>(to, b - 1, held);
            }
            (held, below, here) = (path, here, above);
        }
        self.store::<S>(to, registers - 1, held);
        smallest.reduce_min()
    }
}

/// Totals without paths: the costs.
#[inline(always)]
pub(super) fn costs_as_totals<S: Simd, L: Lane, E: Increment<L>>(simd: S, block: &mut Block<'_, L, E>) {
    let len = <L::V<S> as SimdBase<S>>::LEN;
    let stride = block.shape.window.len;
    let rule = TotalRule { paths: 1, ..block.output.rule };
    for t in 0..block.shape.pixels {
        for b in 0..stride / len {
            let cost = at_slot::<S, L>(simd, block.costs, t * stride + b * len);
            let to = &mut block.totals[t * block.totals_pitch + b * len..][..len];
            E::total::<S>(simd, rule, t, (E::zero(simd), E::zero(simd)), cost, to);
        }
    }
}
