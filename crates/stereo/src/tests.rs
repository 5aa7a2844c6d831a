//! Tests of the whole pipeline: both maps, the dropped border and the match threshold.

use super::*;
use fastrand::Rng;
use stereopsis_base::image::{Image, Luma};

/// Returns a textured square in front of a textured wall, seen by both cameras.
fn pair(width: usize, height: usize) -> (Luma, Luma) {
    let rng = &mut Rng::with_seed(2);
    let [wall, square] = [0, 1].map(|_| Image::from_fn(width + 20, height, |_, _| rng.u8(..)));
    let view = |shift: usize| {
        Luma::U8(Image::from_fn(width, height, |x, y| {
            let on_square = (20..40).contains(&(x + 2 * shift)) && (5..height - 5).contains(&y);
            if on_square { square.at(x + 2 * shift, y) } else { wall.at(x + shift, y) }
        }))
    };
    (view(0), view(4))
}

fn params() -> StereoParams {
    StereoParams { num_disparities: 14, right_matching: RightMatching::Swapped, ..StereoParams::default() }
}

#[test]
fn both_maps_agree_with_each_other() {
    let (left, right) = pair(60, 30);
    for right_matching in [RightMatching::Diagonal, RightMatching::Swapped] {
        for (cost, gating) in [(CostKind::Census5x5, None), (CostKind::Census5x5, Some(1)), (CostKind::AdCensus, None)]
        {
            // off, because it moves edges after the check
            let weighted_median = false;
            let params = StereoParams { num_disparities: 14, weighted_median, ..StereoParams::for_cost(cost) };
            let params = StereoParams { gating, right_matching, ..params };
            let maps = match_next(&mut Past::default(), &left, &right, &params, true);
            let back = maps.right.unwrap();
            assert_eq!(maps.left, match_pair(&left, &right, &params), "asking for both changes nothing");
            let mut both = 0;
            for (x, y) in (0..30).flat_map(|y| (0..60).map(move |x| (x, y))) {
                let Some(d) = back.disparity_px(x, y) else { continue };
                let seen = maps.left.values.get(x as isize + d.round() as isize, y as isize);
                assert!(seen.is_some(), "({x}, {y}) sees what is outside");
                let near = (4.0 - d).abs() < 0.5 || (8.0 - d).abs() < 0.5;
                both += usize::from(near);
            }
            assert!(both > 60 * 30 * 7 / 10, "{cost}, {right_matching}: {both}");
        }
    }
}

#[test]
fn swapped_map_equals_the_match_of_mirrored_images() {
    let (left, right) = pair(60, 30);
    let params = StereoParams { left_right: None, median: Median::Off, ..params() };
    let maps = match_next(&mut Past::default(), &left, &right, &params, true);
    let mirrored = match_pair(&right.mirrored(), &left.mirrored(), &params);
    assert_eq!(maps.right.unwrap(), mirrored.mirrored());
}

#[test]
fn the_border_is_where_window_or_range_leave_the_images() {
    let (left, right) = pair(60, 30);
    let params = StereoParams {
        drop_border: true,
        min_disparity: 2,
        num_disparities: 9,
        paths: 0,
        sad_window: 5,
        left_right: None,
        median: Median::Off,
        speckle_size: 0,
        ..StereoParams::for_cost(CostKind::Sad)
    };
    let map = match_pair(&left, &right, &params);
    for (x, y) in (0..30).flat_map(|y| (0..60).map(move |x| (x, y))) {
        let inside = (12..58).contains(&x) && (2..28).contains(&y);
        assert_eq!(
            (map.values.at(x, y) != INVALID, map.reasons.at(x, y)),
            (inside, if inside { 0 } else { reason::BORDER })
        );
    }
    let both_ways = StereoParams { min_disparity: -3, ..params };
    let map = match_pair(&left, &right, &both_ways);
    assert_eq!(map.values.row(9).iter().position(|&v| v != INVALID), Some(7), "the largest is 5");
    assert_eq!(map.values.row(9).iter().rposition(|&v| v != INVALID), Some(54), "the smallest is -3");
}

#[test]
fn a_bad_match_is_dropped_by_its_share_of_the_largest_sum() {
    let left = Luma::U8(Image::new(2, 1, vec![100, 0]));
    let right = Luma::U8(Image::new(2, 1, vec![49, 0]));
    let params = StereoParams {
        paths: 0,
        num_disparities: 1,
        left_right: None,
        median: Median::Off,
        speckle_size: 0,
        ..StereoParams::for_cost(CostKind::Ad)
    };
    let reasons = |percent| {
        let params = StereoParams { match_threshold: Some(percent), ..params.clone() };
        match_pair(&left, &right, &params).reasons.pixels().to_vec()
    };
    assert_eq!(reasons(20), [0, 0], "51 is 20 % of 255");
    assert_eq!(reasons(19), [reason::MATCH, 0]);
    let sums = StereoParams { sad_window: 3, ..StereoParams { cost: CostKind::Sad, ..params } };
    assert_eq!(sums.largest_sum(), 9 * 255);
}

#[test]
fn agreement_tells_surfaces_from_single_pixels() {
    let agreeing = |value: &dyn Fn(usize, usize) -> i16, is_measured: &dyn Fn(usize, usize) -> bool| {
        let values = Image::from_fn(40, 40, |x, y| if is_measured(x, y) { value(x, y) } else { INVALID });
        let reasons = Image::from_fn(40, 40, |x, y| if is_measured(x, y) { 0 } else { reason::LEFT_RIGHT });
        DisparityMap { values, reasons, confidence: None }.shares(0, 63).agreeing
    };
    let all = |_: usize, _: usize| true;
    let slanted = |x: usize, y: usize| (2 * x + y) as i16;
    assert!((agreeing(&slanted, &all) - 0.8).abs() < 1e-9, "32 of 40 pixels have a neighbour beyond 8 px");
    let steep = |x: usize, _: usize| 3 * x as i16;
    assert!((agreeing(&steep, &all) - 0.4).abs() < 1e-9, "along columns alone");
    let patches = |x: usize, y: usize| x % 16 < 6 && y % 16 < 6;
    assert!(agreeing(&slanted, &patches).abs() < 1e-9, "segments smaller than the distance have no such neighbours");
    assert!(agreeing(&slanted, &|x, y| x < 20 && y < 20) > 0.5, "a sparse surface has them");
    assert!(agreeing(&slanted, &|_, _| false) == 0.0);
}
