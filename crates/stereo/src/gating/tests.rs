//! Tests of gating: gates from a coarser map, missing candidates, and whole matches with and without gates.

use super::*;
use crate::disparity::WinnerRules;
use crate::map::{DisparityMap, INVALID, SUBPIXEL_STEPS, reason};
use crate::params::StereoParams;
use crate::prior::Prior;
use crate::pyramid::{self, halve};
use crate::{CostKind, Fill, Subpixel, Volume, aggregate, disparity, match_pair, sum_volume};
use fastrand::Rng;
use stereopsis_base::image::{Image, Luma};

fn map(width: usize, height: usize, px: impl Fn(usize, usize) -> Option<i32>) -> DisparityMap {
    let value = |x, y| px(x, y).map_or(INVALID, |px| (SUBPIXEL_STEPS * px) as i16);
    DisparityMap {
        values: Image::from_fn(width, height, value),
        reasons: Image::filled(width, height, 0),
        confidence: None,
    }
}

fn luma(width: usize, height: usize, value: impl FnMut(usize, usize) -> u8) -> Luma {
    Luma::U8(Image::from_fn(width, height, value))
}

fn noise(rng: &mut Rng, width: usize, height: usize) -> Luma {
    luma(width, height, |_, _| rng.u8(..))
}

fn over(min: i32, max: i32) -> StereoParams {
    StereoParams { min_disparity: min, num_disparities: (max - min + 1) as u32, ..StereoParams::default() }
}

#[test]
fn halving_takes_the_rounded_mean_of_2_x_2_pixels() {
    let odd = luma(3, 3, |x, y| [[0, 1, 10], [0, 1, 20], [7, 8, 255]][y][x]);
    // (0 + 1 + 0 + 1 + 2) / 4, then the last column, the last row and the last pixel repeated
    assert_eq!(halve(&odd), luma(2, 2, |x, y| [[1, 15], [8, 255]][y][x]));
    let deep = Luma::U16 { image: Image::new(2, 1, vec![4001, 4002]), bits: 12 };
    assert_eq!(halve(&deep), Luma::U16 { image: Image::new(1, 1, vec![4002]), bits: 12 });
}

#[test]
fn a_coarser_range_holds_every_finer_disparity() {
    let params = StereoParams {
        gating: Some(3),
        subpixel: Subpixel::Equiangular,
        uniqueness: 9,
        speckle_size: 5,
        ..over(-3, 4)
    };
    let temporal = crate::Temporal::Off;
    let params =
        StereoParams { fill: Fill::Background, paths: 12, start_angle_deg: 7, left_right: Some(2), temporal, ..params };
    let half = pyramid::coarser(&params, (40, 30)).unwrap();
    assert_eq!((half.min_disparity, half.num_disparities, half.gating), (-2, 5, Some(2)), "-1.5 to 2 px");
    assert_eq!((half.paths, half.start_angle_deg), (8, 0));
    let same = StereoParams { subpixel: Subpixel::Off, uniqueness: 0, speckle_size: 0, fill: Fill::None, ..params };
    let same = StereoParams {
        mi_levels: 4,
        min_disparity: -2,
        num_disparities: 5,
        gating: Some(2),
        paths: 8,
        start_angle_deg: 0,
        weighted_median: false,
        ..same
    };
    assert_eq!(half, same, "all else is the user's");
    let quarter = pyramid::coarser(&half, (20, 15)).unwrap();
    assert_eq!((quarter.min_disparity, quarter.num_disparities, quarter.gating), (-1, 3, Some(1)));
    assert_eq!(pyramid::coarser(&quarter, (10, 8)).unwrap().gating, None);
    let pathless = StereoParams { paths: 0, gating: Some(1), ..over(0, 9) };
    assert_eq!(pyramid::coarser(&pathless, (10, 8)).unwrap().paths, 0);
}

#[test]
fn levels_end_before_a_side_falls_below_two_pixels() {
    let params = StereoParams { gating: Some(6), ..over(0, 63) };
    let is_there = |size| pyramid::coarser(&params, size).is_some();
    assert!(is_there((3, 3)) && !is_there((2, 90)) && !is_there((90, 2)) && !is_there((1, 1)));
    assert_eq!(pyramid::coarser(&over(0, 63), (90, 90)), None, "off");
    let tiny = luma(2, 5, |x, y| (x * 90 + y * 20) as u8);
    assert_eq!(Prior::of(&tiny, &tiny, &params, None).gates, None);
    assert_eq!(match_pair(&tiny, &tiny, &params), match_pair(&tiny, &tiny, &over(0, 63)));
}

