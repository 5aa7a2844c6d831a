//! Named sets of parameters. A preset sets the method and what its paper fixes, never the search range.

use super::cost::CostKind;
use super::params::{AdaptiveP2, Fill, Median, StereoParams};
use crate::choices;

choices! {
    /// Named sets of parameters.
    pub enum Preset {
        /// Census 5x5, eight paths, adaptive P2, left-right check: what the program starts with.
        Balanced = "balanced",
        /// Census 5x5, four paths: takes a seventh less time, for slow machines and large pictures.
        Fast = "fast",
        /// Banz, Blume & Pirsch 2011: rank 9x9, eight paths, median 3x3; no left-right check, no sub-pixel.
        Banz2011 = "banz2011",
    }
}

impl Preset {
    /// Puts the preset's method into `params`; the search range stays, and whether confidence is told.
    pub fn apply(self, params: &mut StereoParams) {
        let method = match self {
            Self::Balanced => StereoParams::default(),
            Self::Fast => StereoParams { paths: 4, ..StereoParams::default() },
            Self::Banz2011 => StereoParams {
                rank_window: 9,
                paths: 8,
                start_angle_deg: 0,
                adaptive_p2: AdaptiveP2::Off,
                subpixel: false,
                uniqueness: 0,
                left_right: None,
                median: Median::Three,
                speckle_size: 0,
                fill: Fill::None,
                ..StereoParams::for_cost(CostKind::Rank)
            },
        };
        let StereoParams { min_disparity, num_disparities, confidence, .. } = *params;
        *params = StereoParams { min_disparity, num_disparities, confidence, ..method };
    }
}
