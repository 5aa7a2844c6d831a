//! Quality and speed of a result: error against truth, depth quality of a region, scores without truth, motion, exposure. All functions are
//! pure; time is an argument.

mod blank;
pub mod depth_quality;
mod evaluation;
mod exposure;
mod motion;
mod pairwise;
mod quantity;
mod random;
mod rank_correlation;
mod region;
pub mod scores;
mod trend;
mod truth_error;

pub use blank::{Blank, blank};
pub use evaluation::{COLUMNS, Column, Figures, Regions, TruthRegion, figures};
pub use exposure::{LumaDifference, luma_difference};
pub use motion::motion;
pub use quantity::{Better, Missing, Quantity};
pub use random::Random;
pub use rank_correlation::rank_correlation;
pub use region::{Region, RegionError};
pub use trend::{Trend, trend};
pub use truth_error::{OtherScale, TruthError, truth_error};
