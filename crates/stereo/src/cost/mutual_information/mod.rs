//! Mutual information (Ernst & Hirschmüller 2008, eqs. 1 to 5; Kim et al. 2003): the relation between left and right brightness is
//! learned from the pair itself, so exposures and even kinds of light may differ.
//!
//! Initial disparities ([`start()`], or the map of a coarser level) give each pixel a partner. Pairs of brightness levels are
//! counted ([`histogram()`]); the counts become a table of costs ([`table()`]). All numbers are integers, for equal bits everywhere.

mod histogram;
mod start;
mod table;

pub use histogram::{LEVELS, MAX_PIXELS, histogram};
pub use start::{random_disparity, start};
pub use table::{LOG_TABLE_BITS, MAX_COST, Table, kernel, log_table, log2_q16, table};

use super::comparison::{Comparison, Cost, ExposureTolerance};
use crate::params::words::Penalties;

/// Cost: mutual information of brightness.
pub const MUTUAL_INFORMATION: Cost = Cost {
    comparison: Comparison::LearnedTable,
    penalties: Penalties { p1: 16, p2: 160, p2_min: 24, p2_alpha: 80 },
    parameters: &["mi-levels", "mi-start"],
    exposure: ExposureTolerance::Any,
};

#[cfg(test)]
mod tests;
