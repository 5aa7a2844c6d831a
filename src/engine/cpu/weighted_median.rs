//! Weighted median at edges of depth on the CPU, after [`crate::stereo::filter::weighted_median`].
//!
//! Few pixels lie at such edges, so they are collected first. The median of one is found by halving the range of its window's
//! disparities: each time the weights of those below are summed, 16 columns side by side.

use super::simd::{SimdLevel, on_level};
use crate::image::{Image, PictureRef};
use crate::stereo::filter::weighted_median::{EDGE, EDGE_RADIUS, LARGEST_WEIGHT, RADIUS, STEP};
use crate::stereo::map::INVALID;
use rayon::prelude::*;

/// Rows that a thread filters together.
const STRIP: usize = 16;
/// Rows and columns of a window.
const SIDE: usize = 2 * RADIUS + 1;
/// Columns of a window, and those beyond it whose weight is 0.
const LANES: usize = 16;

/// The columns of a window in a row of it: all bits, or none.
const INSIDE: [u16; LANES] = {
    let mut lanes = [0; LANES];
    let mut lane = 0;
    while lane < SIDE {
        lanes[lane] = u16::MAX;
        lane += 1;
    }
    lanes
};

/// Some rows with those around them: disparities, [`INVALID`] outside, and the channels that tell surfaces apart.
#[derive(Default)]
struct Strip {
    pitch: usize,
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
        let first = s * STRIP;
        strip.set_values(&before, first, out.len() / width);
        let channels = if let Some(rgb) = picture.rgb {
            strip.set_channel(0, rgb, first, |color| color[0]);
            strip.set_channel(1, rgb, first, |color| color[1]);
            strip.set_channel(2, rgb, first, |color| color[2]);
            3
        } else {
            luma.iter().for_each(|luma| strip.set_channel(0, luma, first, |&luma| luma));
            1
        };
        for (y, out) in out.chunks_exact_mut(width).enumerate() {
            on_level!(level, _ => strip.filter_row(y, channels, out));
        }
    });
}

impl Strip {
    /// Rows around `rows` rows from `first` on, with [`RADIUS`] columns before each and a register's columns behind it.
    fn set_values(&mut self, values: &Image<i16>, first: usize, rows: usize) {
        let (width, height) = values.size();
        self.pitch = width + RADIUS + LANES;
        self.values.clear();
        self.values.resize(self.pitch * (rows + 2 * RADIUS), INVALID);
        for (n, row) in self.values.chunks_exact_mut(self.pitch).enumerate() {
            if let Some(y) = (first + n).checked_sub(RADIUS).filter(|&y| y < height) {
                row[RADIUS..][..width].copy_from_slice(values.row(y));
            }
        }
    }

    /// The same of a channel; what lies outside has no weight.
    fn set_channel<T>(&mut self, channel: usize, image: &Image<T>, first: usize, part: impl Fn(&T) -> u8) {
        let (width, height) = image.size();
        self.channels[channel].resize(self.values.len(), 0);
        for (n, row) in self.channels[channel].chunks_exact_mut(self.pitch).enumerate() {
            if let Some(y) = (first + n).checked_sub(RADIUS).filter(|&y| y < height) {
                for (out, pixel) in row[RADIUS..].iter_mut().zip(image.row(y)) {
                    *out = part(pixel);
                }
            }
        }
        debug_assert_eq!(width + RADIUS + LANES, self.pitch);
    }

    #[inline(always)]
    fn filter_row(&mut self, y: usize, channels: usize, out: &mut [i16]) {
        self.find_edges(y, out.len());
        for edge in 0..self.edges.len() {
            let x = self.edges[edge] as usize;
            out[x] = match channels {
                1 => self.median::<1>(x, y),
                _ => self.median::<3>(x, y),
            };
        }
    }

    /// The columns of row `y` where depth has an edge.
    #[inline(always)]
    fn find_edges(&mut self, y: usize, width: usize) {
        let pitch = self.pitch;
        let Self { values, smallest, largest, edges, .. } = self;
        smallest.resize(pitch, 0);
        largest.resize(pitch, 0);
        let top = (y + RADIUS - EDGE_RADIUS) * pitch;
        let row = |n: usize| &values[top + n * pitch..][..pitch];
        let (a, b, c, d, e) = (row(0), row(1), row(2), row(3), row(4));
        let high = |value: i16| if value == INVALID { i16::MAX } else { value };
        for x in 0..pitch {
            smallest[x] = high(a[x]).min(high(b[x])).min(high(c[x])).min(high(d[x])).min(high(e[x]));
            largest[x] = a[x].max(b[x]).max(c[x]).max(d[x]).max(e[x]);
        }
        edges.clear();
        let from = RADIUS - EDGE_RADIUS;
        for x in 0..width {
            let (low, high) = (&smallest[x + from..][..5], &largest[x + from..][..5]);
            let low = low[0].min(low[1]).min(low[2]).min(low[3]).min(low[4]);
            let high = high[0].max(high[1]).max(high[2]).max(high[3]).max(high[4]);
            if c[x + RADIUS] != INVALID && i32::from(high) - i32::from(low) >= EDGE {
                edges.push(x as u32);
            }
        }
    }

    /// The weighted median around a pixel with a disparity.
    #[inline(always)]
    fn median<const CHANNELS: usize>(&self, x: usize, y: usize) -> i16 {
        let centre = (y + RADIUS) * self.pitch + x + RADIUS;
        let mut values = [[0_i16; LANES]; SIDE];
        let mut weights = [[0_u16; LANES]; SIDE];
        let mut total = [0_u16; LANES];
        let (mut low, mut high) = ([i16::MAX; LANES], [i16::MIN; LANES]);
        for row in 0..SIDE {
            let at = (y + row) * self.pitch + x;
            values[row].copy_from_slice(&self.values[at..][..LANES]);
            let mut difference = [0_u8; LANES];
            for channel in 0..CHANNELS {
                let own = self.channels[channel][centre];
                let others = &self.channels[channel][at..][..LANES];
                for lane in 0..LANES {
                    difference[lane] = difference[lane].max(own.abs_diff(others[lane]));
                }
            }
            for lane in 0..LANES {
                let value = values[row][lane];
                let has_weight = if value == INVALID { 0 } else { INSIDE[lane] };
                let weight = weight(u16::from(difference[lane])) & has_weight;
                weights[row][lane] = weight;
                total[lane] += weight;
                low[lane] = low[lane].min(if weight == 0 { i16::MAX } else { value });
                high[lane] = high[lane].max(if weight == 0 { i16::MIN } else { value });
            }
        }
        let half = total.iter().sum::<u16>().div_ceil(2); // 81 * 256 at most in all
        let mut low = i32::from(low.into_iter().fold(i16::MAX, i16::min));
        let mut high = i32::from(high.into_iter().fold(i16::MIN, i16::max));
        while low < high {
            let middle = (low + high) >> 1;
            let mut below = [0_u16; LANES];
            for row in 0..SIDE {
                for lane in 0..LANES {
                    below[lane] += if values[row][lane] <= middle as i16 { weights[row][lane] } else { 0 };
                }
            }
            if below.iter().sum::<u16>() >= half {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low as i16
    }
}

/// After [`crate::stereo::filter::weighted_median::weight`], without a shift by a number that differs from lane to lane.
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
