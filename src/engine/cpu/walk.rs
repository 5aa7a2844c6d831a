//! Path costs of up to four directions, pixel after pixel along a piece of a row.
//!
//! `L = C + e` with `e = min(L', L'(d - 1) + P1, L'(d + 1) + P1, min L' + P2) - min L'`, where `L'` is the pixel before on the
//! line ([`crate::stereo::aggregate::path_costs`]). A path keeps `L`. Volumes keep the sum of `e` over the directions: each
//! is at most P2, so that a byte often is enough, and the costs come in at the end, `sum of L = sum of e + N C`.
//!
//! Before the start of a line everything is 0, which makes `e` 0 and `L = C`.

use super::aligned::Aligned;
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

/// Slots of a [`Cell`]: the pixel to the left of the piece, the pixels of the piece, the one to its right in the row above,
/// and the one to the left of where the walk is in the row above.
const LEFT: usize = 0;
const OLD_LEFT: usize = PIECE + 2;
const SLOTS: usize = PIECE + 3;

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

/// Path costs of a piece: those of the row above where the walk has not come by, those of its row where it has.
#[derive(Default)]
pub(super) struct Cell<L> {
    /// For each slot, for each direction, all candidates.
    slots: Aligned<L>,
    /// For each slot and direction the smallest.
    least: Vec<L>,
}

impl<L: Lane> Cell<L> {
    /// Room for so many directions, before the first row.
    pub(super) fn restart(&mut self, directions: usize, stride: usize) {
        self.slots.resize(SLOTS * directions * stride);
        self.slots.fill(L::default());
        self.least.clear();
        self.least.resize(SLOTS * directions, L::default());
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.bytes() + self.least.capacity() * size_of::<L>()
    }
}

/// What goes from a piece to the next one: the last pixel, in this row and in the row above.
#[derive(Default)]
pub(super) struct Edge<L> {
    new: Aligned<L>,
    old: Aligned<L>,
    new_least: [L; TOGETHER],
    old_least: [L; TOGETHER],
}

impl<L: Lane> Edge<L> {
    /// Before the first pixel of a row.
    pub(super) fn restart(&mut self, directions: usize, stride: usize) {
        for slot in [&mut self.new, &mut self.old] {
            slot.resize(directions * stride);
            slot.fill(L::default());
        }
        self.new_least = [L::default(); TOGETHER];
        self.old_least = [L::default(); TOGETHER];
    }

    pub(super) fn bytes(&self) -> usize {
        self.new.bytes() + self.old.bytes()
    }
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
    pub(super) pixels: usize,
    /// Whether the walk begins with the last of them.
    pub(super) mirrored: bool,
    /// Registers to a pixel.
    pub(super) blocks: usize,
    pub(super) p1: L,
    /// For each pixel and direction what a large step costs.
    pub(super) p2: &'a [L],
    /// For each direction; columns as the pixels of the walk.
    pub(super) sources: &'a [Source<'a>],
    pub(super) costs: &'a [L],
    pub(super) volume: &'a mut [E],
    pub(super) totals: &'a mut [u16],
    /// From one pixel to the next in `totals`.
    pub(super) totals_pitch: usize,
    pub(super) turn: Turn,
    /// Directions in all.
    pub(super) paths: u16,
    pub(super) streams: &'a Streams,
}

/// Where a direction's paths come from and go to, in slots: `from + step * i`, `to + to_step * i` for pixel `i`.
#[derive(Clone, Copy, Default)]
struct Way<'a> {
    from: usize,
    step: usize,
    to: usize,
    to_step: usize,
    /// The pixels that come from above left all the same.
    aside: Option<&'a [bool]>,
    /// Whether the next pixel may come from above left.
    keeps_old: bool,
}

impl<'a> Way<'a> {
    fn of(source: Source<'a>) -> Self {
        let way = Self { from: LEFT, step: 1, to: LEFT + 1, to_step: 1, aside: None, keeps_old: false };
        match source {
            Source::Fixed(From::Left) => way,
            Source::Fixed(From::AboveLeft) => Self { from: OLD_LEFT, step: 0, keeps_old: true, ..way },
            Source::Fixed(From::Above) => Self { from: LEFT + 1, ..way },
            Source::Fixed(From::AboveRight) => Self { from: LEFT + 2, ..way },
            Source::ByColumn(columns) => Self { aside: Some(columns), keeps_old: true, ..way },
        }
    }
}

#[inline(always)]
fn at<S: Simd, L: Lane>(simd: S, slots: &[L], offset: usize) -> L::V<S> {
    L::V::<S>::from_slice(simd, &slots[offset..][..<L::V<S> as SimdBase<S>>::LEN])
}

