//! The candidates that are followed in each piece of a row, and where their sums lie in a volume that has room for these
//! alone (Frommholz 2020, section 4.1; there each pixel has its own).
//!
//! A window holds the gates of all pixels of its tile. In it, what lies outside a pixel's own gate has a cost that says that
//! there is no such candidate.

use super::walk::PIECE;
use crate::stereo::gating::{Gate, Gates};

/// Candidates in whole registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) first: usize,
    pub(super) len: usize,
}

impl Window {
    /// Before the start of a line.
    pub(super) const NOTHING: Self = Self { first: 0, len: 0 };
}

/// Rows of a tile: more change the window less often, and widen it.
const TILE_ROWS: usize = 8;

/// The window of every tile and its place in the volume.
#[derive(Default)]
pub(super) struct Windows {
    gates: Option<Gates>,
    tiles_across: usize,
    /// Window, and where its sums begin in a row's part of the volume.
    tiles: Vec<(Window, usize)>,
    /// Numbers that a row of each row of tiles needs in the volume.
    row_lens: Vec<usize>,
}

impl Windows {
    /// Makes the index for registers of so many costs.
    pub(super) fn set(&mut self, gates: Gates, register: usize) {
        let (width, height) = gates.size();
        self.tiles_across = width.div_ceil(PIECE);
        self.tiles.clear();
        self.row_lens.clear();
        for y in (0..height).step_by(TILE_ROWS) {
            let mut start = 0;
            for x in (0..width).step_by(PIECE) {
                let rows = (y..height.min(y + TILE_ROWS)).map(|y| &gates.row(y)[x..width.min(x + PIECE)]);
                let (first, last) = rows
                    .flatten()
                    .fold((u16::MAX, 0), |(first, last), gate| (gate.first.min(first), gate.last.max(last)));
                let len = usize::from(last - first + 1).next_multiple_of(register);
                self.tiles.push((Window { first: first.into(), len }, start));
                start += len * PIECE.min(width - x);
            }
            self.row_lens.push(start);
        }
        self.gates = Some(gates);
    }

    /// The window of the piece from column `x` in row `y`, and where its sums begin in the row's part of the volume.
    pub(super) fn at(&self, x: usize, y: usize) -> (Window, usize) {
        self.tiles[y / TILE_ROWS * self.tiles_across + x / PIECE]
    }

    /// The gate of a pixel.
    #[inline(always)]
    pub(super) fn gate(&self, x: usize, y: usize) -> Gate {
        self.gates.as_ref().map_or(Gate::whole(0), |gates| gates.at(x, y))
    }

    /// Numbers that row `y` needs in the volume.
    pub(super) fn row_len(&self, y: usize) -> usize {
        self.row_lens[y / TILE_ROWS]
    }

    /// Bytes that it holds on to.
    pub(super) fn bytes(&self) -> usize {
        let gates = self.gates.as_ref().map_or(0, |gates| size_of_val(gates.pixels()));
        gates + self.tiles.capacity() * size_of::<(Window, usize)>() + self.row_lens.capacity() * size_of::<usize>()
    }
}
