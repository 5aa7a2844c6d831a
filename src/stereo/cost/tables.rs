//! Tables that bring two kinds of difference on one scale (Mei et al. 2011, eq. 3): `rho(c, lambda) = 1 - exp(-c / lambda)` is
//! 0 to 1, whatever the scale of c.

/// What each difference and each Hamming distance of census 7x7 costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// For a difference of 0 to 255.
    pub difference: [u8; 256],
    /// For a Hamming distance of 0 to 48, the rest being as the last.
    pub census: [u8; 64],
}

impl Tables {
    /// Both kinds from 0 to `largest`, with their steepness.
    pub(super) fn new(largest: f64, lambda_difference: f64, lambda_census: f64) -> Self {
        let cost = |c: usize, lambda: f64| (largest * (1.0 - (-(c as f64) / lambda).exp())).round() as u8;
        Self {
            difference: std::array::from_fn(|c| cost(c, lambda_difference)),
            census: std::array::from_fn(|c| cost(c.min(48), lambda_census)),
        }
    }

    /// The cost of a difference and a Hamming distance.
    pub fn cost(&self, difference: u8, hamming: u32) -> u8 {
        self.difference[usize::from(difference)] + self.census[hamming as usize]
    }
}
