//! Weighted median at edges of depth on the CPU, after [`stereopsis_stereo::filter::weighted_median`], a register of pixels at a time. Few
//! pixels lie at such edges, and registers without any are skipped.
//!
//! A median is found by halving the range of the window's disparities: each time the weights of those below the middle are summed.

use super::median::{STRIP, Strip, store_some};
use super::simd::{SimdLevel, on_level};
use fearless_simd::Simd;
use fearless_simd::prelude::*;
use rayon::prelude::*;
use stereopsis_base::image::{Image, Luma, PictureRef};
use stereopsis_stereo::filter::weighted_median::{EDGE, EDGE_RADIUS, MAX_WEIGHT, RADIUS, STEP, STRIDE};
use stereopsis_stereo::map::INVALID;

const SIDE: usize = 2 * RADIUS / STRIDE + 1;
/// Number of pixels of a window that count.
const TAPS: usize = SIDE * SIDE;

/// Some rows with those around them: disparities, and the channels that distinguish surfaces.
#[derive(Default)]
struct GuidedStrip {
    values: Strip,
    channels: [Strip; 3],
    /// Smallest disparity of each column near a row, less 1, from [`RADIUS`] columns before the image on.
    smallest: Vec<i16>,
    largest: Vec<i16>,
}

pub(super) fn run(level: SimdLevel, values: &mut Image<i16>, picture: PictureRef<'_>) {
    let before = values.clone();
    let width = before.width();
    let strips = values.pixels_mut().par_chunks_mut(STRIP * width).enumerate();
    strips.for_each_init(GuidedStrip::default, |guided, (s, out)| {
        let rows = s * STRIP..s * STRIP + out.len() / width;
        on_level!(level, simd => {
            guided.values.set(&before, rows.clone(), RADIUS, |&value| value);
            let [a, b, c] = &mut guided.channels;
            match (picture.rgb, picture.luma) {
                (Some(rgb), _) => {
                    a.set(rgb, rows.clone(), RADIUS, |color| color[0].into());
                    b.set(rgb, rows.clone(), RADIUS, |color| color[1].into());
                    c.set(rgb, rows, RADIUS, |color| color[2].into());
                    return guided.filter::<_, 3>(simd, width, out);
                }
                (None, Luma::U8(image)) => a.set(image, rows, RADIUS, |&luma| luma.into()),
                (None, Luma::U16 { image, bits }) => {
                    a.set(image, rows, RADIUS, |&luma| (luma >> (bits - 8)).min(255) as i16);
                }
            }
            guided.filter::<_, 1>(simd, width, out);
        });
    });
}

impl GuidedStrip {
    #[inline(always)]
    fn filter<S: Simd, const CHANNELS: usize>(&mut self, simd: S, width: usize, out: &mut [i16]) {
        let len = <S::i16s as SimdBase<S>>::LEN;
        for (y, out) in out.chunks_exact_mut(width).enumerate() {
            self.set_extremes(simd, y, width);
            for x in (0..width).step_by(len) {
                let centre = S::i16s::from_slice(simd, self.values.row(y + RADIUS, x + RADIUS, len));
                let is_edge = self.edges(simd, x) & centre.simd_ne(S::i16s::splat(simd, INVALID));
                if is_edge.any_true() {
                    let median = self.median::<S, CHANNELS>(simd, (x, y), is_edge);
                    store_some(is_edge.select(median, centre), &mut out[x..]);
                }
            }
        }
    }

    /// Finds the smallest and the largest disparity of each column within [`EDGE_RADIUS`] rows of row `y`.
    #[inline(always)]
    fn set_extremes<S: Simd>(&mut self, simd: S, y: usize, width: usize) {
        let len = <S::i16s as SimdBase<S>>::LEN;
        let columns = (width + 2 * RADIUS).next_multiple_of(len);
        self.smallest.resize(columns + len, 0);
        self.largest.resize(columns + len, 0);
        for x in (0..columns).step_by(len) {
            let (mut low, mut high) = (S::i16s::splat(simd, i16::MAX), S::i16s::splat(simd, INVALID));
            for row in y + RADIUS - EDGE_RADIUS..=y + RADIUS + EDGE_RADIUS {
                let value = S::i16s::from_slice(simd, self.values.row(row, x, len));
                low = low.min(value - 1); // INVALID - 1 is the largest number
                high = high.max(value);
            }
            low.store_slice(&mut self.smallest[x..][..len]);
            high.store_slice(&mut self.largest[x..][..len]);
        }
    }

