//! AD-census (Mei et al. 2011, eqs. 1 to 3; the cost of Fang et al. 2012): how unlike two pixels are in brightness, and how
//! unlike their surroundings are in structure, both on one scale.
//!
//! `rho(c, lambda) = 1 - exp(-c / lambda)` brings a cost to 0 ... 1, whatever its own scale; here 1 is 127. The difference
//! is that of brightness, where the paper takes the mean over three colours: what is matched has none.

use super::CostKind;

/// The census whose Hamming distance counts: with 48 bits it leaves a byte for the brightness beside it.
pub const CENSUS: CostKind = CostKind::Census7x7;
/// Steepness of the difference.
const LAMBDA_AD: f64 = 10.0;
/// Steepness of the Hamming distance.
const LAMBDA_CENSUS: f64 = 30.0;

/// What each difference and each Hamming distance costs: the one place where they are computed, for all engines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// For a difference of 0 to 255.
    pub difference: [u8; 256],
    /// For a Hamming distance of 0 to 48, the rest being as the last.
    pub census: [u8; 64],
}

impl Tables {
    /// The tables.
    pub fn new() -> Self {
        let rho = |c: usize, lambda: f64| (127.0 * (1.0 - (-(c as f64) / lambda).exp())).round() as u8;
        Self {
            difference: std::array::from_fn(|c| rho(c, LAMBDA_AD)),
            census: std::array::from_fn(|c| rho(c.min(48), LAMBDA_CENSUS)),
        }
    }

    /// The cost of a difference and a Hamming distance: 0 to 254.
    pub fn cost(&self, difference: u8, hamming: u32) -> u8 {
        self.difference[usize::from(difference)] + self.census[hamming as usize]
    }
}

impl Default for Tables {
    fn default() -> Self {
        Self::new()
    }
}
