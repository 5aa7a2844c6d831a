//! Weighted median at edges of depth: windows see two surfaces there and fatten the nearer one; colour separates them again.

use crate::map::{DisparityMap, INVALID, SUBPIXEL_STEPS};
use stereopsis_base::image::{Guide, Image};

/// Distance from the centre of a window to its border, px.
pub const RADIUS: usize = 4;
/// Distance between the pixels of a window that count, px: every second one gives the same quality for a third of the work.
pub const STRIDE: usize = 2;
/// Distance from the centre to the border of the smaller window that finds edges of depth, px.
pub const EDGE_RADIUS: usize = 2;
/// Smallest difference of disparities at an edge, 1/16 px.
pub const EDGE: i32 = SUBPIXEL_STEPS;
/// Weight of a pixel of the same colour; it halves with each [`STEP`].
pub const MAX_WEIGHT: u32 = 256;
/// Difference of colour by which weights halve, levels of the channel that differs most.
pub const STEP: u32 = 8;

/// Replaces each disparity at an edge of depth by the weighted median of the disparities within [`RADIUS`] pixels: the smallest one
/// whose weight, with those of all smaller ones, reaches half of the total. Every second pixel of every second row counts. The weight
/// is `256 >> (difference / 8)`, where the difference is the largest one of a channel to the centre.
///
/// At an edge the disparities within [`EDGE_RADIUS`] pixels differ by at least [`EDGE`]. Pixels without a disparity have no weight and
/// stay invalid. After Ma et al.: Constant time weighted median filtering for stereo matching and beyond, ICCV 2013.
pub fn weighted_median(map: &mut DisparityMap, guide: &Guide) {
    let (width, height) = map.size();
    let before = map.values.clone();
    map.values = Image::from_fn(width, height, |x, y| {
        let centre = before.at(x, y);
        let near = || window(&before, (x, y), EDGE_RADIUS, 1).map(|(_, d)| i32::from(d));
        let spread = near().max().zip(near().min()).map_or(0, |(max, min)| max - min);
        if centre == INVALID || spread < EDGE {
            return centre;
        }
        let weigh = |((other_x, other_y), d)| (d, weight(guide.difference((x, y), (other_x, other_y))));
        let mut weighted: Vec<(i16, u32)> = window(&before, (x, y), RADIUS, STRIDE).map(weigh).collect();
        weighted.sort_unstable();
        let total: u32 = weighted.iter().map(|&(_, weight)| weight).sum();
        let mut sum = 0;
        let middle = weighted.iter().find(|&&(_, weight)| {
            sum += weight;
            2 * sum >= total
        });
        middle.map_or(centre, |&(d, _)| d)
    });
}

fn window(
    values: &Image<i16>,
    (x, y): (usize, usize),
    radius: usize,
    stride: usize,
) -> impl Iterator<Item = ((usize, usize), i16)> + '_ {
    let places = move |centre: usize, end: usize| {
        let shifted = (0..=2 * radius).step_by(stride).map(move |n| centre + n);
        shifted.filter_map(move |place| place.checked_sub(radius)).filter(move |&place| place < end)
    };
    let (width, height) = values.size();
    let pixels = places(y, height).flat_map(move |y| places(x, width).map(move |x| ((x, y), values.at(x, y))));
    pixels.filter(|&(_, d)| d != INVALID)
}

/// Returns the weight of a pixel whose colour differs by `difference` levels.
pub fn weight(difference: u8) -> u32 {
    MAX_WEIGHT >> (u32::from(difference) / STEP).min(31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fattened_edge_moves_to_where_the_colour_ends() {
        // red ends at column 10 and is as bright as the green behind it; disparity ends at column 12
        let colors = Image::from_fn(24, 9, |x, _| if x < 10 { [200, 0, 0] } else { [0, 103, 0] });
        let values = Image::from_fn(24, 9, |x, _| if x < 12 { 320 } else { 160 });
        let mut map = DisparityMap { values, reasons: Image::filled(24, 9, 0), confidence: None };
        weighted_median(&mut map, &Guide::Colors(&colors));
        assert_eq!(map.values.row(4)[8..14], [320, 320, 160, 160, 160, 160]);
        let before = map.clone();
        weighted_median(&mut map, &Guide::Luma(Image::filled(24, 9, 60)));
        assert_eq!(map, before, "without colours nothing tells them apart");
    }

    #[test]
    fn holes_stay_and_slopes_without_an_edge_too() {
        let luma = Guide::Luma(Image::from_fn(20, 20, |x, y| ((37 * x + 91 * y) % 256) as u8));
        let values = Image::from_fn(20, 20, |x, y| if (5..8).contains(&x) { INVALID } else { (2 * x + y) as i16 });
        let mut map = DisparityMap { values, reasons: Image::filled(20, 20, 0), confidence: None };
        let before = map.clone();
        weighted_median(&mut map, &luma);
        let changed: Vec<usize> = (0..400).filter(|&i| map.values.pixels()[i] != before.values.pixels()[i]).collect();
        assert!(changed.is_empty(), "{changed:?}");
    }

    #[test]
    fn weights_halve_every_eight_levels() {
        assert_eq!([0, 7, 8, 63, 64, 71, 72, 255].map(weight), [256, 256, 128, 2, 1, 1, 0, 0]);
    }
}
