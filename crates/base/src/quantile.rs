//! Quantiles of numbers.

/// Returns the `share` quantile; `values` must not be empty.
pub fn quantile(values: &mut [f64], share: f64) -> f64 {
    let rank = ((values.len() - 1) as f64 * share).round() as usize;
    *values.select_nth_unstable_by(rank, f64::total_cmp).1
}
