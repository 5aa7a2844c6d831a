//! Path costs of up to four directions, pixel after pixel along a piece of a row.
//!
//! `L = C + e` with `e = min(L', L'(d - 1) + P1, L'(d + 1) + P1, min L' + P2) - min L'`, where `L'` is the pixel before on the
//! line ([`crate::stereo::aggregate::path_costs`]). A path keeps `L`. Volumes keep the sum of `e` over the directions: each
//! is at most P2, so that a byte often is enough, and the costs come in at the end, `sum of L = sum of e + N C`.
//!
//! Before the start of a line everything is 0, which makes `e` 0 and `L = C`.

use super::cells::{Cell, Edge, LEFT, OLD_LEFT, Place, SLOTS, at_slot, enter, keep_beside, leave};
use super::courses::Source;
use super::lane::{Excess, Lane};
use super::memory::{Streams, prefetch};
use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// Pixels of a piece.
pub(super) const PIECE: usize = 16;
/// Directions that are followed together: enough for one to fill the waiting time of another.
pub(super) const TOGETHER: usize = 4;
/// Pixels by which a volume is asked for before it is needed.
const AHEAD: usize = 16;

/// Which pixel a path comes from, in the walk's own axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    Left,
    AboveLeft,
    Above,
    AboveRight,
}

impl From {
    /// The eight paths are these four in each of the two sweeps.
    pub(super) const FOUR: [Self; 4] = [Self::Left, Self::AboveLeft, Self::Above, Self::AboveRight];
}

/// What happens to the volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The first directions that come by set it.
    Set,
    /// Others add to it.
    Add,
    /// The last ones add what is there and give the totals.
    Last,
    /// The first ones are the last ones too: there is nothing to add.
    Only,
}

impl Turn {
    /// Whether totals come out.
    pub(super) fn is_last(self) -> bool {
        matches!(self, Self::Last | Self::Only)
    }
}

/// A piece to walk along. Pixels of `p2`, `costs`, `volume` and `totals` are in the order of the picture's columns.
pub(super) struct Piece<'a, L, E> {
    pub(super) place: Place,
    /// Whether the walk begins with the last of them.
    pub(super) mirrored: bool,
    pub(super) p1: L,
    /// For each direction what a large step costs at each pixel, rows of `p2_pitch`.
    pub(super) p2: &'a [L],
    pub(super) p2_pitch: usize,
    /// For each direction; columns as the pixels of the walk.
    pub(super) sources: &'a [Source<'a>],
    pub(super) costs: &'a [L],
    pub(super) volume: &'a mut [E],
    pub(super) totals: &'a mut [u16],
    /// From one pixel to the next in `totals`.
    pub(super) totals_pitch: usize,
    pub(super) end: End<'a>,
}

/// What becomes of a pixel's sums at the end of a step.
#[derive(Clone, Copy)]
pub(super) struct End<'a> {
    pub(super) turn: Turn,
    /// Whether some costs may be [`Lane::NONE`].
    pub(super) some_missing: bool,
    /// Directions in all.
    pub(super) paths: u16,
    pub(super) streams: &'a Streams,
}

impl End<'_> {
    /// A register of sums goes to place `at` of the volume, or with what is there and the costs to the totals.
    #[inline(always)]
    fn put<S: Simd, L: Lane, E: Excess<L>>(
        self,
        simd: S,
        (sums, cost): (E::Sums<S>, L::V<S>),
        volume: &mut [E],
        at: usize,
        totals: &mut [u16],
    ) {
        if self.turn == Turn::Only {
            E::total::<S>(simd, self.some_missing, E::zero(simd), sums, cost, self.paths, totals);
            return;
        }
        let volume = &mut volume[at..][..<L::V<S> as SimdBase<S>>::LEN];
        match self.turn {
            Turn::Set => E::stream::<S>(sums, volume, self.streams),
            Turn::Add => E::store::<S>(E::both::<S>(E::load(simd, volume), sums), volume),
            _ => E::total::<S>(simd, self.some_missing, E::load(simd, volume), sums, cost, self.paths, totals),
        }
    }
}

/// Where a direction's paths come from: slot `from + step * i` for pixel `i`, which goes to slot `i + 1`.
#[derive(Clone, Copy, Default)]
struct Way<'a> {
    from: usize,
    step: usize,
    /// The pixels that come from above left all the same.
    aside: Option<&'a [bool]>,
    /// Whether the next pixel may come from above left.
    keeps_old: bool,
}

impl<'a> Way<'a> {
    fn of(source: Source<'a>) -> Self {
        let way = Self { from: LEFT, step: 1, aside: None, keeps_old: false };
        match source {
            Source::Fixed(From::Left) => way,
            Source::Fixed(From::AboveLeft) => Self { from: OLD_LEFT, step: 0, keeps_old: true, ..way },
            Source::Fixed(From::Above) => Self { from: LEFT + 1, ..way },
            Source::Fixed(From::AboveRight) => Self { from: LEFT + 2, ..way },
            Source::ByColumn(columns) => Self { aside: Some(columns), keeps_old: true, ..way },
        }
    }

