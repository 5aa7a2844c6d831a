//! Bands at the left and right border that only one camera sees: a plane through the disparities beside a band fills it.

use super::moments::{MAX_SLOPE, Vote, robust_plane};
use super::planes::{Fillable, fill_pixel};
use crate::map::{DisparityMap, INVALID};

/// Smallest width of a band, columns.
pub const MIN_COLUMNS: usize = 3;
/// Width of the window beside a band, columns.
pub const COLUMNS: usize = 24;
/// Height of the window above and below the row of a band, rows.
pub const ROWS: usize = 8;
/// Number of disparities beside the band whose median the other votes are compared with.
pub const BESIDE: usize = 5;
/// Largest distances of votes from the previous plane, 1/16 px.
pub const LIMITS: [i32; 4] = [26, 21, 16, 13];
/// Smallest number of votes near the plane.
pub const MIN_VOTES: usize = 80;
/// Upper bound of the mean square distance of the votes from the plane: (0.3 px)², in 1/256 px².
pub const MEAN_SQUARE: i64 = 23;
/// Steepest slope of a band, 0.45 px per px.
pub const STEEPEST: i64 = MAX_SLOPE * 9 / 10;
/// Largest distance of the plane from the disparities beside the band, 1/16 px.
pub const MAX_STEP: i32 = 23;

/// Returns the largest difference between a vote `column` columns into the window and the disparities beside the band, 1/16 px.
pub const fn spread(column: usize) -> i32 {
    40 + 4 * column as i32
}

/// Fills the band at either end of each row from a plane through the disparities beside it.
pub fn fill_bands(map: &mut DisparityMap, fillable: &Fillable) {
    let before = map.clone();
    for y in 0..map.size().1 {
        fill_band(map, &before, y, fillable, false);
        fill_band(map, &before, y, fillable, true);
    }
}

fn fill_band(map: &mut DisparityMap, before: &DisparityMap, y: usize, fillable: &Fillable, is_right: bool) {
    let (width, height) = before.size();
    let column = |n: usize| if is_right { width - 1 - n } else { n };
    let value = |n: usize, y: usize| before.values.at(column(n), y);
    let Some(first) = (0..width).find(|&n| value(n, y) != INVALID) else { return };
    if first < MIN_COLUMNS {
        return;
    }
    let mut beside: Vec<i16> = (first..width).map(|n| value(n, y)).filter(|&d| d != INVALID).take(BESIDE).collect();
    beside.sort_unstable();
    let beside = i32::from(beside[beside.len() / 2]);
    let mut votes: Vec<Vote> = Vec::new();
    for row in y.saturating_sub(ROWS)..(y + ROWS + 1).min(height) {
        for n in first..(first + COLUMNS).min(width) {
            let d = value(n, row);
            if d != INVALID && (i32::from(d) - beside).abs() <= spread(n - first) {
                votes.push((((n - first) as i32, row as i32 - y as i32), d));
            }
        }
    }
    let Some(plane) = robust_plane(&votes, &LIMITS, MIN_VOTES) else { return };
    votes.retain(|&(place, d)| plane.is_near(place, d, LIMITS[LIMITS.len() - 1]));
    let squares = votes.iter().map(|&((x, y), d)| i64::from(i32::from(d) - plane.rounded(x, y)).pow(2));
    let is_flat = squares.sum::<i64>() < MEAN_SQUARE * votes.len() as i64;
    let is_gentle = i64::from(plane.b).abs() <= STEEPEST && (plane.rounded(0, 0) - beside).abs() <= MAX_STEP;
    if votes.len() >= MIN_VOTES && is_flat && is_gentle {
        for n in 0..first {
            fill_pixel(map, (column(n), y), plane.rounded(n as i32 - first as i32, 0), fillable);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::reason;
    use crate::params::StereoParams;
    use stereopsis_base::image::Image;

    fn map(width: usize, value: impl Fn(usize, usize) -> i16) -> DisparityMap {
        DisparityMap {
            values: Image::from_fn(width, 12, value),
            reasons: Image::filled(width, 12, 0),
            confidence: None,
        }
    }

    #[test]
    fn the_slope_beside_a_band_continues_into_it_at_both_borders() {
        let ground = |x: usize, y: usize| (300 + 3 * x + 5 * y) as i16;
        let mut bands = map(80, |x, y| if (10..70).contains(&x) { ground(x, y) } else { INVALID });
        fill_bands(&mut bands, &Fillable::of(&StereoParams::default()));
        assert_eq!(bands.values, map(80, ground).values);
        assert_eq!((bands.reasons.at(9, 0), bands.reasons.at(10, 0)), (reason::FILLED, 0));
    }

    #[test]
    fn narrow_steep_and_noisy_bands_stay_as_they_are() {
        for (first, value) in [
            (2, (|x, _| 300 + 3 * x as i16) as fn(usize, usize) -> i16), // narrow
            (10, |x, _| 700 - 8 * x as i16),                             // steep
            (10, |x, y| 300 + 12 * ((x + 7 * y) % 2) as i16),            // noisy
            (10, |x, _| if x < 13 { 300 } else { 800 }),                 // few
        ] {
            let mut bands = map(80, |x, y| if x < first { INVALID } else { value(x, y) });
            let before = bands.clone();
            fill_bands(&mut bands, &Fillable::of(&StereoParams::default()));
            assert_eq!(bands, before, "{first}");
        }
    }
}
