//! One row of a sweep: costs, path costs and, where the row is visited for the last time, winners, piece by piece.

use super::Range;
use super::aligned::Aligned;
use super::costs::Costs;
use super::courses::{Pass, Source, Sweep};
use super::lane::{Excess, Lane};
use super::memory::Streams;
use super::turns::Turns;
use super::walk::{Cell, Edge, From, PIECE, Piece, TOGETHER, Turn, costs_as_totals, walk};
use super::winner::{Right, Tile};
use crate::image::Image;
use crate::stereo::params::StereoParams;
use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// What all threads read.
pub(super) struct Job<'a, L> {
    pub(super) params: &'a StereoParams,
    pub(super) range: Range,
    pub(super) luma: &'a Image<u8>,
    pub(super) costs: Costs<'a>,
    pub(super) p1: L,
    pub(super) p2_of_step: [L; 256],
}

/// What belongs to a row of the picture, and goes from thread to thread.
pub(super) struct Row<'a, E> {
    /// Sums of the path costs' excess.
    pub(super) volume: &'a mut [E],
    pub(super) values: &'a mut [i16],
    pub(super) reasons: &'a mut [u8],
    /// The right map's row; empty if nobody needs it.
    pub(super) right: &'a mut [i16],
}

/// Path costs of the row that a pass has come by last, piece by piece.
pub(super) type Cells<L> = Vec<Turns<Cell<L>>>;

/// What one thread needs for itself.
#[derive(Default)]
pub(super) struct Scratch<L> {
    costs: Aligned<L>,
    p2: Vec<L>,
    edge: Edge<L>,
    tile: Tile,
    right: Right,
}

impl<L: Lane> Scratch<L> {
    pub(super) fn restart(&mut self, range: Range) {
        self.costs.resize(PIECE * range.stride);
        self.p2.resize(PIECE * TOGETHER, L::default());
        self.tile.restart(range);
    }

    pub(super) fn bytes(&self) -> usize {
        self.costs.bytes() + self.edge.bytes() + self.tile.bytes() + self.right.bytes()
    }
}

/// A row to go over.
#[derive(Clone, Copy)]
pub(super) struct Visit {
    /// In the order of the sweep.
    pub(super) v: usize,
    /// Nobody has been there.
    pub(super) first: bool,
    /// Nobody will come after.
    pub(super) last: bool,
}

/// Goes over one row: all passes of the sweep.
#[inline(always)]
pub(super) fn visit<S: Simd, L: Lane, E: Excess<L>>(
    simd: S,
    job: &Job<'_, L>,
    (sweep, cells): (&Sweep, &[Cells<L>]),
    visit: Visit,
    row: &mut Row<'_, E>,
    scratch: &mut Scratch<L>,
) {
    let passes = sweep.passes.len();
    for (p, (pass, cells)) in sweep.passes.iter().zip(cells).enumerate() {
        let (first, last) = (visit.first && p == 0, visit.last && p + 1 == passes);
        let turn = match (first, last) {
            (true, false) => Turn::Set,
            (false, false) => Turn::Add,
            (false, true) => Turn::Last,
            (true, true) => Turn::Only,
        };
        along(simd, job, (sweep.down, visit.v), (pass, cells), turn, row, scratch);
    }
}

/// One pass along the row.
#[inline(always)]
fn along<S: Simd, L: Lane, E: Excess<L>>(
    simd: S,
    job: &Job<'_, L>,
    (down, v): (bool, usize),
    (pass, cells): (&Pass, &Cells<L>),
    turn: Turn,
    row: &mut Row<'_, E>,
    scratch: &mut Scratch<L>,
) {
    let Range { stride, .. } = job.range;
    let (width, height) = job.luma.size();
    let y = if down { v } else { height - 1 - v };
    let directions = pass.courses.len();
    let Scratch { costs, p2, edge, tile, right } = scratch;
    edge.restart(directions, stride);
    let with_right = !row.right.is_empty();
    if turn.is_last() && with_right {
        right.restart(width, job.range);
    }
    let luma =
        (job.luma.row(y), v.checked_sub(1).map(|before| job.luma.row(if down { before } else { height - 1 - before })));
    let mut sources = [Source::Fixed(From::Above); TOGETHER];
    for (source, course) in sources.iter_mut().zip(&pass.courses) {
        *source = course.source(v, pass.mirrored);
    }
    let streams = Streams::begin();
    let mut held = cells.first().map(|cell| cell.take(v));
    for c in 0..width.div_ceil(PIECE) {
        let next = cells.get(c + 1).map(|cell| cell.take(v));
        let walked = c * PIECE..width.min((c + 1) * PIECE);
        let pixels = walked.len();
        let from = if pass.mirrored { width - walked.end } else { walked.start };
        job.costs.fill(simd, (y, width), (from, from + pixels), job.range, costs);
        for (r, source) in sources.iter_mut().enumerate().take(directions) {
            if let Source::ByColumn(columns) = pass.courses[r].source(v, pass.mirrored) {
                *source = Source::ByColumn(&columns[walked.clone()]);
            }
            large_steps(&job.p2_of_step, luma, (from, pixels), pass.mirrored, *source, (r, directions), p2);
        }
        let totals_pitch = tile.pitch();
        let piece = Piece {
            pixels,
            mirrored: pass.mirrored,
            blocks: stride / <L::V<S> as SimdBase<S>>::LEN,
            p1: job.p1,
            p2,
            sources: &sources[..directions],
            costs,
            volume: &mut row.volume[if turn == Turn::Only { 0..0 } else { from * stride..(from + pixels) * stride }],
            totals: tile.totals(),
            totals_pitch,
            turn,
            paths: job.params.paths as u16,
            streams: &streams,
        };
        match &mut held {
            Some(cell) => follow(simd, piece, cell, edge, next.as_deref(), job.range),
            None => costs_as_totals::<S, L, E>(simd, piece),
        }
        if turn.is_last() {
            let (values, reasons) = (&mut row.values[from..][..pixels], &mut row.reasons[from..][..pixels]);
            tile.left(simd, job.params, values, reasons);
            if with_right {
                right.update(simd, tile, from, pixels, pass.mirrored);
            }
        }
        held = next;
    }
    if turn.is_last() && with_right {
        right.finish(job.params.min_disparity, row.right);
    }
}

