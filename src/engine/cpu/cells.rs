//! What is kept of the paths between pixels: for each piece of a row the path costs of the row above, and of its own row
//! where the walk has come by.

use super::aligned::Aligned;
use super::lane::Lane;
use super::walk::{PIECE, TOGETHER};
use super::windows::Window;
use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// Slots of a [`Cell`]: the pixel to the left of the piece, the pixels of the piece, the one to its right in the row above,
/// and the one to the left of where the walk is in the row above.
pub(super) const LEFT: usize = 0;
pub(super) const OLD_LEFT: usize = PIECE + 2;
pub(super) const SLOTS: usize = PIECE + 3;

/// Path costs of a piece: those of the row above where the walk has not come by, those of its row where it has.
#[derive(Default)]
pub(super) struct Cell<L> {
    /// For each slot, for each direction, the candidates of the piece's window; where pixels are gated between registers of
    /// what lies beside it.
    pub(super) slots: Aligned<L>,
    /// For each slot and direction the smallest.
    pub(super) least: Vec<L>,
    /// What the slots of the row above hold.
    window: Window,
}

impl<L: Lane> Cell<L> {
    /// Room for so many directions, before the first row.
    pub(super) fn restart(&mut self, directions: usize, room: usize) {
        self.slots.resize(SLOTS * directions * room);
        self.slots.fill(L::default());
        self.least.clear();
        self.least.resize(SLOTS * directions, L::default());
        self.window = Window::NOTHING;
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.bytes() + self.least.capacity() * size_of::<L>()
    }
}

/// The last pixel of a piece, for the next one: in this row and in the row above.
#[derive(Default)]
pub(super) struct Edge<L> {
    pub(super) new: Pixel<L>,
    old: Pixel<L>,
    /// The old pixel of the piece that is walked now.
    next_old: Pixel<L>,
    line: Aligned<L>,
}

/// Path costs of a pixel.
#[derive(Default)]
pub(super) struct Pixel<L> {
    paths: Aligned<L>,
    pub(super) least: [L; TOGETHER],
    window: Window,
}

