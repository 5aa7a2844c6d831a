//! Mutual information on the CPU, after [`stereopsis_stereo::cost::mutual_information`]: a pair goes in, the learned table of its costs
//! comes out. Each thread counts pairs of brightness for itself; the table is smoothed row by row.

use super::simd::{SimdLevel, on_level};
use rayon::prelude::*;
use std::sync::LazyLock;
use stereopsis_base::image::Image;
use stereopsis_stereo::cost::mutual_information::{LEVELS, Table, kernel, log_table, log2_q16, random_disparity};
use stereopsis_stereo::map::{DisparityMap, INVALID, reason, rounded_px};
use stereopsis_stereo::params::StereoParams;

static LOG_TABLE: LazyLock<Vec<u32>> = LazyLock::new(log_table);

/// Maps from which the initial disparities are taken; without any they are random.
#[derive(Clone, Copy)]
pub(super) struct InitialMaps<'a> {
    pub(super) coarser: Option<&'a DisparityMap>,
    /// Map of the last pair, at this size.
    pub(super) last: Option<&'a DisparityMap>,
}

pub(super) fn table(
    level: SimdLevel,
    left: &Image<u8>,
    right: &Image<u8>,
    start: InitialMaps<'_>,
    params: &StereoParams,
) -> Table {
    from_counts(level, &histogram(left, right, start, params))
}

/// Counts how often brightnesses meet, `[left * 256 + right]`.
fn histogram(left: &Image<u8>, right: &Image<u8>, start: InitialMaps<'_>, params: &StereoParams) -> Vec<u32> {
    let none = || vec![0; LEVELS * LEVELS];
    let share = left.height().div_ceil(rayon::current_num_threads());
    let counts = (0..left.height()).into_par_iter().with_min_len(share).fold(none, |mut counts, y| {
        count_row((left.row(y), right.row(y)), y, start, params, &mut counts);
        counts
    });
    let both = |mut a: Vec<u32>, b: Vec<u32>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    counts.reduce_with(both).unwrap_or_else(none)
}

fn count_row(
    (left, right): (&[u8], &[u8]),
    y: usize,
    start: InitialMaps<'_>,
    params: &StereoParams,
    counts: &mut [u32],
) {
    let mut meet = |x: usize, d: i32| {
        if let Some(&partner) = right.get(x.wrapping_add_signed(-d as isize)) {
            counts[usize::from(left[x]) * LEVELS + usize::from(partner)] += 1;
        }
    };
    let (map, shift) = match (start.coarser, start.last) {
        (Some(map), _) => (map, 1),
        (None, Some(map)) => (map, 0),
        (None, None) => {
            let disparities = params.disparities();
            (0..left.len()).for_each(|x| meet(x, random_disparity(x as u32, y as u32, &disparities)));
            return;
        }
    };
    let (values, reasons) = (map.values.row(y >> shift), map.reasons.row(y >> shift));
    for x in 0..left.len() {
        let value = values[x >> shift];
        if value != INVALID && reasons[x >> shift] & reason::FILLED == 0 {
            meet(x, rounded_px(i32::from(value)) << shift);
        }
    }
}

fn from_counts(level: SimdLevel, counts: &[u32]) -> Table {
    let mut lefts = [0; LEVELS];
    let mut rights = [0; LEVELS];
    for (left, row) in lefts.iter_mut().zip(counts.chunks_exact(LEVELS)) {
        for i in 0..LEVELS {
            *left += row[i];
            rights[i] += row[i];
        }
    }
    let log = |values: &mut [u32]| values.iter_mut().for_each(|value| *value = log2_q16(*value, &LOG_TABLE));
    let term = |counts: &[u32; LEVELS]| {
        let mut once = [0; LEVELS];
        smooth_row(counts, &mut once);
        log(&mut once);
        let mut twice = [0; LEVELS];
        smooth_row(&once, &mut twice);
        twice
    };
    let (left, right) = (term(&lefts), term(&rights));
    let mut joint = vec![0; LEVELS * LEVELS];
    let mut rows = vec![0; LEVELS * LEVELS];
    on_level!(level, _ => smooth(counts, &mut rows, &mut joint));
    joint.par_chunks_mut(16 * LEVELS).for_each(log);
    let mut costs = vec![0; LEVELS * LEVELS];
    on_level!(level, _ => smooth(&joint, &mut rows, &mut costs));
    let mut joint = costs;
    // -mi, as a signed number
    for (line, left) in joint.chunks_exact_mut(LEVELS).zip(left) {
        for i in 0..LEVELS {
            line[i] = (16 * left + 16 * right[i]).wrapping_sub(line[i]);
        }
    }
    let (mut smallest, mut largest) = (i32::MAX, i32::MIN);
    for &value in &joint {
        smallest = smallest.min(value as i32);
        largest = largest.max(value as i32);
    }
    let shift = 8;
    let range = ((largest - smallest) as u32 >> shift).max(1);
    let cost = |&value: &u32| (((value as i32 - smallest) as u32 >> shift) * 127 / range) as u8;
    Table(joint.par_iter().with_min_len(16 * LEVELS).map(cost).collect())
}

