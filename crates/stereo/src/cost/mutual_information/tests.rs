//! Tests of mutual information: logarithms, histogram, table, initial disparities and whole matches.

use super::*;
use crate::map::{DisparityMap, INVALID, reason};
use crate::{CostKind, MiStart, Past, Prior, StereoParams, match_next, match_pair};
use fastrand::Rng;
use stereopsis_base::image::{Image, Luma};

fn params() -> StereoParams {
    StereoParams { num_disparities: 16, ..StereoParams::for_cost(CostKind::MutualInformation) }
}

/// Returns a texture, and the same texture 6 px further left with its brightness inverted.
fn negative(width: usize, height: usize) -> (Luma, Luma) {
    let rng = &mut Rng::with_seed(4);
    let coarse = Image::from_fn(width / 3 + 6, height / 3 + 1, |_, _| rng.u8(20..220));
    let texture = |x: usize, y: usize| coarse.at(x / 3, y / 3) / 2 + coarse.at((x + 1) / 3, y / 3) / 2;
    let left = Image::from_fn(width, height, texture);
    let right = Image::from_fn(width, height, |x, y| 255 - texture(x + 6, y) / 2);
    (Luma::U8(left), Luma::U8(right))
}

#[test]
fn logarithms_are_exact_at_powers_of_two_and_never_fall() {
    let log_table = log_table();
    for bit in 0..32 {
        assert_eq!(log2_q16(1 << bit, &log_table), bit << 16);
    }
    assert_eq!((log2_q16(0, &log_table), log2_q16(3, &log_table)), (0, 103_872));
    for v in 1..70_000 {
        let exact = f64::from(v).log2() * 65536.0;
        let error = f64::from(log2_q16(v, &log_table)) - exact;
        assert!((-47.0..=1.0).contains(&error), "{v}: {error}");
    }
}

#[test]
fn histogram_counts_partners_inside_the_image() {
    let left = Image::new(3, 1, vec![1, 2, 3]);
    let right = Image::new(3, 1, vec![7, 8, 9]);
    let start = Image::new(3, 1, vec![Some(1), Some(1), Some(-1)]);
    let counts = histogram(&left, &right, &start);
    assert_eq!((counts[2 * LEVELS + 7], counts.iter().sum::<u32>()), (1, 1), "both others look outside");
    let counts = histogram(&left, &right, &Image::new(3, 1, vec![Some(0), None, Some(2)]));
    assert_eq!((counts[LEVELS + 7], counts[3 * LEVELS + 7], counts.iter().sum::<u32>()), (1, 1, 2));
}

#[test]
fn frequent_level_pairs_are_cheap_and_swapping_transposes() {
    let mut counts = vec![0; LEVELS * LEVELS];
    for i in 0..LEVELS {
        counts[i * LEVELS + (LEVELS - 1 - i)] = 100; // a negative
    }
    let costs = table(&counts);
    assert!(costs.cost(40, 215) < 20 && costs.cost(40, 40) > 60, "{} {}", costs.cost(40, 215), costs.cost(40, 40));
    assert_eq!((costs.0.iter().min(), costs.0.iter().max()), (Some(&0), Some(&127)));
    counts[5 * LEVELS + 9] = 4000;
    let costs = table(&counts);
    let transposed: Vec<u32> = (0..LEVELS * LEVELS).map(|i| counts[(i % LEVELS) * LEVELS + i / LEVELS]).collect();
    assert_eq!(table(&transposed), costs.swapped());
    assert_eq!(costs.swapped().cost(9, 5), costs.cost(5, 9));
    assert!(table(&vec![0; LEVELS * LEVELS]).0.iter().all(|&cost| cost == 0), "nothing is known");
    table(&vec![256; LEVELS * LEVELS]); // 2^24 pairs: nothing overflows
    let mut one = vec![0; LEVELS * LEVELS];
    one[0] = 1 << 24;
    table(&one);
}

#[test]
fn starts_from_coarser_map_else_last_map_else_random() {
    let map = |value: i16| DisparityMap {
        values: Image::new(2, 1, vec![value, INVALID]),
        reasons: Image::filled(2, 1, 0),
        confidence: None,
    };
    let params = StereoParams { min_disparity: -3, ..params() };
    let below = start((3, 1), Some(&map(16 * 5)), Some(&map(0)), &params.disparities());
    assert_eq!(below.pixels(), [Some(10), Some(10), None]);
    assert_eq!(
        start((2, 1), None, Some(&map(24)), &params.disparities()).pixels(),
        [Some(2), None],
        "1.5 px are rounded up"
    );
    let mut filled = map(16);
    filled.reasons.set(0, 0, reason::FILLED | reason::LEFT_RIGHT);
    assert_eq!(start((2, 1), None, Some(&filled), &params.disparities()).pixels(), [None, None]);
    let random = start((64, 64), None, None, &params.disparities());
    let mut drawn = vec![0; 16];
    random.pixels().iter().for_each(|d| drawn[(d.unwrap() + 3) as usize] += 1);
    assert!(drawn.iter().all(|count| (180..340).contains(count)), "{drawn:?}");
}

#[test]
fn a_negative_is_matched_from_a_random_start() {
    let (left, right) = negative(96, 64);
    let share = |map: &DisparityMap| {
        let good = |x, y| map.disparity_px(x, y).is_some_and(|d| (d - 6.0).abs() < 0.6);
        (12..96).flat_map(|x| (0..64).map(move |y| (x, y))).filter(|&(x, y)| good(x, y)).count() as f64 / (84.0 * 64.0)
    };
    for mi_levels in [3, 5] {
        let found = share(&match_pair(&left, &right, &StereoParams { mi_levels, ..params() }));
        assert!(found > 0.9, "{mi_levels} levels: {found}");
    }
    let census = share(&match_pair(&left, &right, &StereoParams { num_disparities: 16, ..StereoParams::default() }));
    assert!(census < 0.3, "census: {census}");
}

#[test]
fn starts_from_last_pair_until_parameters_change() {
    let (left, right) = negative(96, 64);
    let params = StereoParams { mi_start: MiStart::LastFrame, mi_levels: 1, ..params() };
    let past = &mut Past::default();
    let first = match_next(past, &left, &right, &params, false).left;
    let by_chance = StereoParams { mi_start: MiStart::Random, ..params.clone() };
    assert_eq!(first, match_pair(&left, &right, &by_chance), "nothing came before");
    let second = match_next(past, &left, &right, &params, false).left;
    assert_ne!(second, first);
    let expected = Prior::of(&left, &right, &params, Some(&first)).information;
    assert_ne!(expected, Prior::of(&left, &right, &params, None).information);
    let other = StereoParams { p1: params.p1 + 1, ..params.clone() };
    let changed = match_next(past, &left, &right, &other, false).left;
    assert_eq!(changed, match_pair(&left, &right, &other), "another sequence");
}