/// Follows `N` directions along a piece. `B` is the number of registers to a pixel where all candidates exist, or 0 where
/// only the piece knows it and some may be [`Lane::NONE`]; `FOUR` says that the sources are [`From::FOUR`].
#[inline(always)]
pub(super) fn walk<S, L, E, const N: usize, const B: usize, const FOUR: bool>(
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
    let blocks = if B > 0 { B } else { piece.blocks };
    let stride = blocks * len;
    let slot_len = N * stride;
    let Piece { pixels, p2, costs, volume, totals, totals_pitch, .. } = piece;
    let slots = &mut cell.slots[..SLOTS * slot_len];
    let least = &mut cell.least[..SLOTS * N];
    slots[LEFT * slot_len..][..slot_len].copy_from_slice(&edge.new);
    slots[OLD_LEFT * slot_len..][..slot_len].copy_from_slice(&edge.old);
    least[LEFT * N..][..N].copy_from_slice(&edge.new_least[..N]);
    least[OLD_LEFT * N..][..N].copy_from_slice(&edge.old_least[..N]);
    let after = pixels + 1;
    if let Some(right) = right {
        slots[after * slot_len..][..slot_len].copy_from_slice(&right.slots[slot_len..][..slot_len]);
        least[after * N..][..N].copy_from_slice(&right.least[N..][..N]);
    } else {
        slots[after * slot_len..][..slot_len].fill(L::default());
        least[after * N..][..N].fill(L::default());
    }
    let mut ways = [Way::default(); N];
    for r in 0..N {
        ways[r] = Way::of(piece.sources[r]);
    }
    if FOUR {
        // the path along the row needs no more than one slot, and so stays in the innermost cache
        (ways[0].step, ways[0].to, ways[0].to_step) = (0, LEFT, 0);
    }
    let none = L::V::<S>::splat(simd, L::NONE);
    let p1 = L::V::<S>::splat(simd, piece.p1);
    let mut recent = L::V::<S>::splat(simd, edge.new_least[0]); // of the path along the row
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
        let mut to = [0; N];
        let mut before = [none; N];
        let mut limit = [none; N];
        let mut below = [none; N];
        let mut here = [none; N];
        for r in 0..N {
            let way = &ways[r];
            let mut slot = way.from + way.step * i;
            if !FOUR && way.aside.is_some_and(|aside| aside[i]) {
                slot = OLD_LEFT;
            }
            from[r] = (slot * N + r) * stride;
            to[r] = way.to + way.to_step * i;
            before[r] = if FOUR && r == 0 { recent } else { L::V::<S>::splat(simd, least[slot * N + r]) };
            limit[r] = before[r].saturating_add(L::V::<S>::splat(simd, p2[t * N + r]));
            here[r] = at(simd, slots, from[r]);
        }
        let mut smallest = [none; N];
        for b in 0..blocks {
            let cost = at::<S, L>(simd, costs, b * len);
            let mut sums = E::zero(simd);
            for r in 0..N {
                let above = if b + 1 < blocks { at(simd, slots, from[r] + (b + 1) * len) } else { none };
                let beside = L::shifted_up::<S>(below[r], here[r]).min(here[r].slide::<1>(above)).saturating_add(p1);
                let excess = here[r].min(beside).min(limit[r]) - before[r];
                let path = cost.saturating_add(excess);
                sums = E::plus::<S>(sums, excess);
                smallest[r] = smallest[r].min(path);
                let place = (to[r] * N + r) * stride + b * len;
                if if FOUR { r == 1 } else { ways[r].keeps_old } {
                    let old = at::<S, L>(simd, slots, place);
                    old.store_slice(&mut slots[(OLD_LEFT * N + r) * stride + b * len..][..len]);
                }
                path.store_slice(&mut slots[place..][..len]);
                below[r] = here[r];
                here[r] = above;
            }
            if turn == Turn::Only {
                let to = &mut totals[t * totals_pitch + b * len..][..len];
                E::total::<S>(simd, B == 0, E::zero(simd), sums, cost, piece.paths, to);
                continue;
            }
            let volume = &mut volume[t * stride + b * len..][..len];
            match turn {
                Turn::Set => E::stream::<S>(sums, volume, piece.streams),
                Turn::Add => E::store::<S>(E::both::<S>(E::load(simd, volume), sums), volume),
                _ => {
                    let to = &mut totals[t * totals_pitch + b * len..][..len];
                    E::total::<S>(simd, B == 0, E::load(simd, volume), sums, cost, piece.paths, to);
                }
            }
        }
        for r in 0..N {
            if FOUR && r == 0 {
                recent = L::V::<S>::splat(simd, smallest[0].reduce_min());
                continue;
            }
            least[OLD_LEFT * N + r] = least[to[r] * N + r];
            least[to[r] * N + r] = smallest[r].reduce_min();
        }
    }
    edge.new.copy_from_slice(&slots[pixels * slot_len..][..slot_len]);
    edge.old.copy_from_slice(&slots[OLD_LEFT * slot_len..][..slot_len]);
    edge.new_least[..N].copy_from_slice(&least[pixels * N..][..N]);
    edge.old_least[..N].copy_from_slice(&least[OLD_LEFT * N..][..N]);
    if FOUR {
        edge.new[..stride].copy_from_slice(&slots[LEFT * slot_len..][..stride]);
        edge.new_least[0] = recent.as_slice()[0];
    }
}

/// Without paths the cost alone decides.
#[inline(always)]
pub(super) fn costs_as_totals<S: Simd, L: Lane, E: Excess<L>>(simd: S, piece: Piece<'_, L, E>) {
    let len = <L::V<S> as SimdBase<S>>::LEN;
    let stride = piece.blocks * len;
    for t in 0..piece.pixels {
        for b in 0..piece.blocks {
            let cost = at::<S, L>(simd, piece.costs, t * stride + b * len);
            let to = &mut piece.totals[t * piece.totals_pitch + b * len..][..len];
            E::total::<S>(simd, true, E::zero(simd), E::zero(simd), cost, 1, to);
        }
    }
}