/// Smooths along rows, then along columns; the outermost level is repeated at the borders.
#[inline(always)]
fn smooth(values: &[u32], rows: &mut [u32], out: &mut [u32]) {
    for (row, out) in values.as_chunks::<LEVELS>().0.iter().zip(rows.as_chunks_mut::<LEVELS>().0) {
        smooth_row(row, out);
    }
    let rows = rows.as_chunks::<LEVELS>().0;
    for (y, out) in out.as_chunks_mut::<LEVELS>().0.iter_mut().enumerate() {
        *out = [0; LEVELS];
        for k in 0..5 {
            let row = &rows[(y + k).saturating_sub(2).min(LEVELS - 1)];
            for i in 0..LEVELS {
                out[i] += kernel()[k] * row[i];
            }
        }
    }
}

#[inline(always)]
fn smooth_row(row: &[u32; LEVELS], out: &mut [u32; LEVELS]) {
    let mut padded = [row[0]; LEVELS + 4];
    padded[2..LEVELS + 2].copy_from_slice(row);
    padded[LEVELS + 2..].fill(row[LEVELS - 1]);
    for i in 0..LEVELS {
        let mut sum = 0;
        for k in 0..5 {
            sum += kernel()[k] * padded[i + k];
        }
        out[i] = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use stereopsis_stereo::cost::mutual_information;

    fn noise(rng: &mut Rng, (width, height): (usize, usize)) -> Image<u8> {
        let from = rng.u8(..);
        Image::from_fn(width, height, |_, _| rng.u8(from..))
    }

    fn map(rng: &mut Rng, (width, height): (usize, usize)) -> DisparityMap {
        let values = Image::from_fn(width, height, |_, _| if rng.bool() { rng.i16(-200..600) } else { INVALID });
        let reasons = Image::from_fn(width, height, |_, _| if rng.bool() { 0 } else { reason::FILLED | reason::MATCH });
        DisparityMap { values, reasons, confidence: None }
    }

    #[test]
    fn tables_match_the_reference() {
        let rng = &mut Rng::with_seed(31);
        let pools = [1, 3].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap());
        for size in [(1, 1), (2, 1), (1, 5), (40, 31), (129, 70)] {
            let (left, right) = (noise(rng, size), noise(rng, size));
            let (coarser, last) = (map(rng, (size.0.div_ceil(2), size.1.div_ceil(2))), map(rng, size));
            let params = StereoParams { min_disparity: -9, num_disparities: 30, ..StereoParams::default() };
            for (coarser, last) in
                [(None, None), (None, Some(&last)), (Some(&coarser), None), (Some(&coarser), Some(&last))]
            {
                let guess = mutual_information::start(size, coarser, last, &params.disparities());
                let counts = mutual_information::histogram(&left, &right, &guess);
                for pool in &pools {
                    let start = InitialMaps { coarser, last };
                    assert_eq!(pool.install(|| histogram(&left, &right, start, &params)), counts, "{size:?}");
                    let got = pool.install(|| table(SimdLevel::best(), &left, &right, start, &params));
                    assert!(got == mutual_information::table(&counts), "{size:?}");
                }
            }
        }
    }
}
