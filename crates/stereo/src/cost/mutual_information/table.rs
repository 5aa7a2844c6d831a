//! From counts to costs.
//!
//! `h = -1/n log2(P (x) g) (x) g` of the joint distribution, of its rows and of its columns (eqs. 3 and 4; `(x) g` smooths
//! with a Gaussian, which estimates a density as Parzen has it), and `mi = h_L + h_R - h_LR`. The more two levels of
//! brightness belong together the larger is mi, so the cost is its negative, moved and scaled to 0 ... 127: the factor `1/n`
//! and the base of the logarithm fall out.
//!
//! In whole numbers: g is the binomial 1 4 6 4 1, in both directions of the table. Counts are smoothed without dividing, so
//! they are 256 times as large (16 times for rows and columns, which are smoothed along one direction); the logarithm has
//! 16 bits behind the point and that of 0 is 0. At the borders of the table the outermost level is repeated.

use super::histogram::LEVELS;

/// The smoothing kernel, whose sum is 16.
pub const fn kernel() -> [u32; 5] {
    [1, 4, 6, 4, 1]
}

/// The leading bits of a number that decide its logarithm, the first one aside.
pub const LOG_TABLE_BITS: u32 = 11;

/// `round(65536 log2(1 + i / 2^11))`: the one place where it is computed, for all engines.
pub fn log_table() -> Vec<u32> {
    (0..1u32 << LOG_TABLE_BITS)
        .map(|i| ((1.0 + f64::from(i) / f64::from(1u32 << LOG_TABLE_BITS)).log2() * 65536.0).round() as u32)
        .collect()
}

/// `65536 log2(v)` from the place and the first bits of a number; 0 for 0.
pub fn log2_q16(v: u32, log_table: &[u32]) -> u32 {
    if v == 0 {
        return 0;
    }
    let leading = v.leading_zeros();
    let mantissa = (v << leading) << 1 >> (32 - LOG_TABLE_BITS);
    ((31 - leading) << 16) + log_table[mantissa as usize]
}

/// Largest entry of a table.
pub const MAX_COST: u32 = 127;

/// Cost of each pair of levels, `[left * 256 + right]`, 0 to [`MAX_COST`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table(pub Vec<u8>);

impl Table {
    /// Cost of two pixels.
    pub fn cost(&self, left: u8, right: u8) -> u8 {
        self.0[usize::from(left) * LEVELS + usize::from(right)]
    }

    /// The table for images that change places.
    #[must_use]
    pub fn swapped(&self) -> Self {
        Self((0..LEVELS * LEVELS).map(|i| self.0[(i % LEVELS) * LEVELS + i / LEVELS]).collect())
    }
}

/// Smooths each line of 256 numbers that lie `step` apart, one line for each of `lines` starts.
fn smoothed(values: &[u32], lines: impl Iterator<Item = usize>, step: usize) -> Vec<u32> {
    let mut result = vec![0; values.len()];
    for line in lines {
        for i in 0..LEVELS {
            result[line + i * step] =
                (0..5).map(|k| kernel()[k] * values[line + (i + k).saturating_sub(2).min(LEVELS - 1) * step]).sum();
        }
    }
    result
}

/// `log2(values (x) g) (x) g` of one distribution, 16 times as large, and another 65536 times.
fn data_terms(counts: &[u32], log_table: &[u32]) -> Vec<u32> {
    let logs: Vec<_> = smoothed(counts, 0..1, 1).into_iter().map(|v| log2_q16(v, log_table)).collect();
    smoothed(&logs, 0..1, 1)
}

/// Costs from counts of a joint histogram of at most 2^24 pairs.
pub fn table(counts: &[u32]) -> Table {
    let log_table = log_table();
    let smoothed_both_ways = |values: &[u32]| {
        let along_rows = smoothed(values, (0..LEVELS).map(|row| row * LEVELS), 1);
        smoothed(&along_rows, 0..LEVELS, LEVELS)
    };
    let logs: Vec<_> = smoothed_both_ways(counts).into_iter().map(|v| log2_q16(v, &log_table)).collect();
    let joint = smoothed_both_ways(&logs);
    let lefts: Vec<u32> = counts.chunks(LEVELS).map(|row| row.iter().sum()).collect();
    let rights: Vec<u32> = (0..LEVELS).map(|k| counts.iter().skip(k).step_by(LEVELS).sum()).collect();
    let (left, right) = (data_terms(&lefts, &log_table), data_terms(&rights, &log_table));
    // -mi, 256 * 65536 times as large; each term is below 2^29
    let negative: Vec<i32> = (0..LEVELS * LEVELS)
        .map(|i| (16 * left[i / LEVELS] + 16 * right[i % LEVELS]) as i32 - joint[i] as i32)
        .collect();
    let smallest = negative.iter().copied().min().unwrap_or(0);
    let largest = negative.iter().copied().max().unwrap_or(0);
    // the lowest bits are left out so that 127 times the rest stays within 32
    let shift = 8;
    let range = ((largest - smallest) as u32 >> shift).max(1);
    Table(negative.iter().map(|&v| (((v - smallest) as u32 >> shift) * MAX_COST / range) as u8).collect())
}
