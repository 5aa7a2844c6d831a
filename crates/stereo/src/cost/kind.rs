//! What each word of the parameter `cost` stands for.

use super::comparison::{Comparison, Cost};
use super::{absolute, ad_census, census, gradient_census, mutual_information, rank, sad};
use crate::params::words::{CostKind, Penalties};

/// Cost with the sizes of its windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostSettings {
    /// Cost.
    pub kind: CostKind,
    /// Window of the rank transform, px; odd.
    pub rank_window: u32,
    /// Window of the sum of absolute differences, px; odd.
    pub sad_window: u32,
}

impl CostKind {
    /// Returns the description of the cost.
    pub const fn description(self) -> &'static Cost {
        match self {
            Self::Census5x5 => &census::CENSUS_5X5,
            Self::Census7x7 => &census::CENSUS_7X7,
            Self::Census9x7 => &census::CENSUS_9X7,
            Self::Census9x7Symmetric => &census::CENSUS_9X7_SYMMETRIC,
            Self::Rank => &rank::RANK,
            Self::Sad => &sad::SAD,
            Self::Ad => &absolute::AD,
            Self::AdCensus => &ad_census::AD_CENSUS,
            Self::GradientCensus => &gradient_census::GRADIENT_CENSUS,
            Self::MutualInformation => &mutual_information::MUTUAL_INFORMATION,
        }
    }

    /// Returns the code of a pixel and the comparison of two codes.
    pub const fn comparison(self) -> Comparison {
        self.description().comparison
    }

    /// Returns the default penalties.
    pub const fn penalties(self) -> Penalties {
        self.description().penalties
    }

    /// Whether the table of costs is learned from the pair.
    pub const fn is_learned(self) -> bool {
        matches!(self.comparison(), Comparison::LearnedTable)
    }

    /// Whether the parameter `name` belongs to this cost.
    pub(crate) fn has_parameter(self, name: &str) -> bool {
        self.description().parameters.contains(&name)
    }
}
