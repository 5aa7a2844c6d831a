//! Cost aggregation: costs become sums over paths. (Hirschmüller and libSGM call it so; others file it under
//! optimisation.)

mod direction;
mod paths;

pub use direction::{Axis, Direction, MAX_PATHS, directions};
pub use paths::{path_costs, penalty_table, sum_paths};