    #[inline(always)]
    fn all<const N: usize>(sources: &[Source<'a>]) -> [Self; N] {
        let mut ways = [Self::default(); N];
        for r in 0..N {
            ways[r] = Self::of(sources[r]);
        }
        ways
    }

    /// The slot that pixel `i` comes from.
    #[inline(always)]
    fn slot(&self, i: usize) -> usize {
        if self.aside.is_some_and(|aside| aside[i]) { OLD_LEFT } else { self.from + self.step * i }
    }
}

/// Follows `N` directions along a piece. Some costs may be [`Lane::NONE`].
#[inline(always)]
pub(super) fn walk<S, L, E, const N: usize>(
    simd: S,
    turn: Turn,
    piece: Piece<'_, L, E>,
    cell: &mut Cell<L>,
    edge: &mut Edge<L>,
    right: Option<&Cell<L>>,
) where
    S: Simd,
    L: Lane,
    E: Excess<L>,
{
    let len = <L::V<S> as SimdBase<S>>::LEN;
    let stride = piece.place.window.len;
    let blocks = stride / len;
    let (gated, room, pad) = (piece.place.gated, piece.place.room, piece.place.pad(len));
    let moved = enter(simd, &piece.place, cell, edge, right, N);
    let Piece { place: Place { pixels, .. }, p2, p2_pitch, costs, volume, totals, totals_pitch, .. } = piece;
    let end = End { turn, ..piece.end };
    let slots = &mut cell.slots[..SLOTS * N * room];
    let least = &mut cell.least[..SLOTS * N];
    let ways = Way::all::<N>(piece.sources);
    let none = L::V::<S>::splat(simd, L::NONE);
    let p1 = L::V::<S>::splat(simd, piece.p1);
    for i in 0..pixels {
        let t = if piece.mirrored { pixels - 1 - i } else { i };
        let costs = &costs[t * stride..][..stride];
        if turn == Turn::Last {
            let next = if piece.mirrored { t.wrapping_sub(AHEAD) } else { t + AHEAD };
            for b in 0..blocks {
                prefetch(volume, next.wrapping_mul(stride).wrapping_add(b * len));
            }
        }
        let mut from = [0; N];
        let mut before = [none; N];
        let mut limit = [none; N];
        let mut below = [none; N];
        let mut here = [none; N];
        for r in 0..N {
            let slot = ways[r].slot(i);
            from[r] = (slot * N + r) * room + pad;
            before[r] = L::V::<S>::splat(simd, least[slot * N + r]);
            limit[r] = before[r].saturating_add(L::V::<S>::splat(simd, p2[r * p2_pitch + t]));
            here[r] = at_slot(simd, slots, from[r]);
            if gated {
                below[r] = at_slot(simd, slots, from[r] - len);
            }
        }
        let mut smallest = [none; N];
        for b in 0..blocks {
            let cost = at_slot::<S, L>(simd, costs, b * len);
            let mut sums = E::zero(simd);
            for r in 0..N {
                let above = if b + 1 < blocks || gated { at_slot(simd, slots, from[r] + (b + 1) * len) } else { none };
                let beside = L::shifted_up::<S>(below[r], here[r]).min(here[r].slide::<1>(above)).saturating_add(p1);
                let excess = here[r].min(beside).min(limit[r]) - before[r];
                let path = cost.saturating_add(excess);
                sums = E::plus::<S>(sums, excess);
                smallest[r] = smallest[r].min(path);
                let place = ((i + 1) * N + r) * room + pad + b * len;
                if ways[r].keeps_old {
                    let old = at_slot::<S, L>(simd, slots, place);
                    old.store_slice(&mut slots[(OLD_LEFT * N + r) * room + pad + b * len..][..len]);
                }
                path.store_slice(&mut slots[place..][..len]);
                below[r] = here[r];
                here[r] = above;
            }
            let to = &mut totals[t * totals_pitch + b * len..][..len];
            end.put::<S, L, E>(simd, (sums, cost), volume, t * stride + b * len, to);
        }
        for r in 0..N {
            least[OLD_LEFT * N + r] = least[(i + 1) * N + r];
            least[(i + 1) * N + r] = smallest[r].reduce_min();
            if gated && (moved || i == 0) {
                let (old, new) = ((OLD_LEFT * N + r) * room, ((i + 1) * N + r) * room);
                keep_beside(simd, slots, (old, new), stride, ways[r].keeps_old);
            }
        }
    }
    leave(cell, edge, (pixels, gated), N, room);
}

/// [`walk`] for `B` registers to a pixel, which is where the time goes: everything has a length that the compiler knows.
/// `FOUR` says that the sources are [`From::FOUR`]; then the path along the row needs one slot only. `GATED` is
/// [`Place::gated`].
#[inline(always)]
pub(super) fn walk_fixed<S, L, E, const N: usize, const B: usize, const FOUR: bool, const GATED: bool>(
    simd: S,
    turn: Turn,
    piece: Piece<'_, L, E>,
    cell: &mut Cell<L>,
    edge: &mut Edge<L>,
    right: Option<&Cell<L>>,
) where
    S: Simd,
    L: Lane,
    E: Excess<L>,
{
    let len = <L::V<S> as SimdBase<S>>::LEN;
    let stride = B * len;
    let (room, pad) = if GATED { (piece.place.room, len) } else { (stride, 0) };
    let moved = enter(simd, &piece.place, cell, edge, right, N);
    let slots = &mut cell.slots[..SLOTS * N * room];
    let least = &mut cell.least.as_chunks_mut::<N>().0[..SLOTS];
    let ways = Way::all::<N>(piece.sources);
    let Piece { place: Place { pixels, .. }, p2, p2_pitch, costs, volume, totals, totals_pitch, .. } = piece;
    let end = End { turn, ..piece.end };
    let none = L::V::<S>::splat(simd, L::NONE);
    let p1 = L::V::<S>::splat(simd, piece.p1);
    let mut recent = L::V::<S>::splat(simd, edge.new.least[0]); // of the path along the row
    for i in 0..pixels {
        let t = if piece.mirrored { pixels - 1 - i } else { i };
        let costs = &costs[t * stride..][..stride];
        let at = t * stride;
        if turn == Turn::Last {
            let next = if piece.mirrored { at.wrapping_sub(AHEAD * stride) } else { at + AHEAD * stride };
            for b in 0..B {
                prefetch(volume, next.wrapping_add(b * len));
            }
        }
        let mut sums = [E::zero(simd); B];
        for r in 0..N {
            let along_row = FOUR && r == 0;
            let from = if FOUR { [LEFT, OLD_LEFT, i + 1, i + 2][r] } else { ways[r].slot(i) };
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
            if if FOUR { r == 1 } else { ways[r].keeps_old } {
                let mut old = [none; B];
                let place = &slots[(to * N + r) * room + pad..][..stride];
                for b in 0..B {
                    old[b] = L::V::<S>::from_slice(simd, &place[b * len..][..len]);
                }
                let place = &mut slots[(OLD_LEFT * N + r) * room + pad..][..stride];
                for b in 0..B {
                    old[b].store_slice(&mut place[b * len..][..len]);
                }
                least[OLD_LEFT][r] = least[to][r];
            }
            let place = &mut slots[(to * N + r) * room + pad..][..stride];
            let mut smallest = none;
            for b in 0..B {
                let below = if b > 0 { line[b - 1] } else { first_below };
                let above = if b + 1 < B { line[b + 1] } else { last_above };
                let beside = L::shifted_up::<S>(below, line[b]).min(line[b].slide::<1>(above)).saturating_add(p1);
                let excess = line[b].min(limit).min(beside) - before;
                let path = L::V::<S>::from_slice(simd, &costs[b * len..][..len]).saturating_add(excess);
                sums[b] = E::plus::<S>(sums[b], excess);
                smallest = smallest.min(path);
                path.store_slice(&mut place[b * len..][..len]);
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
                let keeps_old = if FOUR { r == 1 } else { ways[r].keeps_old };
                keep_beside(simd, slots, ((OLD_LEFT * N + r) * room, (to * N + r) * room), stride, keeps_old);
            }
        }
        let totals = &mut totals[t * totals_pitch..][..stride];
        for b in 0..B {
            let cost = L::V::<S>::from_slice(simd, &costs[b * len..][..len]);
            let totals = &mut totals[b * len..][..len];
            end.put::<S, L, E>(simd, (sums[b], cost), volume, at + b * len, totals);
        }
    }
    if FOUR {
        // where the next piece looks for the last pixel
        slots.copy_within((LEFT * N) * room..(LEFT * N + 1) * room, pixels * N * room);
        least[pixels][0] = recent.as_slice()[0];
    }
    leave(cell, edge, (pixels, GATED), N, room);
}

/// Without paths the cost alone decides.
#[inline(always)]
pub(super) fn costs_as_totals<S: Simd, L: Lane, E: Excess<L>>(simd: S, piece: &mut Piece<'_, L, E>) {
    let len = <L::V<S> as SimdBase<S>>::LEN;
    let stride = piece.place.window.len;
    for t in 0..piece.place.pixels {
        for b in 0..stride / len {
            let cost = at_slot::<S, L>(simd, piece.costs, t * stride + b * len);
            let to = &mut piece.totals[t * piece.totals_pitch + b * len..][..len];
            E::total::<S>(simd, true, E::zero(simd), E::zero(simd), cost, 1, to);
        }
    }
}
