//! Joint histogram of brightness: a pair and its disparities in, counts of left and right levels out.

use stereopsis_base::image::Image;

/// Largest number of pixels of an image whose smoothed counts fit in 32 bits.
pub const MAX_PIXELS: usize = 1 << 24;

/// Number of brightness levels.
pub const LEVELS: usize = 256;

/// Counts the pairs of brightness, `[left * 256 + right]`, over all left pixels with a disparity whose partner `x - d` lies inside:
/// the joint distribution times the number of pairs. Images have at most [`MAX_PIXELS`].
pub fn histogram(left: &Image<u8>, right: &Image<u8>, start: &Image<Option<i32>>) -> Vec<u32> {
    let (width, height) = left.size();
    let mut counts = vec![0; LEVELS * LEVELS];
    for y in 0..height {
        for x in 0..width {
            let Some(d) = start.at(x, y) else { continue };
            if let Some(partner) = right.get(x as isize - d as isize, y as isize) {
                counts[usize::from(left.at(x, y)) * LEVELS + usize::from(partner)] += 1;
            }
        }
    }
    counts
}
