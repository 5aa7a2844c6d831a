//! The recurrence of path costs for up to four directions, pixel after pixel along a block. The innermost loop of the engine: most
//! of its time is spent here.
//!
//! `L = C + e` with the aggregation increment `e = min(L', L'(d - 1) + P1, L'(d + 1) + P1, min L' + P2) - min L'`, where `L'` are
//! the path costs of the predecessor (`crates/stereo/src/aggregate/paths.rs`). A path keeps `L`. Volumes keep the sum of `e` over
//! the directions: each `e` is at most P2, so that a byte often suffices. The costs are added at the end:
//! `sum of L = sum of e + N C`. Before the start of a line all path costs are 0, so that `e` is 0 and `L = C`.

use super::input::{BLOCK, MAX_DIRECTIONS};
use super::lane::{Increment, Lane, TotalRule};
use super::memory::{Streams, prefetch};
use super::path_state::{BlockShape, BlockState, Columns, EdgeState, LAST, SLOTS, at_slot, enter, leave, mask_borders};
use super::scan::{Predecessor, Predecessors};
use super::simd::prefers_loads;
use super::vector::Vector;
use fearless_simd::Simd;
use fearless_simd::prelude::*;

const CACHE_LINE: usize = 64;
/// Distance at which a volume is prefetched ahead, px.
const PREFETCH_DISTANCE: usize = 16;

/// Effect of a pass on the volume of sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accumulation {
    /// Stores the sums: the first pass over the row.
    First,
    Add,
    /// Adds to the sums and computes the totals: the last pass over the row.
    Final,
    /// Computes the totals without a volume: the only pass over the row.
    Single,
}

impl Accumulation {
    /// Whether the pass reads the sums of another one.
    fn reads(self) -> bool {
        matches!(self, Self::Add | Self::Final)
    }

    pub(super) fn gives_totals(self) -> bool {
        matches!(self, Self::Final | Self::Single)
    }
}

/// Block and its arrays. Pixels of `p2`, `costs`, `stored`, `volume` and `totals` are in the order of the image's columns.
pub(super) struct Block<'a, L, E> {
    pub(super) shape: BlockShape,
    pub(super) p1: L,
    pub(super) p2: &'a Columns<L>,
    /// Predecessors for each direction; minor steps in the order of the paths.
    pub(super) predecessors: &'a [Predecessors<'a>],
    pub(super) costs: &'a [L],
    /// Sums of the passes before, where there are any.
    pub(super) stored: &'a [E],
    /// Destination of the sums, if they do not become totals.
    pub(super) volume: &'a mut [E],
    pub(super) sums: &'a mut [E],
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
    /// Streams for sums that only the other sweep reads again.
    pub(super) streams: Option<&'a Streams>,
    /// Whether the sums of a pass fit into the integer type of path costs.
    pub(super) fit_lanes: bool,
}

impl SumOutput<'_> {
    /// Writes the sums of pixel `t`, added to the stored ones, or their totals with the costs.
    #[inline(always)]
    fn put<S: Vector, L: Lane, E: Increment<L>, const M: usize, const IN_LANES: bool>(
        self,
        simd: S,
        t: usize,
        (sums, costs): (&PixelSums<'_, S, L, E, M, IN_LANES>, &[L]),
        stored: &[E],
        volume: &mut [E],
        totals: &mut [u16],
    ) {
        let len = <L::V<S> as SimdBase<S>>::LEN;
        // loops of few instructions, which a compiler unrolls
        macro_rules! for_registers {
            (|$b:ident, $place:ident| $do:expr) => {
                for $b in 0..costs.len() / len {
                    let $place = $b * len..($b + 1) * len;
                    $do;
                }
            };
        }
        let streams = self.streams;
        match self.accumulation {
            Accumulation::First => {
                for_registers!(|b, place| E::put::<S>(sums.of(simd, b), &mut volume[place], streams))
            }
            Accumulation::Add => for_registers!(|b, place| {
                let both = E::both::<S>(E::load(simd, &stored[place.clone()]), sums.of(simd, b));
                E::put::<S>(both, &mut volume[place], streams);
            }),
            Accumulation::Final => for_registers!(|b, place| {
                let (before, cost) = (E::load(simd, &stored[place.clone()]), at_slot(simd, costs, b * len));
                E::total::<S>(simd, self.rule, t, (before, sums.of(simd, b)), cost, &mut totals[place]);
            }),
            Accumulation::Single => for_registers!(|b, place| {
                let cost = at_slot(simd, costs, b * len);
                E::total::<S>(simd, self.rule, t, (E::zero(simd), sums.of(simd, b)), cost, &mut totals[place]);
            }),
        }
    }
}

