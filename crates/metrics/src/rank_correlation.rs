//! Spearman's rank correlation.

/// Returns Spearman's rank correlation of pairs of numbers, -1 to 1; equal numbers share the mean of their ranks. `None` below 3 pairs, for
/// numbers that are not finite, and if all numbers of one side are equal.
pub fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 3 || !pairs.iter().all(|(a, b)| a.is_finite() && b.is_finite()) {
        return None;
    }
    let a = ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let b = ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let sum = |of: &dyn Fn(f64, f64) -> f64| a.iter().zip(&b).map(|(&a, &b)| of(a - mean, b - mean)).sum::<f64>();
    let (ab, aa, bb) = (sum(&|a, b| a * b), sum(&|a, _| a * a), sum(&|_, b| b * b));
    (aa > 0.0 && bb > 0.0).then(|| ab / (aa * bb).sqrt())
}

/// Returns the rank of each number, from 0; equal numbers share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for run in order.chunk_by(|&i, &j| (values[i] - values[j]).abs() <= 0.0) {
        let rank = first as f64 + (run.len() as f64 - 1.0) / 2.0;
        for &i in run {
            ranks[i] = rank;
        }
        first += run.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_order_counts() {
        let rising: Vec<_> = (0..10).map(|i| (f64::from(i), f64::from(i).exp())).collect();
        assert!((rank_correlation(&rising).unwrap() - 1.0).abs() < 1e-12);
        let falling: Vec<_> = (0..10).map(|i| (f64::from(i), -f64::from(i).powi(3))).collect();
        assert!((rank_correlation(&falling).unwrap() + 1.0).abs() < 1e-12);
    }

    #[test]
    fn equal_numbers_share_their_rank() {
        // ranks 0 1.5 1.5 3 against 0 1 2 3
        let found = rank_correlation(&[(1.0, 1.0), (2.0, 2.0), (2.0, 3.0), (4.0, 4.0)]).unwrap();
        assert!((found - 4.5 / (4.5f64 * 5.0).sqrt()).abs() < 1e-12, "{found}");
    }

    #[test]
    fn constant_numbers_have_no_correlation() {
        assert_eq!(rank_correlation(&[(1.0, 2.0), (2.0, 1.0)]), None);
        assert_eq!(rank_correlation(&[(1.0, 2.0), (1.0, 1.0), (1.0, 3.0)]), None);
        assert_eq!(rank_correlation(&[(1.0, 2.0), (f64::NAN, 1.0), (1.0, 3.0)]), None);
    }
}
