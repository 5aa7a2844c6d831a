//! Path costs kept between pixels: for each block those of the row above, replaced by those of the row itself as the pass proceeds.
//!
//! The path costs of a pixel replace those of its predecessor in the row above, so that none are copied within a block. Where
//! predecessors lie above left or above right, the ring of a direction's slots turns by one with each row. The slot that leaves the
//! block at one end takes the predecessor that comes from the neighbour at the other.

use super::aligned::AlignedArray;
use super::disparity_windows::DisparityWindow;
use super::input::{BLOCK, MAX_DIRECTIONS};
use super::lane::Lane;
use super::scan::{Predecessor, Predecessors};
use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// Slot of the last pixel of a path along the row, behind the slots of a block's pixels.
pub(super) const LAST: usize = BLOCK;
pub(super) const SLOTS: usize = BLOCK + 1;

/// Value for each direction and each column of a block.
pub(super) type Columns<L> = [[L; BLOCK]; MAX_DIRECTIONS];

#[derive(Default)]
pub(super) struct BlockState<L> {
    /// Path costs of the window's candidates, for each direction and slot. With gating a register on either side has the candidates
    /// beside them.
    pub(super) slots: AlignedArray<L>,
    pub(super) least: Columns<L>,
    /// Slot of the first pixel, for each direction.
    turns: [usize; MAX_DIRECTIONS],
    window: DisparityWindow,
}

impl<L: Lane> BlockState<L> {
    pub(super) fn restart(&mut self, directions: usize, room: usize) {
        self.slots.resize(SLOTS * directions * room);
        self.slots.fill(L::default());
        self.least = Columns::default();
        self.turns = Default::default();
        self.window = DisparityWindow::NOTHING;
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.bytes()
    }
}

/// Path costs of the last pixel of a block, for the next block: in this row and in the row above.
#[derive(Default)]
pub(super) struct EdgeState<L> {
    new: PixelState<L>,
    old: PixelState<L>,
    next_old: PixelState<L>,
}

#[derive(Default)]
struct PixelState<L> {
    paths: AlignedArray<L>,
    least: [L; MAX_DIRECTIONS],
    window: DisparityWindow,
}

