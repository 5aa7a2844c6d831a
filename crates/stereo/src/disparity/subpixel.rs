//! Sub-pixel refinement: the lowest point of a curve through the winner's sum and its two neighbours.

use crate::choices;

choices! {
    /// The curve whose lowest point is the disparity between whole pixels.
    pub enum Subpixel {
        /// Whole pixels.
        Off = "off",
        /// A parabola: for costs that grow with the square of the distance. Others pull it towards whole pixels.
        Parabola = "parabola",
        /// Two lines of equal and opposite slope: for costs that grow with the distance, such as census and absolute differences.
        Equiangular = "equiangular",
    }
}

impl Subpixel {
    /// Offset of the minimum from candidate `winner` in sixteenths of a pixel, -8 to 8; 0 at the ends of the range.
    ///
    /// `((S- - S+) 16 + q) / (2 q)`, the division truncating, as OpenCV has it. Of the parabola (Ernst & Hirschmüller 2008, eq. 9, with
    /// the `2 S(d)` of its denominator put right) `q = S- + S+ - 2 S*`; of the lines (M. Shimizu & M. Okutomi: Precise sub-pixel
    /// estimation on area-based matching, ICCV 2001) `q = max(S-, S+) - S*`; at least 1.
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
