//! Median of 9 or 25 disparities on the CPU, without a branch: the largest and the smallest of a little more than half
//! are thrown away, the next value comes in, and so on until one is left. A register of pixels at a time.

use crate::image::Image;
use crate::stereo::map::INVALID;
use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// Numbers on either side of a row, so that a register and half a window may hang over: 32 and 2 at most.
const PAD: usize = 48;

/// Some rows of a map with those around them, invalid beyond its borders.
#[derive(Default)]
pub(super) struct Strip {
    data: Vec<i16>,
    pitch: usize,
    radius: usize,
}

impl Strip {
    /// The rows `first..first + rows` for a window that reaches `radius` px from its centre.
    pub(super) fn set(&mut self, values: &Image<i16>, first: usize, rows: usize, radius: usize) {
        let (width, height) = values.size();
        (self.pitch, self.radius) = (width + 2 * PAD, radius);
        self.data.clear();
        self.data.resize(self.pitch * (rows + 2 * radius), INVALID);
        for (n, row) in self.data.chunks_exact_mut(self.pitch).enumerate() {
            if let Some(y) = (first + n).checked_sub(radius).filter(|&y| y < height) {
                row[PAD..][..width].copy_from_slice(values.row(y));
            }
        }
    }

    /// Row `n` filtered; after [`crate::stereo::filter::median`].
    #[inline(always)]
    pub(super) fn filter_row<S: Simd>(&self, simd: S, n: usize, out: &mut [i16]) {
        match self.radius {
            0 => out.copy_from_slice(&self.data[n * self.pitch + PAD..][..out.len()]),
            1 => self.median_row::<S, 9>(simd, n, out),
            _ => self.median_row::<S, 25>(simd, n, out),
        }
    }

    #[inline(always)]
    fn median_row<S: Simd, const N: usize>(&self, simd: S, n: usize, out: &mut [i16]) {
        let len = <S::i16s as SimdBase<S>>::LEN;
        let side = 2 * self.radius + 1;
        let invalid = S::i16s::splat(simd, INVALID);
        let mut x = 0;
        while x < out.len() {
            let around = |k: usize| {
                let at = (n + k / side) * self.pitch + PAD + x + k % side - self.radius;
                S::i16s::from_slice(simd, &self.data[at..][..len])
            };
            let centre = around(N / 2);
            let mut window = [centre; N];
            for k in 0..N {
                let neighbour = around(k);
                window[k] = neighbour.simd_eq(invalid).select(centre, neighbour);
            }
            let median = centre.simd_eq(invalid).select(invalid, select(&mut window));
            if x + len <= out.len() {
                median.store_slice(&mut out[x..][..len]);
            } else {
                let rest = out.len() - x;
                out[x..].copy_from_slice(&median.as_slice()[..rest]);
            }
            x += len;
        }
    }
}

/// The median of each lane.
#[inline(always)]
fn select<S: Simd, V: SimdBase<S>, const N: usize>(window: &mut [V; N]) -> V {
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
fn order<S: Simd, V: SimdBase<S>>(window: &mut [V], a: usize, b: usize) {
    (window[a], window[b]) = (window[a].min(window[b]), window[a].max(window[b]));
}