    /// Finds the pixels of a register around which the extremes have an edge.
    #[inline(always)]
    fn edges<S: Simd>(&self, simd: S, x: usize) -> S::mask16s {
        let len = <S::i16s as SimdBase<S>>::LEN;
        let near = x + RADIUS - EDGE_RADIUS..x + RADIUS + EDGE_RADIUS + len;
        let (smallest, largest) = (&self.smallest[near.clone()], &self.largest[near]);
        let (mut low, mut high) = (S::i16s::splat(simd, i16::MAX), S::i16s::splat(simd, INVALID));
        for column in 0..=2 * EDGE_RADIUS {
            low = low.min(S::i16s::from_slice(simd, &smallest[column..][..len]));
            high = high.max(S::i16s::from_slice(simd, &largest[column..][..len]));
        }
        high.saturating_sub(low).simd_gt(EDGE as i16)
    }

    /// Computes the weighted medians around the pixels of a register that lie at edges; other lanes are undefined.
    #[inline(always)]
    fn median<S: Simd, const CHANNELS: usize>(&self, simd: S, (x, y): (usize, usize), is_edge: S::mask16s) -> S::i16s {
        let len = <S::i16s as SimdBase<S>>::LEN;
        let around = len + 2 * RADIUS;
        let [zero, invalid] = [0, INVALID].map(|value| S::i16s::splat(simd, value));
        let tap = |row: &[i16], column: usize| S::i16s::from_slice(simd, &row[STRIDE * column..][..len]);
        let mut own = [zero; CHANNELS];
        for channel in 0..CHANNELS {
            own[channel] = tap(self.channels[channel].row(y + RADIUS, x, around), SIDE / 2);
        }
        let (mut values, mut weights) = ([zero; TAPS], [zero; TAPS]);
        let (mut low, mut high, mut total) = (S::i16s::splat(simd, i16::MAX), invalid, zero);
        for row in 0..SIDE {
            let value_row = self.values.row(y + STRIDE * row, x, around);
            let mut channel_rows = [value_row; CHANNELS];
            for channel in 0..CHANNELS {
                channel_rows[channel] = self.channels[channel].row(y + STRIDE * row, x, around);
            }
            for column in 0..SIDE {
                let mut difference = zero;
                for channel in 0..CHANNELS {
                    let other = tap(channel_rows[channel], column);
                    difference = difference.max(own[channel] - other).max(other - own[channel]);
                }
                let value = tap(value_row, column);
                let weight = value.simd_eq(invalid).select(zero, weight(simd, difference));
                let value = weight.simd_eq(zero).select(invalid, value);
                low = low.min(value - 1);
                high = high.max(value);
                total += weight; // 25 * 256 at most in all
                (values[SIDE * row + column], weights[SIDE * row + column]) = (value, weight);
            }
        }
        let half = (total + 1) >> 1;
        low += 1;
        high = is_edge.select(high, low);
        while low.simd_lt(high).any_true() {
            let middle = (low & high) + ((low ^ high) >> 1);
            let mut below = zero;
            for tap in 0..TAPS {
                below += values[tap].simd_gt(middle).select(zero, weights[tap]);
            }
            let is_less = below.simd_lt(half);
            high = is_less.select(high, middle);
            low = is_less.select(middle + 1, low);
        }
        low
    }
}

/// Computes [`stereopsis_stereo::filter::weighted_median::weight`]: a power of two is a float without a mantissa, and its exponent falls
/// with the difference.
#[inline(always)]
fn weight<S: Simd>(simd: S, difference: S::i16s) -> S::i16s {
    const EXPONENT: u32 = 7; // its place in the upper half of a float
    let largest = S::i16s::splat(simd, ((127 + MAX_WEIGHT.ilog2()) << EXPONENT) as i16);
    let halvings = (difference << (EXPONENT - STEP.ilog2())) & !((1 << EXPONENT) - 1);
    let floats: S::u32s = (largest - halvings).bitcast();
    let whole = |float: S::u32s| float.bitcast::<S::f32s>().to_int::<S::i32s>();
    let (even, odd) = (whole(floats << 16), whole(floats & 0xFFFF_0000));
    (even | (odd << 16)).bitcast()
}
