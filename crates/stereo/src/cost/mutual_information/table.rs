//! Table of costs from a joint histogram.
//!
//! `h = -1/n log2(P (x) g) (x) g` of the joint distribution, of its rows and of its columns (eqs. 3 and 4), and
//! `mi = h_L + h_R - h_LR`; `(x) g` smooths with a Gaussian (Parzen's density estimate). Levels that often meet have a large mi, so
//! the cost is -mi, shifted and scaled to 0 ... 127; the factor `1/n` and the base of the logarithm cancel out.
//!
//! Integers: g is the binomial 1 4 6 4 1, along both axes of the table. Smoothing does not divide, so smoothed counts are 256 times as
//! large (16 times for rows and columns, smoothed along one axis). Logarithms have 16 fraction bits; log2(0) is 0. The outermost
//! level is repeated at the borders of the table.

use super::histogram::LEVELS;

/// Returns the smoothing kernel, whose sum is 16.
pub const fn kernel() -> [u32; 5] {
    [1, 4, 6, 4, 1]
}

/// Number of leading bits, after the first one, that a logarithm depends on.
pub const LOG_TABLE_BITS: u32 = 11;

/// Computes `round(65536 log2(1 + i / 2^11))`. All engines take the table from here.
pub fn log_table() -> Vec<u32> {
    (0..1u32 << LOG_TABLE_BITS)
        .map(|i| ((1.0 + f64::from(i) / f64::from(1u32 << LOG_TABLE_BITS)).log2() * 65536.0).round() as u32)
        .collect()
}

/// Returns `65536 log2(v)` from the position of the leading bit and the bits after it; 0 for 0.
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
    /// Returns the cost of two pixels by their brightness.
    pub fn cost(&self, left: u8, right: u8) -> u8 {
        self.0[usize::from(left) * LEVELS + usize::from(right)]
    }

    /// Returns the table for swapped images.
    #[must_use]
    pub fn swapped(&self) -> Self {
        Self((0..LEVELS * LEVELS).map(|i| self.0[(i % LEVELS) * LEVELS + i / LEVELS]).collect())
    }
}

/// Smooths lines of 256 numbers that lie `step` apart; `lines` has the first index of each.
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

/// Computes `log2(values (x) g) (x) g` of one distribution, scaled by 16 and by 65536.
fn data_terms(counts: &[u32], log_table: &[u32]) -> Vec<u32> {
    let logs: Vec<_> = smoothed(counts, 0..1, 1).into_iter().map(|v| log2_q16(v, log_table)).collect();
    smoothed(&logs, 0..1, 1)
}

/// Computes the table of costs from a joint histogram of at most 2^24 pairs.
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
    // -mi, scaled by 256 * 65536; each term is below 2^29
    let negative: Vec<i32> = (0..LEVELS * LEVELS)
        .map(|i| (16 * left[i / LEVELS] + 16 * right[i % LEVELS]) as i32 - joint[i] as i32)
        .collect();
    let smallest = negative.iter().copied().min().unwrap_or(0);
    let largest = negative.iter().copied().max().unwrap_or(0);
    // drops the lowest bits, so that 127 times the rest fits in 32 bits
    let shift = 8;
    let range = ((largest - smallest) as u32 >> shift).max(1);
    Table(negative.iter().map(|&v| (((v - smallest) as u32 >> shift) * MAX_COST / range) as u8).collect())
}