impl<L: Lane> EdgeState<L> {
    /// Resets the state to that before the first pixel of a row.
    pub(super) fn restart(&mut self, directions: usize, room: usize) {
        for pixel in [&mut self.new, &mut self.old, &mut self.next_old] {
            pixel.paths.resize(directions * room);
            pixel.paths.fill(L::default());
            (pixel.least, pixel.window) = ([L::default(); MAX_DIRECTIONS], DisparityWindow::NOTHING);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let pixels = [&self.new, &self.old, &self.next_old];
        pixels.iter().map(|pixel| pixel.paths.bytes()).sum()
    }
}

#[inline(always)]
pub(super) fn at_slot<S: Simd, L: Lane>(simd: S, slots: &[L], offset: usize) -> L::V<S> {
    L::V::<S>::from_slice(simd, &slots[offset..][..<L::V<S> as SimdBase<S>>::LEN])
}

#[derive(Clone, Copy)]
pub(super) struct BlockShape {
    pub(super) pixels: usize,
    pub(super) mirrored: bool,
    pub(super) window: DisparityWindow,
    /// Whether each pixel has its own candidates, so that windows may differ between blocks and rows.
    pub(super) gated: bool,
    pub(super) room: usize,
}

/// State of a block while a row passes through it.
pub(super) struct EnteredBlock<L> {
    /// Smallest path cost of each predecessor in the row above.
    pub(super) before: Columns<L>,
    /// Offset of the slot of each pixel among the slots of its direction, in the order of the paths.
    pub(super) places: [[u32; BLOCK]; MAX_DIRECTIONS],
    /// Smallest path costs of the last pixel of the block before, in this row.
    pub(super) recent: [L; MAX_DIRECTIONS],
    /// Whether the window has moved since the row above.
    pub(super) moved: bool,
}

/// Turns the slots for the next row, fetches the predecessors beyond the block, and moves the values of the row above to the block's
/// window.
#[inline(always)]
pub(super) fn enter<S: Simd, L: Lane>(
    simd: S,
    shape: &BlockShape,
    predecessors: &[Predecessors<'_>],
    state: &mut BlockState<L>,
    edge: &mut EdgeState<L>,
    right: Option<&BlockState<L>>,
) -> EnteredBlock<L> {
    let BlockShape { pixels, mirrored, room, gated, .. } = *shape;
    let moved = gated && state.window != shape.window;
    let (first, last) = if mirrored { (BLOCK - 1, 0) } else { (0, pixels - 1) };
    let mut entered =
        EnteredBlock { before: state.least, places: [[0; BLOCK]; MAX_DIRECTIONS], recent: edge.new.least, moved };
    let EdgeState { new, old, next_old } = edge;
    next_old.window = state.window;
    for (r, predecessor) in predecessors.iter().enumerate() {
        let slot = |slot: usize| (r * SLOTS + slot) * room..(r * SLOTS + slot + 1) * room;
        let own = r * room..(r + 1) * room;
        let turn = &mut state.turns[r];
        if matches!(predecessor, Predecessors::Same(Predecessor::AboveLeft) | Predecessors::ByMinorStep(_)) {
            *turn = if *turn == 0 { pixels - 1 } else { *turn - 1 };
            next_old.paths[own.clone()].copy_from_slice(&state.slots[slot(*turn)]);
            next_old.least[r] = state.least[r][last];
        }
        if moved && !matches!(predecessor, Predecessors::Same(Predecessor::Left)) {
            for i in 0..pixels {
                move_window(simd, shape, state.window, &mut state.slots[slot(i)]);
            }
        }
        if matches!(predecessor, Predecessors::Same(Predecessor::Left) | Predecessors::ByMinorStep(_)) {
            copy(simd, shape, &new.paths[own.clone()], new.window, &mut state.slots[slot(LAST)]);
        }
        match predecessor {
            Predecessors::Same(Predecessor::Left | Predecessor::Above) => {}
            Predecessors::Same(Predecessor::AboveLeft) | Predecessors::ByMinorStep(_) => {
                copy(simd, shape, &old.paths[own], old.window, &mut state.slots[slot(*turn)]);
                move_by_one(&state.least[r], !mirrored, pixels, old.least[r], &mut entered.before[r]);
            }
            Predecessors::Same(Predecessor::AboveRight) => {
                let (leaving, mut least) = (*turn, L::default());
                *turn = if *turn + 1 == pixels { 0 } else { *turn + 1 };
                match right {
                    Some(right) => {
                        let from = &right.slots[slot(right.turns[r])];
                        copy(simd, shape, from, right.window, &mut state.slots[slot(leaving)]);
                        least = right.least[r][first];
                    }
                    None => state.slots[slot(leaving)].fill(L::default()),
                }
                move_by_one(&state.least[r], mirrored, pixels, least, &mut entered.before[r]);
            }
        }
        for i in 0..BLOCK {
            let slot = *turn + i;
            entered.places[r][i] = (room * if slot < pixels { slot } else { slot - pixels }) as u32;
        }
    }
    state.window = shape.window;
    entered
}

/// Moves the values of a block's columns one column to the right or to the left; `outside` comes in.
#[inline(always)]
fn move_by_one<L: Lane>(from: &[L; BLOCK], to_the_right: bool, pixels: usize, outside: L, to: &mut [L; BLOCK]) {
    if to_the_right {
        to[1..].copy_from_slice(&from[..BLOCK - 1]);
        to[0] = outside;
    } else {
        to[..BLOCK - 1].copy_from_slice(&from[1..]);
        to[pixels - 1] = outside;
    }
}

#[inline(always)]
pub(super) fn leave<L: Lane>(
    shape: &BlockShape,
    predecessors: &[Predecessors<'_>],
    state: &BlockState<L>,
    edge: &mut EdgeState<L>,
    entered: &EnteredBlock<L>,
) {
    for (r, predecessor) in predecessors.iter().enumerate() {
        let last = match predecessor {
            Predecessors::Same(Predecessor::Left) => LAST * shape.room,
            Predecessors::ByMinorStep(_) => entered.places[r][shape.pixels - 1] as usize,
            Predecessors::Same(_) => continue,
        };
        let slot = &state.slots[r * SLOTS * shape.room + last..][..shape.room];
        edge.new.paths[r * shape.room..][..shape.room].copy_from_slice(slot);
    }
    (edge.new.least, edge.new.window) = (entered.recent, state.window);
    std::mem::swap(&mut edge.old, &mut edge.next_old);
}

/// Copies the path costs of window `old`, and moves them to the block's window.
#[inline(always)]
fn copy<S: Simd, L: Lane>(simd: S, shape: &BlockShape, from: &[L], old: DisparityWindow, to: &mut [L]) {
    to.copy_from_slice(from);
    if shape.gated && old != shape.window {
        move_window(simd, shape, old, to);
    }
}

/// Moves the path costs of window `old` to the block's window, with one register on either side.
#[inline(always)]
fn move_window<S: Simd, L: Lane>(simd: S, shape: &BlockShape, old: DisparityWindow, slot: &mut [L]) {
    let (len, new) = (<L::V<S> as SimdBase<S>>::LEN, shape.window);
    let registers = new.len / len + 2;
    if old.len == 0 {
        slot[..registers * len].fill(L::default()); // before the start of a line
        return;
    }
    let by = new.first as isize - old.first as isize;
    for b in 0..registers {
        // in an order in which each register is read before another one is stored there
        let to = len * if by > 0 { b } else { registers - 1 - b };
        // beside the old window the registers have the mark of missing candidates
        let from = (to as isize + by).clamp(0, (old.len + len) as isize) as usize;
        at_slot::<S, L>(simd, slot, from).store_slice(&mut slot[to..][..len]);
    }
}

/// Marks the candidates beside the window of a slot as missing.
#[inline(always)]
pub(super) fn mask_borders<S: Simd, L: Lane>(simd: S, slot: &mut [L], stride: usize) {
    let len = <L::V<S> as SimdBase<S>>::LEN;
    for beside in [0, len + stride] {
        L::V::<S>::splat(simd, L::NONE).store_slice(&mut slot[beside..][..len]);
    }
}
