//! AD-census (Mei et al. 2011, eqs. 1 to 3; the cost of Fang et al. 2012): how unlike two pixels are in brightness, and how
//! unlike their surroundings are in structure, both on one scale.
//!
//! The difference is that of brightness, where the paper takes the mean over three colours: what is matched has none.

use super::CostKind;
use super::tables::Tables;

/// The census whose Hamming distance counts: with 48 bits it leaves room for the brightness beside it.
pub const CENSUS: CostKind = CostKind::Census7x7;

/// What both parts cost, 0 to 127 each: the one place where it is computed, for all engines.
pub fn tables() -> Tables {
    Tables::new(127.0, 10.0, 30.0)
}
