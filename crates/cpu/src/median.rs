//! Median of 9 or 25 disparities on the CPU, without a branch: the largest and the smallest of a little more than half
//! are thrown away, the next value comes in, and so on until one is left. A register of pixels at a time.

use crate::image::Image;
use crate::stereo::map::INVALID;
use fearless_simd::Simd;
use fearless_simd::prelude::*;
use std::ops::Range;

/// Rows that a thread filters together.
pub(super) const STRIP: usize = 16;
/// Numbers on either side of a row, so that a register and a window may hang over: 32 and 9 at most.
const PAD: usize = 48;

/// Some rows of a map with those around them, invalid beyond its borders.
#[derive(Default)]
pub(super) struct Strip {
    data: Vec<i16>,
    pitch: usize,
    radius: usize,
}

impl Strip {
    /// Takes `part` of each pixel of some rows, and of those around them for a window that reaches `radius` px from its centre. All images
    /// have one width: what stands beside them stays.
    #[inline(always)]
    pub(super) fn set<T>(&mut self, image: &Image<T>, rows: Range<usize>, radius: usize, part: impl Fn(&T) -> i16) {
        let (width, height) = image.size();
        (self.pitch, self.radius) = (width + 2 * PAD, radius);
        self.data.resize(self.pitch * (rows.len() + 2 * radius), INVALID);
        for (n, row) in self.data.chunks_exact_mut(self.pitch).enumerate() {
            let out = &mut row[PAD..][..width];
            if let Some(y) = (rows.start + n).checked_sub(radius).filter(|&y| y < height) {
                for (out, pixel) in out.iter_mut().zip(image.row(y)) {
                    *out = part(pixel);
                }
            } else {
                out.fill(INVALID);
            }
        }
    }

    /// Gives `columns` columns of row `n`, counted from the first one around, from the radius before column `x` on.
    #[inline(always)]
    pub(super) fn row(&self, n: usize, x: usize, columns: usize) -> &[i16] {
        &self.data[n * self.pitch + PAD - self.radius + x..][..columns]
    }

    /// Row `n` filtered; after [`crate::stereo::filter::median`].
    #[inline(always)]
    pub(super) fn filter_row<S: Simd>(&self, simd: S, n: usize, out: &mut [i16]) {
        match self.radius {
            0 => out.copy_from_slice(&self.data[n * self.pitch + PAD..][..out.len()]),
            1 => self.median_row::<S, 3, 9>(simd, n, out),
            _ => self.median_row::<S, 5, 25>(simd, n, out),
        }
    }

    #[inline(always)]
    fn median_row<S: Simd, const SIDE: usize, const N: usize>(&self, simd: S, n: usize, out: &mut [i16]) {
        let len = <S::i16s as SimdBase<S>>::LEN;
        let invalid = S::i16s::splat(simd, INVALID);
        for x in (0..out.len()).step_by(len) {
            let mut window = [invalid; N];
            for row in 0..SIDE {
                let pixels = self.row(n + row, x, len + SIDE - 1);
                for column in 0..SIDE {
                    window[row * SIDE + column] = S::i16s::from_slice(simd, &pixels[column..][..len]);
                }
            }
            let centre = window[N / 2];
            for value in &mut window {
                *value = value.simd_eq(invalid).select(centre, *value);
            }
            let median = centre.simd_eq(invalid).select(invalid, select(&mut window));
            store_some(median, &mut out[x..]);
        }
    }
}

/// Reads as much of a register as there is, the rest being invalid.
#[inline(always)]
pub(super) fn load_some<S: Simd>(simd: S, from: &[i16]) -> S::i16s {
    if let Some(from) = from.get(..<S::i16s as SimdBase<S>>::LEN) {
        return S::i16s::from_slice(simd, from);
    }
    let mut register = S::i16s::splat(simd, INVALID);
    register.as_mut_slice()[..from.len()].copy_from_slice(from);
    register
}

/// Writes as much of a register as there is room for.
#[inline(always)]
pub(super) fn store_some<S: Simd, V: SimdBase<S, Element = i16>>(register: V, out: &mut [i16]) {
    if let Some(out) = out.get_mut(..V::LEN) {
        register.store_slice(out);
    } else {
        out.copy_from_slice(&register.as_slice()[..out.len()]);
    }
}

/// Calls without a loop: only with constant numbers the values stay in registers.
macro_rules! reduce_to_three {
    ($window:ident, $($kept:literal)*) => { $( reduce($window, $kept); )* };
}

/// The median of each lane.
#[inline(always)]
fn select<S: Simd, V: SimdBase<S>, const N: usize>(window: &mut [V; N]) -> V {
    reduce_to_three!(window, 14 13 12 11 10 9 8 7 6 5 4 3);
    window[1]
}

/// Throws away the smallest and the largest of the first `kept` values, if these are as few as hold the median, and puts the next
/// one to the front.
#[inline(always)]
fn reduce<S: Simd, V: SimdBase<S>, const N: usize>(window: &mut [V; N], kept: usize) {
    if kept > N / 2 + 2 {
        return;
    }
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
    if kept > 3 {
        window[0] = window[N + 3 - kept];
    }
}

/// Puts the smaller value of each lane into `a` and the larger one into `b`.
#[inline(always)]
fn order<S: Simd, V: SimdBase<S>>(window: &mut [V], a: usize, b: usize) {
    (window[a], window[b]) = (window[a].min(window[b]), window[a].max(window[b]));
}
