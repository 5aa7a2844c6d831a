//! Weighted median at edges of depth on the CPU, after [`crate::stereo::filter::weighted_median`].
//!
//! Few pixels lie at such edges, so they are collected first. The median of one is found by halving the range of its window's
//! disparities: each time the weights of those below are summed. A window takes every second column, so columns with even and
//! with odd numbers are kept apart, where those of a window are neighbours.

use super::simd::{SimdLevel, on_level};
use crate::image::{Image, PictureRef};
use crate::stereo::filter::weighted_median::{EDGE, EDGE_RADIUS, LARGEST_WEIGHT, RADIUS, STEP, STRIDE};
use crate::stereo::map::INVALID;
use rayon::prelude::*;

/// Rows that a thread filters together.
const STRIP: usize = 16;
/// Rows of a window, and columns.
const SIDE: usize = 2 * RADIUS / STRIDE + 1;
/// Columns of a window, and those beyond it whose weight is 0.
const LANES: usize = 8;
/// Places of a window in registers.
const PLACES: usize = SIDE * LANES;

/// Which places lie in the window: all bits, or none.
const INSIDE: [u16; PLACES] = {
    let mut places = [0; PLACES];
    let mut place = 0;
    while place < PLACES {
        places[place] = if place % LANES < SIDE { u16::MAX } else { 0 };
        place += 1;
    }
    places
};

/// Some rows with those around them: disparities, [`INVALID`] outside, and the channels that tell surfaces apart. Each row has its
/// even columns first and then its odd ones, counted from [`RADIUS`] before the picture.
#[derive(Default)]
struct Strip {
    /// Columns of one parity.
    half: usize,
    values: Vec<i16>,
    channels: [Vec<u8>; 3],
    smallest: Vec<i16>,
    largest: Vec<i16>,
    edges: Vec<u32>,
}

/// Filters the disparities of a picture.
pub(super) fn run(level: SimdLevel, values: &mut Image<i16>, picture: PictureRef<'_>) {
    let before = values.clone();
    let (width, _) = before.size();
    let luma = if picture.rgb.is_none() { Some(picture.luma.to_u8()) } else { None };
    let strips = values.pixels_mut().par_chunks_mut(STRIP * width).enumerate();
    strips.for_each_init(Strip::default, |strip, (s, out)| {
        let (first, rows) = (s * STRIP, out.len() / width);
        on_level!(level, _ => {
            if strip.find_edges(&before, first, rows) {
                strip.set_values(&before, first, rows);
                if let Some(rgb) = picture.rgb {
                    strip.set_channel(0, rgb, first, |color| color[0]);
                    strip.set_channel(1, rgb, first, |color| color[1]);
                    strip.set_channel(2, rgb, first, |color| color[2]);
                    strip.filter::<3>(width, out);
                } else if let Some(luma) = &luma {
                    strip.set_channel(0, luma, first, |&luma| luma);
                    strip.filter::<1>(width, out);
                }
            }
        });
    });
}

impl Strip {
    /// Collects the pixels of some rows where depth has an edge, as `y * width + x` from the first row on. Whether there are any.
    #[inline(always)]
    fn find_edges(&mut self, values: &Image<i16>, first: usize, rows: usize) -> bool {
        let (width, height) = values.size();
        let Self { smallest, largest, edges, .. } = self;
        let high = |value: i16| if value == INVALID { i16::MAX } else { value };
        edges.clear();
        // with columns beyond either border that count nothing
        smallest.clear();
        smallest.resize(width + 2 * EDGE_RADIUS, i16::MAX);
        largest.clear();
        largest.resize(width + 2 * EDGE_RADIUS, INVALID);
        for y in first..first + rows {
            // a row twice changes nothing
            let row = |dy: usize| values.row((y + dy).saturating_sub(EDGE_RADIUS).min(height - 1));
            let (a, b, c, d, e) = (row(0), row(1), row(2), row(3), row(4));
            for x in 0..width {
                smallest[x + EDGE_RADIUS] = high(a[x]).min(high(b[x])).min(high(c[x])).min(high(d[x])).min(high(e[x]));
                largest[x + EDGE_RADIUS] = a[x].max(b[x]).max(c[x]).max(d[x]).max(e[x]);
            }
            for x in 0..width {
                let (low, high) = (&smallest[x..][..5], &largest[x..][..5]);
                let low = low[0].min(low[1]).min(low[2]).min(low[3]).min(low[4]);
                let high = high[0].max(high[1]).max(high[2]).max(high[3]).max(high[4]);
                if c[x] != INVALID && i32::from(high) - i32::from(low) >= EDGE {
                    edges.push(((y - first) * width + x) as u32);
                }
            }
        }
        !edges.is_empty()
    }

