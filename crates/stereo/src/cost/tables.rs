//! Tables that bring two kinds of difference on one scale (Mei et al. 2011, eq. 3): `rho(c, lambda) = 1 - exp(-c / lambda)` is
//! 0 to 1, whatever the scale of c.

/// Scale of both tables, and their steepness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scale {
    /// Largest entry of each table.
    pub largest: u8,
    /// Lambda of the table of differences.
    pub lambda_difference: u8,
    /// Lambda of the table of Hamming distances.
    pub lambda_census: u8,
}

/// Costs of each difference and of each Hamming distance of census 7x7.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Cost of a difference of 0 to 255.
    pub difference: [u8; 256],
    /// Cost of a Hamming distance of 0 to 48; larger ones repeat the last entry.
    pub census: [u8; 64],
}

impl Scale {
    /// Both tables: the one place where they are computed, for all engines.
    pub fn tables(self) -> Tables {
        let cost = |c: usize, lambda: u8| {
            (f64::from(self.largest) * (1.0 - (-(c as f64) / f64::from(lambda)).exp())).round() as u8
        };
        Tables {
            difference: std::array::from_fn(|c| cost(c, self.lambda_difference)),
            census: std::array::from_fn(|c| cost(c.min(48), self.lambda_census)),
        }
    }
}

impl Tables {
    /// The cost of a difference and a Hamming distance.
    pub fn cost(&self, difference: u8, hamming: u32) -> u8 {
        self.difference[usize::from(difference)] + self.census[hamming as usize]
    }
}
