//! Coordinates that are clamped into an image.

use stereopsis_base::image::Image;

/// Returns the column of the partner of left column `x` at disparity `d`, clamped into an image `width` px wide.
pub fn partner(x: usize, d: i32, width: usize) -> usize {
    (x as i64 - i64::from(d)).clamp(0, width as i64 - 1) as usize
}

/// Extends an image by `rx` columns and `ry` rows at each side with clamped coordinates, so that windows need no border case.
pub(super) fn padded(picture: &Image<u16>, (rx, ry): (usize, usize)) -> Image<u16> {
    Image::from_fn(picture.width() + 2 * rx, picture.height() + 2 * ry, |x, y| {
        picture.at_clamped(x as isize - rx as isize, y as isize - ry as isize)
    })
}
