//! Cost aggregation: matching costs in, sums over paths out. (Hirschmüller's and libSGM's term; Scharstein & Szeliski file it under
//! optimisation.) Both engines must produce the same sums to the bit.

mod direction;
mod paths;

pub use direction::{Axis, Direction, directions};
pub use paths::{path_costs, penalty_table, sum_paths};
