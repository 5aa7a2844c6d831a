//! Filters of a finished disparity map, in the order in which they run.

mod consistency;
mod fill;
mod median;
mod speckle;

pub use consistency::check_left_right;
pub use fill::fill_background;
pub use median::median;
pub use speckle::remove_speckle;
