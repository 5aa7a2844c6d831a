//! Presets: named sets of parameters. A preset sets the method as its paper has it, never the search range.

use super::params::StereoParams;
use super::params::words::{
    AdaptiveP2, Aggregation, CostKind, Fill, GateBounds, Median, MiStart, RightMatching, Subpixel, Temporal,
};
use stereopsis_base::parameter::choices;

choices! {
    /// Named sets of parameters.
    pub enum Preset {
        /// Census 5x5, four paths: the quickest, for slow machines and large images.
        Fast = "fast",
        /// Census 5x5, eight paths, adaptive P2, left-right check, edges of depth by colour: the default.
        Balanced = "balanced",
        /// Gradient and census 7x7, eight smooth paths: for images that matter.
        Accurate = "accurate",
        /// Preset `accurate` with a small network that chooses again at edges of depth and in filled holes: the best maps.
        Best = "best",
        /// SGM on the GPU: rank 9x9, eight paths, median 3x3; no left-right check, no sub-pixel.
        Banz2011 = "banz2011",
        /// SGM with hierarchical mutual information, P2 by brightness steps, sub-pixel, left-right check.
        Ernst2008 = "ernst2008",
        /// SGM with census 7x7, gating, turned paths, matched twice with the images swapped, small segments removed, filled.
        Frommholz2020 = "frommholz2020",
        /// Local: AD-census over a constant window, filled.
        Fang2012Cw = "fang2012-cw",
        /// Local: AD-census with adaptive support weights, filled; the slowest.
        Fang2012Aw = "fang2012-aw",
        /// Local: AD-census over cross-shaped regions, filled.
        Fang2012Cross = "fang2012-cross",
        /// Block matching: SAD 19x19 with its reliability tests, the border dropped; whole pixels.
        Leu2010 = "leu2010",
    }
}

impl Preset {
    /// Returns the paper whose system the preset is; `None` for this program's own presets.
    pub const fn paper(self) -> Option<&'static str> {
        Some(match self {
            Self::Fast | Self::Balanced | Self::Accurate | Self::Best => return None,
            Self::Banz2011 => {
                "Banz, Blume, Pirsch: Real-time semi-global matching disparity estimation on the GPU. ICCV Workshops 2011"
            }
            Self::Ernst2008 => {
                "Ernst, Hirschmüller: Mutual information based semi-global stereo matching on the GPU. ISVC 2008"
            }
            Self::Frommholz2020 => {
                "Frommholz: Lock-free multithreaded semi-global matching with an arbitrary number of path directions. \
                 ISPRS Annals 2020"
            }
            Self::Fang2012Cw | Self::Fang2012Aw | Self::Fang2012Cross => {
                "Fang, Varbanescu, Shen, Sips, Saygili, van der Maaten: Accelerating cost aggregation for real-time stereo \
                 matching. ICPADS 2012"
            }
            Self::Leu2010 => {
                "Leu, Bacără, Jivet: Disparity map computation speed comparison for CPU, GPU and FPGA implementations. \
                 Scientific Bulletin of the Politehnica University of Timișoara 2010"
            }
        })
    }

    /// Sets the method of the preset; the search range and `confidence` stay.
    pub fn apply(self, params: &mut StereoParams) {
        let StereoParams { min_disparity, num_disparities, confidence, .. } = *params;
        let method = self.method();
        // no paper uses earlier pairs
        let temporal = if self.paper().is_some() { Temporal::Off } else { method.temporal };
        *params = StereoParams { min_disparity, num_disparities, confidence, temporal, ..method };
    }

    fn method(self) -> StereoParams {
        let local = StereoParams {
            paths: 0,
            subpixel: Subpixel::Parabola,
            median: Median::Five,
            weighted_median: false,
            fill: Fill::Background,
            ..StereoParams::for_cost(CostKind::AdCensus)
        };
        match self {
            Self::Fast => StereoParams { paths: 4, weighted_median: false, ..StereoParams::default() },
            Self::Balanced => StereoParams::default(),
            Self::Accurate => StereoParams {
                // costs without local aggregation are noisier and need larger penalties
                p1: 50,
                p2: 180,
                p2_min: 52,
                p2_alpha: 110,
                // gates keep surfaces without texture near the disparities around them
                gating: Some(1),
                gate_bounds: GateBounds::Extremes,
                ..StereoParams::for_cost(CostKind::GradientCensus)
            },
            Self::Best => StereoParams { choice: true, ..Self::Accurate.method() },
            Self::Banz2011 => StereoParams {
                rank_window: 9,
                adaptive_p2: AdaptiveP2::Off,
                subpixel: Subpixel::Off,
                left_right: None,
                weighted_median: false,
                speckle_size: 0,
                ..StereoParams::for_cost(CostKind::Rank)
            },
            Self::Ernst2008 => StereoParams {
                mi_levels: 5,
                mi_start: MiStart::Random,
                adaptive_p2: AdaptiveP2::Inverse,
                subpixel: Subpixel::Parabola,
                weighted_median: false,
                speckle_size: 0,
                ..StereoParams::for_cost(CostKind::MutualInformation)
            },
            Self::Frommholz2020 => StereoParams {
                paths: 8,
                start_angle_deg: 11,
                p1: 90,
                p2: 100,
                adaptive_p2: AdaptiveP2::Off,
                gating: Some(3),
                subpixel: Subpixel::Parabola,
                right_matching: RightMatching::Swapped,
                weighted_median: false,
                fill: Fill::Background,
                ..StereoParams::for_cost(CostKind::Census7x7)
            },
            Self::Fang2012Cw => StereoParams { aggregation: Aggregation::Window, window: 9, ..local },
            Self::Fang2012Aw => StereoParams {
                aggregation: Aggregation::AdaptiveWeight,
                window: 21,
                gamma_color: 400,
                gamma_space: 300,
                ..local
            },
            Self::Fang2012Cross => StereoParams { aggregation: Aggregation::Cross, tau: 20, arms: 17, ..local },
            Self::Leu2010 => StereoParams {
                sad_window: 19,
                paths: 0,
                match_threshold: Some(10),
                drop_border: true,
                subpixel: Subpixel::Off,
                left_right: Some(0),
                median: Median::Off,
                weighted_median: false,
                speckle_size: 0,
                ..StereoParams::for_cost(CostKind::Sad)
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::words::MAX_PATHS;

    #[test]
    fn presets_are_valid_over_any_range_and_leave_it_alone() {
        for &preset in Preset::ALL {
            let mut params =
                StereoParams { min_disparity: -7, num_disparities: 300, confidence: true, ..StereoParams::default() };
            preset.apply(&mut params);
            assert_eq!((params.min_disparity, params.num_disparities, params.confidence), (-7, 300, true), "{preset}");
            params.validate().unwrap_or_else(|err| panic!("{preset}: {err}"));
        }
    }

    #[test]
    fn every_paper_has_a_preset_and_the_first_four_are_our_own() {
        let own = Preset::ALL.iter().position(|preset| preset.paper().is_some());
        assert_eq!(own, Some(4));
        assert!(Preset::ALL[4..].iter().all(|preset| preset.paper().is_some()));
    }

    // Frommholz 2020, section 4: with these penalties a 16-bit sum holds a few hundred directions
    #[test]
    fn frommholz_penalties_allow_max_paths() {
        let mut params = StereoParams::default();
        Preset::Frommholz2020.apply(&mut params);
        assert_eq!(params.max_paths(), MAX_PATHS);
    }
}
