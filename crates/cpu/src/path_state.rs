//! Path costs kept between pixels: for each block those of the row above, replaced by those of the row itself as the pass
//! proceeds.

use super::aligned::Aligned;
use super::disparity_windows::DisparityWindow;
use super::input::{BLOCK, MAX_DIRECTIONS};
use super::lane::Lane;
use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// Slots of a [`BlockState`]: the pixel to the left of the block, the pixels of the block, the pixel to its right in the row
/// above, and the upper left neighbour of the current pixel.
pub(super) const LEFT: usize = 0;
pub(super) const ABOVE_LEFT: usize = BLOCK + 2;
pub(super) const SLOTS: usize = BLOCK + 3;

/// Path costs of a block: of the row itself up to the current pixel, of the row above behind it.
#[derive(Default)]
pub(super) struct BlockState<L> {
    /// For each slot and direction the candidates of the block's window; with gating, between two registers for the
    /// candidates beside the window.
    pub(super) slots: Aligned<L>,
    /// The smallest path cost of each slot and direction.
    pub(super) least: Vec<L>,
    /// Window of the slots of the row above.
    window: DisparityWindow,
}

impl<L: Lane> BlockState<L> {
    /// The state before the first row.
    pub(super) fn restart(&mut self, directions: usize, room: usize) {
        self.slots.resize(SLOTS * directions * room);
        self.slots.fill(L::default());
        self.least.clear();
        self.least.resize(SLOTS * directions, L::default());
        self.window = DisparityWindow::NOTHING;
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.bytes() + self.least.capacity() * size_of::<L>()
    }
}

/// The last pixel of a block, for the next block: in this row and in the row above.
#[derive(Default)]
pub(super) struct EdgeState<L> {
    pub(super) new: PixelState<L>,
    old: PixelState<L>,
    /// `old` of the next block.
    next_old: PixelState<L>,
    line: Aligned<L>,
}

/// Path costs of a pixel.
#[derive(Default)]
pub(super) struct PixelState<L> {
    paths: Aligned<L>,
    pub(super) least: [L; MAX_DIRECTIONS],
    window: DisparityWindow,
}

impl<L: Lane> EdgeState<L> {
    /// Before the first pixel of a row.
    pub(super) fn restart(&mut self, directions: usize, room: usize) {
        for pixel in [&mut self.new, &mut self.old, &mut self.next_old] {
            pixel.paths.resize(directions * room);
            pixel.paths.fill(L::default());
            (pixel.least, pixel.window) = ([L::default(); MAX_DIRECTIONS], DisparityWindow::NOTHING);
        }
        self.line.resize(room);
    }

    pub(super) fn bytes(&self) -> usize {
        let pixels = [&self.new, &self.old, &self.next_old];
        pixels.iter().map(|pixel| pixel.paths.bytes()).sum::<usize>() + self.line.bytes()
    }
}

/// A register of a slot.
#[inline(always)]
pub(super) fn at_slot<S: Simd, L: Lane>(simd: S, slots: &[L], offset: usize) -> L::V<S> {
    L::V::<S>::from_slice(simd, &slots[offset..][..<L::V<S> as SimdBase<S>>::LEN])
}

/// Size of a block.
#[derive(Clone, Copy)]
pub(super) struct BlockShape {
    pub(super) pixels: usize,
    /// Its candidates, in whole registers.
    pub(super) window: DisparityWindow,
    /// Whether each pixel has its own candidates, so that windows may differ between blocks and rows.
    pub(super) gated: bool,
    /// Values of a slot for one direction.
    pub(super) room: usize,
}

impl BlockShape {
    /// Index of the first candidate in a slot: with gating, behind one register.
    #[inline(always)]
    pub(super) fn pad(&self, register: usize) -> usize {
        if self.gated { register } else { 0 }
    }
}

