//! Sums of absolute differences on the CPU: running sums down the columns, then along the row, all candidates at once.

use super::Range;
use super::codes::reverse;
use super::exact::NONE;
use super::simd::{SimdLevel, on_level};
use crate::image::Image;
use crate::stereo::params::StereoParams;
use rayon::prelude::*;

/// Rows that share one running sum; each strip starts with a whole window.
const STRIP: usize = 24;

/// Exact sums over the window; [`NONE`] for padding.
pub(super) fn sum_volume(
    level: SimdLevel,
    left: &Image<u8>,
    right: &Image<u8>,
    params: &StereoParams,
    range: Range,
    sums: &mut [u32],
) {
    let store = |window: &[u32], out: &mut [u32]| {
        out.copy_from_slice(window);
        out[range.candidates..].fill(NONE);
    };
    windows(level, left, right, params.sad_window as usize / 2, range, sums, store);
}

/// Rounded means over the window, 0 to 255.
pub(super) fn mean_volume(
    level: SimdLevel,
    left: &Image<u8>,
    right: &Image<u8>,
    params: &StereoParams,
    range: Range,
    costs: &mut [u8],
) {
    let pixels = (params.sad_window * params.sad_window) as f32;
    let half = (params.sad_window * params.sad_window / 2) as f32;
    // Exact: the quotient of two whole numbers below 2^17 and 2^9 is never rounded up to the next whole number.
    let store = |window: &[u32], out: &mut [u8]| mean(window, half, pixels, out);
    windows(level, left, right, params.sad_window as usize / 2, range, costs, store);
}

/// Calls `store` with the window sums of each pixel's candidates.
fn windows<T: Send>(
    level: SimdLevel,
    left: &Image<u8>,
    right: &Image<u8>,
    r: usize,
    range: Range,
    out: &mut [T],
    store: impl Fn(&[u32], &mut [T]) + Sync,
) {
    let (width, height) = left.size();
    let row_len = width * range.stride;
    let differences = |y: isize, scratch: &mut Scratch| {
        let y = y.clamp(0, height as isize - 1) as usize;
        reverse(right.row(y), range, &mut scratch.reversed);
        on_level!(level, _ => difference_row(left.row(y), &scratch.reversed, range.stride, &mut scratch.differences));
    };
    let r = r as isize;
    let scratch = || Scratch::new(width, range.stride);
    out.par_chunks_mut(row_len * STRIP).enumerate().for_each_init(scratch, |scratch, (strip, out)| {
        let first = (strip * STRIP) as isize;
        scratch.columns.fill(0);
        for y in first - r..=first + r {
            differences(y, scratch);
            on_level!(level, _ => add(&mut scratch.columns, &scratch.differences));
        }
        for (y, out) in (first..).zip(out.chunks_exact_mut(row_len)) {
            if y > first {
                differences(y - 1 - r, scratch);
                on_level!(level, _ => subtract(&mut scratch.columns, &scratch.differences));
                differences(y + r, scratch);
                on_level!(level, _ => add(&mut scratch.columns, &scratch.differences));
            }
            on_level!(level, _ => window_row(scratch, r, range.stride, &store, out));
        }
    });
}

/// Window sums of one row from the sums down its columns.
#[inline(always)]
fn window_row<T>(scratch: &mut Scratch, r: isize, stride: usize, store: &impl Fn(&[u32], &mut [T]), out: &mut [T]) {
    let Scratch { columns, window, zero, .. } = scratch;
    let width = out.len() / stride;
    let column = |x: isize| x.clamp(0, width as isize - 1) as usize * stride;
    window.fill(0);
    for x in -r..=r {
        slide(window, &columns[column(x)..][..stride], zero);
    }
    for (x, out) in (0..).zip(out.chunks_exact_mut(stride)) {
        store(window, out);
        let (enters, leaves) = (column(x + 1 + r), column(x - r));
        slide(window, &columns[enters..][..stride], &columns[leaves..][..stride]);
    }
}

/// Absolute differences of one row.
#[inline(always)]
fn difference_row(left: &[u8], reversed: &[u8], stride: usize, costs: &mut [u8]) {
    let width = left.len();
    for (x, costs) in costs.chunks_exact_mut(stride).enumerate() {
        let (mine, partners) = (left[x], &reversed[width - 1 - x..][..stride]);
        for i in 0..stride {
            costs[i] = mine.abs_diff(partners[i]);
        }
    }
}

/// What one thread needs.
struct Scratch {
    reversed: Vec<u8>,
    /// Differences of one row.
    differences: Vec<u8>,
    /// Sums of the differences over the rows of the window; at most 21 x 255.
    columns: Vec<u16>,
    /// Sums over the whole window of one pixel.
    window: Vec<u32>,
    zero: Vec<u16>,
}

impl Scratch {
    fn new(width: usize, stride: usize) -> Self {
        Self {
            reversed: vec![0; width + stride],
            differences: vec![0; width * stride],
            columns: vec![0; width * stride],
            window: vec![0; stride],
            zero: vec![0; stride],
        }
    }
}

#[inline(always)]
fn add(columns: &mut [u16], differences: &[u8]) {
    for (column, &difference) in columns.iter_mut().zip(differences) {
        *column += u16::from(difference);
    }
}

#[inline(always)]
fn subtract(columns: &mut [u16], differences: &[u8]) {
    for (column, &difference) in columns.iter_mut().zip(differences) {
        *column -= u16::from(difference);
    }
}

#[inline(always)]
fn slide(window: &mut [u32], enters: &[u16], leaves: &[u16]) {
    for ((sum, &enters), &leaves) in window.iter_mut().zip(enters).zip(leaves) {
        *sum = *sum + u32::from(enters) - u32::from(leaves);
    }
}

#[inline(always)]
fn mean(window: &[u32], half: f32, pixels: f32, out: &mut [u8]) {
    for (out, &sum) in out.iter_mut().zip(window) {
        *out = ((sum as f32 + half) / pixels) as i32 as u8;
    }
}
