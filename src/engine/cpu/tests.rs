//! The CPU engine against the specification, on random options, sizes and pictures.

use super::CpuEngine;
use super::simd::SimdLevel;
use crate::frame::Luma;
use crate::image::Image;
use crate::parameter::{Domain, Value};
use crate::stereo::{StereoParams, match_pair};
use fastrand::Rng;

/// Every option drawn from its domain, until they fit together. Large sizes of lists are rare, so that tests are quick.
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
        // where the domains are wide, what people use comes up more often
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
        params.speckle_size = [0, rng.u32(..40), rng.u32(..3000)][rng.usize(..3)];
        params.speckle_range = rng.u32(..4);
        params.left_right = params.left_right.map(|px| if rng.bool() { px } else { px % 3 });
        if params.validate().is_ok() {
            return params;
        }
    }
}

/// Noise, a shifted texture with noise, or nearly nothing; 8 to 16 bits.
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

fn check(engine: &mut CpuEngine, rng: &mut Rng, size: (usize, usize), params: &StereoParams) {
    let (left, right) = random_pair(rng, size.0, size.1);
    let (map, _) = engine.match_pair(&left, &right, params).unwrap();
    let expected = match_pair(&left, &right, params);
    let differs = |(i, (a, b)): (usize, (&i16, &i16))| (a != b).then_some((i % size.0, i / size.0, *a, *b));
    let first = map.values.pixels().iter().zip(expected.values.pixels()).enumerate().find_map(differs);
    assert_eq!(first, None, "disparity at (x, y, cpu, reference) of {size:?}, {} bits, {params:?}", left.bits());
    let place = (0..size.0 * size.1).find(|&i| map.reasons.pixels()[i] != expected.reasons.pixels()[i]);
    let place = place.map(|i| (i % size.0, i / size.0, map.reasons.pixels()[i], expected.reasons.pixels()[i]));
    assert!(
        map.confidence == expected.confidence,
        "confidence of {size:?}, {} bits, {params:?}: {:?} instead of {:?}",
        left.bits(),
        map.confidence,
        expected.confidence
    );
    assert_eq!(place, None, "reason at (x, y, cpu, reference) of {size:?}, {} bits, {params:?}", left.bits());
}

/// An engine for each kind of vector instructions, with 1 to 8 threads.
fn engines() -> Vec<CpuEngine> {
    let levels = SimdLevel::all();
    (1..=8).map(|threads| CpuEngine::with_level(Some(threads), levels[threads % levels.len()])).collect()
}

#[test]
fn random_options_agree_with_the_reference() {
    let mut rng = Rng::with_seed(4);
    let mut engines = engines();
    let sizes = [(1, 1), (1, 40), (40, 1), (2, 3), (33, 27), (64, 16), (95, 61), (5, 70), (200, 150)];
    for n in 0..800 {
        let params = random_params(&mut rng);
        // W < D as often as not; large volumes rarely
        let budget = 400_000 / (params.num_disparities * (params.paths + 4)) as usize;
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
                    StereoParams { num_disparities: 40, min_disparity: -3, paths, ..StereoParams::default() };
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
