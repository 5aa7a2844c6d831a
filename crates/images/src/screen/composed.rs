//! Images made of both images of a pair, as RGBA bytes for the window.

use stereopsis_base::geometry::Axis;
use stereopsis_base::image::{Image, Picture, QuarterTurn};

/// Distance of the lines of [`rows`], share of the height.
const LINE_DISTANCE: f32 = 1.0 / 16.0;
const LINE_COLOUR: [u8; 3] = [90, 220, 90];

/// Returns the left image in red over the right one in blue and green, for red-cyan glasses.
pub fn anaglyph(left: &Picture, right: &Picture) -> Vec<u8> {
    let [left, right] = [left, right].map(|picture| picture.luma.to_u8());
    let pixels = left.pixels().iter().zip(right.pixels());
    pixels.flat_map(|(&left, &right)| [left, right, right, 255]).collect()
}

/// Returns both images under common lines in the size of one: every second column of the left image, then of the right one, under
/// horizontal lines; for a vertical baseline every second row, and vertical lines.
pub fn rows(left: &Picture, right: &Picture, axis: Axis) -> Vec<u8> {
    match axis {
        Axis::Horizontal => beside(left, right).into_pixels(),
        Axis::Vertical => {
            let [left, right] = [left, right].map(|picture| picture.turned(QuarterTurn::Left));
            beside(&left, &right).turned(QuarterTurn::Right).into_pixels()
        }
    }
    .into_flattened()
}

fn beside(left: &Picture, right: &Picture) -> Image<[u8; 4]> {
    let [left, right] = [left, right].map(|picture| picture.luma.to_u8());
    let (width, height) = left.size();
    let distance = ((height as f32 * LINE_DISTANCE) as usize).max(2);
    let half = width.div_ceil(2);
    let colour = |x: usize, y: usize| {
        if y % distance == distance / 2 {
            let [r, g, b] = LINE_COLOUR;
            return [r, g, b, 255];
        }
        let value = if x < half { left.at(2 * x, y) } else { right.at((2 * (x - half)).min(width - 1), y) };
        [value, value, value, 255]
    };
    Image::from_fn(width, height, colour)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_base::image::Luma;

    fn picture(width: usize, value: impl Fn(usize, usize) -> u8) -> Picture {
        Picture { luma: Luma::U8(Image::from_fn(width, 48, value)), rgb: None }
    }

    #[test]
    fn anaglyph_and_rows_contain_both_images() {
        for width in [6, 7] {
            let (left, right) = (picture(width, |x, _| x as u8), picture(width, |x, y| (100 + x + y) as u8));
            let bytes = anaglyph(&left, &right);
            assert_eq!((bytes.len(), &bytes[4 * (width + 2)..][..4]), (width * 48 * 4, &[2, 103, 103, 255][..]));
            let bytes = rows(&left, &right, Axis::Horizontal);
            assert_eq!(bytes.len(), width * 48 * 4);
            assert_eq!(&bytes[4..8], &[2, 2, 2, 255], "every second column of the left one");
            let half = width.div_ceil(2);
            assert_eq!(bytes[4 * half], 100, "then the right one");
            assert_eq!(&bytes[4 * width..][..3], &LINE_COLOUR, "a line in the second row");
            let upright = rows(&left, &right, Axis::Vertical);
            let at = |x: usize, y: usize| &upright[4 * (y * width + x)..][..3];
            let last = width as u8 - 1;
            let column = [0, 24, 25].map(|y| at(width - 1, y)[0]);
            assert_eq!(column, [last, 100 + last, 102 + last], "the left one is above, every second row of both");
            assert!((0..48).all(|y| at(width - 2, y) == LINE_COLOUR), "a line in the second column from the right");
        }
    }
}