/// Runs the recurrence along a block.
///
/// - `N`: number of directions, 0 for any number.
/// - `W`: number of candidates, 0 for any number; `M`: registers of the candidates, at most.
/// - `FOUR`: whether the predecessors are [`Predecessor::ALL`].
/// - `GATED`: [`BlockShape::gated`], which is read instead where `W` is 0.
/// - `IN_LANES`: whether increments are summed in registers of path costs, see [`SumOutput::fit_lanes`].
#[inline(always)]
pub(super) fn aggregate_block<
    S,
    L,
    E,
    const N: usize,
    const W: usize,
    const M: usize,
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
    S: Vector,
    L: Lane,
    E: Increment<L>,
{
    let len = <L::V<S> as SimdBase<S>>::LEN;
    let Block { shape, p2, costs, stored, volume, totals, totals_pitch, output, .. } = block;
    let gated = if W == 0 { shape.gated } else { GATED };
    let stride = if W == 0 { shape.window.len } else { W };
    let room = if W == 0 || GATED { shape.room } else { W };
    let predecessors = if N == 0 { block.predecessors } else { &block.predecessors[..N] };
    // always true: it shows the compiler that no pixel lies outside
    let pixels = shape.pixels.min(BLOCK);
    let shape = BlockShape { pixels, gated, room, ..shape };
    let mut entered = enter(simd, &shape, predecessors, state, edge, right);
    let (pad, p1) = (if gated { len } else { 0 }, L::V::<S>::splat(simd, block.p1));
    let places = Places { predecessors, four: FOUR, places: &entered.places, room };
    let mut recent = [L::V::<S>::splat(simd, L::default()); MAX_DIRECTIONS];
    for (recent, &least) in recent.iter_mut().zip(&entered.recent) {
        *recent = L::V::<S>::splat(simd, least);
    }
    let mut of_directions: [&mut [L]; MAX_DIRECTIONS] = Default::default();
    for (of_direction, slots) in of_directions.iter_mut().zip(state.slots.chunks_exact_mut(SLOTS * room)) {
        *of_direction = slots;
    }
    // each pixel of the path along the row waits for the one before: its path costs stay in registers
    let in_registers = FOUR && !GATED;
    let mut left = [L::V::<S>::splat(simd, L::default()); M];
    if in_registers {
        for b in 0..stride / len {
            left[b] = at_slot(simd, of_directions[0], LAST * room + b * len);
        }
    }
    let mut sums = PixelSums::<S, L, E, M, IN_LANES>::new(simd, block.sums);
    for i in 0..pixels {
        let t = if shape.mirrored { pixels - 1 - i } else { i };
        if output.accumulation.reads() {
            let next = if shape.mirrored { t.wrapping_sub(PREFETCH_DISTANCE) } else { t + PREFETCH_DISTANCE };
            for at in (0..stride).step_by(CACHE_LINE / size_of::<E>()) {
                prefetch(stored, next.wrapping_mul(stride).wrapping_add(at));
            }
        }
        let costs = &costs[t * stride..][..stride];
        // all places before the first step: no check stands between the steps, and sums stay in registers
        let [a, b, c, d] = &mut of_directions;
        let mut steps = [places.step(0, a, i), places.step(1, b, i), places.step(2, c, i), places.step(3, d, i)];
        macro_rules! follow {
            ($r:expr) => {
                let Step { line, along } = &mut steps[$r];
                let p2 = L::V::<S>::splat(simd, p2[$r][t]);
                let (sums, is_first) = (&mut sums, $r == 0);
                let smallest = if in_registers && is_first {
                    follow(simd, &mut left, (recent[$r], p1, p2), costs, sums, is_first)
                } else if *along {
                    follow(simd, &mut StoredLine::<L, false> { line, pad }, (recent[$r], p1, p2), costs, sums, is_first)
                } else {
                    let before = L::V::<S>::splat(simd, entered.before[$r][t]);
                    follow(simd, &mut StoredLine::<L, true> { line, pad }, (before, p1, p2), costs, sums, is_first)
                };
                recent[$r] = smallest;
                state.least[$r][t] = smallest.as_slice()[0];
            };
        }
        if N == 0 {
            for r in 0..predecessors.len() {
                follow!(r);
            }
        } else {
            follow!(0);
            if N > 1 {
                follow!(1);
            }
            if N > 2 {
                follow!(2);
                follow!(3);
            }
        }
        // slots from a neighbour, or from another window, had other candidates beside them
        if gated && (entered.moved || i == 0 || i + 1 == pixels) {
            for step in &mut steps[..predecessors.len()] {
                mask_borders(simd, step.line, stride);
            }
        }
        let whole = t * stride..(t + 1) * stride;
        let stored = if output.accumulation.reads() { &stored[whole.clone()] } else { &[] };
        let volume = if output.accumulation.gives_totals() { &mut [] } else { &mut volume[whole] };
        let totals = &mut totals[t * totals_pitch..][..stride];
        output.put(simd, t, (&sums, costs), stored, volume, totals);
    }
    if in_registers {
        for b in 0..stride / len {
            left[b].store_slice(&mut of_directions[0][LAST * room + b * len..][..len]);
        }
    }
    let last = if shape.mirrored { 0 } else { pixels - 1 };
    for (recent, least) in entered.recent.iter_mut().zip(&state.least) {
        *recent = least[last];
    }
    leave(&shape, predecessors, state, edge, &entered);
}