/// Loads the slots beside the block, and moves the values of the row above to the block's window. True if the window has
/// moved.
#[inline(always)]
pub(super) fn load_neighbours<S: Simd, L: Lane>(
    simd: S,
    shape: &BlockShape,
    state: &mut BlockState<L>,
    edge: &mut EdgeState<L>,
    right: Option<&BlockState<L>>,
    directions: usize,
) -> bool {
    let room = shape.room;
    let slot = |number: usize| number * directions * room..(number + 1) * directions * room;
    let least = |number: usize| number * directions..(number + 1) * directions;
    let after = shape.pixels + 1;
    state.least[least(LEFT)].copy_from_slice(&edge.new.least[..directions]);
    state.least[least(ABOVE_LEFT)].copy_from_slice(&edge.old.least[..directions]);
    match right {
        Some(right) => state.least[least(after)].copy_from_slice(&right.least[least(1)]),
        None => state.least[least(after)].fill(L::default()),
    }
    if !shape.gated {
        state.slots[slot(LEFT)].copy_from_slice(&edge.new.paths);
        state.slots[slot(ABOVE_LEFT)].copy_from_slice(&edge.old.paths);
        match right {
            Some(right) => state.slots[slot(after)].copy_from_slice(&right.slots[slot(1)]),
            None => state.slots[slot(after)].fill(L::default()),
        }
        return false;
    }
    edge.next_old.paths.copy_from_slice(&state.slots[slot(shape.pixels)]);
    edge.next_old.least[..directions].copy_from_slice(&state.least[least(shape.pixels)]);
    edge.next_old.window = state.window;
    let moved = state.window != shape.window;
    for r in 0..directions {
        let of = |number: usize| (number * directions + r) * room..(number * directions + r + 1) * room;
        if moved {
            for number in 1..=shape.pixels {
                edge.line.copy_from_slice(&state.slots[of(number)]);
                shift(simd, &edge.line, state.window, shape.window, &mut state.slots[of(number)]);
            }
        }
        shift(simd, &edge.new.paths[of(0)], edge.new.window, shape.window, &mut state.slots[of(LEFT)]);
        shift(simd, &edge.old.paths[of(0)], edge.old.window, shape.window, &mut state.slots[of(ABOVE_LEFT)]);
        match right {
            Some(right) => shift(simd, &right.slots[of(1)], right.window, shape.window, &mut state.slots[of(after)]),
            None => shift(simd, &edge.line, DisparityWindow::NOTHING, shape.window, &mut state.slots[of(after)]),
        }
    }
    state.window = shape.window;
    moved
}

/// Stores the last pixel for the next block.
#[inline(always)]
pub(super) fn store_edge<L: Lane>(
    state: &BlockState<L>,
    edge: &mut EdgeState<L>,
    BlockShape { pixels, gated, room, .. }: BlockShape,
    directions: usize,
) {
    let slot = |number: usize| number * directions * room..(number + 1) * directions * room;
    let least = |number: usize| number * directions..(number + 1) * directions;
    edge.new.paths.copy_from_slice(&state.slots[slot(pixels)]);
    edge.new.least[..directions].copy_from_slice(&state.least[least(pixels)]);
    edge.new.window = state.window;
    if gated {
        std::mem::swap(&mut edge.old, &mut edge.next_old);
    } else {
        edge.old.paths.copy_from_slice(&state.slots[slot(ABOVE_LEFT)]);
        edge.old.least[..directions].copy_from_slice(&state.least[least(ABOVE_LEFT)]);
    }
}

/// Copies the path costs of window `old` to window `new`, with one register beside it on either end.
#[inline(always)]
fn shift<S: Simd, L: Lane>(simd: S, from: &[L], old: DisparityWindow, new: DisparityWindow, to: &mut [L]) {
    let len = <L::V<S> as SimdBase<S>>::LEN;
    let mut b = 0;
    while b < new.len + 2 * len {
        let values = if old.len == 0 {
            L::V::<S>::splat(simd, L::default()) // before the start of a line
        } else {
            // beside the old window the registers hold the mark of missing candidates
            let at = (new.first + b) as isize - old.first as isize;
            L::V::<S>::from_slice(simd, &from[at.clamp(0, (old.len + len) as isize) as usize..][..len])
        };
        values.store_slice(&mut to[b..][..len]);
        b += len;
    }
}

/// Marks the candidates beside the window of slot `new` as missing, after the first row in a window and the first pixel of a
/// block. The former registers go with slot `old` if `keeps_above_left`.
#[inline(always)]
pub(super) fn mask_borders<S: Simd, L: Lane>(
    simd: S,
    slots: &mut [L],
    old: usize,
    new: usize,
    stride: usize,
    keeps_above_left: bool,
) {
    let len = <L::V<S> as SimdBase<S>>::LEN;
    for beside in [0, len + stride] {
        let held = at_slot::<S, L>(simd, slots, new + beside);
        if keeps_above_left {
            held.store_slice(&mut slots[old + beside..][..len]);
        }
        L::V::<S>::splat(simd, L::NONE).store_slice(&mut slots[new + beside..][..len]);
    }
}
