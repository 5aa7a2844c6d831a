//! Planes in holes and bands at the borders on the CPU, after [`stereopsis_stereo::filter::planes`] and
//! [`stereopsis_stereo::filter::band`].
//!
//! A segment is a set of runs, and a run adds its sums as a whole: over each piece of 64 pixels they fit into 32 bits.

use super::regions::{Regions, Run};
use super::simd::{SimdLevel, on_level};
use fearless_simd::Simd;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;
use stereopsis_base::image::{Image, Luma};
use stereopsis_stereo::filter::band::{
    BESIDE, COLUMNS, LIMITS, MAX_STEP, MEAN_SQUARE, MIN_COLUMNS, MIN_VOTES, ROWS, STEEPEST, spread,
};
use stereopsis_stereo::filter::calm::CALM_STEP;
use stereopsis_stereo::filter::moments::{Moments, PLANE_SHIFT, Plane};
use stereopsis_stereo::filter::planes;
use stereopsis_stereo::filter::planes::{Fillable, MIN_NEAR, VOTES_SHARE};
use stereopsis_stereo::filter::segments::MIN_SEGMENT;
use stereopsis_stereo::map::{INVALID, SUBPIXEL_STEPS};
use stereopsis_stereo::{DisparityMap, StereoParams};

/// Pixels of a run that are summed in 32 bits.
const PIECE: usize = 64;

#[derive(Clone, Copy)]
struct SegmentRun {
    segment: u32,
    /// Column of the first pixel, from the segment's first one, px.
    x: i32,
    y: i32,
    /// Position of the run's first pixel in the map.
    at: usize,
    len: usize,
}

/// Result of a fit so far.
#[derive(Clone, Copy)]
enum Fit {
    /// State before the first plane: all votes count.
    All,
    Plane(Plane),
    /// Segment without a plane.
    None,
}

pub(super) fn fill_planes(level: SimdLevel, map: &mut DisparityMap, luma: &Luma, params: &StereoParams) {
    let luma = match luma {
        Luma::U8(image) => Cow::Borrowed(image),
        Luma::U16 { .. } => Cow::Owned(luma.to_u8()),
    };
    let (parts, sizes) = segments(level, &luma);
    let fits = fit(level, map.values.pixels(), &parts, &sizes);
    let fillable = Fillable::of(params);
    for part in parts {
        let Fit::Plane(plane) = fits[part.segment as usize] else { continue };
        let values = &mut map.values.pixels_mut()[part.at..][..part.len];
        let reasons = &mut map.reasons.pixels_mut()[part.at..][..part.len];
        for (n, (value, reasons)) in values.iter_mut().zip(reasons).enumerate() {
            put(value, reasons, plane.rounded(part.x + n as i32, part.y), &fillable);
        }
    }
}

#[inline(always)]
fn put(value: &mut i16, reasons: &mut u8, filled: i32, fillable: &Fillable) {
    if *value == INVALID && fillable.range.contains(&filled) {
        *value = filled as i16;
        *reasons |= fillable.mark;
    }
}

/// Returns the runs of all segments that are large enough, row by row, and the number of pixels of each segment.
fn segments(level: SimdLevel, luma: &Image<u8>) -> (Vec<SegmentRun>, Vec<u64>) {
    let (width, height) = luma.size();
    let of_strip = |rows| on_level!(level, simd => calm_runs(simd, luma, rows));
    let (runs, sets, mut numbers) = Regions::of_rows(height, of_strip, |_, _| true).sets();
    let (mut firsts, mut sizes) = (Vec::new(), Vec::new());
    for (i, &first) in sets.iter().enumerate() {
        let pixels = std::mem::replace(&mut numbers[i], u32::MAX);
        if first as usize == i && pixels >= MIN_SEGMENT {
            numbers[i] = sizes.len() as u32;
            firsts.push(runs[i]);
            sizes.push(u64::from(pixels));
        }
    }
    let part = |(run, &first): (&Run, &u32)| {
        let segment = numbers[first as usize];
        let origin = firsts.get(segment as usize)?;
        Some(SegmentRun {
            segment,
            x: run.x as i32 - origin.x as i32,
            y: run.y as i32 - origin.y as i32,
            at: run.y as usize * width + run.x as usize,
            len: run.columns().len(),
        })
    };
    (runs.iter().zip(&sets).filter_map(part).collect(), sizes)
}

