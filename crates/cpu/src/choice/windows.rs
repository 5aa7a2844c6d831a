//! Evidence from the windows around a pixel for the learned choice, many columns at once.
//!
//! Rows are 16-bit numbers with columns on both sides that are like no pixel. Where a window takes every fourth column, columns
//! of equal remainder lie side by side. Masks have all bits set or none.

use rayon::prelude::*;
use stereopsis_base::image::Image;
use stereopsis_stereo::filter::choice::{
    Candidate, Chooser, LIKE, MAX_CANDIDATES, MAX_DIFFERENCE, SLOPE_BITS, STEP, SUPPORTS, Support, WINDOWS,
    WindowEvidence,
};
use stereopsis_stereo::map::INVALID;

/// Columns of padding on each side: no window reaches further.
const PAD: usize = 32;
/// Columns of a row of a support that are compared together.
const LANES: usize = 16;
/// Colour that is like no other.
const OUTSIDE: i16 = 16_000;
/// Distance of the columns of the large support.
const STRIDE: usize = SUPPORTS[1].1 as usize;
/// Rows of the larger window in which the images are compared.
const SIDE: usize = 2 * WINDOWS[1] as usize + 1;
const COLUMNS: usize = SIDE + 1;
const PLACES: usize = SIDE * COLUMNS;

/// Mask of the places of the larger window that lie in the smaller one.
const SMALL: [i16; PLACES] = {
    let mut places = [0; PLACES];
    let margin = (WINDOWS[1] - WINDOWS[0]) as usize;
    let mut place = 0;
    while place < PLACES {
        let (row, column) = (place / COLUMNS, place % COLUMNS);
        let is_inside = row >= margin && row < SIDE - margin && column >= margin && column < SIDE - margin;
        places[place] = if is_inside { -1 } else { 0 };
        place += 1;
    }
    places
};

/// Rows of five numbers for each pixel: three channels, the trusted disparity, and its clearness.
struct FeatureRows {
    pitch: usize,
    numbers: Vec<i16>,
}

impl FeatureRows {
    /// Pads the rows; `place` maps a padded column to its position in a row.
    fn new(chooser: &Chooser<'_>, pitch: usize, place: impl Fn(usize) -> usize + Sync) -> Self {
        let (_, height) = chooser.trusted().size();
        let mut numbers = vec![0; 5 * pitch * height];
        numbers.par_chunks_mut(5 * pitch).enumerate().for_each(|(y, row)| {
            let (channels, others) = row.split_at_mut(3 * pitch);
            let (values, clearness) = others.split_at_mut(pitch);
            channels.fill(OUTSIDE);
            values.fill(INVALID);
            let colors = chooser.left_colors().row(y);
            let pixels = chooser.trusted().row(y).iter().zip(chooser.clearness().row(y));
            for (x, (color, (&value, &clear))) in colors.iter().zip(pixels).enumerate() {
                let at = place(x + PAD);
                for (channel, &level) in color.iter().enumerate() {
                    channels[channel * pitch + at] = level.into();
                }
                (values[at], clearness[at]) = (value, clear.into());
            }
        });
        Self { pitch, numbers }
    }

    /// Returns the five numbers of `count` columns of row `y`.
    #[inline(always)]
    fn columns(&self, y: usize, at: usize, count: usize) -> [&[i16]; 5] {
        let (pitch, row) = (self.pitch, &self.numbers[5 * self.pitch * y..][..5 * self.pitch]);
        [
            &row[at..][..count],
            &row[pitch + at..][..count],
            &row[2 * pitch + at..][..count],
            &row[3 * pitch + at..][..count],
            &row[4 * pitch + at..][..count],
        ]
    }
}

pub(super) struct Windows {
    size: (usize, usize),
    rows: FeatureRows,
    /// Rows with the columns in the order of their remainders.
    sparse_rows: FeatureRows,
    segment: usize,
    /// Distance of the rows of `lumas`.
    pitch: usize,
    lumas: [Vec<i16>; 2],
}

