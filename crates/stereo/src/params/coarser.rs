//! Parameters of the coarser levels, derived from those of the pair.

use super::StereoParams;
use super::words::{Fill, MiStart, RightMatching, Subpixel, Temporal};

/// Number of path directions of coarser levels, if the pair has any. The first one points at 0 degrees.
pub const COARSE_PATHS: u32 = 8;

/// Smallest side of the images of a level, px; there are no coarser levels below it.
const MIN_SIDE_PX: usize = 2;

/// Smallest side of a level that only serves to learn mutual information, px; a histogram needs more pixels.
const MIN_INFORMATIVE_SIDE_PX: usize = 16;

fn half_side((width, height): (usize, usize)) -> usize {
    width.min(height).div_ceil(2)
}

impl StereoParams {
    /// Returns the smallest and largest disparity at half the size: each searched one is twice a coarser one, or 1 px above that.
    pub fn coarse_range(&self) -> (i32, i32) {
        (self.min_disparity.div_euclid(2), self.last_disparity().div_euclid(2))
    }

    /// Returns the parameters for half the size, for images of `size` with these; `None` where there is no such level.
    ///
    /// Cost, aggregation, penalties, median and left-right check stay. All other tests and filters are off: whole pixels suffice for a
    /// gate, and a wrongly dropped, filled or moved disparity would narrow it.
    pub fn coarser(&self, size: (usize, usize)) -> Option<Self> {
        if !self.is_gated(size) && !self.has_coarse_information(size) {
            return None;
        }
        let (min, max) = self.coarse_range();
        Some(Self {
            min_disparity: min,
            num_disparities: (max - min + 1) as u32,
            gating: self.gating.filter(|&levels| levels > 1).map(|levels| levels - 1),
            mi_levels: self.mi_levels.max(2) - 1,
            paths: if self.paths == 0 { 0 } else { COARSE_PATHS },
            start_angle_deg: 0,
            subpixel: Subpixel::Off,
            uniqueness: 0,
            match_threshold: None,
            drop_border: false,
            confidence: false,
            right_matching: RightMatching::Diagonal,
            speckle_size: 0,
            spatial: None,
            temporal: Temporal::Off,
            choice: false,
            weighted_median: false,
            fill: Fill::None,
            ..self.clone()
        })
    }

    /// Whether images of `size` are gated by a coarser level.
    pub fn is_gated(&self, size: (usize, usize)) -> bool {
        self.gating.is_some() && half_side(size) >= MIN_SIDE_PX
    }

    /// Whether mutual information of images of `size` is learned from a coarser level's map.
    pub fn has_coarse_information(&self, size: (usize, usize)) -> bool {
        let is_asked_for = self.cost.is_learned() && self.mi_levels > 1;
        is_asked_for && half_side(size) >= MIN_INFORMATIVE_SIDE_PX
    }

    /// Whether mutual information starts from the pair before.
    pub fn starts_from_last(&self) -> bool {
        self.cost.is_learned() && self.mi_start == MiStart::LastFrame
    }
}
