//! Descriptions of costs: the code of a pixel, the comparison of two codes, and what follows from both.

use super::mutual_information::MAX_COST;
use super::tables::Scale;
use crate::params::words::Penalties;

/// Description of a matching cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Code of a pixel, and comparison of two codes.
    pub comparison: Comparison,
    /// Default penalties.
    pub penalties: Penalties,
    /// Names of the parameters that apply only to costs that list them.
    pub parameters: &'static [&'static str],
    /// Tolerated difference between the exposures of both cameras.
    pub exposure: ExposureTolerance,
}

/// Kind of a cost: the code of a pixel, and the function that makes a cost of two codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// Hamming distance of census strings.
    Hamming(Shape),
    /// Absolute difference of one byte of each pixel.
    Difference(Scalar),
    /// Absolute differences of brightness over `sad-window`: the exact sum without aggregation and paths, else the rounded mean.
    WindowedDifference,
    /// Sum of an entry for the difference of a channel and one for the Hamming distance of census strings, from constant tables.
    Tables {
        /// Window of the census transform.
        census: Shape,
        /// Further bytes of each pixel.
        channel: Channel,
        /// Scale of both tables.
        scale: Scale,
    },
    /// Entry of a table over the brightness of both pixels, learned from the pair itself.
    LearnedTable,
}

/// One byte of each pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// Brightness of eight bits.
    Brightness,
    /// Rank in the window `rank-window`.
    Rank,
}

/// One or two bytes of each pixel beside its census string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Brightness of eight bits.
    Brightness,
    /// Slopes of brightness along x and y.
    Gradients,
}

impl Channel {
    /// Bytes of each pixel.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Brightness => 1,
            Self::Gradients => 2,
        }
    }
}

/// Difference of exposure between both cameras that a cost tolerates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExposureTolerance {
    /// None: absolute brightness is compared.
    Equal,
    /// A factor: the order or the slope of brightness is compared.
    Similar,
    /// Any relation of brightness: it is learned.
    Any,
}

/// Window of a census transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Columns of the window, odd.
    pub width: usize,
    /// Rows of the window, odd.
    pub height: usize,
    /// Whether opposite pixels are compared instead of each with the centre.
    pub symmetric: bool,
}

impl Shape {
    /// Returns the number of comparisons: 24, 48, 62, or 31 for the symmetric window.
    pub const fn bits(self) -> usize {
        let neighbours = self.width * self.height - 1;
        if self.symmetric { neighbours / 2 } else { neighbours }
    }
}

/// Window of census 7x7: its 48 bits leave room for two more bytes in a code of 64 bits.
pub const SHAPE_7X7: Shape = Shape { width: 7, height: 7, symmetric: false };

impl Comparison {
    /// Returns the window of the census transform, if there is one.
    pub const fn census(self) -> Option<Shape> {
        match self {
            Self::Hamming(shape) | Self::Tables { census: shape, .. } => Some(shape),
            Self::Difference(_) | Self::WindowedDifference | Self::LearnedTable => None,
        }
    }

    /// Returns the largest cost that enters the paths.
    pub const fn largest(self, rank_window: u32) -> u32 {
        match self {
            Self::Hamming(shape) => shape.bits() as u32,
            Self::Difference(Scalar::Rank) => rank_window * rank_window - 1,
            Self::Difference(Scalar::Brightness) | Self::WindowedDifference => 255,
            Self::Tables { scale, .. } => 2 * scale.largest as u32,
            Self::LearnedTable => MAX_COST,
        }
    }

    /// Returns the size of the window around a pixel that its code or cost depends on: columns, rows.
    pub const fn window(self, rank_window: u32, sad_window: u32) -> (usize, usize) {
        match self {
            Self::Hamming(shape) | Self::Tables { census: shape, .. } => (shape.width, shape.height),
            Self::Difference(Scalar::Rank) => (rank_window as usize, rank_window as usize),
            Self::WindowedDifference => (sad_window as usize, sad_window as usize),
            Self::Difference(Scalar::Brightness) | Self::LearnedTable => (1, 1),
        }
    }
}
