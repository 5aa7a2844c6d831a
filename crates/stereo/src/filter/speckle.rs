//! Speckle removal: small islands of similar disparity are mismatches.

use crate::map::{DisparityMap, INVALID, reason};
use stereopsis_base::image::Image;

/// Invalidates 4-connected regions of at most `size` pixels; neighbours in a region differ by at most `range_px`.
pub fn remove_speckle(map: &mut DisparityMap, size: u32, range_px: u32) {
    if size == 0 {
        return;
    }
    let (width, height) = map.size();
    let mut seen = Image::filled(width, height, false);
    for start in 0..width * height {
        let mut region = vec![(start % width, start / width)];
        let (x, y) = region[0];
        if seen.at(x, y) || map.values.at(x, y) == INVALID {
            continue;
        }
        seen.set(x, y, true);
        let mut next = 0;
        while let Some(&(x, y)) = region.get(next) {
            next += 1;
            for (dx, dy) in [(1, 0), (0, 1), (-1, 0), (0, -1)] {
                let (nx, ny) = (x as isize + dx, y as isize + dy);
                let Some(neighbour) = map.values.get(nx, ny) else { continue };
                let (nx, ny) = (nx as usize, ny as usize);
                let close = i32::from(neighbour).abs_diff(i32::from(map.values.at(x, y))) <= 16 * range_px;
                if neighbour != INVALID && close && !seen.at(nx, ny) {
                    seen.set(nx, ny, true);
                    region.push((nx, ny));
                }
            }
        }
        if region.len() <= size as usize {
            for (x, y) in region {
                map.invalidate(x, y, reason::SPECKLE);
            }
        }
    }
}