impl Windows {
    pub(super) fn new(chooser: &Chooser<'_>) -> Self {
        let size = chooser.trusted().size();
        let pitch = size.0 + 2 * PAD;
        let segment = pitch.div_ceil(STRIDE) + LANES;
        let luma = |image: &Image<u8>| {
            let mut luma = vec![0; pitch * size.1];
            luma.par_chunks_mut(pitch).zip(image.pixels().par_chunks(size.0)).for_each(|(row, pixels)| {
                for (slot, &pixel) in row[PAD..].iter_mut().zip(pixels) {
                    *slot = pixel.into();
                }
            });
            luma
        };
        let [left, right] = chooser.lumas();
        Self {
            size,
            rows: FeatureRows::new(chooser, pitch, |column| column),
            sparse_rows: FeatureRows::new(chooser, STRIDE * segment, |column| {
                column % STRIDE * segment + column / STRIDE
            }),
            segment,
            pitch,
            lumas: [luma(left), luma(right)],
        }
    }

    /// Implements [`Neighbourhood::measured`](stereopsis_stereo::filter::choice::Neighbourhood::measured).
    #[inline(always)]
    pub(super) fn measured(&self, (x, y): (usize, usize), candidates: &[Candidate]) -> WindowEvidence {
        let column = x + PAD;
        let [red, green, blue, ..] = self.rows.columns(y, column, 1);
        let own = [red[0], green[0], blue[0]];
        let near = column - SUPPORTS[0].0 as usize;
        let far = column % STRIDE * self.segment + column / STRIDE - SUPPORTS[1].0 as usize / STRIDE;
        let supports = [
            self.support(&self.rows, (near, y), SUPPORTS[0], own, candidates),
            self.support(&self.sparse_rows, (far, y), SUPPORTS[1], own, candidates),
        ];
        let likes = self.likes((x, y), own);
        let mut windows = [[0; 2]; MAX_CANDIDATES];
        for n in 0..candidates.len() {
            windows[n] = self.differences((x, y), candidates[n].value, &likes);
        }
        WindowEvidence { supports, windows }
    }

    /// Counts the supporters of each candidate in a window; `at` is the position of its first column in a row.
    #[inline(always)]
    fn support(
        &self,
        rows: &FeatureRows,
        (at, y): (usize, usize),
        (radius, stride): (i32, i32),
        own: [i16; 3],
        candidates: &[Candidate],
    ) -> Support {
        let side = (2 * radius / stride + 1) as usize;
        let (mut like, mut trusted) = ([0_i16; LANES], [0_i16; LANES]);
        let mut supporters = [[0_i16; LANES]; MAX_CANDIDATES];
        let mut clearness = [[0_i16; LANES]; MAX_CANDIDATES];
        for n in 0..side as i32 {
            let row = y as i32 + n * stride - radius;
            if row < 0 || row as usize >= self.size.1 {
                continue;
            }
            let [red, green, blue, values, clear] = rows.columns(row as usize, at, LANES);
            let mut is_like = [0_i16; LANES];
            for k in 0..LANES {
                is_like[k] = -i16::from(have_like_colors([red[k], green[k], blue[k]], own) & (k < side));
                like[k] -= is_like[k];
                trusted[k] -= is_like[k] & -i16::from(values[k] != INVALID);
            }
            for c in 0..candidates.len() {
                let Candidate { value, slope, .. } = candidates[c];
                let down = slope.down * (n * stride - radius) as i16 + (1 << (SLOPE_BITS - 1));
                let (stride, radius, first) = (stride as i16, radius as i16, value - STEP as i16);
                for k in 0..LANES {
                    let ahead = (slope.across * (k as i16 * stride - radius) + down) >> SLOPE_BITS;
                    // as an unsigned distance from the smallest supporting disparity, everything else is too large, INVALID too
                    let above = values[k].wrapping_sub(first + ahead) as u16;
                    let supports = is_like[k] & -i16::from(above <= 2 * STEP as u16);
                    supporters[c][k] -= supports;
                    clearness[c][k] += supports & clear[k];
                }
            }
        }
        let mut support = Support { like: sum(&like), trusted: sum(&trusted), ..Support::default() };
        for c in 0..candidates.len() {
            (support.supporters[c], support.clearness[c]) = (sum(&supporters[c]), sum(&clearness[c]));
        }
        support
    }

