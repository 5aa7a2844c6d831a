//! Matching costs: two images in, a cost volume out.
//!
//! The partner of left `(x, y)` at disparity `d` is right `(x - d, y)`. Its column is clamped into the image; the left-right check
//! later drops winners whose partner lies outside.
//!
//! Each cost is a constant [`Cost`] in its own file; [`CostKind`] lists them. Engines implement the few kinds of [`Comparison`], not
//! each cost.

pub mod absolute;
pub mod ad_census;
pub mod census;
pub mod gradient_census;
pub mod mutual_information;
mod pixel;
pub mod rank;
pub mod sad;
pub mod tables;
mod volume;

pub use pixel::PixelCosts;
pub use volume::volume;

use census::Shape;
use stereopsis_base::image::Image;
use stereopsis_base::parameter::choices;
use tables::Scale;

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

/// Default penalties of a cost.
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

choices! {
    /// Matching cost of two pixels.
    pub enum CostKind: Cost {
        /// Census over 5 x 5: 24 bits, robust against light, sharp at edges.
        Census5x5 = "census-5x5" => census::CENSUS_5X5,
        /// Census over 7 x 7: 48 bits, calmer on weak texture.
        Census7x7 = "census-7x7" => census::CENSUS_7X7,
        /// Census over 9 x 7: 62 bits, the calmest.
        Census9x7 = "census-9x7" => census::CENSUS_9X7,
        /// Centre-symmetric census over 9 x 7: 31 pairs of opposite pixels.
        Census9x7Symmetric = "census-9x7-symmetric" => census::CENSUS_9X7_SYMMETRIC,
        /// Rank transform: how many neighbours are darker (Banz et al. 2011).
        Rank = "rank" => rank::RANK,
        /// Sum of absolute differences over a window; needs equal exposure.
        Sad = "sad" => sad::SAD,
        /// Absolute difference of two pixels: for aggregation over windows; needs equal exposure.
        Ad = "ad" => absolute::AD,
        /// Absolute difference and census 7x7 on one scale (Mei et al. 2011): for local aggregation.
        AdCensus = "ad-census" => ad_census::AD_CENSUS,
        /// Gradient and census 7x7 on one scale: the most exact at edges with aggregation cross; exposures may differ somewhat.
        GradientCensus = "gradient-census" => gradient_census::GRADIENT_CENSUS,
        /// Mutual information, learned from the pair (Ernst & Hirschmüller 2008): exposures and kinds of light may differ.
        MutualInformation = "mutual-information" => mutual_information::MUTUAL_INFORMATION,
    }
}

impl CostKind {
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
            Self::LearnedTable => mutual_information::MAX_COST,
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

/// Returns the column of the partner of left column `x` at disparity `d`, clamped into an image `width` px wide.
pub fn partner(x: usize, d: i32, width: usize) -> usize {
    (x as i64 - i64::from(d)).clamp(0, width as i64 - 1) as usize
}

/// Extends an image by `rx` columns and `ry` rows at each side with clamped coordinates, so that windows need no border case.
fn padded(picture: &Image<u16>, (rx, ry): (usize, usize)) -> Image<u16> {
    Image::from_fn(picture.width() + 2 * rx, picture.height() + 2 * ry, |x, y| {
        picture.at_clamped(x as isize - rx as isize, y as isize - ry as isize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DisparityMap, StereoParams, match_pair};
    use stereopsis_base::image::{Image, Luma};

    fn shifted(width: usize, height: usize, shift: i32, bits: u8) -> (Luma, Luma) {
        let mut random = fastrand::Rng::with_seed(7);
        let texture = Image::from_fn(width + 64, height, |_, _| random.u16(0..=u16::MAX) >> (16 - bits));
        let view = |offset: i32| Image::from_fn(width, height, |x, y| texture.at((x as i32 + 32 + offset) as usize, y));
        let luma = |image: Image<u16>| match bits {
            8 => Luma::U8(image.map(|&v| v as u8)),
            _ => Luma::U16 { image, bits },
        };
        (luma(view(0)), luma(view(shift)))
    }

    /// Returns the share of pixels with disparity `d`, among those whose partner lies inside.
    fn right_share(map: &DisparityMap, d: i32) -> f64 {
        let (width, height) = map.size();
        let inside = (0..width).filter(|&x| (0..width as i32).contains(&(x as i32 - d)));
        let good = inside.clone().flat_map(|x| (0..height).map(move |y| (x, y)));
        let good = good.filter(|&(x, y)| map.disparity_px(x, y).is_some_and(|v| (v - d as f32).abs() < 0.5));
        good.count() as f64 / (inside.count() * height) as f64
    }

    #[test]
    fn every_cost_finds_a_shift_in_both_directions_and_at_every_depth() {
        // mutual information cannot be learned from so little noise
        for &cost in CostKind::ALL.iter().filter(|&&cost| !cost.is_learned()) {
            for (shift, min_disparity, bits) in [(6, 0, 8), (-4, -8, 8), (6, 0, 12), (3, 2, 16)] {
                for paths in [0, 8] {
                    let (left, right) = shifted(60, 20, shift, bits);
                    let params =
                        StereoParams { min_disparity, num_disparities: 16, paths, ..StereoParams::for_cost(cost) };
                    let share = right_share(&match_pair(&left, &right, &params), shift);
                    assert!(share > 0.9, "{cost}, shift {shift}, {bits} bits, {paths} paths: {share}");
                }
            }
        }
    }

    #[test]
    fn costs_stay_within_the_largest() {
        let (left, right) = shifted(31, 9, 3, 8);
        for &cost in CostKind::ALL {
            let params = StereoParams { num_disparities: 40, ..StereoParams::for_cost(cost) };
            let costs = volume(&left, &right, &params, None);
            assert!(costs.data.iter().all(|&c| u32::from(c) <= params.largest_cost()), "{cost}");
        }
    }

    #[test]
    fn sad_sums_each_pixels_own_partner() {
        let left = Luma::U8(Image::new(3, 1, vec![10, 20, 40]));
        let right = Luma::U8(Image::new(3, 1, vec![20, 40, 80]));
        let params = StereoParams { sad_window: 3, num_disparities: 2, ..StereoParams::for_cost(CostKind::Sad) };
        let sums = sad::sum_volume(&left.to_u8(), &right.to_u8(), &params);
        // centre, d 0: three rows of |10-20| + |20-40| + |40-80|; d 1: |10-20| + |20-20| + |40-40|
        assert_eq!(sums.at(1, 0), [3 * 70, 3 * 10]);
        // left column, d 1: the window is 10 10 20, the partners of columns 0, 0, 1 are 20 20 20
        assert_eq!(sums.at(0, 0)[1], 3 * 20);
        assert_eq!(volume(&left, &right, &params, None).at(1, 0), [23, 3]);
    }
}
