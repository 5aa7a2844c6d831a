//! Compares the CPU engine with the reference, on random options, sizes and images. Maps have to be equal to the last bit.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod memory;

use fastrand::Rng;
use stereopsis_base::image::{Image, Luma, PictureRef};
use stereopsis_base::parameter::{Domain, Value};
use stereopsis_base::testing::cases;
use stereopsis_cpu::CpuEngine;
use stereopsis_cpu::simd::SimdLevel;
use stereopsis_frame::engine::Engine;
use stereopsis_stereo::{Aggregation, CostKind, DisparityMap, Past, RightMatching, StereoParams, match_next};

/// Draws every option from its domain until all are valid together. Large images are rare, so that tests are quick.
fn random_params(rng: &mut Rng) -> StereoParams {
    loop {
        let mut params = StereoParams::default();
        for parameter in StereoParams::table() {
            let value = match &parameter.domain {
                Domain::Integer(range) => Value::Integer(rng.i64(range.clone())),
                Domain::OptionalInteger(_) if rng.bool() => Value::Off,
                Domain::OptionalInteger(range) => Value::Integer(rng.i64(range.clone())),
                Domain::Switch => Value::Switch(rng.bool()),
                Domain::Choice(words) => Value::Choice(words[rng.usize(..words.len())].0),
            };
            assert!((parameter.set)(&mut params, value));
        }
        params.paths = [0, 4, 8, 8, rng.u32(1..4), rng.u32(1..20), rng.u32(..385)][rng.usize(..7)];
        if rng.bool() {
            params.start_angle_deg = 0;
        }
        // where the domains are wide, usual values are more frequent
        if rng.u8(..4) > 0 {
            params.min_disparity = rng.i32(-20..20);
        }
        params.num_disparities = [1, 2, 31, 32, 33, 64, 65, 256, rng.u32(1..257)][rng.usize(..9)];
        if rng.bool() {
            let largest = params.largest_cost();
            params.p1 = rng.u32(0..largest.max(2));
            params.p2 = params.p1 + rng.u32(1..3 * largest);
            params.p2_min = params.p1 + rng.u32(1..=largest);
            params.p2_alpha = rng.u32(0..64);
        }
        // the reference takes long for large regions
        params.window = [1, 3, 5, 9, 33][rng.usize(..5)];
        params.arms = [1, 3, 5, 30][rng.usize(..4)];
        params.sad_window = [1, 5, 21][rng.usize(..3)];
        params.speckle_size = [0, rng.u32(..40), rng.u32(..3000)][rng.usize(..3)];
        params.speckle_range = rng.u32(..4);
        params.left_right = params.left_right.map(|px| if rng.bool() { px } else { px % 3 });
        if params.validate().is_ok() {
            return params;
        }
    }
}

/// Returns noise, a shifted texture with noise, or nearly uniform images; 8 to 16 bits.
fn random_pair(rng: &mut Rng, width: usize, height: usize) -> (Luma, Luma) {
    let bits = if rng.bool() { 8 } else { rng.u8(9..17) };
    let largest = u16::MAX >> (16 - bits);
    let texture = Image::from_fn(width + 64, height, |_, _| rng.u16(..=largest));
    let kind = rng.u8(..4);
    let shift = rng.usize(..20);
    let mut picture = |shift: usize| {
        let image = Image::from_fn(width, height, |x, y| match kind {
            0 => rng.u16(..=largest),
            1 => largest / 3 + u16::from(rng.u8(..50) == 0),
            2 => texture.at(x / 3 + shift, y / 4),
            _ => texture.at(x + shift, y).saturating_add(rng.u16(..=largest / 16)).min(largest),
        });
        if bits == 8 { Luma::U8(image.map(|&v| v as u8)) } else { Luma::U16 { image, bits } }
    };
    (picture(20), picture(20 + shift))
}