    /// Takes the rows around `rows` rows from `first` on.
    #[inline(always)]
    fn set_values(&mut self, values: &Image<i16>, first: usize, rows: usize) {
        self.half = (values.width() + 2 * RADIUS).div_ceil(2) + LANES;
        self.values.clear();
        self.values.resize(2 * self.half * (rows + 2 * RADIUS), INVALID);
        split_rows(&mut self.values, self.half, values, first, |&value| value);
    }

    /// The same of a channel; what lies outside has no weight.
    #[inline(always)]
    fn set_channel<T>(&mut self, channel: usize, image: &Image<T>, first: usize, part: impl Fn(&T) -> u8) {
        self.channels[channel].resize(self.values.len(), 0);
        split_rows(&mut self.channels[channel], self.half, image, first, part);
    }

    /// Filters the pixels that were collected.
    #[inline(always)]
    fn filter<const CHANNELS: usize>(&self, width: usize, out: &mut [i16]) {
        for &edge in &self.edges {
            let pixel = edge as usize;
            out[pixel] = self.median::<CHANNELS>(pixel % width, pixel / width);
        }
    }

    /// The weighted median around a pixel with a disparity.
    #[inline(always)]
    fn median<const CHANNELS: usize>(&self, x: usize, y: usize) -> i16 {
        let column = x % 2 * self.half + x / 2; // of the window's corner
        let at = |row: usize| 2 * self.half * (y + STRIDE * row) + column;
        let centre = at(SIDE / 2) + SIDE / 2;
        let mut values = [0_i16; PLACES];
        let mut difference = [0_u8; PLACES];
        for row in 0..SIDE {
            values[row * LANES..][..LANES].copy_from_slice(&self.values[at(row)..][..LANES]);
        }
        for channel in &self.channels[..CHANNELS] {
            let own = channel[centre];
            for row in 0..SIDE {
                let others = &channel[at(row)..][..LANES];
                let difference = &mut difference[row * LANES..][..LANES];
                for lane in 0..LANES {
                    difference[lane] = difference[lane].max(own.abs_diff(others[lane]));
                }
            }
        }
        let mut weights = [0_u16; PLACES];
        let (mut low, mut high, mut total) = (i16::MAX, i16::MIN, 0_u16);
        for place in 0..PLACES {
            let value = values[place];
            let has_weight = if value == INVALID { 0 } else { INSIDE[place] };
            let weight = weight(u16::from(difference[place])) & has_weight;
            weights[place] = weight;
            total += weight; // 25 * 256 at most in all
            low = low.min(if weight == 0 { i16::MAX } else { value });
            high = high.max(if weight == 0 { i16::MIN } else { value });
        }
        let half = total.div_ceil(2);
        let (mut low, mut high) = (i32::from(low), i32::from(high));
        while low < high {
            let middle = (low + high) >> 1;
            let mut below = 0_u16;
            for place in 0..PLACES {
                below += if values[place] <= middle as i16 { weights[place] } else { 0 };
            }
            if below >= half {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low as i16
    }
}

/// Copies rows of an image from [`RADIUS`] above `first` on, as [`Strip`] has them; what lies outside stays.
#[inline(always)]
fn split_rows<T, U>(out: &mut [U], half: usize, image: &Image<T>, first: usize, part: impl Fn(&T) -> U) {
    let height = image.height();
    for (n, out) in out.chunks_exact_mut(2 * half).enumerate() {
        let Some(y) = (first + n).checked_sub(RADIUS).filter(|&y| y < height) else { continue };
        let (even, odd) = out.split_at_mut(half);
        let row = image.row(y);
        // the first column of the picture has an even number
        let pairs = row.chunks_exact(2);
        if let [last] = pairs.remainder() {
            even[RADIUS / 2 + row.len() / 2] = part(last);
        }
        for ((pair, even), odd) in pairs.zip(&mut even[RADIUS / 2..]).zip(&mut odd[RADIUS / 2..]) {
            *even = part(&pair[0]);
            *odd = part(&pair[1]);
        }
    }
}

/// After [`crate::stereo::filter::weighted_median::weight`], without a shift by a number that differs from place to place.
#[inline(always)]
fn weight(difference: u16) -> u16 {
    let halvings = difference / STEP as u16;
    let mut weight = LARGEST_WEIGHT as u16;
    weight = if halvings & 1 == 0 { weight } else { weight >> 1 };
    weight = if halvings & 2 == 0 { weight } else { weight >> 2 };
    weight = if halvings & 4 == 0 { weight } else { weight >> 4 };
    weight = if halvings & 8 == 0 { weight } else { weight >> 8 };
    if halvings & 16 == 0 { weight } else { 0 }
}
