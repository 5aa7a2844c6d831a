//! Sub-pixel refinement: the lowest point of a parabola through the winner's sum and its two neighbours.

/// Offset of the minimum from candidate `winner` in sixteenths of a pixel, -8 to 8; 0 at the ends of the range.
///
/// `((S- - S+) 16 + q) / (2 q)` with `q = max(1, S- + S+ - 2 S*)`, the division truncating, as OpenCV has it.
/// (Ernst & Hirschmüller 2008, eq. 9, with the `2 S(d)` of its denominator put right.)
pub fn refine(sums: &[u32], winner: usize) -> i32 {
    if winner == 0 || winner + 1 >= sums.len() {
        return 0;
    }
    let [below, best, above] = [winner - 1, winner, winner + 1].map(|i| i64::from(sums[i]));
    let q = (below + above - 2 * best).max(1);
    (((below - above) * 16 + q) / (2 * q)) as i32
}
