//! One row of a sweep: costs, path costs and, where the row is visited for the last time, winners, piece by piece.

use super::Range;
use super::aligned::Aligned;
use super::cells::{Cell, Edge, Place};
use super::costs::{Costs, Where};
use super::courses::{Pass, Source, Sweep};
use super::lane::{Excess, Lane};
use super::maps::MapRow;
use super::memory::Streams;
use super::turns::{Runner, Track};
use super::walk::{End, From, PIECE, Piece, TOGETHER, Turn, costs_as_totals, walk, walk_fixed};
use super::windows::{Window, Windows};
use super::winner::{Right, Tile};
use crate::image::Image;
use crate::stereo::params::StereoParams;
use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// What all threads read.
pub(super) struct Job<'a, L> {
    pub(super) params: &'a StereoParams,
    /// The match threshold.
    pub(super) largest_sum: Option<u32>,
    pub(super) range: Range,
    pub(super) luma: &'a Image<u8>,
    pub(super) costs: Costs<'a>,
    /// The candidates of each pixel; all of the range where there are none.
    pub(super) windows: Option<&'a Windows>,
    pub(super) p1: L,
    pub(super) p2_of_step: [L; 256],
}

/// What belongs to a row of the picture, and goes from thread to thread.
pub(super) struct Row<'a, E> {
    /// Sums of the path costs' excess.
    pub(super) volume: &'a mut [E],
    pub(super) map: MapRow<'a>,
}

/// Path costs of the row that a pass has come by last, piece by piece.
pub(super) type Cells<L> = Track<Cell<L>>;

/// What one thread needs for itself.
#[derive(Default)]
pub(super) struct Scratch<L> {
    costs: Aligned<L>,
    /// Brightness steps of a row, and the P2 of each direction there.
    steps: Vec<u8>,
    p2: Vec<L>,
    edge: Edge<L>,
    tile: Tile,
    right: Right,
}

