//! Smaller images of the same pair: gates and mutual information come from a match at half the size.
//!
//! A level is matched like the pair itself, with parameters derived from those of the finer level ([`coarser`]). Its map bounds the search
//! of the finer level (`stereo::gating`), or starts the learning of mutual information (`stereo::cost::mutual_information`).

use super::params::words::{Fill, RightMatching, Subpixel, Temporal};
use super::params::{COARSE_PATHS, StereoParams};
use stereopsis_base::image::{Image, Luma};

/// Smallest side of the images of a level, px; there are no coarser levels below it.
const MIN_SIDE_PX: usize = 2;

/// Smallest side of a level that only serves to learn mutual information, px; a histogram needs more pixels.
const MIN_INFORMATIVE_SIDE_PX: usize = 16;

fn half_side((width, height): (usize, usize)) -> usize {
    width.min(height).div_ceil(2)
}

/// Whether images of `size` are gated by a coarser level.
pub fn is_gated(params: &StereoParams, size: (usize, usize)) -> bool {
    params.gating.is_some() && half_side(size) >= MIN_SIDE_PX
}

/// Whether mutual information of images of `size` is learned from a coarser level's map.
pub fn has_coarse_information(params: &StereoParams, size: (usize, usize)) -> bool {
    let is_asked_for = params.cost.is_learned() && params.mi_levels > 1;
    is_asked_for && half_side(size) >= MIN_INFORMATIVE_SIDE_PX
}

/// Returns the smallest and largest disparity at half the size: each searched one is twice a coarser one, or 1 px above that.
pub fn coarse_range(params: &StereoParams) -> (i32, i32) {
    (params.min_disparity.div_euclid(2), params.last_disparity().div_euclid(2))
}

/// Returns the parameters for half the size, for images of `size` with these; `None` where there is no such level.
///
/// Cost, aggregation, penalties, median and left-right check stay. All other tests and filters are off: whole pixels suffice for a
/// gate, and a wrongly dropped, filled or moved disparity would narrow it.
pub fn coarser(params: &StereoParams, size: (usize, usize)) -> Option<StereoParams> {
    if !is_gated(params, size) && !has_coarse_information(params, size) {
        return None;
    }
    let (min, max) = coarse_range(params);
    Some(StereoParams {
        min_disparity: min,
        num_disparities: (max - min + 1) as u32,
        gating: params.gating.filter(|&levels| levels > 1).map(|levels| levels - 1),
        mi_levels: params.mi_levels.max(2) - 1,
        paths: if params.paths == 0 { 0 } else { COARSE_PATHS },
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
        ..params.clone()
    })
}

/// Returns the rounded mean of each 2 x 2 pixels, at full bit depth. Sizes are rounded up; a missing column or row repeats the last one.
pub fn halve(luma: &Luma) -> Luma {
    match luma {
        Luma::U8(image) => Luma::U8(halve_image(image, u32::from, |mean| mean as u8)),
        Luma::U16 { image, bits } => {
            Luma::U16 { image: halve_image(image, u32::from, |mean| mean as u16), bits: *bits }
        }
    }
}

fn halve_image<T: Copy>(image: &Image<T>, widen: impl Fn(T) -> u32, narrow: impl Fn(u32) -> T) -> Image<T> {
    let (width, height) = image.size();
    Image::from_fn(width.div_ceil(2), height.div_ceil(2), |x, y| {
        let mut sum = 0;
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            sum += widen(image.at_clamped((2 * x + dx) as isize, (2 * y + dy) as isize));
        }
        narrow((sum + 2) >> 2)
    })
}
