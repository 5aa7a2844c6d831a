//! Smaller images of the same pair: gates and mutual information come from a match at half the size.
//!
//! A level is matched like the pair itself, with parameters derived from those of the finer level
//! ([`StereoParams::coarser`](crate::StereoParams::coarser)). Its map bounds the search of the finer level (`stereo::gating`), or starts
//! the learning of mutual information (`stereo::cost::mutual_information`).

use stereopsis_base::image::{Image, Luma};

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