impl<L: Lane> Edge<L> {
    /// Before the first pixel of a row.
    pub(super) fn restart(&mut self, directions: usize, room: usize) {
        for pixel in [&mut self.new, &mut self.old, &mut self.next_old] {
            pixel.paths.resize(directions * room);
            pixel.paths.fill(L::default());
            (pixel.least, pixel.window) = ([L::default(); TOGETHER], Window::NOTHING);
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

/// Which piece a cell is for.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) pixels: usize,
    /// The candidates that are followed, whole registers.
    pub(super) window: Window,
    /// Whether pixels have their own candidates, so that windows may differ from piece to piece and from row to row.
    pub(super) gated: bool,
    /// Numbers of a slot for one direction.
    pub(super) room: usize,
}

impl Place {
    /// Where the first candidate lies in a slot: gated, behind a register of what lies below the window.
    #[inline(always)]
    pub(super) fn pad(&self, register: usize) -> usize {
        if self.gated { register } else { 0 }
    }
}

/// Brings what lies beside the piece to its slots, and what the row above has left to the piece's window. Says whether the
/// window has moved.
#[inline(always)]
pub(super) fn enter<S: Simd, L: Lane>(
    simd: S,
    place: &Place,
    cell: &mut Cell<L>,
    edge: &mut Edge<L>,
    right: Option<&Cell<L>>,
    directions: usize,
) -> bool {
    let room = place.room;
    let slot = |number: usize| number * directions * room..(number + 1) * directions * room;
    let least = |number: usize| number * directions..(number + 1) * directions;
    let after = place.pixels + 1;
    cell.least[least(LEFT)].copy_from_slice(&edge.new.least[..directions]);
    cell.least[least(OLD_LEFT)].copy_from_slice(&edge.old.least[..directions]);
    match right {
        Some(right) => cell.least[least(after)].copy_from_slice(&right.least[least(1)]),
        None => cell.least[least(after)].fill(L::default()),
    }
    if !place.gated {
        cell.slots[slot(LEFT)].copy_from_slice(&edge.new.paths);
        cell.slots[slot(OLD_LEFT)].copy_from_slice(&edge.old.paths);
        match right {
            Some(right) => cell.slots[slot(after)].copy_from_slice(&right.slots[slot(1)]),
            None => cell.slots[slot(after)].fill(L::default()),
        }
        return false;
    }
    edge.next_old.paths.copy_from_slice(&cell.slots[slot(place.pixels)]);
    edge.next_old.least[..directions].copy_from_slice(&cell.least[least(place.pixels)]);
    edge.next_old.window = cell.window;
    let moved = cell.window != place.window;
    for r in 0..directions {
        let of = |number: usize| (number * directions + r) * room..(number * directions + r + 1) * room;
        let windows = |from| (from, place.window);
        if moved {
            for number in 1..=place.pixels {
                edge.line.copy_from_slice(&cell.slots[of(number)]);
                shift(simd, &edge.line, windows(cell.window), &mut cell.slots[of(number)]);
            }
        }
        shift(simd, &edge.new.paths[of(0)], windows(edge.new.window), &mut cell.slots[of(LEFT)]);
        shift(simd, &edge.old.paths[of(0)], windows(edge.old.window), &mut cell.slots[of(OLD_LEFT)]);
        match right {
            Some(right) => shift(simd, &right.slots[of(1)], windows(right.window), &mut cell.slots[of(after)]),
            None => shift(simd, &edge.line, windows(Window::NOTHING), &mut cell.slots[of(after)]),
        }
    }
    cell.window = place.window;
    moved
}

/// Takes what the next piece needs.
#[inline(always)]
pub(super) fn leave<L: Lane>(
    cell: &Cell<L>,
    edge: &mut Edge<L>,
    (pixels, gated): (usize, bool),
    directions: usize,
    room: usize,
) {
    let slot = |number: usize| number * directions * room..(number + 1) * directions * room;
    let least = |number: usize| number * directions..(number + 1) * directions;
    edge.new.paths.copy_from_slice(&cell.slots[slot(pixels)]);
    edge.new.least[..directions].copy_from_slice(&cell.least[least(pixels)]);
    edge.new.window = cell.window;
    if gated {
        std::mem::swap(&mut edge.old, &mut edge.next_old);
    } else {
        edge.old.paths.copy_from_slice(&cell.slots[slot(OLD_LEFT)]);
        edge.old.least[..directions].copy_from_slice(&cell.least[least(OLD_LEFT)]);
    }
}

/// Path costs of one window as those of another, with a register of what lies beside it on either end.
#[inline(always)]
fn shift<S: Simd, L: Lane>(simd: S, from: &[L], (old, new): (Window, Window), to: &mut [L]) {
    let len = <L::V<S> as SimdBase<S>>::LEN;
    let mut b = 0;
    while b < new.len + 2 * len {
        let values = if old.len == 0 {
            L::V::<S>::splat(simd, L::default()) // before the start of a line
        } else {
            // in registers that say that there is nothing where it lies beside the old window
            let at = (new.first + b) as isize - old.first as isize;
            L::V::<S>::from_slice(simd, &from[at.clamp(0, (old.len + len) as isize) as usize..][..len])
        };
        values.store_slice(&mut to[b..][..len]);
        b += len;
    }
}

/// After the first row in a window, and the first pixel of a piece: what a slot held beside it goes with the old pixel, if
/// that is needed, and beside the new one there is nothing.
#[inline(always)]
pub(super) fn keep_beside<S: Simd, L: Lane>(
    simd: S,
    slots: &mut [L],
    (old, new): (usize, usize),
    stride: usize,
    keeps_old: bool,
) {
    let len = <L::V<S> as SimdBase<S>>::LEN;
    for beside in [0, len + stride] {
        let held = at_slot::<S, L>(simd, slots, new + beside);
        if keeps_old {
            held.store_slice(&mut slots[old + beside..][..len]);
        }
        L::V::<S>::splat(simd, L::NONE).store_slice(&mut slots[new + beside..][..len]);
    }
}
