//! Sequences of pairs: engines keep the same state from pair to pair as `stereo::Past`, also where sizes and parameters change, the state
//! is forgotten on request, or several jobs are in flight.

use super::cases::{Case, Content, random_params, seeds};
use super::engines;
use fastrand::Rng;
use std::collections::VecDeque;
use stereopsis_base::image::{Image, Luma};
use stereopsis_frame::engine::{Engine, Output, next_output};
use stereopsis_stereo::Persistence;
use stereopsis_stereo::map::reason;
use stereopsis_stereo::{Fill, Maps, Past, StereoParams};

#[allow(clippy::large_enum_variant, reason = "nearly all of them are pairs")]
enum Event {
    Pair(Box<Case>),
    Forget,
}

fn event(case: Case) -> Event {
    Event::Pair(Box::new(case))
}

/// Returns textured pairs whose right image has noise in moving places, so that holes come and go.
fn pairs(rng: &mut Rng, (width, height): (usize, usize), bits: u8, params: &StereoParams, count: usize) -> Vec<Case> {
    let largest = ((1_u32 << bits) - 1) as u16;
    let texture = Image::from_fn(width + 8, height, |_, _| rng.u16(0..=largest));
    let mut pair = |number: usize| {
        let shift = 3 + number / 10;
        let holes: Vec<_> = (0..3).map(|_| (rng.usize(..width), rng.usize(..height))).collect();
        let is_hole = |x: usize, y: usize| holes.iter().any(|hole| x.abs_diff(hole.0) < 8 && y.abs_diff(hole.1) < 6);
        let right = Image::from_fn(width, height, |x, y| {
            if is_hole(x, y) { rng.u16(0..=largest) } else { texture.at((x + shift).min(width + 7), y) }
        });
        let left = Image::from_fn(width, height, |x, y| texture.at(x, y));
        let luma = |image: Image<u16>| {
            if bits == 8 { Luma::U8(image.map(|&v| v as u8)) } else { Luma::U16 { image, bits } }
        };
        let words: Vec<_> = params.words().map(|(name, value)| format!("{name} {value}")).collect();
        let what = format!("pair {number} of {width}x{height}, {bits} bits, {}", words.join(", "));
        Case {
            left: luma(left),
            right: luma(right),
            params: params.clone(),
            wants_right: number % 3 == 1,
            colored: number % 5 != 2,
            is_masked: false,
            what,
        }
    };
    (0..count).map(&mut pair).collect()
}

/// Runs a sequence with this many jobs in flight, and compares every result with the reference.
fn check(engine: &mut dyn Engine, events: &[Event], in_flight: usize) -> Vec<Maps> {
    fn collect(engine: &mut dyn Engine) -> Output {
        next_output(engine).expect("a result")
    }
    engine.forget();
    let mut past = Past::default();
    let mut waiting = VecDeque::new();
    let mut all = Vec::new();
    for event in events {
        let Event::Pair(case) = event else {
            engine.forget();
            past = Past::default();
            continue;
        };
        if waiting.len() == in_flight {
            let (case, expected): (&Case, Maps) = waiting.pop_front().expect("not empty");
            case.compare_maps(&collect(engine), &expected);
        }
        engine.submit(case.job()).unwrap_or_else(|err| panic!("{err} ({})", case.what));
        let expected = case.expected_after(&mut past);
        all.push(expected.clone());
        waiting.push_back((&**case, expected));
    }
    for (case, expected) in waiting {
        case.compare_maps(&collect(engine), &expected);
    }
    all
}

fn share(maps: &Maps, why: u8) -> f64 {
    let reasons = maps.left.reasons.pixels();
    reasons.iter().filter(|&&reasons| reasons & why != 0).count() as f64 / reasons.len() as f64
}

#[test]
fn temporal_filter_keeps_the_state_of_the_reference() {
    for mut engine in engines() {
        let rng = &mut Rng::with_seed(30);
        let base = StereoParams {
            num_disparities: 12,
            paths: 4,
            uniqueness: 10,
            temporal: stereopsis_stereo::Temporal::On,
            temporal_delta: 6,
            ..StereoParams::default()
        };
        for (i, &persistence) in Persistence::ALL.iter().enumerate() {
            let fill = Fill::ALL[i % 2];
            let params = StereoParams { persistence, fill, confidence: i % 3 == 0, ..base.clone() };
            let events: Vec<_> = pairs(rng, (70, 41), 8, &params, 12).into_iter().map(event).collect();
            let in_flight = (1 + i % 3).min(engine.slots());
            let held = check(&mut *engine, &events, in_flight);
            let held = held.iter().map(|maps| share(maps, reason::HELD)).fold(0.0, f64::max);
            assert_eq!(held > 0.02, persistence != Persistence::Off, "{persistence}: {held}");
        }
    }
}

