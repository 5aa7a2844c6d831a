//! Luma and colours of Bayer mosaics, in which each pixel has one colour.
//!
//! Each 2x2 square has one red, two green and one blue pixel. So a mean of 3x3 pixels with the weights 1 2 1 in both directions is a
//! quarter red, half green and a quarter blue at every pixel, for any order of the colours: luma, at full size. Colours are bilinear
//! means of the nearest pixels of each colour, with the same weights. The border is mirrored, which keeps the order.

use crate::message::Mosaic;
use stereopsis_base::image::Image;

/// Returns the luma of a mosaic of at least 2x2 pixels, in its unit.
pub(super) fn luma(mosaic: &Image<u16>) -> Image<u16> {
    let (width, height) = mosaic.size();
    let mut pixels = Vec::with_capacity(width * height);
    let mut columns = vec![0_u32; width];
    for y in 0..height {
        let [above, own, below] = around(y, height).map(|y| mosaic.row(y));
        for (sum, ((a, o), b)) in columns.iter_mut().zip(above.iter().zip(own).zip(below)) {
            *sum = u32::from(*a) + 2 * u32::from(*o) + u32::from(*b);
        }
        pixels.extend((0..width).map(|x| {
            let [left, own, right] = around(x, width).map(|x| columns[x]);
            ((left + 2 * own + right + 8) / 16) as u16
        }));
    }
    Image::new(width, height, pixels)
}

/// Returns red, green and blue of a mosaic of at least 2x2 pixels, divided by 2^`shift`.
pub(super) fn colors(mosaic: &Image<u16>, order: Mosaic, shift: u8) -> Image<[u8; 3]> {
    let (width, height) = mosaic.size();
    Image::from_fn(width, height, |x, y| {
        let (mut sums, mut weights) = ([0_u32; 3], [0_u32; 3]);
        for (y, in_column) in around(y, height).into_iter().zip([1, 2, 1]) {
            for (x, in_row) in around(x, width).into_iter().zip([1, 2, 1]) {
                let color = order.color(x, y);
                sums[color] += in_row * in_column * u32::from(mosaic.at(x, y));
                weights[color] += in_row * in_column;
            }
        }
        std::array::from_fn(|color| ((sums[color] / weights[color].max(1)) >> shift).min(255) as u8)
    })
}

/// Returns the indexes before, at and after a place, mirrored at both ends.
fn around(at: usize, count: usize) -> [usize; 3] {
    let next = if at + 1 < count { at + 1 } else { at.saturating_sub(1) };
    [if at > 0 { at - 1 } else { next }, at, next]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: (usize, usize) = (9, 6);

    #[test]
    fn uniform_colour_stays_uniform_in_every_order() {
        let color = [200, 100, 40];
        for order in Mosaic::ALL {
            let mosaic = Image::from_fn(SIZE.0, SIZE.1, |x, y| color[order.color(x, y)]);
            assert!(luma(&mosaic).pixels().iter().all(|&v| v == (200 + 2 * 100 + 40) / 4), "{order:?}");
            assert!(colors(&mosaic, order, 0).pixels().iter().all(|&rgb| rgb == [200, 100, 40]), "{order:?}");
        }
        let deep = Image::from_fn(SIZE.0, SIZE.1, |x, y| 16 * color[Mosaic::Grbg.color(x, y)]);
        assert!(colors(&deep, Mosaic::Grbg, 4).pixels().iter().all(|&rgb| rgb == [200, 100, 40]));
        assert!(luma(&deep).pixels().iter().all(|&v| v == 1760));
    }

    #[test]
    fn grey_slopes_keep_their_position() {
        let slope = |x: usize, y: usize| (100 + 12 * x + 4 * y) as u16;
        let mosaic = Image::from_fn(SIZE.0, SIZE.1, slope);
        let luma = luma(&mosaic);
        let rgb = colors(&mosaic, Mosaic::Gbrg, 0);
        for (x, y) in (1..SIZE.0 - 1).flat_map(|x| (1..SIZE.1 - 1).map(move |y| (x, y))) {
            assert_eq!((luma.at(x, y), rgb.at(x, y)), (slope(x, y), [slope(x, y) as u8; 3]), "{x} {y}");
        }
    }
}
