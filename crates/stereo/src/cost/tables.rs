//! Tables that map two kinds of difference to one scale (Mei et al. 2011, eq. 3): `rho(c, lambda) = 1 - exp(-c / lambda)` lies in
//! 0 to 1 for every unit of c.

/// Scale and steepness of both tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scale {
    /// Largest entry of each table.
    pub largest: u8,
    /// Lambda of the table of differences.
    pub lambda_difference: u8,
    /// Lambda of the table of Hamming distances.
    pub lambda_census: u8,
}

/// Tables of costs, for each difference and for each Hamming distance of census 7x7.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Cost of a difference of 0 to 255.
    pub difference: [u8; 256],
    /// Cost of a Hamming distance of 0 to 48; larger ones repeat the last entry.
    pub census: [u8; 64],
}

impl Scale {
    /// Computes both tables. All engines take them from here.
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
    /// Returns the cost of a difference and a Hamming distance.
    pub fn cost(&self, difference: u8, hamming: u32) -> u8 {
        self.difference[usize::from(difference)] + self.census[hamming as usize]
    }
}