/// Compares one pair, or three where state is kept from pair to pair.
fn check(engine: &mut CpuEngine, rng: &mut Rng, size: (usize, usize), params: &StereoParams) {
    engine.forget();
    let past = &mut Past::default();
    let pairs = if params.remembers() { 3 } else { 1 };
    for pair in 0..pairs {
        let (left, right) = random_pair(rng, size.0, size.1);
        let wants_right = rng.bool();
        let what = || format!("pair {pair} of {size:?}, {} bits, {params:?}", left.bits());
        let (maps, _) = engine.match_next(&left, &right, params, wants_right).unwrap();
        let expected = match_next(past, &left, &right, params, wants_right);
        compare("left", &maps.left, &expected.left, what);
        assert_eq!((maps.right.is_some(), expected.right.is_some()), (wants_right, wants_right), "{}", what());
        if let (Some(right), Some(expected)) = (&maps.right, &expected.right) {
            compare("right", right, expected, what);
        }
    }
}

fn compare(which: &str, map: &DisparityMap, expected: &DisparityMap, what: impl Fn() -> String) {
    assert_eq!(map.size(), expected.size());
    let (width, height) = map.size();
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        let of = |m: &DisparityMap| {
            (m.values.at(x, y), m.reasons.at(x, y), m.confidence.as_ref().map(|confidence| confidence.at(x, y)))
        };
        let [got, wanted] = [map, expected].map(of);
        assert_eq!(got, wanted, "{which} map's disparity, reasons and confidence at ({x}, {y}), {}", what());
    }
}

/// Returns engines with 1 to 8 threads, for each kind of vector instructions in turn.
fn engines() -> Vec<CpuEngine> {
    let levels = SimdLevel::all();
    (1..=8).map(|threads| CpuEngine::with_level(Some(threads), levels[threads % levels.len()])).collect()
}

#[test]
fn random_options_agree_with_the_reference() {
    let mut rng = Rng::with_seed(4);
    let mut engines = engines();
    let sizes = [(1, 1), (1, 40), (40, 1), (2, 3), (33, 27), (64, 16), (95, 61), (5, 70), (200, 150)];
    for n in 0..cases(200) as usize {
        let params = random_params(&mut rng);
        // W < D about half the time; large volumes rarely
        let (reach, _) = params.window_reach();
        let budget = 400_000 / (params.num_disparities * (params.paths + 4 + (reach * reach) as u32)) as usize;
        let fitting: Vec<_> = sizes.iter().filter(|(w, h)| w * h <= budget.max(200)).collect();
        let size = *fitting[rng.usize(..fitting.len())];
        let count = engines.len();
        check(&mut engines[n % count], &mut rng, size, &params);
    }
}

#[test]
fn eight_paths_agree_at_every_level_and_with_any_number_of_threads() {
    let mut rng = Rng::with_seed(7);
    for level in SimdLevel::all() {
        for threads in 1..=8 {
            let mut engine = CpuEngine::with_level(Some(threads), level);
            for num_disparities in [16, 64, 100, 128, 200, 256] {
                let params = StereoParams { num_disparities, ..StereoParams::default() };
                check(&mut engine, &mut rng, (threads * 9 + 20, 23 + threads), &params);
            }
        }
    }
}

#[test]
fn every_choice_agrees_with_the_reference() {
    let mut rng = Rng::with_seed(5);
    let mut engine = CpuEngine::new(Some(1));
    for parameter in StereoParams::table() {
        let Domain::Choice(words) = &parameter.domain else { continue };
        for (word, _) in words {
            for paths in [0, 8] {
                let mut params =
                    StereoParams { num_disparities: 40, min_disparity: -3, paths, arms: 3, ..StereoParams::default() };
                assert!((parameter.set)(&mut params, Value::Choice(word)));
                if parameter.name == "cost" {
                    params.set_cost(params.cost);
                }
                check(&mut engine, &mut rng, (95, 61), &params);
            }
        }
    }
}

#[test]
fn penalties_at_the_bounds_of_eight_bits_agree() {
    let mut rng = Rng::with_seed(6);
    for mut engine in engines() {
        // path costs of 8 bits up to 24 + 230; sums of four times P2 in 8 bits up to 63
        for p2 in [63, 64, 230, 231, 232, 2000, 8165] {
            let p1 = (p2 - 1).min(4096);
            let params = StereoParams { p1, p2, p2_min: p1 + 1, num_disparities: 33, ..StereoParams::default() };
            check(&mut engine, &mut rng, (61, 40), &params);
            let flat = StereoParams { p1: 0, p2: 1, p2_min: 1, ..params };
            check(&mut engine, &mut rng, (40, 31), &flat);
        }
    }
}

