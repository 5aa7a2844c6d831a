//! Uniqueness: a winner that another disparity nearly equals is not to be trusted.

/// False if some candidate more than 1 px from the winner has `S (100 - percent) < 100 S*`.
pub fn is_unique(sums: &[u32], winner: usize, percent: u32) -> bool {
    let best = 100 * u64::from(sums[winner]);
    sums.iter()
        .enumerate()
        .all(|(i, &sum)| i.abs_diff(winner) <= 1 || u64::from(sum) * u64::from(100 - percent) >= best)
}