#[derive(Default)]
struct Step<'a, L> {
    /// Path costs of the predecessor, which become those of the pixel, with the room beside them.
    line: &'a mut [L],
    along: bool,
}

struct Places<'a> {
    predecessors: &'a [Predecessors<'a>],
    four: bool,
    places: &'a [[u32; BLOCK]; MAX_DIRECTIONS],
    room: usize,
}

impl Places<'_> {
    /// Returns the step of direction `r` in its `slots` to pixel `i` in the order of the path; an empty one without such a direction.
    #[inline(always)]
    fn step<'a, L: Lane>(&self, r: usize, slots: &'a mut [L], i: usize) -> Step<'a, L> {
        if r >= self.predecessors.len() {
            return Step::default();
        }
        let predecessor = if self.four { Predecessors::Same(Predecessor::ALL[r]) } else { self.predecessors[r] };
        let (place, along) = match predecessor {
            Predecessors::Same(Predecessor::Left) => (LAST * self.room, true),
            Predecessors::Same(_) => (self.places[r][i] as usize, false),
            Predecessors::ByMinorStep(minor_steps) => {
                let place = self.places[r][i] as usize;
                if !minor_steps[i] {
                    let before = if i == 0 { LAST * self.room } else { self.places[r][i - 1] as usize };
                    slots.copy_within(before..before + self.room, place);
                }
                (place, !minor_steps[i])
            }
        };
        Step { line: &mut slots[place..][..self.room], along }
    }
}

/// Sums of the increments of one pixel: in registers of path costs with `IN_LANES`, else in registers of sums. They are in memory
/// where the number of registers is unknown.
struct PixelSums<'a, S: Simd, L: Lane, E: Increment<L>, const M: usize, const IN_LANES: bool> {
    lanes: [L::V<S>; M],
    sums: [E::Sums<S>; M],
    memory: &'a mut [E],
}

impl<'a, S: Simd, L: Lane, E: Increment<L>, const M: usize, const IN_LANES: bool> PixelSums<'a, S, L, E, M, IN_LANES> {
    #[inline(always)]
    fn new(simd: S, memory: &'a mut [E]) -> Self {
        Self { lanes: [L::V::<S>::splat(simd, L::default()); M], sums: [E::zero(simd); M], memory }
    }

    /// Adds a direction to register `b`; the first one of a pixel replaces the sums of the pixel before.
    #[inline(always)]
    fn add(&mut self, simd: S, b: usize, increment: L::V<S>, is_first: bool) {
        if M > 0 && IN_LANES {
            self.lanes[b] = if is_first { increment } else { self.lanes[b] + increment };
            return;
        }
        let before = if is_first { E::zero(simd) } else { self.of(simd, b) };
        let sums = E::plus::<S>(before, increment);
        if M > 0 {
            self.sums[b] = sums;
        } else {
            let len = <L::V<S> as SimdBase<S>>::LEN;
            E::store::<S>(sums, &mut self.memory[b * len..][..len]);
        }
    }

    #[inline(always)]
    fn of(&self, simd: S, b: usize) -> E::Sums<S> {
        if M == 0 {
            let len = <L::V<S> as SimdBase<S>>::LEN;
            E::load(simd, &self.memory[b * len..][..len])
        } else if IN_LANES {
            E::plus::<S>(E::zero(simd), self.lanes[b])
        } else {
            self.sums[b]
        }
    }
}