/// Returns the runs of calm pixels in some rows, joined where they touch.
#[inline(always)]
fn calm_runs<S: Simd>(simd: S, luma: &Image<u8>, rows: Range<usize>) -> Regions {
    let width = luma.width();
    let mut regions = Regions::default();
    let mut column = vec![0; width + 4];
    let (mut above, mut here, mut calm) = (vec![0; width], vec![0; width], vec![0; width]);
    blur_row(luma, rows.start.saturating_sub(1), &mut column, &mut above);
    for y in rows {
        blur_row(luma, y, &mut column, &mut here);
        let mark = |step: u8| if step <= CALM_STEP { 0 } else { INVALID };
        calm[0] = mark(here[0].abs_diff(above[0]));
        for x in 1..width {
            calm[x] = mark(here[x].abs_diff(here[x - 1]).max(here[x].abs_diff(above[x])));
        }
        regions.add_row(simd, (y, &calm), 0, |_, _| true);
        std::mem::swap(&mut above, &mut here);
    }
    regions
}

/// Blurs one row of brightness by 1 4 6 4 1 in both directions; `column` has two more entries on either side.
#[inline(always)]
fn blur_row(luma: &Image<u8>, y: usize, column: &mut [u16], out: &mut [u8]) {
    let (width, height) = luma.size();
    let row = |dy: usize| luma.row((y + dy).saturating_sub(2).min(height - 1));
    let (a, b, c, d, e) = (row(0), row(1), row(2), row(3), row(4));
    for x in 0..width {
        column[x + 2] =
            u16::from(a[x]) + u16::from(e[x]) + 4 * (u16::from(b[x]) + u16::from(d[x])) + 6 * u16::from(c[x]);
    }
    (column[0], column[1]) = (column[2], column[2]);
    (column[width + 2], column[width + 3]) = (column[width + 1], column[width + 1]);
    for x in 0..width {
        let sum = column[x] + column[x + 4] + 4 * (column[x + 1] + column[x + 3]) + 6 * column[x + 2];
        out[x] = ((sum + 128) >> 8) as u8; // 256 * 255 + 128 at most
    }
}

fn fit(level: SimdLevel, values: &[i16], parts: &[SegmentRun], sizes: &[u64]) -> Vec<Fit> {
    let sum = |fits: &[Fit], limit: i32| {
        let chunk = parts.len().div_ceil(rayon::current_num_threads()).max(1);
        let sums = parts.par_chunks(chunk).map(|parts| {
            let mut moments = vec![Moments::default(); sizes.len()];
            on_level!(level, _ => for part in parts {
                let segment = part.segment as usize;
                add_run(&mut moments[segment], (part.x, part.y), &values[part.at..][..part.len], fits[segment], limit);
            });
            moments
        });
        sums.reduce(
            || vec![Moments::default(); sizes.len()],
            |mut all, some| {
                all.iter_mut().zip(&some).for_each(|(all, some)| *all += *some);
                all
            },
        )
    };
    let mut fits = vec![Fit::All; sizes.len()];
    let all = sum(&fits, 0);
    for ((fit, moments), &size) in fits.iter_mut().zip(&all).zip(sizes) {
        let has_votes = moments.n >= planes::MIN_VOTES as i64 && VOTES_SHARE as i64 * moments.n >= size as i64;
        *fit = if has_votes { Fit::through(moments, MIN_NEAR) } else { Fit::None };
    }
    for limit in planes::LIMITS {
        let near = sum(&fits, limit);
        for (fit, moments) in fits.iter_mut().zip(&near) {
            *fit = if let Fit::Plane(_) = fit { Fit::through(moments, MIN_NEAR) } else { Fit::None };
        }
    }
    let near = sum(&fits, SUBPIXEL_STEPS);
    for ((fit, near), all) in fits.iter_mut().zip(&near).zip(&all) {
        *fit = if 2 * near.n < all.n { Fit::None } else { *fit };
    }
    fits
}

impl Fit {
    fn through(moments: &Moments, fewest: usize) -> Self {
        let plane = if moments.n >= fewest as i64 { moments.plane() } else { None };
        plane.map_or(Self::None, Self::Plane)
    }
}