#[test]
fn gates_are_the_sixteenth_percentiles_widened_and_cut_to_the_range() {
    let params = over(0, 200);
    let gate = |first, last| Gate { first, last };
    // a window at the end of the row sees 26 of its 60 px, one in the middle 51
    let gates =
        bounds_from(&map(60, 1, |x, _| Some(x as i32)), (120, 1), GateBounds::Percentiles, &params.disparities());
    // columns 0 to 25, 26 * 16 / 100 = 4 left out at either end: 4 to 21 px, which stand for 8 to 43 px
    assert_eq!((gates.at(0, 0), gates.at(1, 0)), (gate(0, 63), gate(0, 63)), "both pixels of one coarser pixel");
    // columns 5 to 55, 8 left out: 13 to 47 px, which stand for 26 to 95 px
    assert_eq!(gates.at(60, 0), gate(6, 115));
    // columns 34 to 59: 38 to 55 px, which stand for 76 to 111 px
    assert_eq!(gates.at(119, 0), gate(56, 131));
    let short = bounds_from(
        &map(60, 1, |x, _| Some(x as i32)),
        (120, 1),
        GateBounds::Percentiles,
        &over(-7, 119).disparities(),
    );
    assert_eq!((short.at(0, 0), short.at(119, 0)), (gate(0, 70), gate(63, 126)), "indices count from the smallest");
}

#[test]
fn gates_skip_invalid_pixels_and_default_to_the_range() {
    let params = over(-40, 80);
    // 51 rows of one column: each third is valid, 17 * 16 / 100 = 2 left out
    let thirds = map(1, 60, |_, y| y.is_multiple_of(3).then(|| y as i32 / 3 - 10));
    let gates = bounds_from(&thirds, (2, 119), GateBounds::Percentiles, &params.disparities());
    // around row 28: rows 3 to 53, so 3, 6 ... 51 with -9 to 7 px; left with -7 to 5 px, or -14 to 11 px
    assert_eq!(gates.at(1, 57), Gate { first: (-34 + 40) as u16, last: (31 + 40) as u16 });
    let empty = bounds_from(&map(5, 5, |_, _| None), (9, 9), GateBounds::Percentiles, &params.disparities());
    assert!(empty.pixels().iter().all(|&gate| gate == Gate::whole(121)));
    let one = bounds_from(
        &map(60, 1, |x, _| (x == 0).then_some(30)),
        (120, 1),
        GateBounds::Percentiles,
        &params.disparities(),
    );
    assert_eq!(one.at(50, 0), Gate { first: 40 + 40, last: 80 + 40 }, "column 25 still sees the only one");
    assert_eq!(one.at(52, 0), Gate::whole(121));
}

#[test]
fn extremes_hold_a_thin_thing_that_percentiles_leave_out() {
    let params = over(0, 200);
    let thin = map(60, 60, |x, _| (x != 3).then_some(if x == 30 { 70 } else { 10 }));
    let gates = |bounds| bounds_from(&thin, (120, 120), bounds, &params.disparities());
    let (percentiles, extremes) = (gates(GateBounds::Percentiles), gates(GateBounds::Extremes));
    let gate = |first, last| Gate { first, last };
    assert_eq!((percentiles.at(60, 60), extremes.at(60, 60)), (gate(0, 41), gate(14, 147)));
    // columns 30 - 8 and 30 - 9
    assert_eq!((extremes.at(44, 60), extremes.at(43, 60)), (gate(14, 147), gate(14, 27)));
}

#[test]
fn a_gate_is_never_empty() {
    let ranges = [(0, 0), (-5, -5), (-1024, 3), (7, 1030)];
    for ((min, max), &bounds) in ranges.into_iter().flat_map(|range| GateBounds::ALL.iter().map(move |b| (range, b))) {
        let params = over(min, max);
        for d in min.div_euclid(2)..=-(-max).div_euclid(2) {
            let gate = bounds.gate(d, d, &params.disparities());
            assert!(gate.first <= gate.last && usize::from(gate.last) < params.num_disparities as usize);
        }
    }
}

fn gated_line(costs: &[[u8; 4]], gates: &[(u16, u16)]) -> Volume<u8> {
    let gates = gates.iter().map(|&(first, last)| Gate { first, last }).collect();
    let gates = Some(Image::new(costs.len(), 1, gates));
    Volume { width: costs.len(), height: 1, candidates: 4, data: costs.concat(), gates }
}