#[test]
fn learned_choice_uses_the_map_before_like_the_reference() {
    let rng = &mut Rng::with_seed(34);
    let params = StereoParams {
        num_disparities: 12,
        paths: 4,
        fill: Fill::Planes,
        temporal: stereopsis_stereo::Temporal::On,
        choice: true,
        ..StereoParams::default()
    };
    for mut engine in engines() {
        let mut pairs = pairs(rng, (71, 42), 8, &params, 8);
        pairs[5].params.weighted_median = false; // ends the sequence and begins another; the next pair begins the first one again
        let events: Vec<_> = pairs.iter().cloned().map(event).collect();
        let slots = engine.slots();
        check(&mut *engine, &events, slots);
        let mut past = Past::default();
        let changed = pairs[..5].iter().map(|case| {
            let mut without = past.clone();
            without.last = None;
            let [known, unknown] = [&mut past, &mut without].map(|past| case.expected_after(past).left);
            known.values.pixels().iter().zip(unknown.values.pixels()).filter(|(a, b)| a != b).count()
        });
        assert!(changed.sum::<usize>() > 20, "the map before decides hardly anything");
    }
}

/// The engine always has as many jobs in flight as it takes.
#[test]
fn another_size_or_parameters_or_forgetting_begins_a_sequence() {
    for mut engine in engines() {
        let rng = &mut Rng::with_seed(31);
        let params = StereoParams {
            num_disparities: 12,
            uniqueness: 10,
            temporal: stereopsis_stereo::Temporal::On,
            persistence: Persistence::Always,
            ..StereoParams::default()
        };
        let others = [
            StereoParams { p1: 3, ..params.clone() },
            StereoParams { temporal: stereopsis_stereo::Temporal::Off, ..params.clone() },
            StereoParams { temporal_alpha: 41, ..params.clone() },
            StereoParams { num_disparities: 20, median: stereopsis_stereo::Median::Five, ..params.clone() },
        ];
        let mut events = Vec::new();
        let mut add = |rng: &mut Rng, size, bits, params: &StereoParams, count| {
            events.extend(pairs(rng, size, bits, params, count).into_iter().map(event));
        };
        for other in &others {
            add(rng, (50, 30), 8, &params, 3);
            add(rng, (50, 30), 8, other, 2);
            add(rng, (50, 30), 8, &params, 1); // back to the first size: not the sequence of before
        }
        add(rng, (30, 50), 8, &params, 2);
        add(rng, (50, 30), 12, &params, 2);
        add(rng, (50, 30), 8, &params, 2); // another depth does not end it
        events.push(Event::Forget);
        events.extend(pairs(rng, (50, 30), 8, &params, 3).into_iter().map(event));
        let slots = engine.slots();
        check(&mut *engine, &events, slots);
    }
}

#[test]
fn random_sequences() {
    for mut engine in engines() {
        for seed in seeds(3) {
            let rng = &mut Rng::with_seed(seed);
            let mut sets: Vec<_> = (0..2).map(|_| random_params(rng)).collect();
            let with_past = StereoParams { temporal: stereopsis_stereo::Temporal::On, ..sets[0].clone() };
            sets.push(with_past);
            let sizes = [(33, 21), (20, 26)];
            let events: Vec<_> = (0..14)
                .map(|number| {
                    if rng.u8(..8) == 0 {
                        return Event::Forget;
                    }
                    let params = sets[(rng.usize(..3) * rng.usize(..2) + 2) % sets.len()].clone();
                    let size = sizes[usize::from(rng.u8(..5) == 0)];
                    let case = Case::new(rng, size, Content::Shifted, 8, params);
                    let what = format!("SEED={seed}, {number}: {}", case.what);
                    event(Case { what, ..case })
                })
                .collect();
            let in_flight = 1 + rng.usize(..engine.slots());
            check(&mut *engine, &events, in_flight);
        }
    }
}
