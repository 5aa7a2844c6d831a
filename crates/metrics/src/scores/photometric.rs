//! Photometric score: the right image is warped by the map into the left view and compared with the left image.

use super::measured::is_measured;
use stereopsis_base::image::{Image, Luma};
use stereopsis_stereo::DisparityMap;

/// Mean difference of the left image and the warped right one, over measured pixels that the right view sees.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Photometric {
    /// Number of compared pixels.
    pub pixels: usize,
    /// Census distance in windows of 5x5 px, bits of 24; 12 for unrelated images. Independent of exposure. Neighbours without a warped
    /// value are left out, and the rest is scaled to 24 bits.
    pub census_bits: f64,
    /// Absolute difference, grey levels of 8 bits; different exposure of the two cameras adds to it.
    pub grey_levels: f64,
}

/// Smallest difference of disparity by which a pixel hides another one of its row that has the same right column, 1/16 px.
const OCCLUDING_STEP: i32 = 16;
/// Radius of the census window: 5x5 without the centre.
const CENSUS_RADIUS: isize = 2;
const CENSUS_BITS: f64 = 24.0;

/// Compares the images by the map; all three have one size. `None` if no pixel can be compared, or the sizes differ.
pub fn photometric(left: &Luma, right: &Luma, map: &DisparityMap) -> Option<Photometric> {
    if left.size() != map.size() || right.size() != map.size() {
        return None;
    }
    let (left, right) = (left.to_u8().map(|&v| f32::from(v)), right.to_u8());
    let warped = warped(&right, map);
    let (mut grey, mut pixels) = (0.0, 0_usize);
    let (mut census, mut compared) = (0.0, 0_usize);
    for y in 0..left.height() {
        for x in 0..left.width() {
            let value = warped.at(x, y);
            if value.is_nan() {
                continue;
            }
            pixels += 1;
            grey += f64::from((left.at(x, y) - value).abs());
            if let Some(share) = census_share(&left, &warped, x, y) {
                (census, compared) = (census + share, compared + 1);
            }
        }
    }
    (compared > 0).then(|| Photometric {
        pixels,
        census_bits: CENSUS_BITS * census / compared as f64,
        grey_levels: grey / pixels as f64,
    })
}

/// Warps the right image into the left view, by linear interpolation; NaN without a measurement, and for points hidden from the right view.
fn warped(right: &Image<u8>, map: &DisparityMap) -> Image<f32> {
    let (width, height) = map.size();
    let mut warped = Image::filled(width, height, f32::NAN);
    let mut nearest = vec![i32::MIN; width];
    for y in 0..height {
        let (values, reasons) = (map.values.row(y), map.reasons.row(y));
        // column of the right image in 1/16 px, and the disparity
        let target = |x: usize| {
            let d16 = i32::from(values[x]);
            let at16 = 16 * x as i32 - d16;
            let inside = at16 >= 0 && at16 <= 16 * (width as i32 - 1);
            (inside && is_measured(values[x], reasons[x])).then_some((at16, d16))
        };
        nearest.fill(i32::MIN);
        for (at16, d16) in (0..width).filter_map(target) {
            let column = ((at16 + 8) >> 4) as usize;
            nearest[column] = nearest[column].max(d16);
        }
        for x in 0..width {
            let Some((at16, d16)) = target(x) else { continue };
            if nearest[((at16 + 8) >> 4) as usize] > d16 + OCCLUDING_STEP {
                continue;
            }
            let (column, part) = ((at16 >> 4) as usize, (at16 & 15) as f32 / 16.0);
            let row = right.row(y);
            let (a, b) = (f32::from(row[column]), f32::from(row[(column + 1).min(width - 1)]));
            warped.set(x, y, a + part * (b - a));
        }
    }
    warped
}

/// Returns the share of the comparisons with the centre that differ between the images; `None` without neighbours.
fn census_share(left: &Image<f32>, warped: &Image<f32>, x: usize, y: usize) -> Option<f64> {
    let (left_centre, warped_centre) = (left.at(x, y), warped.at(x, y));
    let (mut differ, mut count) = (0_u32, 0_u32);
    for dy in -CENSUS_RADIUS..=CENSUS_RADIUS {
        for dx in -CENSUS_RADIUS..=CENSUS_RADIUS {
            let (nx, ny) = (x as isize + dx, y as isize + dy);
            let Some(value) = warped.get(nx, ny).filter(|value| !value.is_nan() && (dx, dy) != (0, 0)) else {
                continue;
            };
            count += 1;
            differ += u32::from((left.at(nx as usize, ny as usize) < left_centre) != (value < warped_centre));
        }
    }
    (count > 0).then(|| f64::from(differ) / f64::from(count))
}
