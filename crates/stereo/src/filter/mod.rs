//! Filters of disparity maps: the maps of the winners in, the finished maps out.
//!
//! Each filter is a function in its own file; [`FilterKind`] lists them in the order in which they run.

pub mod band;
pub mod black_border;
pub mod calm;
pub mod choice;
mod consistency;
mod fill;
mod median;
pub mod moments;
mod order;
pub mod planes;
pub mod segments;
mod spatial;
mod speckle;
mod temporal;
pub mod weighted_median;

pub use black_border::BlackBorder;
pub use consistency::check_left_right;
pub use fill::{fill, fill_rows};
pub use median::median;
pub use order::{FilterKind, filter_maps};
pub use spatial::{RunningMean, smooth_along_surfaces};
pub use speckle::remove_speckle;
pub use temporal::{Row as TemporalRow, Smoothed, smooth_over_time};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{DisparityMap, INVALID, reason};
    use crate::params::words::{Median, Persistence};
    use stereopsis_base::image::Image;

    const X: i16 = INVALID;

    fn map(width: usize, values: &[i16]) -> DisparityMap {
        let height = values.len() / width;
        DisparityMap {
            values: Image::new(width, height, values.to_vec()),
            reasons: Image::filled(width, height, 0),
            confidence: None,
        }
    }

    #[test]
    fn median_replaces_missing_neighbours_by_the_centre() {
        let filtered = median(&map(3, &[1, 2, 3, 4, 90, X, 7, X, 9]), Median::Three);
        // the centre 90 stands for the two invalid ones: 1 2 3 4 7 9 90 90 90
        assert_eq!(filtered.values.at(1, 1), 7);
        assert_eq!(filtered.values.at(2, 1), X, "an invalid centre stays invalid");
        assert_eq!(filtered.values.at(0, 0), 1, "five places outside count as the centre");
        assert_eq!(median(&map(1, &[5, 6]), Median::Off).values.pixels(), [5, 6]);
    }

    #[test]
    fn left_right_check_sets_the_reason() {
        let right = map(4, &[16, 16, X, 48]);
        let mut left = map(4, &[16, 16, 40, 40]);
        check_left_right(&mut left, &right, 1);
        // x = 0: outside; x = 1: right 0 has 16; x = 2: 2.5 rounds to 3, outside; x = 3: right 0 has 16, 24 apart
        assert_eq!(left.values.pixels(), [X, 16, X, X]);
        assert_eq!(left.reasons.pixels(), [reason::RANGE, 0, reason::RANGE, reason::LEFT_RIGHT]);
        let mut left = map(3, &[0, 0, 0]);
        check_left_right(&mut left, &map(3, &[0, 16, 17]), 1);
        assert_eq!(left.values.pixels(), [0, 0, X], "a difference of just the tolerance holds");
        let mut left = map(3, &[0, 0, 0]);
        check_left_right(&mut left, &map(3, &[0, 1, X]), 0);
        assert_eq!(left.values.pixels(), [0, X, X]);
    }

    #[test]
    fn small_islands_go_and_diagonals_do_not_connect() {
        let mut islands = map(4, &[0, 0, 99, 0, 0, 0, 0, 99, X, 0, 0, 0]);
        remove_speckle(&mut islands, 1, 1);
        assert_eq!(islands.values.pixels(), [0, 0, X, X, 0, 0, 0, X, X, 0, 0, 0]);
        assert_eq!(islands.reasons.at(2, 0), reason::SPECKLE);
        assert_eq!(islands.reasons.at(0, 2), 0, "what was invalid before keeps its reason");
        let mut ramp = map(4, &[0, 16, 32, 48]);
        remove_speckle(&mut ramp, 3, 1);
        assert_eq!(ramp.values.pixels(), [0, 16, 32, 48], "a slope is one region");
        remove_speckle(&mut ramp, 4, 1);
        assert_eq!(ramp.values.pixels(), [X; 4]);
    }

    #[test]
    fn dropped_pixels_have_no_confidence() {
        let mut all = map(3, &[16, 16, 16, 16, 90, 16, 16, 16, 16]);
        all.confidence = Some(Image::new(3, 3, (1..10).collect()));
        let confidence = |map: &DisparityMap| map.confidence.as_ref().unwrap().pixels().to_vec();
        all = median(&all, Median::Three);
        assert_eq!((all.values.at(1, 1), confidence(&all)[4]), (16, 5));
        check_left_right(&mut all, &map(3, &[16; 9]), 0);
        assert_eq!(all.values.row(1), [X, 16, 16], "the first column's partners are outside");
        fill_rows(&mut all, 1);
        assert_eq!(all.values.pixels(), [16; 9]);
        assert_eq!(confidence(&all), [0, 2, 3, 0, 5, 6, 0, 8, 9]);
        assert_eq!((all.confidence_percent(0, 0), all.confidence_percent(1, 0)), (None, Some(2.0 / 2.55)));
        remove_speckle(&mut all, 9, 1);
        assert_eq!(confidence(&all), [0; 9]);
    }

    #[test]
    fn fill_takes_the_background_and_marks_it() {
        let mut holes = map(4, &[X, 5, X, 3, X, X, X, X, X, X, 8, X]);
        holes.reasons.set(0, 0, reason::RANGE);
        fill_rows(&mut holes, 1);
        assert_eq!(holes.values.pixels(), [5, 5, 3, 3, 5, 5, 3, 3, 8, 8, 8, 8]);
        assert_eq!(holes.reasons.at(0, 0), reason::RANGE | reason::FILLED);
        assert_eq!(holes.reasons.at(1, 0), 0);
        let mut below = map(1, &[X, X, 4]);
        fill_rows(&mut below, 1);
        assert_eq!(below.values.pixels(), [4, 4, 4]);
        let mut empty = map(2, &[X, X]);
        fill_rows(&mut empty, 1);
        assert_eq!(empty, map(2, &[X, X]));
    }

    #[test]
    fn running_means_end_at_steps_and_holes() {
        let half = RunningMean { alpha_percent: 50, delta_16th: 10 };
        let mut row = map(6, &[16, 20, 20, 99, X, 20]);
        smooth_along_surfaces(&mut row, 1, half);
        // there: 16, 18, 19, 99, X, 20; back: 19, 19 (18.5), 18 (17.5); columns of one pixel stay
        assert_eq!(row.values.pixels(), [18, 19, 19, 99, X, 20]);
        let mut column = map(1, &[-3, -6]);
        smooth_along_surfaces(&mut column, 1, half);
        assert_eq!(column.values.pixels(), [-3, -4], "-4.5 and then -3.5, rounded up");
        let next = |alpha_percent, mean, value| RunningMean { alpha_percent, delta_16th: 10 }.next(mean, value);
        assert_eq!([next(100, 0, 10), next(1, 0, 10), next(33, 7, 7)], [Some(10), Some(0), Some(7)]);
    }

    #[test]
    fn over_time_disparities_are_blended_and_holes_keep_them_for_a_while() {
        let running = RunningMean { alpha_percent: 40, delta_16th: 10 };
        let past = &mut None;
        let mut next = |value: i16| {
            let mut one = map(1, &[value]);
            smooth_over_time(&mut one, past, running, Persistence::TwoOfFour);
            (one.values.at(0, 0), one.reasons.at(0, 0))
        };
        assert_eq!(next(X), (X, 0), "nothing to keep");
        assert_eq!(next(100), (100, 0));
        assert_eq!(next(X), (X, 0), "measured once in four");
        assert_eq!(next(110), (104, 0), "0.4 of the way");
        assert_eq!(next(X), (104, reason::HELD));
        assert_eq!(next(X), (104, reason::HELD));
        assert_eq!(next(X), (X, 0), "once in the last four");
        assert_eq!(next(104), (104, 0));
        assert_eq!(next(200), (200, 0), "a change of the scene");
        assert_eq!(next(X), (X, 0), "what was before it is forgotten");
    }

    #[test]
    fn persistence_counts_the_pairs_before() {
        let keeps = |persistence: Persistence, seen| persistence.keeps(seen);
        assert!(!keeps(Persistence::Off, 0xff) && keeps(Persistence::Always, 0));
        assert!(keeps(Persistence::EightOfEight, 0xff) && !keeps(Persistence::EightOfEight, 0x7f));
        assert!(keeps(Persistence::TwoOfThree, 0b101) && !keeps(Persistence::TwoOfThree, 0b1001));
        assert!(keeps(Persistence::OneOfTwo, 0b10) && !keeps(Persistence::OneOfTwo, 0b100));
    }

    #[test]
    fn interpolation_takes_the_median_of_three_per_side() {
        let mut hole = map(7, &[40, 41, 9, X, 60, 60, 60]);
        fill_rows(&mut hole, 3);
        assert_eq!(hole.values.row(0), [40, 41, 9, 40, 60, 60, 60], "the wrong 9 at the hole's edge does not spread");
        assert_eq!((hole.reasons.at(3, 0), hole.reasons.at(2, 0)), (reason::FILLED, 0));
        let mut few = map(5, &[X, 7, X, 3, 5]);
        fill_rows(&mut few, 3);
        // the first hole has no pixel on the left, 7 3 5 on the right; the second one has 7 on the left, 3 5 on the right
        assert_eq!(few.values.row(0), [5, 7, 5, 3, 5]);
        let mut rows = map(2, &[X, X, X, 4, X, X]);
        fill_rows(&mut rows, 3);
        assert_eq!(rows.values.pixels(), [4; 6], "empty rows take the nearest one");
    }
}