#[test]
fn paths_skip_missing_candidates() {
    let (p1, p2_of_step) = (2, [5; 256]);
    // the missing candidates have the smallest costs
    let costs = gated_line(&[[0, 6, 4, 0], [9, 1, 1, 1], [3, 3, 0, 0]], &[(1, 2), (0, 3), (0, 1)]);
    let flat = Image::filled(3, 1, 100);
    let right = aggregate::directions(1, 0)[0];
    let path = aggregate::path_costs(&costs, &flat, right, p1, &p2_of_step);
    assert_eq!(path.existing(0, 0), [6, 4]);
    // minimum before: 4; candidate 0 missing before: 9 + min(6 + 2, 4 + 5) - 4; 1 + min(6, 4 + 2) - 4; 1 + 4 - 4; 1 + (4 + 2) - 4
    assert_eq!(path.existing(1, 0), [13, 3, 1, 3]);
    // minimum before: 1; 3 + min(13, 3 + 2, 1 + 5) - 1; 3 + min(3, 13 + 2, 1 + 2) - 1
    assert_eq!(path.existing(2, 0), [7, 5]);
    let jump = gated_line(&[[0, 7, 9, 9], [9, 9, 9, 4]], &[(0, 0), (2, 3)]);
    let path = aggregate::path_costs(&jump, &Image::filled(2, 1, 100), right, p1, &p2_of_step);
    assert_eq!(path.existing(1, 0), [9 + 5, 4 + 5], "no neighbour: a large step");
}

#[test]
fn winners_and_tests_skip_missing_candidates() {
    let sums = |gate, sums: [u8; 4]| gated_line(&[sums], &[gate]).map(|&v| u32::from(v));
    let params = StereoParams { min_disparity: 10, num_disparities: 4, ..StereoParams::default() };
    let left = |gate, data| disparity::winner_takes_all(&sums(gate, data), &WinnerRules::of(&params)).values.at(0, 0);
    assert_eq!(left((0, 3), [30, 10, 20, 0]), 16 * 13);
    assert_eq!(left((0, 2), [30, 10, 20, 0]), 16 * 11 + (10 * 16 + 20) / 40, "both neighbours exist");
    assert_eq!(left((1, 2), [30, 10, 20, 0]), 16 * 11, "no fraction without the neighbour below");
    assert_eq!(left((0, 1), [30, 10, 20, 0]), 16 * 11, "no fraction without the neighbour above");
    let unique = StereoParams { uniqueness: 20, ..params.clone() };
    let why =
        |gate| disparity::winner_takes_all(&sums(gate, [10, 30, 40, 12]), &WinnerRules::of(&unique)).reasons.at(0, 0);
    assert_eq!((why((0, 3)), why((0, 2))), (reason::UNIQUENESS, 0), "a rival that does not exist is none");
    let sure = StereoParams { confidence: true, ..params.clone() };
    let confidence = |gate| {
        let map = disparity::winner_takes_all(&sums(gate, [10, 30, 40, 12]), &WinnerRules::of(&sure));
        map.confidence.map(|confidence| confidence.at(0, 0))
    };
    assert_eq!(confidence((0, 3)), Some(42), "(12 - 10) 255 / 12");
    assert_eq!(confidence((0, 2)), Some(191), "(40 - 10) 255 / 40: what does not exist is no rival");
    assert_eq!(confidence((0, 1)), Some(255), "no rival at all");
}

#[test]
fn a_right_pixel_is_seen_only_by_left_pixels_that_have_it_in_their_gate() {
    let costs = [[5, 1, 9, 9], [4, 3, 9, 9], [6, 2, 0, 9]];
    let right = |gates: [(u16, u16); 3]| {
        let map = disparity::right_map(&gated_line(&costs, &gates).map(|&v| u32::from(v)), 0);
        let px = |x| (map.values.at(x, 0) != INVALID).then(|| map.values.at(x, 0) / 16);
        (px(0), px(1), px(2), map.reasons.at(2, 0))
    };
    // right 0: left 0 with 5, left 1 at 1 with 3, left 2 at 2 with 0; right 1: 4, 2; right 2: 6
    assert_eq!(right([(0, 3); 3]), (Some(2), Some(1), Some(0), 0));
    assert_eq!(right([(0, 3), (0, 3), (1, 1)]), (Some(1), Some(1), None, reason::RANGE));
    assert_eq!(right([(0, 0), (0, 0), (0, 0)]), (Some(0), Some(0), Some(0), 0));
}

