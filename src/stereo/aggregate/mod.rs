//! Cost aggregation: costs become sums over paths. (Hirschmüller and libSGM call it so; others file it under
//! optimisation.)

mod paths;

pub use paths::{DIRECTIONS, directions, path_costs, penalty_table, sum_paths};