/// Path costs of one pixel and direction, register by register.
trait Line<S: Simd, L: Lane> {
    fn at(&self, simd: S, b: usize) -> L::V<S>;
    fn set(&mut self, b: usize, paths: L::V<S>);
    /// Returns the registers before the first one and behind the last of `registers`.
    #[inline(always)]
    fn beside(&self, simd: S, _registers: usize) -> [L::V<S>; 2] {
        [L::V::<S>::splat(simd, L::NONE); 2]
    }
    /// Returns the candidates one below and one above those of register `b`, from that register between its neighbours.
    #[inline(always)]
    fn neighbours(&self, _: S, _b: usize, _is_last: bool, [below, here, above]: [L::V<S>; 3]) -> [L::V<S>; 2] {
        [L::shifted_up::<S>(below, here), here.slide::<1>(above)]
    }
}

impl<S: Simd, L: Lane, const M: usize> Line<S, L> for [L::V<S>; M] {
    #[inline(always)]
    fn at(&self, _: S, b: usize) -> L::V<S> {
        self[b]
    }
    #[inline(always)]
    fn set(&mut self, b: usize, paths: L::V<S>) {
        self[b] = paths;
    }
}

/// Line of a slot, behind `pad` values. With `LOADS` it was not stored just before, so that unaligned loads are quick.
struct StoredLine<'a, L, const LOADS: bool> {
    line: &'a mut [L],
    pad: usize,
}

impl<S: Simd, L: Lane, const LOADS: bool> Line<S, L> for StoredLine<'_, L, LOADS> {
    #[inline(always)]
    fn at(&self, simd: S, b: usize) -> L::V<S> {
        at_slot(simd, self.line, self.pad + b * <L::V<S> as SimdBase<S>>::LEN)
    }
    #[inline(always)]
    fn set(&mut self, b: usize, paths: L::V<S>) {
        let len = <L::V<S> as SimdBase<S>>::LEN;
        paths.store_slice(&mut self.line[self.pad + b * len..][..len]);
    }
    #[inline(always)]
    fn beside(&self, simd: S, registers: usize) -> [L::V<S>; 2] {
        let behind = self.pad + registers * <L::V<S> as SimdBase<S>>::LEN;
        let none = L::V::<S>::splat(simd, L::NONE);
        if self.pad == 0 { [none; 2] } else { [at_slot(simd, self.line, 0), at_slot(simd, self.line, behind)] }
    }
    #[inline(always)]
    fn neighbours(&self, simd: S, b: usize, is_last: bool, [below, here, above]: [L::V<S>; 3]) -> [L::V<S>; 2] {
        let at = self.pad + b * <L::V<S> as SimdBase<S>>::LEN;
        let loads = LOADS && prefers_loads();
        [
            if loads && b > 0 { at_slot(simd, self.line, at - 1) } else { L::shifted_up::<S>(below, here) },
            if loads && !is_last { at_slot(simd, self.line, at + 1) } else { here.slide::<1>(above) },
        ]
    }
}

/// Moves a line from the predecessor to the pixel, in place. `before` is the smallest path cost of the predecessor in all lanes;
/// the return value is that of the pixel.
///
/// The increment is computed as `min(min(L', ...) - min L', P2)`, because the smallest path cost comes late: the path along the
/// row waits for it. No register is stored before the next one has been read.
#[inline(always)]
fn follow<S: Vector, L: Lane, E: Increment<L>, const M: usize, const IN_LANES: bool>(
    simd: S,
    line: &mut impl Line<S, L>,
    (before, p1, p2): (L::V<S>, L::V<S>, L::V<S>),
    costs: &[L],
    sums: &mut PixelSums<'_, S, L, E, M, IN_LANES>,
    is_first: bool,
) -> L::V<S> {
    let len = <L::V<S> as SimdBase<S>>::LEN;
    let registers = costs.len() / len;
    let [mut below, last] = line.beside(simd, registers);
    let mut here = line.at(simd, 0);
    let none = L::V::<S>::splat(simd, L::NONE);
    let (mut smallest, mut held) = (none, none); // `held`: the last result, until its neighbours are read
    for b in 0..registers {
        let is_last = b + 1 == registers;
        let above = if is_last { last } else { line.at(simd, b + 1) };
        let [lower, upper] = line.neighbours(simd, b, is_last, [below, here, above]);
        let increment = (here.min(lower.min(upper).saturating_add(p1)) - before).min(p2);
        let path = at_slot::<S, L>(simd, costs, b * len).saturating_add(increment);
        sums.add(simd, b, increment, is_first);
        smallest = smallest.min(path);
        if b > 0 {
            line.set(b - 1, held);
        }
        (held, below, here) = (path, here, above);
    }
    line.set(registers - 1, held);
    L::least(simd, smallest)
}

/// Computes totals without paths: the costs.
#[inline(always)]
pub(super) fn costs_as_totals<S: Vector, L: Lane, E: Increment<L>>(simd: S, block: &mut Block<'_, L, E>) {
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