#[test]
fn equal_gates_are_a_shorter_range_for_every_cost_with_and_without_paths() {
    let rng = &mut Rng::with_seed(11);
    for &cost_kind in CostKind::ALL {
        for paths in [0, 4, 8, 11] {
            let (left, right) = (noise(rng, 23, 11), noise(rng, 23, 11));
            let long = StereoParams { paths, uniqueness: 3, ..StereoParams::for_cost(cost_kind) };
            let long = StereoParams { min_disparity: -4, num_disparities: 20, ..long };
            let short = StereoParams { min_disparity: -4 + 6, num_disparities: 9, ..long.clone() };
            let gates = Some(Image::filled(23, 11, Gate { first: 6, last: 14 }));
            let prior = Prior { gates: None, ..Prior::of(&left, &right, &long, None) };
            let expected = sum_volume(&left, &right, &short, &prior);
            let sums = sum_volume(&left, &right, &long, &Prior { gates, ..prior });
            for (x, y) in (0..11).flat_map(|y| (0..23).map(move |x| (x, y))) {
                assert_eq!(sums.existing(x, y), expected.at(x, y), "{cost_kind}, {paths} paths, ({x}, {y})");
            }
            let maps = |sums, params: &StereoParams| {
                [
                    disparity::winner_takes_all(sums, &WinnerRules::of(params)),
                    disparity::right_map(sums, params.min_disparity),
                ]
            };
            assert_eq!(maps(&sums, &long), maps(&expected, &short), "{cost_kind}, {paths} paths");
        }
    }
}

#[test]
fn whole_gates_change_nothing() {
    let rng = &mut Rng::with_seed(12);
    for &cost in CostKind::ALL {
        for paths in [0, 4, 8, 11] {
            let (left, right) = (noise(rng, 31, 17), noise(rng, 31, 17));
            let plain = StereoParams { paths, ..StereoParams::for_cost(cost) };
            // no coarse disparity is further than 20 px from either end
            let plain = StereoParams { min_disparity: -9, num_disparities: 19, ..plain };
            let gated = StereoParams { gating: Some(3), ..plain.clone() };
            let gates = Prior::of(&left, &right, &gated, None).gates.unwrap();
            assert!(gates.pixels().iter().all(|&gate| gate == Gate::whole(19)));
            assert_eq!(match_pair(&left, &right, &gated), match_pair(&left, &right, &plain), "{cost}, {paths} paths");
        }
    }
}

/// Matches a wall at 4 px with a square `side` px wide at 48 px in its middle, whose noise keeps its shape when halved. Returns the
/// number of pixels of the square with 48 px, without gating and with one level of it.
fn square_found(side: usize) -> [usize; 2] {
    let rng = &mut Rng::with_seed(13);
    let (width, height) = (160, 96);
    let texture = Image::from_fn(width + 80, height, |_, _| rng.u8(..));
    let patch = Image::from_fn(side, side, |_, _| rng.u8(..));
    let at = (88, 28);
    let view = |wall: usize, square_at: usize| {
        luma(width, height, |x, y| {
            let (px, py) = (x.wrapping_sub(square_at), y.wrapping_sub(at.1));
            if px < side && py < side { patch.at(px, py) } else { texture.at(x + wall, y) }
        })
    };
    let (left, right) = (view(0, at.0), view(4, at.0 - 48));
    [None, Some(1)].map(|gating| {
        let params = StereoParams { num_disparities: 64, gating, ..StereoParams::default() };
        let map = match_pair(&left, &right, &params);
        let square = (at.1..at.1 + side).flat_map(|y| (at.0..at.0 + side).map(move |x| (x, y)));
        square.filter(|&(x, y)| map.disparity_px(x, y).is_some_and(|d| (d - 48.0).abs() < 0.5)).count()
    })
}

#[test]
fn percentile_gates_miss_small_near_objects() {
    let [plain, gated] = square_found(12);
    assert!(plain > 100, "{plain} of 144 px are found without gating");
    assert_eq!(gated, 0, "outside the gate it does not exist");
    let [plain, gated] = square_found(48);
    assert!(gated * 10 > plain * 9, "what fills a sixth of the window is found: {gated} of {plain} px");
}

#[test]
fn eight_directions_of_the_coarser_levels_have_to_fit_the_sum_too() {
    let params = StereoParams { p2: 8191, paths: 4, ..StereoParams::default() };
    let params = StereoParams { num_disparities: 40, ..params };
    params.validate().unwrap();
    let gated = StereoParams { gating: Some(1), ..params };
    let text = gated.validate().unwrap_err().to_string();
    assert!(text.contains("8 paths") && text.contains("p2 up to 8167") && text.contains("gating off"), "{text}");
    StereoParams { p2: 8167, ..gated.clone() }.validate().unwrap();
    StereoParams { paths: 0, ..gated }.validate().unwrap();
}
