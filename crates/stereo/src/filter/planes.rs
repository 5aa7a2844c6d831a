//! Planes in holes: a surface without texture is matched only at its border, and is mostly flat.

use super::moments::{Vote, robust_plane};
use super::segments::segments;
use crate::map::{DisparityMap, INVALID, SUBPIXEL_STEPS};
use std::ops::RangeInclusive;
use stereopsis_base::image::Image;

/// Smallest number of votes of a segment.
pub const MIN_VOTES: usize = 40;
/// Smallest share of votes among the pixels of a segment, 1 / this.
pub const VOTES_SHARE: usize = 10;
/// Smallest number of votes near a plane.
pub const MIN_NEAR: usize = 20;
/// Largest distances of votes from the plane before, 1/16 px, after a first plane through all of them.
pub const LIMITS: [i32; 5] = [256, 64, 32, 16, 16];

/// Values that planes and bands may fill in, and the mark of their pixels.
#[derive(Clone, Debug)]
pub struct Fillable {
    /// Disparities that may be filled in, 1/16 px: those of the search range.
    pub range: RangeInclusive<i32>,
    /// Bits of [`reason`](crate::reason) that a filled pixel gets: [`ON_PLANE`](crate::map::ON_PLANE) in front of the learned choice.
    pub mark: u8,
}

/// Fills the pixels without a disparity in each segment from a plane through the others. At least half of these have to lie within 1 px
/// of the plane. Pixels where the plane leaves the search range stay empty.
pub fn fill_planes(map: &mut DisparityMap, luma: &Image<u8>, fillable: &Fillable) {
    for segment in segments(luma) {
        let (x0, y0) = segment[0];
        let place = |(x, y): (usize, usize)| (x as i32 - x0 as i32, y as i32 - y0 as i32);
        let values = segment.iter().map(|&pixel| (place(pixel), map.values.at(pixel.0, pixel.1)));
        let votes: Vec<Vote> = values.filter(|&(_, d)| d != INVALID).collect();
        if votes.len() < MIN_VOTES || VOTES_SHARE * votes.len() < segment.len() {
            continue;
        }
        let Some(plane) = robust_plane(&votes, &LIMITS, MIN_NEAR) else { continue };
        let near = votes.iter().filter(|&&(place, d)| plane.is_near(place, d, SUBPIXEL_STEPS)).count();
        if 2 * near < votes.len() {
            continue;
        }
        for &pixel in &segment {
            let (x, y) = place(pixel);
            fill_pixel(map, pixel, plane.rounded(x, y), fillable);
        }
    }
}

pub(super) fn fill_pixel(map: &mut DisparityMap, (x, y): (usize, usize), value: i32, fillable: &Fillable) {
    if map.values.at(x, y) == INVALID && fillable.range.contains(&value) {
        map.values.set(x, y, value as i16);
        map.reasons.set(x, y, map.reasons.at(x, y) | fillable.mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{StereoParams, reason};

    #[test]
    fn a_slanted_wall_goes_on_through_its_hole_and_past_wrong_disparities() {
        let wall = |x: usize, y: usize| (200 + 2 * x + y) as i16;
        // a grey wall beside a bright one, which has a disparity at no pixel
        let luma = Image::from_fn(60, 20, |x, _| if x < 40 { 80 } else { 160 });
        let values = Image::from_fn(60, 20, |x, y| match x {
            12..24 => INVALID,
            30..33 => 900, // wrong at once
            40.. => INVALID,
            _ => wall(x, y),
        });
        let mut map = DisparityMap { values, reasons: Image::filled(60, 20, 0), confidence: None };
        let params = StereoParams::default();
        fill_planes(&mut map, &luma, &Fillable::of(&params));
        for y in 0..20 {
            for x in 12..24 {
                assert_eq!((map.values.at(x, y), map.reasons.at(x, y)), (wall(x, y), reason::FILLED), "{x}, {y}");
            }
            assert_eq!((map.values.at(31, y), map.reasons.at(31, y)), (900, 0), "what is measured stays");
            assert_eq!(map.values.at(50, y), INVALID, "no votes, no plane");
        }
        let far = StereoParams { num_disparities: 15, ..params };
        let holes = Image::from_fn(60, 20, |x, y| if (12..24).contains(&x) { INVALID } else { wall(x, y) });
        let mut map = DisparityMap { values: holes, reasons: Image::filled(60, 20, 0), confidence: None };
        fill_planes(&mut map, &luma, &Fillable::of(&far));
        assert_eq!((map.values.at(12, 0), map.values.at(13, 0)), (224, INVALID), "14 px is the last disparity");
    }

    #[test]
    fn votes_that_disagree_make_no_plane() {
        let luma = Image::filled(30, 10, 90);
        let values =
            Image::from_fn(30, 10, |x, y| if x < 10 { INVALID } else { (100 + 40 * ((7 * x + 3 * y) % 11)) as i16 });
        let mut map = DisparityMap { values, reasons: Image::filled(30, 10, 0), confidence: None };
        let before = map.clone();
        fill_planes(&mut map, &luma, &Fillable::of(&StereoParams::default()));
        assert_eq!(map, before);
    }
}
