//! Median of 9 or 25 disparities on the CPU, without a branch, a register of pixels at a time. The largest and the smallest of a
//! little more than half the values are thrown away, the next value comes in, and so on until one is left.

use fearless_simd::Simd;
use fearless_simd::prelude::*;
use std::ops::Range;
use stereopsis_base::image::Image;
use stereopsis_stereo::map::INVALID;

pub(super) const STRIP: usize = 16;
/// Padding on either side of a row, so that a register and a window may reach beyond it: 32 and 9 columns at most.
const PAD: usize = 48;

/// Some rows of a map with those around them, invalid beyond its borders.
#[derive(Default)]
pub(super) struct Strip {
    data: Vec<i16>,
    pitch: usize,
    radius: usize,
}

impl Strip {
    /// Takes `part` of each pixel of some rows, and of the `radius` rows around them. All images have one width, so that the padding
    /// stays as it is.
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

    /// Returns `columns` columns of row `n`, which is counted from the first row around, from `radius` before column `x` on.
    #[inline(always)]
    pub(super) fn row(&self, n: usize, x: usize, columns: usize) -> &[i16] {
        &self.data[n * self.pitch + PAD - self.radius + x..][..columns]
    }

    /// Filters row `n` as [`stereopsis_stereo::filter::median`] specifies.
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

/// Reads a register from the values that exist; other lanes are invalid.
#[inline(always)]
pub(super) fn load_some<S: Simd>(simd: S, from: &[i16]) -> S::i16s {
    if let Some(from) = from.get(..<S::i16s as SimdBase<S>>::LEN) {
        return S::i16s::from_slice(simd, from);
    }
    let mut register = S::i16s::splat(simd, INVALID);
    register.as_mut_slice()[..from.len()].copy_from_slice(from);
    register
}

#[inline(always)]
pub(super) fn store_some<S: Simd, V: SimdBase<S, Element = i16>>(register: V, out: &mut [i16]) {
    if let Some(out) = out.get_mut(..V::LEN) {
        register.store_slice(out);
    } else {
        out.copy_from_slice(&register.as_slice()[..out.len()]);
    }
}

/// Unrolls the calls: only with constant numbers the values stay in registers.
macro_rules! reduce_to_three {
    ($window:ident, $($kept:literal)*) => { $( reduce($window, $kept); )* };
}

#[inline(always)]
fn select<S: Simd, V: SimdBase<S>, const N: usize>(window: &mut [V; N]) -> V {
    reduce_to_three!(window, 14 13 12 11 10 9 8 7 6 5 4 3);
    window[1]
}

/// Drops the smallest and the largest of the first `kept` values, if these are few enough to contain the median, and moves the
/// next value to the front.
#[inline(always)]
fn reduce<S: Simd, V: SimdBase<S>, const N: usize>(window: &mut [V; N], kept: usize) {
    if kept > N / 2 + 2 {
        return;
    }
    // the smaller of each pair to the front half, then the smallest to the front and the largest to the back
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

/// Moves the smaller value of each lane to `a` and the larger one to `b`.
#[inline(always)]
fn order<S: Simd, V: SimdBase<S>>(window: &mut [V], a: usize, b: usize) {
    (window[a], window[b]) = (window[a].min(window[b]), window[a].max(window[b]));
}