/// Includes regions larger than the image, strips of a few rows, and sums that need more than 16 bits.
#[test]
fn aggregations_agree_at_every_level_for_small_and_large_regions() {
    let mut rng = Rng::with_seed(8);
    for (n, mut engine) in engines().into_iter().enumerate() {
        for &aggregation in Aggregation::ALL {
            for (window, arms) in [(3, 2), (33, 30)] {
                let cost = CostKind::ALL[rng.usize(..CostKind::ALL.len())];
                let paths = 8 * (n as u32 % 2);
                let num_disparities = rng.u32(1..40);
                let params =
                    StereoParams { num_disparities, aggregation, window, arms, paths, ..StereoParams::for_cost(cost) };
                let size = if window == 3 { (41, 37) } else { (13 + n, 9 + 2 * n) };
                check(&mut engine, &mut rng, size, &params);
            }
        }
    }
}

#[test]
fn swapped_matching_agrees_with_gates_and_information_of_its_own() {
    let mut rng = Rng::with_seed(9);
    for (n, mut engine) in engines().into_iter().enumerate() {
        for gating in [None, Some(2)] {
            for cost in [CostKind::Census5x5, CostKind::MutualInformation] {
                let params = StereoParams {
                    gating,
                    right_matching: RightMatching::Swapped,
                    num_disparities: 70,
                    min_disparity: -5,
                    paths: 8 * (n as u32 % 2),
                    left_right: (n > 0).then_some(1),
                    confidence: true,
                    ..StereoParams::for_cost(cost)
                };
                check(&mut engine, &mut rng, (45 + n, 39), &params);
            }
        }
    }
}

/// State kept between pairs belongs to a size and to parameters, and is dropped on request.
#[test]
fn sequences_remember_and_forget_as_the_reference() {
    let mut rng = Rng::with_seed(10);
    let mut engine = CpuEngine::new(Some(3));
    let first = StereoParams {
        num_disparities: 20,
        temporal: stereopsis_stereo::Temporal::On,
        mi_start: stereopsis_stereo::MiStart::LastFrame,
        ..StereoParams::for_cost(CostKind::MutualInformation)
    };
    let other = StereoParams { mi_levels: 2, ..first.clone() };
    let (small, large) = ((40, 21), (51, 40));
    let sequence = [
        (small, &first, false),
        (small, &first, false),
        (small, &first, false),
        (large, &first, false),
        (small, &first, false),
        (small, &other, false),
        (small, &other, false),
        (small, &first, false),
        (small, &first, true),
        (small, &first, false),
    ];
    let mut past = Past::default();
    for (n, (size, params, forgets)) in sequence.into_iter().enumerate() {
        if forgets {
            engine.forget();
            past = Past::default();
        }
        let (left, right) = random_pair(&mut rng, size.0, size.1);
        let (maps, _) = engine.match_next(&left, &right, params, n % 2 == 0).unwrap();
        let expected = match_next(&mut past, &left, &right, params, n % 2 == 0);
        compare("left", &maps.left, &expected.left, || format!("pair {n}"));
        assert!(maps == expected, "right map of pair {n}");
    }
}

#[test]
fn engine_replaces_its_threads_after_a_fork() {
    let mut rng = Rng::with_seed(14);
    let params =
        StereoParams { temporal: stereopsis_stereo::Temporal::On, num_disparities: 16, ..StereoParams::default() };
    let pairs: Vec<_> = (0..2).map(|_| random_pair(&mut Rng::with_seed(rng.u64(..)), 40, 30)).collect();
    let matched = |engine: &mut CpuEngine, (left, right): &(Luma, Luma)| {
        engine.match_next(left, right, &params, false).unwrap().0.left
    };
    let mut engines = [1, 2].map(|threads| CpuEngine::new(Some(threads)));
    assert_eq!(matched(&mut engines[0], &pairs[0]), matched(&mut engines[1], &pairs[0]));
    // these threads do nothing any more, like a parent's threads in its child
    let (end, ended) = crossbeam_channel::bounded::<()>(0);
    engines[1].lose_threads(ended).unwrap();
    assert_eq!(matched(&mut engines[0], &pairs[1]), matched(&mut engines[1], &pairs[1]), "with the pair before");
    drop((engines, end));
}