impl<L: Lane> Scratch<L> {
    pub(super) fn restart(&mut self, width: usize, range: Range) {
        self.costs.resize(PIECE * range.stride);
        self.steps.resize(width, 0);
        self.p2.resize(width * TOGETHER, L::default());
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
    (sweep, runners): (&Sweep, &mut [Runner<'_, Cell<L>>]),
    visit: Visit,
    row: &mut Row<'_, E>,
    scratch: &mut Scratch<L>,
) {
    let passes = sweep.passes.len();
    for (p, (pass, runner)) in sweep.passes.iter().zip(runners).enumerate() {
        let (first, last) = (visit.first && p == 0, visit.last && p + 1 == passes);
        let turn = match (first, last) {
            (true, false) => Turn::Set,
            (false, false) => Turn::Add,
            (false, true) => Turn::Last,
            (true, true) => Turn::Only,
        };
        along(simd, job, (sweep.down, visit.v), (pass, runner), turn, row, scratch);
    }
}

/// One pass along the row.
#[inline(always)]
fn along<S: Simd, L: Lane, E: Excess<L>>(
    simd: S,
    job: &Job<'_, L>,
    (down, v): (bool, usize),
    (pass, runner): (&Pass, &mut Runner<'_, Cell<L>>),
    turn: Turn,
    row: &mut Row<'_, E>,
    scratch: &mut Scratch<L>,
) {
    let Range { stride, .. } = job.range;
    let (width, height) = job.luma.size();
    let y = if down { v } else { height - 1 - v };
    let directions = pass.courses.len();
    let Scratch { costs, steps, p2, edge, tile, right } = scratch;
    let register = <L::V<S> as SimdBase<S>>::LEN;
    let room = room(job.range, job.windows, register);
    edge.restart(directions, room);
    let with_right = !row.map.right.is_empty();
    if turn.is_last() && with_right {
        right.restart(width, job.range);
    }
    let luma =
        (job.luma.row(y), v.checked_sub(1).map(|before| job.luma.row(if down { before } else { height - 1 - before })));
    let mut sources = [Source::Fixed(From::Above); TOGETHER];
    for (r, course) in pass.courses.iter().enumerate() {
        sources[r] = course.source(v, pass.mirrored);
        large_steps(&job.p2_of_step, luma, pass.mirrored, sources[r], steps, &mut p2[r * width..][..width]);
    }
    let streams = Streams::begin();
    let pieces = width.div_ceil(PIECE);
    for c in 0..pieces {
        let from = PIECE * if pass.mirrored { pieces - 1 - c } else { c };
        let pixels = PIECE.min(width - from);
        let whole = (Window { first: 0, len: stride }, from * stride);
        let (window, start) = job.windows.map_or(whole, |windows| windows.at(from, y));
        job.costs.fill(simd, Where { width, x: from, y, pixels }, window, (job.range, job.windows), costs);
        for (r, source) in sources.iter_mut().enumerate().take(directions) {
            if let Source::ByColumn(columns) = pass.courses[r].source(v, pass.mirrored) {
                let first = if pass.mirrored { width - from - pixels } else { from };
                *source = Source::ByColumn(&columns[first..first + pixels]);
            }
        }
        if job.windows.is_some() && turn.is_last() {
            tile.clear();
        }
        let totals_pitch = tile.pitch();
        let mut piece = Piece {
            place: Place { pixels, window, gated: job.windows.is_some(), room },
            mirrored: pass.mirrored,
            p1: job.p1,
            p2: &p2[from..],
            p2_pitch: width,
            sources: &sources[..directions],
            costs,
            volume: if turn == Turn::Only { &mut [] } else { &mut row.volume[start..][..pixels * window.len] },
            totals: &mut tile.totals()[window.first..],
            totals_pitch,
            end: End {
                turn,
                some_missing: job.range.candidates < stride || job.windows.is_some(),
                paths: job.params.paths as u16,
                streams: &streams,
            },
        };
        match runner.step() {
            Some((cell, right)) => follow(simd, piece, cell, edge, right),
            None => costs_as_totals::<S, L, E>(simd, &mut piece),
        }
        if turn.is_last() {
            tile.left(simd, job.params, job.largest_sum, row.map.piece(from, pixels));
            if with_right {
                right.update(simd, tile, from, pixels, pass.mirrored);
            }
        }
    }
    runner.step(); // leaves the last piece
    if turn.is_last() && with_right {
        right.finish(job.params.min_disparity, row.map.right);
    }
}

/// Numbers that a slot has for one direction: gated, with a register on either side.
pub(super) fn room(range: Range, windows: Option<&Windows>, register: usize) -> usize {
    if windows.is_some() { range.stride + 2 * register } else { range.stride }
}

/// The walk that is compiled for this number of directions and registers.
#[inline(always)]
fn follow<S: Simd, L: Lane, E: Excess<L>>(
    simd: S,
    piece: Piece<'_, L, E>,
    cell: &mut Cell<L>,
    edge: &mut Edge<L>,
    right: Option<&Cell<L>>,
) {
    let four = piece.sources.len() == TOGETHER
        && piece.sources.iter().zip(From::FOUR).all(|(&source, from)| matches!(source, Source::Fixed(f) if f == from));
    let blocks = piece.place.window.len / <L::V<S> as SimdBase<S>>::LEN;
    let (turn, gated) = (piece.end.turn, piece.place.gated);
    macro_rules! fixed {
        ($directions:literal, $blocks:literal, $four:literal, $gated:literal, $turn:expr) => {
            walk_fixed::<S, L, E, $directions, $blocks, $four, $gated>(simd, $turn, piece, cell, edge, right)
        };
    }
    match (piece.sources.len(), turn, blocks, gated) {
        (4, Turn::Set, 1, false) if four => fixed!(4, 1, true, false, Turn::Set),
        (4, Turn::Set, 2, false) if four => fixed!(4, 2, true, false, Turn::Set),
        (4, Turn::Set, 4, false) if four => fixed!(4, 4, true, false, Turn::Set),
        (4, Turn::Last, 1, false) if four => fixed!(4, 1, true, false, Turn::Last),
        (4, Turn::Last, 2, false) if four => fixed!(4, 2, true, false, Turn::Last),
        (4, Turn::Last, 4, false) if four => fixed!(4, 4, true, false, Turn::Last),
        (4, Turn::Set, 8, false) if four => fixed!(4, 8, true, false, Turn::Set),
        (4, Turn::Last, 8, false) if four => fixed!(4, 8, true, false, Turn::Last),
        (4, _, 1, true) if four => fixed!(4, 1, true, true, turn),
        (4, _, 2, true) if four => fixed!(4, 2, true, true, turn),
        (4, _, 1, false) => fixed!(4, 1, false, false, turn),
        (4, _, 2, false) => fixed!(4, 2, false, false, turn),
        (4, _, 4, false) => fixed!(4, 4, false, false, turn),
        (2, _, 1, false) => fixed!(2, 1, false, false, turn),
        (2, _, 2, false) => fixed!(2, 2, false, false, turn),
        (2, _, 4, false) => fixed!(2, 4, false, false, turn),
        (1, ..) => walk::<S, L, E, 1>(simd, turn, piece, cell, edge, right),
        (2, ..) => walk::<S, L, E, 2>(simd, turn, piece, cell, edge, right),
        (3, ..) => walk::<S, L, E, 3>(simd, turn, piece, cell, edge, right),
        _ => walk::<S, L, E, 4>(simd, turn, piece, cell, edge, right),
    }
}

/// P2 for each pixel of a row, from the brightness here and where the path comes from. Where it comes from outside any
/// number will do: a path starts there.
#[inline(always)]
fn large_steps<L: Lane>(
    p2_of_step: &[L; 256],
    (here, above): (&[u8], Option<&[u8]>),
    mirrored: bool,
    source: Source<'_>,
    steps: &mut [u8],
    p2: &mut [L],
) {
    let width = here.len();
    let above = above.unwrap_or(here);
    let back: isize = if mirrored { 1 } else { -1 };
    match source {
        Source::Fixed(From::Left) => differences(here, here, back, steps),
        Source::Fixed(From::AboveLeft) => differences(here, above, back, steps),
        Source::Fixed(From::Above) => differences(here, above, 0, steps),
        Source::Fixed(From::AboveRight) => differences(here, above, -back, steps),
        Source::ByColumn(aside) => {
            differences(here, here, back, steps);
            for x in 0..width {
                let u = if mirrored { width - 1 - x } else { x };
                if aside[u] {
                    steps[x] = here[x].abs_diff(above[x.saturating_add_signed(back).min(width - 1)]);
                }
            }
        }
    }
    for x in 0..width {
        p2[x] = p2_of_step[usize::from(steps[x])];
    }
}

/// Differences of brightness between pixels and those that lie `by` columns further; 0 where that is outside.
#[inline(always)]
fn differences(here: &[u8], there: &[u8], by: isize, out: &mut [u8]) {
    let width = here.len();
    let (first, last) = (usize::from(by < 0).min(width), width - usize::from(by > 0));
    out[..first].fill(0);
    out[last..].fill(0);
    let there = &there[first.saturating_add_signed(by)..];
    for (out, (here, there)) in out[first..last].iter_mut().zip(here[first..last].iter().zip(there)) {
        *out = here.abs_diff(*there);
    }
}
