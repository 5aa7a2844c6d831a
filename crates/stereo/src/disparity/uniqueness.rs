//! Uniqueness test: a winner is unreliable if another disparity has almost the same sum.

/// Returns false if a candidate more than 1 px from the winner has `S (100 - percent) < 100 S*`.
pub fn is_unique(sums: &[u32], winner: usize, percent: u32) -> bool {
    let best = 100 * u64::from(sums[winner]);
    sums.iter()
        .enumerate()
        .all(|(i, &sum)| i.abs_diff(winner) <= 1 || u64::from(sum) * u64::from(100 - percent) >= best)
}
