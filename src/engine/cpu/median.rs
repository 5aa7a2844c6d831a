//! Median of 9 or 25 disparities on the CPU, without a branch: the largest and the smallest of a little more than half
//! are thrown away, the next value comes in, and so on until one is left. 32 pixels at a time.

use super::simd::{SimdLevel, on_level};
use crate::image::Image;
use crate::stereo::map::INVALID;
use crate::stereo::params::Median;
use rayon::prelude::*;

/// Pixels that are filtered together.
const LANES: usize = 32;

type Lanes = [i16; LANES];

/// After [`crate::stereo::filter::median`]; gives the picture back where there is nothing to do.
pub(super) fn median(level: SimdLevel, values: Image<i16>, size: Median) -> Image<i16> {
    match size {
        Median::Off => values,
        Median::Three => filtered::<9>(level, &values, 1),
        Median::Five => filtered::<25>(level, &values, 2),
    }
}

fn filtered<const N: usize>(level: SimdLevel, values: &Image<i16>, r: usize) -> Image<i16> {
    let (width, height) = values.size();
    let mut out = Image::filled(width, height, INVALID);
    let pitch = width.next_multiple_of(LANES) + 2 * r;
    let scratch = || vec![INVALID; pitch * (2 * r + 1)];
    out.pixels_mut().par_chunks_mut(width).enumerate().for_each_init(scratch, |padded, (y, out)| {
        for (dy, line) in padded.chunks_exact_mut(pitch).enumerate() {
            let line = &mut line[r..][..width];
            match (y + dy).checked_sub(r).filter(|&y| y < height) {
                Some(y) => line.copy_from_slice(values.row(y)),
                None => line.fill(INVALID),
            }
        }
        on_level!(level, _ => median_row::<N>(padded, pitch, r, out));
    });
    out
}

/// One row from the rows around it, padded by what is invalid.
#[inline(always)]
fn median_row<const N: usize>(padded: &[i16], pitch: usize, r: usize, out: &mut [i16]) {
    let side = 2 * r + 1;
    for (block, out) in out.chunks_mut(LANES).enumerate() {
        let lanes = |k: usize| -> &Lanes {
            let at = (k / side) * pitch + block * LANES + k % side;
            padded[at..].first_chunk().unwrap_or(&[INVALID; LANES])
        };
        let centre = lanes(N / 2);
        let mut window = [[0; LANES]; N];
        for (k, values) in window.iter_mut().enumerate() {
            let neighbour = lanes(k);
            for i in 0..LANES {
                values[i] = if neighbour[i] == INVALID { centre[i] } else { neighbour[i] };
            }
        }
        let median = select(&mut window);
        for (i, out) in out.iter_mut().enumerate() {
            *out = if centre[i] == INVALID { INVALID } else { median[i] };
        }
    }
}

/// The median of each lane.
#[inline(always)]
fn select<const N: usize>(window: &mut [Lanes; N]) -> Lanes {
    let first = N / 2 + 2;
    for next in first..=N {
        let kept = first + first - next;
        // the smaller ones to the front half, the smallest to the front, the largest to the back
        for i in 0..kept / 2 {
            order(window, i, kept - 1 - i);
        }
        for i in 1..kept.div_ceil(2) {
            order(window, 0, i);
        }
        for i in kept / 2..kept - 1 {
            order(window, i, kept - 1);
        }
        if next < N {
            window[0] = window[next];
        }
    }
    window[1]
}

/// Puts the smaller value of each lane into `a` and the larger one into `b`.
#[inline(always)]
fn order(window: &mut [Lanes], a: usize, b: usize) {
    let (low, high) = (window[a], window[b]);
    for i in 0..LANES {
        window[a][i] = low[i].min(high[i]);
        window[b][i] = low[i].max(high[i]);
    }
}
