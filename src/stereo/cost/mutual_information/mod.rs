//! Mutual information (Ernst & Hirschmüller 2008, eqs. 1 to 5; Kim et al. 2003): which brightness of the left picture goes
//! with which of the right one is learned from the pair itself, so exposures, and even kinds of light, may differ.
//!
//! A first guess of the disparities ([`start()`], or the map of a coarser level) says which pixels meet. Their brightness is
//! counted ([`histogram()`]), and the counts become a table of costs ([`table()`]), in whole numbers throughout.

mod histogram;
mod start;
mod table;

pub use histogram::{LEVELS, MOST_PIXELS, histogram};
pub use start::{random_disparity, start};
pub use table::{LARGEST, LOG_TABLE_BITS, Table, kernel, log_table, log2_q16, table};

use super::{Comparison, Cost, ExposureTolerance, Penalties};
use crate::choices;

/// Mutual information of brightness.
pub const MUTUAL_INFORMATION: Cost = Cost {
    comparison: Comparison::LearnedTable,
    penalties: Penalties { p1: 16, p2: 160, p2_min: 24, p2_alpha: 80 },
    parameters: &["mi-levels", "mi-start"],
    exposure: ExposureTolerance::Any,
};

choices! {
    /// What the disparities of the smallest pictures are taken to be before anything is known.
    pub enum Start {
        /// Each pixel's is drawn by chance, always the same ones, as in the paper.
        Random = "random",
        /// Those that were found for the pair before, if it had the same size and parameters; the first pair starts by chance.
        LastFrame = "last-frame",
    }
}

#[cfg(test)]
mod tests;
