//! Segments: connected calm pixels, which mostly belong to one surface without texture.

use super::calm::calm_pixels;
use stereopsis_base::image::Image;

/// Size of the smallest segment, px.
pub const MIN_SEGMENT: u32 = 150;

/// Returns the pixels of each segment row by row: at least [`MIN_SEGMENT`] calm pixels, connected along sides.
pub fn segments(luma: &Image<u8>) -> Vec<Vec<(usize, usize)>> {
    let mut is_left = calm_pixels(luma);
    let (width, height) = luma.size();
    let mut segments = Vec::new();
    for first in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        if !is_left.at(first.0, first.1) {
            continue;
        }
        is_left.set(first.0, first.1, false);
        let mut segment = vec![first];
        let mut next = 0;
        while let Some(&(x, y)) = segment.get(next) {
            next += 1;
            for (x, y) in [(x.wrapping_sub(1), y), (x + 1, y), (x, y.wrapping_sub(1)), (x, y + 1)] {
                if x < width && y < height && is_left.at(x, y) {
                    is_left.set(x, y, false);
                    segment.push((x, y));
                }
            }
        }
        segment.sort_unstable_by_key(|&(x, y)| (y, x));
        if segment.len() >= MIN_SEGMENT as usize {
            segments.push(segment);
        }
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calm_areas_of_enough_pixels_are_segments() {
        // 20 x 10 px to the left of an edge and 14 x 10 px to the right; the edge removes columns 18 to 21
        let luma = Image::from_fn(36, 10, |x, _| if x < 20 { 50 } else { 90 });
        let found = segments(&luma);
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [180]);
        assert_eq!((found[0][0], found[0][179]), ((0, 0), (17, 9)));
        let luma = Image::from_fn(40, 10, |x, _| if x < 20 { 50 } else { 90 });
        assert_eq!(segments(&luma).iter().map(|segment| segment[0]).collect::<Vec<_>>(), [(0, 0), (22, 0)]);
    }
}