/// The walk that is compiled for this number of directions and registers; the one for eight paths above all.
#[inline(always)]
fn follow<S: Simd, L: Lane, E: Excess<L>>(
    simd: S,
    piece: Piece<'_, L, E>,
    cell: &mut Cell<L>,
    edge: &mut Edge<L>,
    right: Option<&Cell<L>>,
    range: Range,
) {
    let four = piece.sources.len() == TOGETHER
        && piece.sources.iter().zip(From::FOUR).all(|(&source, from)| matches!(source, Source::Fixed(f) if f == from));
    let blocks = if range.candidates == range.stride { piece.blocks } else { 0 };
    match (piece.sources.len(), piece.turn, blocks) {
        (4, Turn::Set, 1) if four => walk::<S, L, E, 4, 1, true>(simd, Turn::Set, piece, cell, edge, right),
        (4, Turn::Set, 2) if four => walk::<S, L, E, 4, 2, true>(simd, Turn::Set, piece, cell, edge, right),
        (4, Turn::Set, 4) if four => walk::<S, L, E, 4, 4, true>(simd, Turn::Set, piece, cell, edge, right),
        (4, Turn::Last, 1) if four => walk::<S, L, E, 4, 1, true>(simd, Turn::Last, piece, cell, edge, right),
        (4, Turn::Last, 2) if four => walk::<S, L, E, 4, 2, true>(simd, Turn::Last, piece, cell, edge, right),
        (4, Turn::Last, 4) if four => walk::<S, L, E, 4, 4, true>(simd, Turn::Last, piece, cell, edge, right),
        (4, turn, _) if four => walk::<S, L, E, 4, 0, true>(simd, turn, piece, cell, edge, right),
        (1, turn, _) => walk::<S, L, E, 1, 0, false>(simd, turn, piece, cell, edge, right),
        (2, turn, _) => walk::<S, L, E, 2, 0, false>(simd, turn, piece, cell, edge, right),
        (3, turn, _) => walk::<S, L, E, 3, 0, false>(simd, turn, piece, cell, edge, right),
        (_, turn, _) => walk::<S, L, E, 4, 0, false>(simd, turn, piece, cell, edge, right),
    }
}

/// P2 for each of the pixels, from the brightness here and where the path comes from. Where it comes from outside any
/// number will do: a path starts there.
#[inline(always)]
fn large_steps<L: Lane>(
    p2_of_step: &[L; 256],
    (here, above): (&[u8], Option<&[u8]>),
    (from, pixels): (usize, usize),
    mirrored: bool,
    source: Source<'_>,
    (r, directions): (usize, usize),
    p2: &mut [L],
) {
    let above = above.unwrap_or(here);
    let back: isize = if mirrored { 1 } else { -1 };
    let mut steps = [0_u8; PIECE];
    match source {
        Source::Fixed(From::Left) => differences(here, here, from, back, &mut steps[..pixels]),
        Source::Fixed(From::AboveLeft) => differences(here, above, from, back, &mut steps[..pixels]),
        Source::Fixed(From::Above) => differences(here, above, from, 0, &mut steps[..pixels]),
        Source::Fixed(From::AboveRight) => differences(here, above, from, -back, &mut steps[..pixels]),
        Source::ByColumn(aside) => {
            let mut beside = [0_u8; PIECE];
            differences(here, here, from, back, &mut beside[..pixels]);
            differences(here, above, from, back, &mut steps[..pixels]);
            for t in 0..pixels {
                let walked = if mirrored { pixels - 1 - t } else { t };
                steps[t] = if aside[walked] { steps[t] } else { beside[t] };
            }
        }
    }
    for t in 0..pixels {
        p2[t * directions + r] = p2_of_step[usize::from(steps[t])];
    }
}

/// Differences of brightness between pixels and those that lie `by` columns further; outside the border's pixel is taken.
#[inline(always)]
fn differences(here: &[u8], there: &[u8], from: usize, by: isize, out: &mut [u8]) {
    let here = &here[from..][..out.len()];
    let shifted = from.checked_add_signed(by).and_then(|start| there.get(start..start + out.len()));
    if let Some(there) = shifted {
        for t in 0..out.len() {
            out[t] = here[t].abs_diff(there[t]);
        }
    } else {
        for t in 0..out.len() {
            let x = (from + t).saturating_add_signed(by).min(there.len() - 1);
            out[t] = here[t].abs_diff(there[x]);
        }
    }
}
