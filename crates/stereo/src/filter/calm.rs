//! Calm pixels: brightness hardly changes there, so matching finds nothing but the border of a surface.

use stereopsis_base::image::Image;

const BLUR: [u32; 5] = [1, 4, 6, 4, 1];

/// Largest step of blurred brightness to the neighbours of a calm pixel, grey levels.
pub const CALM_STEP: u8 = 2;

/// Returns whether each pixel is calm: its blurred brightness differs by at most [`CALM_STEP`] from the pixels to the left and above.
pub fn calm_pixels(luma: &Image<u8>) -> Image<bool> {
    let blurred = blur(luma);
    let (width, height) = luma.size();
    Image::from_fn(width, height, |x, y| {
        let here = blurred.at(x, y);
        let [left, above] = [blurred.at(x.saturating_sub(1), y), blurred.at(x, y.saturating_sub(1))];
        here.abs_diff(left).max(here.abs_diff(above)) <= CALM_STEP
    })
}

/// Blurs brightness by 1 4 6 4 1 in both directions, clamped at the borders: `(sum + 128) >> 8`.
fn blur(luma: &Image<u8>) -> Image<u8> {
    let (width, height) = luma.size();
    Image::from_fn(width, height, |x, y| {
        let mut sum = 0;
        for (dy, weight_y) in (-2..).zip(BLUR) {
            for (dx, weight_x) in (-2..).zip(BLUR) {
                sum += weight_x * weight_y * u32::from(luma.at_clamped(x as isize + dx, y as isize + dy));
            }
        }
        ((sum + 128) >> 8) as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_not_calm() {
        let luma = Image::from_fn(16, 3, |x, _| if x < 8 { 100 } else { 116 });
        // blurred: 100 101 105 111 115 116 from column 6 on
        assert_eq!(blur(&luma).row(1)[5..12], [100, 101, 105, 111, 115, 116, 116]);
        let calm = calm_pixels(&luma);
        let expected: Vec<bool> = (0..16).map(|x| !(7..10).contains(&x)).collect();
        assert_eq!(calm.row(1), expected);
    }
}
