//! Sub-pixel refinement: the lowest point of a curve through the winner's sum and its two neighbours.

use crate::params::words::Subpixel;

impl Subpixel {
    /// Returns the offset of the minimum from candidate `winner`, 1/16 px, -8 to 8; 0 at the ends of the range.
    ///
    /// The offset is `((S- - S+) 16 + q) / (2 q)` with a truncating division, as in OpenCV, and q at least 1. The parabola has
    /// `q = S- + S+ - 2 S*` (Ernst & Hirschmüller 2008, eq. 9, with the `2 S(d)` of its denominator corrected). The two lines have
    /// `q = max(S-, S+) - S*` (M. Shimizu & M. Okutomi: Precise sub-pixel estimation on area-based matching, ICCV 2001).
    pub fn refine(self, sums: &[u32], winner: usize) -> i32 {
        if winner == 0 || winner + 1 >= sums.len() {
            return 0;
        }
        let [below, best, above] = [winner - 1, winner, winner + 1].map(|i| i64::from(sums[i]));
        let q = match self {
            Self::Off => return 0,
            Self::Parabola => below + above - 2 * best,
            Self::Equiangular => below.max(above) - best,
        }
        .max(1);
        (((below - above) * 16 + q) / (2 * q)) as i32
    }
}
