//! Words of parameters: what each choice may be, and values that belong together. What a word does stands with its stage.

use stereopsis_base::parameter::choices;

/// Largest number of path directions, as in the measurements of Frommholz 2020.
pub const MAX_PATHS: u32 = 384;

choices! {
    /// Matching cost of two pixels.
    pub enum CostKind {
        /// Census over 5 x 5: 24 bits, robust against light, sharp at edges.
        Census5x5 = "census-5x5",
        /// Census over 7 x 7: 48 bits, calmer on weak texture.
        Census7x7 = "census-7x7",
        /// Census over 9 x 7: 62 bits, the calmest.
        Census9x7 = "census-9x7",
        /// Centre-symmetric census over 9 x 7: 31 pairs of opposite pixels.
        Census9x7Symmetric = "census-9x7-symmetric",
        /// Rank transform: how many neighbours are darker (Banz et al. 2011).
        Rank = "rank",
        /// Sum of absolute differences over a window; needs equal exposure.
        Sad = "sad",
        /// Absolute difference of two pixels: for aggregation over windows; needs equal exposure.
        Ad = "ad",
        /// Absolute difference and census 7x7 on one scale (Mei et al. 2011): for local aggregation.
        AdCensus = "ad-census",
        /// Gradient and census 7x7 on one scale: the most exact at edges with aggregation cross; exposures may differ somewhat.
        GradientCensus = "gradient-census",
        /// Mutual information, learned from the pair (Ernst & Hirschmüller 2008): exposures and kinds of light may differ.
        MutualInformation = "mutual-information",
    }
}

choices! {
    /// Initial disparities of the smallest images.
    pub enum MiStart {
        /// Random ones, the same for each pair, as in the paper.
        Random = "random",
        /// Disparities of the pair before, if it had the same size and parameters; the first pair starts with random ones.
        LastFrame = "last-frame",
    }
}

choices! {
    /// Local aggregation of costs.
    pub enum Aggregation {
        /// No aggregation.
        None = "none",
        /// Mean over a square window; blurs edges of depth.
        Window = "window",
        /// Mean over a window in which near pixels of like brightness count more, in both images (Yoon & Kweon 2005);
        /// keeps edges, and takes long.
        AdaptiveWeight = "adaptive-weight",
        /// Mean over a region that ends where brightness changes, in both images (Zhang et al. 2009).
        Cross = "cross",
        /// The region of `cross` with the weights of `adaptive-weight`.
        WeightedCross = "weighted-cross",
    }
}

choices! {
    /// Change of P2 with the brightness step along a path.
    pub enum AdaptiveP2 {
        /// P2 is the same everywhere.
        Off = "off",
        /// P2 falls with the step: P2 - alpha |dI| / 16 (Hirschmüller's advice in its simplest form).
        Linear = "linear",
        /// P2 is divided by the step, as in Ernst & Hirschmüller 2008.
        Inverse = "inverse",
    }
}

choices! {
    /// How the gate of a pixel follows from the coarser level's disparities around it.
    pub enum GateBounds {
        /// The 16th percentiles from either end of the disparities in 51x51 px, widened by 20 px (Frommholz 2020): thin things may be missed.
        Percentiles = "percentiles",
        /// The smallest and the largest disparity in 17x17 px, widened by 6 px.
        Extremes = "extremes",
    }
}

choices! {
    /// The curve whose lowest point is the disparity between whole pixels.
    pub enum Subpixel {
        /// Whole pixels.
        Off = "off",
        /// A parabola: for costs that grow with the square of the distance. Others pull it towards whole pixels.
        Parabola = "parabola",
        /// Two lines of equal and opposite slope: for costs that grow with the distance, such as census and absolute differences.
        Equiangular = "equiangular",
    }
}

choices! {
    /// Source of the right image's disparities, with which the left ones are checked.
    pub enum RightMatching {
        /// From the same sums, along their diagonals: takes almost no time.
        Diagonal = "diagonal",
        /// From matching once more with the images swapped: more exact, takes twice as long.
        Swapped = "swapped",
    }
}

choices! {
    /// Size of the median filter.
    pub enum Median {
        /// No median.
        Off = "0",
        /// 3 x 3 pixels.
        Three = "3",
        /// 5 x 5 pixels.
        Five = "5",
    }
}

choices! {
    /// Whether disparities are smoothed over the pairs.
    pub enum Temporal {
        /// On for cameras, off for files, recordings and the built-in scene.
        Auto = "auto",
        /// On, whatever the source.
        On = "on",
        /// Off: each pair by itself.
        Off = "off",
    }
}

choices! {
    /// When a hole keeps the disparity that was there before.
    pub enum Persistence {
        /// Never.
        Off = "off",
        /// If it was measured in each of the last 8 pairs.
        EightOfEight = "8-of-8",
        /// If it was measured in 2 of the last 3 pairs.
        TwoOfThree = "2-of-3",
        /// If it was measured in 2 of the last 4 pairs.
        TwoOfFour = "2-of-4",
        /// If it was measured in 2 of the last 8 pairs.
        TwoOfEight = "2-of-8",
        /// If it was measured in 1 of the last 2 pairs.
        OneOfTwo = "1-of-2",
        /// If it was measured in 1 of the last 5 pairs.
        OneOfFive = "1-of-5",
        /// If it was measured in 1 of the last 8 pairs.
        OneOfEight = "1-of-8",
        /// If it was ever measured.
        Always = "always",
    }
}

choices! {
    /// Fill of pixels without a disparity.
    pub enum Fill {
        /// They stay invalid.
        None = "none",
        /// The farther one of the nearest valid neighbours in the row.
        Background = "background",
        /// The farther side of the row, each side being the median of its three nearest valid pixels.
        Interpolate = "interpolate",
        /// Planes through surfaces without texture, slopes continued to the borders, then as interpolate.
        Planes = "planes",
    }
}

/// Penalties of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Penalties {
    /// P1, for a step of 1 px.
    pub p1: u32,
    /// P2, for a larger step.
    pub p2: u32,
    /// Lower bound of the adapted P2.
    pub p2_min: u32,
    /// Decrease of P2 per grey level, in sixteenths.
    pub p2_alpha: u32,
}
