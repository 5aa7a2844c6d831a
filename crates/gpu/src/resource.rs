//! Names of the buffers, images and uniforms to which dispatches are bound.
//!
//! The first number of most names is the level: 0 is the pair itself, then come the coarser levels, then the pair with its images
//! swapped.

use stereopsis_frame::Side;
use stereopsis_stereo::cost::tables::Scale;

/// Target of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Uniform with the level's parameters.
    Params(usize),
    /// Uniform with this index in [`super::graph::DispatchGraph::dispatch_params`].
    DispatchParams(usize),
    /// Brightness of an image, of a level.
    Picture(Side, usize),
    /// Colours of an image, as it came.
    Colors(Side),
    /// Codes of both images.
    Codes(usize),
    /// Slab of the cost volume.
    Costs(usize, u32),
    /// Slab of aggregated costs.
    Aggregated(usize, u32),
    /// Arms of the crosses of both images.
    Arms(usize),
    /// Slab of sums over horizontal arms.
    ArmSums(usize, u32),
    /// Slab of a volume of path costs: level, volume, slab.
    Path(usize, u32, u32),
    /// Slab of the sums of earlier batches.
    Sums(usize, u32),
    /// Slab of exact sums.
    Exact(usize, u32),
    /// All sums, kept for tests.
    Kept,
    /// Runs of black pixels at the ends of each row and column of both images.
    BlackBorders,
    /// Map of an image, of a level, in one of two buffers, which filters use in turn.
    Map(Side, usize, usize),
    /// Best key of each right pixel so far.
    RightKeys(usize),
    /// First and last candidate of each 2 x 2 pixels.
    Gates(usize),
    /// Finished left (0) or right (1) map in the host's form.
    HostMap(usize),
    /// Union-find parents of regions.
    Parents,
    /// Pixels of each region.
    Sizes,
    /// Segments of calm pixels, with their planes.
    Segments,
    /// Finished left map of the previous pair.
    Last,
    /// Running means over the previous pairs, with the times of their measurements.
    Smoothed,
    /// Buffer of mutual information; all levels use the same one after the other.
    MutualInformation(MutualInformation),
    /// Costs of differences and Hamming distances, which the reference computes.
    CostTable(Scale),
    /// Logarithms for mutual information.
    LogTable,
    /// Weights of the learned choice.
    ChoiceNet,
}

/// Buffers of mutual information.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MutualInformation {
    /// Joint histogram of brightness levels.
    Counts,
    /// Logarithms of the smoothed counts.
    Logs,
    /// Sums of rows and columns, and their terms.
    Lines,
    /// Minimum and maximum before scaling.
    Extremes,
    /// Costs of pairs of levels.
    Table,
}

impl Resource {
    /// Returns the brightness of both images of a level.
    pub(crate) fn pictures(level: usize) -> [Self; 2] {
        Side::ALL.map(|side| Self::Picture(side, level))
    }

    /// Returns the resource that a level of mirrored images uses in place of its own. The level is matched after the pair, whose left map
    /// is not filtered yet, so it shares all buffers with the pair but the gates and the images.
    #[must_use]
    pub(crate) fn shared_with_pair(self) -> Self {
        match self {
            Self::Codes(_) => Self::Codes(0),
            Self::Costs(_, slab) => Self::Costs(0, slab),
            Self::Aggregated(_, slab) => Self::Aggregated(0, slab),
            Self::Arms(_) => Self::Arms(0),
            Self::ArmSums(_, slab) => Self::ArmSums(0, slab),
            Self::Path(_, volume, slab) => Self::Path(0, volume, slab),
            Self::Sums(_, slab) => Self::Sums(0, slab),
            Self::Exact(_, slab) => Self::Exact(0, slab),
            Self::Map(Side::Left, _, index) => Self::Map(Side::Left, 0, 1 - index),
            Self::Map(Side::Right, _, index) => Self::Map(Side::Right, 0, index),
            Self::RightKeys(_) => Self::RightKeys(0),
            other => other,
        }
    }

    /// Returns the level whose layout decides the size of the buffer.
    pub fn level(self) -> usize {
        match self {
            Self::Params(level)
            | Self::Picture(_, level)
            | Self::Codes(level)
            | Self::Costs(level, _)
            | Self::Aggregated(level, _)
            | Self::Arms(level)
            | Self::ArmSums(level, _)
            | Self::Path(level, ..)
            | Self::Sums(level, _)
            | Self::Exact(level, _)
            | Self::Map(_, level, _)
            | Self::RightKeys(level)
            | Self::Gates(level) => level,
            Self::DispatchParams(_)
            | Self::Kept
            | Self::BlackBorders
            | Self::HostMap(_)
            | Self::Parents
            | Self::Sizes
            | Self::Segments
            | Self::Colors(_)
            | Self::Last
            | Self::Smoothed
            | Self::MutualInformation(_)
            | Self::CostTable(_)
            | Self::LogTable
            | Self::ChoiceNet => 0,
        }
    }
}