    /// Computes the mask of the places of the larger window that have a like colour.
    #[inline(always)]
    fn likes(&self, (x, y): (usize, usize), own: [i16; 3]) -> [i16; PLACES] {
        let mut likes = [0; PLACES];
        for n in 0..SIDE {
            let row = y as i32 + n as i32 - WINDOWS[1];
            if row < 0 || row as usize >= self.size.1 {
                continue;
            }
            let at = x + PAD - WINDOWS[1] as usize;
            let [red, green, blue, ..] = self.rows.columns(row as usize, at, COLUMNS);
            let likes = &mut likes[n * COLUMNS..][..COLUMNS];
            for k in 0..COLUMNS {
                likes[k] = -i16::from(have_like_colors([red[k], green[k], blue[k]], own) & (k < SIDE));
            }
        }
        likes
    }

    #[inline(always)]
    fn differences(&self, (x, y): (usize, usize), candidate: i16, likes: &[i16; PLACES]) -> [i32; 2] {
        let (width, height) = (self.size.0 as i32, self.size.1 as i32);
        // the partner of a column lies `shift` columns and `part` sixteenths to the right
        let (shift, part) = (-i32::from(candidate) >> 4, (-i32::from(candidate) & 15) as i16);
        let first = x as i32 - WINDOWS[1];
        if first + SIDE as i32 + shift <= 0 || first + shift >= width {
            return [MAX_DIFFERENCE; 2]; // all partners lie outside
        }
        let at = (first + PAD as i32) as usize;
        let other_at = (first + shift + PAD as i32) as usize;
        let mut differences = [0_i16; PLACES];
        let mut small = SMALL;
        for n in 0..SIDE {
            let row = y as i32 + n as i32 - WINDOWS[1];
            let places = n * COLUMNS..(n + 1) * COLUMNS;
            if row < 0 || row >= height {
                small[places].fill(0);
                continue;
            }
            let own = &self.lumas[0][row as usize * self.pitch + at..][..COLUMNS];
            let other = &self.lumas[1][row as usize * self.pitch + other_at..][..=COLUMNS];
            let differences = &mut differences[places];
            for k in 0..COLUMNS {
                differences[k] = 16 * own[k] - (16 - part) * other[k] - part * other[k + 1];
            }
        }
        // columns that lie in the image together with their partners
        let last_partner = width - 1 - shift - i32::from(part > 0);
        let (from, to) = (0.max(-shift) - first, last_partner.min(width - 1) - first);
        let mut large = *likes;
        for n in 0..SIDE {
            for k in 0..COLUMNS {
                let is_inside = -i16::from((k as i32 >= from) & (k as i32 <= to));
                small[n * COLUMNS + k] &= is_inside;
                large[n * COLUMNS + k] &= is_inside;
            }
        }
        [mean(&differences, &small), mean(&differences, &large)]
    }
}

#[inline(always)]
fn have_like_colors(one: [i16; 3], other: [i16; 3]) -> bool {
    let [red, green, blue] = [(one[0] - other[0]).abs(), (one[1] - other[1]).abs(), (one[2] - other[2]).abs()];
    red.max(green).max(blue) <= i16::from(LIKE)
}

/// Computes the mean deviation of the masked differences from their mean.
#[inline(always)]
fn mean(differences: &[i16; PLACES], mask: &[i16; PLACES]) -> i32 {
    let (mut sums, mut counts) = ([0_i16; COLUMNS], [0_i16; COLUMNS]);
    for n in 0..SIDE {
        for k in 0..COLUMNS {
            sums[k] += differences[n * COLUMNS + k] & mask[n * COLUMNS + k];
            counts[k] -= mask[n * COLUMNS + k];
        }
    }
    let count = sum(&counts);
    if count == 0 {
        return MAX_DIFFERENCE;
    }
    let mean = sum(&sums).div_euclid(count) as i16;
    let mut totals = [0_i16; COLUMNS];
    for n in 0..SIDE {
        for k in 0..COLUMNS {
            let from_mean = (differences[n * COLUMNS + k] - mean).abs().min(MAX_DIFFERENCE as i16);
            totals[k] += from_mean & mask[n * COLUMNS + k];
        }
    }
    sum(&totals) / count
}

#[inline(always)]
fn sum<const N: usize>(numbers: &[i16; N]) -> i32 {
    let mut sum = 0;
    for n in 0..N {
        sum += i32::from(numbers[n]);
    }
    sum
}
