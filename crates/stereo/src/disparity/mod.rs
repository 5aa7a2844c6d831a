//! Disparity selection: the winner of each pixel, the tests of the winner and its refinement, for the left and the right image.

mod border;
mod confidence;
mod right;
mod subpixel;
mod uniqueness;
mod winner;

pub use border::{is_whole, whole};
pub use confidence::confidence;
pub use right::right_map;
pub use uniqueness::is_unique;
pub use winner::{WinnerRules, winner_takes_all};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{INVALID, reason};
    use crate::{StereoParams, Subpixel, Volume};

    fn sums(width: usize, data: &[u32]) -> Volume<u32> {
        Volume { width, height: 1, candidates: data.len() / width, data: data.to_vec(), gates: None }
    }

    #[test]
    fn ties_go_to_the_smaller_disparity() {
        let params = StereoParams { min_disparity: 3, subpixel: Subpixel::Off, ..StereoParams::default() };
        assert_eq!(winner_takes_all(&sums(1, &[9, 4, 7, 4]), &WinnerRules::of(&params)).values.at(0, 0), 16 * 4);
    }

    #[test]
    fn parabola_equals_that_of_opencv() {
        let refine = |sums: &[u32], winner| Subpixel::Parabola.refine(sums, winner);
        assert_eq!(refine(&[30, 10, 20], 1), (10 * 16 + 30) / 60);
        assert_eq!(refine(&[20, 10, 30], 1), (-10 * 16 + 30) / 60);
        assert_eq!(refine(&[10, 10, 30], 1), (-20 * 16 + 20) / 40);
        assert_eq!(refine(&[5, 5, 5], 1), 0);
        assert_eq!((refine(&[1, 2, 3], 0), refine(&[3, 2, 1], 2)), (0, 0));
    }

    #[test]
    fn two_lines_find_the_tip_of_sums_that_grow_with_the_distance() {
        for tip_16th in -8..=8_i32 {
            let sums = [-16, 0, 16].map(|at: i32| 1000 + 30 * (at - tip_16th).unsigned_abs());
            // the division truncates towards the winner
            let found = Subpixel::Equiangular.refine(&sums, 1);
            assert!((found - tip_16th).abs() <= 1 && found.abs() <= 8, "{tip_16th}: {found}");
            let parabola = Subpixel::Parabola.refine(&sums, 1);
            assert!(parabola.abs() <= found.abs(), "{tip_16th}: a parabola is pulled towards whole pixels");
        }
        let squares = [-12, 4, 20].map(|at: i32| (at * at) as u32);
        assert_eq!(Subpixel::Parabola.refine(&squares, 1), -3, "a quarter of a pixel, truncated");
        assert_eq!(Subpixel::Equiangular.refine(&[5, 5, 5], 1), 0);
        assert_eq!((Subpixel::Equiangular.refine(&[1, 2, 3], 0), Subpixel::Off.refine(&[3, 1, 2], 1)), (0, 0));
    }

    #[test]
    fn a_rival_more_than_one_away_within_the_margin_makes_a_pixel_invalid() {
        assert!(is_unique(&[10, 11, 30], 0, 50), "a neighbour is no rival");
        assert!(!is_unique(&[10, 30, 12], 0, 20), "12 * 80 < 10 * 100");
        assert!(is_unique(&[10, 30, 13], 0, 20));
        assert!(is_unique(&[10, 30, 10], 0, 0), "0 keeps all");
        let params = StereoParams { uniqueness: 20, ..StereoParams::default() };
        let map = winner_takes_all(&sums(1, &[10, 30, 12]), &WinnerRules::of(&params));
        assert_eq!((map.values.at(0, 0), map.reasons.at(0, 0)), (INVALID, reason::UNIQUENESS));
    }

    #[test]
    fn confidence_is_the_largest_uniqueness_in_255ths_that_a_pixel_passes() {
        assert_eq!(confidence(&[10, 11, 30], 0), 170, "(30 - 10) 255 / 30; a neighbour is no rival");
        assert_eq!(confidence(&[40, 30, 10, 12, 13], 2), 58, "3 * 255 / 13 = 58.8");
        assert_eq!(confidence(&[10, 30, 10], 0), 0, "a rival that equals the winner");
        assert_eq!(confidence(&[0, 3, 1], 0), 255, "a winner without any cost");
        assert_eq!(confidence(&[0, 0, 0], 0), 0, "nothing tells them apart");
        assert_eq!((confidence(&[7], 0), confidence(&[7, 5, 6], 1)), (255, 255), "no rival");
        assert_eq!(confidence(&[112_000, 112_455, 112_455], 0), 1, "the largest sums of a window");
        for rival in 10..60 {
            let sums = [10, 99, rival];
            let passed = (0..100).filter(|&percent| is_unique(&sums, 0, percent)).max().unwrap();
            let share = f64::from(confidence(&sums, 0)) / 255.0;
            assert!((f64::from(passed) / 100.0 - share).abs() < 0.01, "{rival}: {passed} % and {share}");
        }
    }

    #[test]
    fn the_map_has_confidence_if_asked_and_only_where_a_disparity_is() {
        let sums = sums(2, &[10, 30, 12, 10, 30, 20]);
        assert_eq!(winner_takes_all(&sums, &WinnerRules::of(&StereoParams::default())).confidence, None);
        let params = StereoParams { uniqueness: 20, confidence: true, ..StereoParams::default() };
        let map = winner_takes_all(&sums, &WinnerRules::of(&params));
        assert_eq!(map.reasons.pixels(), [reason::UNIQUENESS, 0]);
        assert_eq!(map.confidence.unwrap().pixels(), [0, 127]);
    }

    #[test]
    fn the_right_map_looks_along_the_diagonal_and_only_inside() {
        let map = right_map(&sums(3, &[5, 0, 4, 3, 1, 9]), 0);
        // right 0: S(0, 0) = 5, S(1, 1) = 3; right 1: S(1, 0) = 4, S(2, 1) = 9; right 2: S(2, 0) = 1
        assert_eq!(map.values.pixels(), [16, 0, 0]);
        let beyond = right_map(&sums(1, &[1, 1]), 1);
        assert_eq!((beyond.values.at(0, 0), beyond.reasons.at(0, 0)), (INVALID, reason::RANGE));
    }
}