/// Adds the votes of a run that lie near the plane; the run begins at `(x, y)`.
#[inline(always)]
fn add_run(moments: &mut Moments, (x, y): (i32, i32), values: &[i16], fit: Fit, limit: i32) {
    let (plane, limit) = match fit {
        Fit::All => (Plane { a: 0, b: 0, c: 0 }, i32::MAX),
        Fit::Plane(plane) => (plane, limit << PLANE_SHIFT),
        Fit::None => return,
    };
    for (piece, values) in values.chunks(PIECE).enumerate() {
        let x = x + (piece * PIECE) as i32;
        let start = plane.at(x, y);
        let (mut n, mut sum_x, mut sum_xx, mut sum_d, mut sum_xd) = (0_i32, 0_i32, 0_i32, 0_i32, 0_i32);
        for (i, &d) in values.iter().enumerate() {
            let i = i as i32;
            let residual = (i32::from(d) << PLANE_SHIFT) - start - plane.b * i;
            let counts = -i32::from((d != INVALID) & (residual.abs() <= limit));
            let (d, i) = (i32::from(d) & counts, i & counts);
            n -= counts;
            sum_x += i;
            sum_xx += i * i;
            sum_d += d;
            sum_xd += i * d;
        }
        let [n, sum_x, sum_xx, sum_d, sum_xd] = [n, sum_x, sum_xx, sum_d, sum_xd].map(i64::from);
        let (x, y) = (i64::from(x), i64::from(y));
        let from_origin = sum_x + x * n;
        *moments += Moments {
            n,
            x: from_origin,
            y: y * n,
            xx: sum_xx + 2 * x * sum_x + x * x * n,
            xy: y * from_origin,
            yy: y * y * n,
            d: sum_d,
            xd: sum_xd + x * sum_d,
            yd: y * sum_d,
        };
    }
}

pub(super) fn fill_bands(level: SimdLevel, map: &mut DisparityMap, params: &StereoParams) {
    let before = map.values.clone();
    let width = before.width();
    let rows = map.values.pixels_mut().par_chunks_mut(width).zip(map.reasons.pixels_mut().par_chunks_mut(width));
    rows.enumerate().for_each(|(y, (values, reasons))| {
        for is_right in [false, true] {
            on_level!(level, _ => fill_band(values, reasons, &before, y, params, is_right));
        }
    });
}

/// Fills the band of row `y` at the left border, or at the right one.
#[inline(always)]
fn fill_band(
    values: &mut [i16],
    reasons: &mut [u8],
    before: &Image<i16>,
    y: usize,
    params: &StereoParams,
    is_right: bool,
) {
    let (width, height) = before.size();
    let column = |n: usize| if is_right { width - 1 - n } else { n };
    let row = before.row(y);
    let Some(first) = (0..width).find(|&n| row[column(n)] != INVALID) else { return };
    if first < MIN_COLUMNS {
        return;
    }
    let mut beside = [i16::MAX; BESIDE];
    let mut found = 0;
    for n in first..width {
        if row[column(n)] != INVALID {
            beside[found] = row[column(n)];
            found += 1;
            if found == BESIDE {
                break;
            }
        }
    }
    beside[..found].sort_unstable();
    let beside = i32::from(beside[found / 2]);
    let mut window = [[INVALID; COLUMNS]; 2 * ROWS + 1];
    for (dy, votes) in window.iter_mut().enumerate() {
        let Some(row_y) = (y + dy).checked_sub(ROWS).filter(|&y| y < height) else { continue };
        let row = before.row(row_y);
        for n in 0..COLUMNS.min(width - first) {
            let d = row[column(first + n)];
            let is_like = (i32::from(d) - beside).abs() <= spread(n);
            votes[n] = if is_like { d } else { INVALID }; // INVALID is never like `beside`
        }
    }
    let moments = |fit, limit| {
        let mut moments = Moments::default();
        for (dy, votes) in window.iter().enumerate() {
            add_run(&mut moments, (0, dy as i32 - ROWS as i32), votes, fit, limit);
        }
        moments
    };
    let mut fit = Fit::through(&moments(Fit::All, 0), MIN_VOTES);
    for limit in LIMITS {
        let Fit::Plane(_) = fit else { return };
        fit = Fit::through(&moments(fit, limit), MIN_VOTES);
    }
    let Fit::Plane(plane) = fit else { return };
    let (mut near, mut squares) = (0, 0);
    for (dy, votes) in window.iter().enumerate() {
        for (n, &d) in votes.iter().enumerate() {
            let place = (n as i32, dy as i32 - ROWS as i32);
            if d != INVALID && plane.is_near(place, d, LIMITS[LIMITS.len() - 1]) {
                near += 1;
                squares += i64::from(i32::from(d) - plane.rounded(place.0, place.1)).pow(2);
            }
        }
    }
    let is_gentle = i64::from(plane.b).abs() <= STEEPEST && (plane.rounded(0, 0) - beside).abs() <= MAX_STEP;
    if near >= MIN_VOTES && squares < MEAN_SQUARE * near as i64 && is_gentle {
        let fillable = Fillable::of(params);
        for n in 0..first {
            let x = column(n);
            put(&mut values[x], &mut reasons[x], plane.rounded(n as i32 - first as i32, 0), &fillable);
        }
    }
}
