//! Cost volume on the CPU: rows in parallel, candidates of a pixel side by side.
//!
//! The right row is kept reversed and extended by its ends, so that the partners of a left pixel lie side by side too:
//! `reversed[j]` is right column `width - 1 - min - j`, clamped, and the partner of `(x, i)` is `j = width - 1 - x + i`.

use super::feature::{Padded, Word, census_row, rank_row};
use super::{BLOCK, Range, sad};
use crate::frame::Luma;
use crate::stereo::cost::{CostKind, census::Shape, partner};
use crate::stereo::params::StereoParams;
use multiversion::multiversion;
use rayon::prelude::*;

/// Cost of every pixel and candidate; 255 for padding.
pub(super) fn volume(left: &Luma, right: &Luma, params: &StereoParams, range: Range, costs: &mut [u8]) {
    match params.cost {
        CostKind::Census5x5 | CostKind::Census9x7Symmetric => census::<u32>(left, right, params, range, costs),
        CostKind::Census7x7 | CostKind::Census9x7 => census::<u64>(left, right, params, range, costs),
        CostKind::Rank => {
            let r = params.rank_window as usize / 2;
            let pictures = [left, right].map(|luma| Padded::new(&luma.to_u16(), r, r));
            rows(&pictures, left.size().0, range, costs, rank_row, difference_row);
        }
        CostKind::Sad => sad::mean_volume(&left.to_u8(), &right.to_u8(), params, range, costs),
    }
    pad(range, costs, 255);
}

fn census<W: Word>(left: &Luma, right: &Luma, params: &StereoParams, range: Range, costs: &mut [u8]) {
    let shape = Shape::of(params.cost);
    let pictures = [left, right].map(|luma| Padded::new(&luma.to_u16(), shape.width / 2, shape.height / 2));
    let transform = |padded: &Padded, y, out: &mut [W]| census_row(padded, y, shape.symmetric, out);
    rows(&pictures, left.size().0, range, costs, transform, hamming_row);
}

/// Transforms both pictures row by row and compares them.
fn rows<F: Copy + Default + Send>(
    [left, right]: &[Padded; 2],
    width: usize,
    range: Range,
    costs: &mut [u8],
    transform: impl Fn(&Padded, usize, &mut [F]) + Sync,
    compare: impl Fn(&[F], &[F], usize, &mut [u8]) + Sync,
) {
    let scratch = || (vec![F::default(); width], vec![F::default(); width], vec![F::default(); width + range.stride]);
    costs.par_chunks_mut(width * range.stride).enumerate().for_each_init(scratch, |(l, r, reversed), (y, costs)| {
        transform(left, y, l);
        transform(right, y, r);
        reverse(r, range, reversed);
        compare(l, reversed, range.stride, costs);
    });
}

/// The right row reversed and extended; see above.
pub(super) fn reverse<F: Copy>(row: &[F], range: Range, reversed: &mut [F]) {
    let width = row.len();
    for (j, slot) in reversed.iter_mut().enumerate() {
        *slot = row[partner(width - 1, range.min + j as i32, width)];
    }
}

/// Marks what lies beyond the last candidate.
pub(super) fn pad<T: Copy + Send + Sync>(range: Range, volume: &mut [T], value: T) {
    if range.candidates < range.stride {
        volume.par_chunks_mut(range.stride).for_each(|pixel| pixel[range.candidates..].fill(value));
    }
}

/// Hamming distances of one row.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vpopcntdq+avx512bitalg+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+sse4.2+popcnt"
))]
fn hamming_row<W: Word>(left: &[W], reversed: &[W], stride: usize, costs: &mut [u8]) {
    let width = left.len();
    for (x, (&l, costs)) in left.iter().zip(costs.chunks_exact_mut(stride)).enumerate() {
        let partners = &reversed[width - 1 - x..][..stride];
        for (costs, partners) in costs.as_chunks_mut::<BLOCK>().0.iter_mut().zip(partners.as_chunks::<BLOCK>().0) {
            for (cost, &r) in costs.iter_mut().zip(partners) {
                *cost = l.distance(r);
            }
        }
    }
}

/// Absolute differences of one row.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx2", "x86_64+avx2", "x86_64+sse4.2"))]
pub(super) fn difference_row(left: &[u8], reversed: &[u8], stride: usize, costs: &mut [u8]) {
    let width = left.len();
    for (x, (&l, costs)) in left.iter().zip(costs.chunks_exact_mut(stride)).enumerate() {
        let partners = &reversed[width - 1 - x..][..stride];
        for (costs, partners) in costs.as_chunks_mut::<BLOCK>().0.iter_mut().zip(partners.as_chunks::<BLOCK>().0) {
            for (cost, &r) in costs.iter_mut().zip(partners) {
                *cost = l.abs_diff(r);
            }
        }
    }
}
