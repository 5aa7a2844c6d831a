//! Disparity windows with gating: the candidates that each block needs, and the offset of its sums in a volume that has room
//! for these candidates alone (Frommholz 2020, section 4.1; there each pixel has its own window).
//!
//! A window contains the gates of all pixels of its tile. Its candidates outside a pixel's own gate have the cost that marks
//! missing candidates.

use super::input::{BLOCK, PixelSpan};
use super::memory::prefetch_around;
use stereopsis_stereo::gating::{Gate, Gates};

/// Interval of candidates, in whole registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DisparityWindow {
    pub(super) first: usize,
    pub(super) len: usize,
}

impl DisparityWindow {
    /// Window without candidates, for use before the start of a line.
    pub(super) const NOTHING: Self = Self { first: 0, len: 0 };
}

/// Rows of a tile. With more rows the window changes less often and is wider.
const TILE_ROWS: usize = 8;

#[derive(Default)]
pub(super) struct DisparityWindows {
    gates: Option<Gates>,
    tiles_across: usize,
    /// Window of each tile, and the offset of its sums in a row's part of the volume.
    tiles: Vec<(DisparityWindow, usize)>,
    /// Number of values in a row of the volume, for each row of tiles.
    row_lens: Vec<usize>,
}

impl DisparityWindows {
    /// Computes the windows, for registers of `register` costs.
    pub(super) fn set(&mut self, gates: Gates, register: usize) {
        let (width, height) = gates.size();
        self.tiles_across = width.div_ceil(BLOCK);
        self.tiles.clear();
        self.row_lens.clear();
        for y in (0..height).step_by(TILE_ROWS) {
            let mut start = 0;
            for x in (0..width).step_by(BLOCK) {
                let rows = (y..height.min(y + TILE_ROWS)).map(|y| &gates.row(y)[x..width.min(x + BLOCK)]);
                let (first, last) = rows
                    .flatten()
                    .fold((u16::MAX, 0), |(first, last), gate| (gate.first.min(first), gate.last.max(last)));
                let len = usize::from(last - first + 1).next_multiple_of(register);
                self.tiles.push((DisparityWindow { first: first.into(), len }, start));
                start += len * BLOCK.min(width - x);
            }
            self.row_lens.push(start);
        }
        self.gates = Some(gates);
    }

    /// Returns the window of the block at column `x` of row `y`, and the offset of its sums within the row of the volume.
    pub(super) fn at(&self, x: usize, y: usize) -> (DisparityWindow, usize) {
        self.tiles[y / TILE_ROWS * self.tiles_across + x / BLOCK]
    }

    #[inline(always)]
    pub(super) fn gates(&self, PixelSpan { x, y, pixels, width }: PixelSpan) -> &[Gate] {
        let gates = self.gates.as_ref().map_or(&[][..], |gates| gates.pixels());
        let first = y * width + x;
        prefetch_around(gates, first, width);
        &gates[first..][..pixels]
    }

    pub(super) fn row_len(&self, y: usize) -> usize {
        self.row_lens[y / TILE_ROWS]
    }

    pub(super) fn values(&self, height: usize) -> usize {
        (0..height).map(|y| self.row_len(y)).sum()
    }

    pub(super) fn bytes(&self) -> usize {
        let gates = self.gates.as_ref().map_or(0, |gates| size_of_val(gates.pixels()));
        gates
            + self.tiles.capacity() * size_of::<(DisparityWindow, usize)>()
            + self.row_lens.capacity() * size_of::<usize>()
    }
}
