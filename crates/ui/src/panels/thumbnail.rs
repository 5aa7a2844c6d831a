//! Small images of cameras and heads.

use egui::{Color32, ColorImage};
use stereopsis_base::image::{Luma, Picture};

/// Width of a thumbnail, points; also its largest width, px.
pub(crate) const WIDTH: usize = 192;

/// Reduces an image by subsampling.
pub(crate) fn thumbnail(picture: &Picture) -> ColorImage {
    let (width, height) = picture.size();
    let step = width.div_ceil(WIDTH).max(1);
    let size = [width.div_ceil(step), height.div_ceil(step)];
    let grey = |v: u8| Color32::from_gray(v);
    let at = |x: usize, y: usize| match (&picture.rgb, &picture.luma) {
        (Some(rgb), _) => {
            let [r, g, b] = rgb.at(x, y);
            Color32::from_rgb(r, g, b)
        }
        (None, Luma::U8(image)) => grey(image.at(x, y)),
        (None, Luma::U16 { image, bits }) => grey((image.at(x, y) >> (bits - 8)).min(255) as u8),
    };
    let rows = (0..height).step_by(step);
    let pixels = rows.flat_map(|y| (0..width).step_by(step).map(move |x| (x, y))).map(|(x, y)| at(x, y)).collect();
    ColorImage::new(size, pixels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_base::image::Image;

    #[test]
    fn thumbnails_are_small_and_look_like_the_picture() {
        let luma = Luma::U16 { image: Image::from_fn(400, 31, |x, _| (x * 10) as u16), bits: 12 };
        let small = thumbnail(&Picture { luma, rgb: None });
        assert_eq!(small.size, [134, 11]);
        assert_eq!(small.pixels[133], Color32::from_gray((3990 >> 4) as u8));
    }
}
