//! Confidence: the margin by which a winner beats its best rival. Uniqueness is a threshold on the same margin.

/// Returns `(S2 - S1) 255 / S2` in integers: the largest uniqueness, in 255ths, that the pixel passes. S1 is the winner's sum and S2
/// the smallest sum of the candidates more than 1 px from it. The result is 255 without such a candidate, 0 where S2 is 0.
pub fn confidence(sums: &[u32], winner: usize) -> u8 {
    let rivals = sums.iter().enumerate().filter(|(i, _)| i.abs_diff(winner) > 1);
    match rivals.map(|(_, &sum)| u64::from(sum)).min() {
        None => u8::MAX,
        Some(0) => 0,
        Some(rival) => ((rival - u64::from(sums[winner])) * 255 / rival) as u8,
    }
}
