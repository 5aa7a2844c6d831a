//! Cost aggregation: matching costs in, sums over paths out. (Hirschmüller's and libSGM's term; Scharstein & Szeliski file it under
//! optimisation.) Both engines must produce the same sums to the bit.

mod direction;
mod paths;

pub use direction::{Axis, Direction, MAX_PATHS, directions};
pub use paths::{path_costs, penalty_table, sum_paths};

use stereopsis_base::parameter::choices;

choices! {
    /// Change of P2 with the brightness step along a path.
    pub enum AdaptiveP2 {
        /// P2 is the same everywhere.
        Off = "off",
        /// P2 falls with the step: P2 - alpha |dI| / 16 (Hirschmüller's advice in its simplest form).
        Linear = "linear",
        /// P2 is divided by the step, as in Ernst & Hirschmüller 2008.
        Inverse = "inverse",
    }
}
