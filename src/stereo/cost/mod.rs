//! Matching cost: how unlike two pixels are. A pair of pictures goes in, a cost volume comes out.
//!
//! The partner of left `(x, y)` at disparity `d` is right `(x - d, y)`. Its column is clamped into the picture and all
//! candidates compete; the left-right check removes what lies outside afterwards.

pub mod absolute;
pub mod ad_census;
pub mod census;
pub mod gradient_census;
pub mod mutual_information;
pub mod rank;
pub mod sad;
pub mod tables;

use super::Volume;
use super::params::StereoParams;
use crate::choices;
use crate::image::Luma;

choices! {
    /// How two pixels are compared.
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

/// Penalties that suit a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Penalties {
    /// For a step of 1 px.
    pub p1: u32,
    /// For a larger step.
    pub p2: u32,
    /// The least that adaptation leaves of P2.
    pub p2_min: u32,
    /// Sixteenths by which P2 falls per grey level.
    pub p2_alpha: u32,
}

impl CostKind {
    /// Default penalties of this cost.
    pub const fn penalties(self) -> Penalties {
        let (p1, p2, p2_min, p2_alpha) = match self {
            Self::Census5x5 => (14, 60, 15, 44),
            Self::Census7x7 => (26, 120, 27, 88),
            Self::Census9x7 => (32, 150, 33, 110),
            Self::Census9x7Symmetric => (10, 100, 15, 64),
            Self::Rank => (40, 120, 44, 80),
            Self::Sad => (8, 30, 13, 20),
            Self::Ad => (10, 60, 15, 40),
            Self::AdCensus => (40, 160, 44, 100),
            Self::GradientCensus => (20, 80, 22, 50),
            Self::MutualInformation => (16, 160, 24, 80),
        };
        Penalties { p1, p2, p2_min, p2_alpha }
    }

    /// Largest value that enters the paths.
    pub const fn largest(self, rank_window: u32) -> u32 {
        match self {
            Self::Census5x5 | Self::Census7x7 | Self::Census9x7 | Self::Census9x7Symmetric => {
                census::Shape::of(self).bits() as u32
            }
            Self::Rank => rank_window * rank_window - 1,
            Self::Sad | Self::Ad => 255,
            Self::AdCensus => 254,
            Self::GradientCensus => 126,
            Self::MutualInformation => 127,
        }
    }
}

/// Column of the partner of left column `x` at disparity `d`, clamped into a picture `width` px wide.
pub fn partner(x: usize, d: i32, width: usize) -> usize {
    (x as i64 - i64::from(d)).clamp(0, width as i64 - 1) as usize
}

/// Cost of every pixel and candidate, 0 to [`StereoParams::largest_cost`]. Mutual information needs its table; without one
/// all its costs are 0.
pub fn volume(
    left: &Luma,
    right: &Luma,
    params: &StereoParams,
    information: Option<&mutual_information::Table>,
) -> Volume<u8> {
    let (left8, right8) = (left.to_u8(), right.to_u8());
    match params.cost {
        CostKind::Census5x5 | CostKind::Census7x7 | CostKind::Census9x7 | CostKind::Census9x7Symmetric => {
            let shape = census::Shape::of(params.cost);
            let (l, r) = (census::transform(&left.to_u16(), shape), census::transform(&right.to_u16(), shape));
            compare(left.size(), params, |x, y, xr| (l.at(x, y) ^ r.at(xr, y)).count_ones() as u8)
        }
        CostKind::Rank => {
            let window = params.rank_window as usize;
            let (l, r) = (rank::transform(&left.to_u16(), window), rank::transform(&right.to_u16(), window));
            compare(left.size(), params, |x, y, xr| l.at(x, y).abs_diff(r.at(xr, y)))
        }
        CostKind::Sad => sad::mean_volume(&left8, &right8, params),
        CostKind::Ad => compare(left.size(), params, |x, y, xr| absolute::difference(left8.at(x, y), right8.at(xr, y))),
        CostKind::AdCensus => {
            let shape = census::Shape::of(ad_census::CENSUS);
            let (l, r) = (census::transform(&left.to_u16(), shape), census::transform(&right.to_u16(), shape));
            let tables = ad_census::tables();
            compare(left.size(), params, |x, y, xr| {
                let difference = absolute::difference(left8.at(x, y), right8.at(xr, y));
                tables.cost(difference, (l.at(x, y) ^ r.at(xr, y)).count_ones())
            })
        }
        CostKind::GradientCensus => {
            let shape = census::Shape::of(gradient_census::CENSUS);
            let (l, r) = (census::transform(&left.to_u16(), shape), census::transform(&right.to_u16(), shape));
            let [gl, gr] = [&left8, &right8].map(gradient_census::gradients);
            let tables = gradient_census::tables();
            compare(left.size(), params, |x, y, xr| {
                let difference = gradient_census::difference(gl.at(x, y), gr.at(xr, y));
                tables.cost(difference, (l.at(x, y) ^ r.at(xr, y)).count_ones())
            })
        }
        CostKind::MutualInformation => compare(left.size(), params, |x, y, xr| {
            information.map_or(0, |table| table.cost(left8.at(x, y), right8.at(xr, y)))
        }),
    }
}

/// A volume from a comparison of left `(x, y)` with right `(xr, y)`.
fn compare(size: (usize, usize), params: &StereoParams, cost: impl Fn(usize, usize, usize) -> u8) -> Volume<u8> {
    Volume::from_fn(size.0, size.1, params.num_disparities as usize, |x, y, i| {
        cost(x, y, partner(x, params.disparity(i), size.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Image;
    use crate::stereo::{DisparityMap, match_pair};

    /// A texture and the same seen `shift` px further left.
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

    /// Share of the pixels whose partner lies inside that have disparity `d`.
    fn right_share(map: &DisparityMap, d: i32) -> f64 {
        let (width, height) = map.size();
        let inside = (0..width).filter(|&x| (0..width as i32).contains(&(x as i32 - d)));
        let good = inside.clone().flat_map(|x| (0..height).map(move |y| (x, y)));
        let good = good.filter(|&(x, y)| map.disparity_px(x, y).is_some_and(|v| (v - d as f32).abs() < 0.5));
        good.count() as f64 / (inside.count() * height) as f64
    }

    #[test]
    fn every_cost_finds_a_shift_in_both_directions_and_at_every_depth() {
        // mutual information learns nothing from so little noise
        for &cost in CostKind::ALL.iter().filter(|&&cost| cost != CostKind::MutualInformation) {
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
