//! Compares every engine with the bits of `stereo::match_pair`, for any image and any parameters; the GPU step by step too.
//!
//! Random cases come from a seed that a failure names. `SEED=… cargo test -p stereopsis-engine --test agree` repeats them, and
//! `CASES=10` tries ten times as many others.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "tests say why they are skipped, and fail by panicking")]

mod cases;
mod changes;
mod gpu;
mod information;
mod sequences;
mod local;
mod memory;
mod steps;
mod variants;

use cases::{Case, Content, seeds};
use fastrand::Rng;
use stereopsis_base::image::{Image, Luma};
use stereopsis_cpu::CpuEngine;
use stereopsis_frame::engine::Engine;
use stereopsis_stereo::{AdaptiveP2, CostKind, Fill, StereoParams};

fn engines() -> Vec<Box<dyn Engine>> {
    let mut engines: Vec<Box<dyn Engine>> = vec![Box::new(CpuEngine::new(None))];
    if let Some(gpu) = gpu::gpu_engine() {
        engines.push(Box::new(gpu));
    }
    engines
}

#[test]
fn random_pairs_and_parameters() {
    for mut engine in engines() {
        for seed in seeds(6) {
            Case::random(seed, (52, 36)).check(&mut *engine);
        }
    }
}

#[test]
fn odd_sizes_and_ranges() {
    let with = |min_disparity, num_disparities| StereoParams {
        min_disparity,
        num_disparities,
        uniqueness: 5,
        speckle_size: 12,
        fill: Fill::Background,
        ..StereoParams::default()
    };
    let sizes_and_params = [
        ((1, 1), with(0, 1)),
        ((1, 1), with(-3, 8)),
        ((1, 40), with(0, 16)),
        ((40, 1), with(-5, 17)),
        ((2, 3), with(0, 64)),
        ((33, 20), with(0, 256)),
        ((65, 9), with(-20, 33)),
        ((95, 61), with(0, 48)),
        ((160, 120), with(-7, 64)),
        ((131, 67), with(0, 256)),
        ((30, 4), with(-1024, 5)),
        ((30, 4), with(1023, 5)),
        ((30, 7), with(-500, 1024)),
    ];
    for mut engine in engines() {
        let rng = &mut Rng::with_seed(1);
        for (size, params) in &sizes_and_params {
            Case::new(rng, *size, Content::Shifted, 8, params.clone()).check(&mut *engine);
        }
    }
}

#[test]
fn every_cost_with_every_number_of_paths() {
    for mut engine in engines() {
        let rng = &mut Rng::with_seed(2);
        for &cost in CostKind::ALL {
            for paths in [0, 4, 7, 8] {
                for bits in [8, 10, 16] {
                    let params = StereoParams {
                        num_disparities: 27,
                        sad_window: 3,
                        paths,
                        adaptive_p2: AdaptiveP2::ALL[rng.usize(..3)],
                        ..StereoParams::for_cost(cost)
                    };
                    Case::new(rng, (41, 23), Content::Shifted, bits, params).check(&mut *engine);
                }
            }
        }
    }
}

/// Includes sums that need more than 16 bits, and rows without any disparity, which random pairs hardly ever have.
#[test]
fn rare_pairs() {
    let size = (40, 30);
    let flat = |value| Luma::U8(Image::filled(size.0, size.1, value));
    let rng = &mut Rng::with_seed(8);
    let around_107 = Luma::U8(Image::from_fn(size.0, size.1, |_, _| rng.u8(90..=124)));
    let texture = Image::from_fn(size.0 + 4, size.1, |_, _| rng.u8(..));
    let empty_row = |y| !(8..20).contains(&y) || y == 13;
    let striped = |shift, empty| {
        let pixel = |x: usize, y| if empty_row(y) { empty } else { texture.at(x + shift, y) };
        Luma::U8(Image::from_fn(size.0, size.1, pixel))
    };
    let sad = StereoParams { num_disparities: 12, paths: 0, ..StereoParams::for_cost(CostKind::Sad) };
    let large = StereoParams { sad_window: 21, ..sad.clone() };
    let filled = StereoParams { sad_window: 1, uniqueness: 1, left_right: None, fill: Fill::Background, ..sad.clone() };
    let cases = [
        Case {
            left: flat(255),
            right: around_107,
            params: large,
            wants_right: false,
            colored: false,
            is_masked: false,
            what: "sums around 65536".to_owned(),
        },
        Case {
            left: striped(0, 100),
            right: striped(4, 90),
            params: filled,
            wants_right: false,
            colored: false,
            is_masked: false,
            what: "empty rows".to_owned(),
        },
    ];
    for mut engine in engines() {
        for case in &cases {
            case.check(&mut *engine);
        }
    }
}
