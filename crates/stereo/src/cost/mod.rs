//! Matching costs: two images in, a cost volume out.
//!
//! The partner of left `(x, y)` at disparity `d` is right `(x - d, y)`. Its column is clamped into the image; the left-right check
//! later drops winners whose partner lies outside.
//!
//! Each cost is a constant [`Cost`] in its own file, which [`CostKind`](crate::CostKind) names. Engines implement the few kinds of
//! [`Comparison`], not each cost.

pub mod absolute;
pub mod ad_census;
pub mod census;
mod clamped;
mod comparison;
pub mod gradient_census;
mod kind;
pub mod mutual_information;
mod pixel;
pub mod rank;
pub mod sad;
pub mod tables;
mod volume;

pub use clamped::partner;
pub use comparison::{Channel, Comparison, Cost, ExposureTolerance, Scalar, Shape};
pub use kind::CostSettings;
pub use pixel::PixelCosts;
pub use volume::volume;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CostKind, DisparityMap, StereoParams, match_pair};
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
            let costs = volume(&left, &right, &CostSettings::of(&params), &params.disparities(), None);
            assert!(costs.data.iter().all(|&c| u32::from(c) <= params.largest_cost()), "{cost}");
        }
    }

    #[test]
    fn sad_sums_each_pixels_own_partner() {
        let left = Luma::U8(Image::new(3, 1, vec![10, 20, 40]));
        let right = Luma::U8(Image::new(3, 1, vec![20, 40, 80]));
        let params = StereoParams { sad_window: 3, num_disparities: 2, ..StereoParams::for_cost(CostKind::Sad) };
        let sums = sad::sum_volume(&left.to_u8(), &right.to_u8(), 3, &params.disparities());
        // centre, d 0: three rows of |10-20| + |20-40| + |40-80|; d 1: |10-20| + |20-20| + |40-40|
        assert_eq!(sums.at(1, 0), [3 * 70, 3 * 10]);
        // left column, d 1: the window is 10 10 20, the partners of columns 0, 0, 1 are 20 20 20
        assert_eq!(sums.at(0, 0)[1], 3 * 20);
        assert_eq!(volume(&left, &right, &CostSettings::of(&params), &params.disparities(), None).at(1, 0), [23, 3]);
    }
}
