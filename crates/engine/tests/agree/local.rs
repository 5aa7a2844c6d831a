//! Local aggregation on the GPU: windows and arms of every length, in images with more than one tile, strip and group of candidates
//! in each direction.

use super::cases::{Case, Content};
use super::gpu::gpu_engine;
use super::steps;
use fastrand::Rng;
use stereopsis_base::testing::cases;
use stereopsis_frame::engine::EngineError;
use stereopsis_gpu::{Gpu, GpuEngine, GpuOptions};
use stereopsis_stereo::{Aggregation, CostKind, GateBounds, StereoParams};

fn base(rng: &mut Rng, aggregation: Aggregation) -> StereoParams {
    let costs = [CostKind::Census5x5, CostKind::Sad, CostKind::Rank, CostKind::Ad, CostKind::AdCensus];
    StereoParams {
        aggregation,
        min_disparity: rng.i32(-12..=6),
        num_disparities: *rng.choice(&[1, 3, 9, 18, 35]).expect("one"),
        paths: *rng.choice(&[0, 0, 2, 8]).expect("one"),
        gamma_color: *rng.choice(&[1, 50, 200, 65025]).expect("one"),
        gamma_space: *rng.choice(&[1, 20, 200, 65025]).expect("one"),
        sad_window: 3,
        gating: rng.bool().then_some(1),
        gate_bounds: *rng.choice(GateBounds::ALL).expect("one"),
        median: stereopsis_stereo::Median::Off,
        left_right: None,
        ..StereoParams::for_cost(*rng.choice(&costs).expect("one"))
    }
}

/// Compares every step for an image of this size, or of a smaller one where the reference would be slow.
fn check(engine: &mut GpuEngine, rng: &mut Rng, size: (usize, usize), params: &StereoParams) {
    let side = 2 * params.local_reach() + 1;
    let budget = (10_000_000 / (params.num_disparities as usize * side * side)).max(70);
    let size = if size.0 > size.1 {
        (size.0.min(budget), size.1.min(budget / size.0).max(1))
    } else {
        (size.0.min(budget / size.1).max(1), size.1.min(budget))
    };
    let content = *rng.choice(&[Content::Noise, Content::Shifted, Content::Blocks, Content::Flat]).expect("one");
    let bits = *rng.choice(&[8, 10, 16]).expect("one");
    steps::check(engine, &Case::new(rng, size, content, bits, params.clone()));
}

#[test]
fn gpu_windows_of_every_size() {
    let Some(mut engine) = gpu_engine() else { return };
    let rng = &mut Rng::with_seed(21);
    let step = if cases(1) > 1 { 2 } else { 6 };
    for window in (1..=33).step_by(step) {
        for aggregation in [Aggregation::Window, Aggregation::AdaptiveWeight] {
            let params = StereoParams { window, ..base(rng, aggregation) };
            let size = if window % 4 == 1 { (75, 9) } else { (rng.usize(1..12), 70) };
            check(&mut engine, rng, size, &params);
        }
    }
}

#[test]
fn gpu_arms_of_every_length() {
    let Some(mut engine) = gpu_engine() else { return };
    let rng = &mut Rng::with_seed(22);
    // each length is a kernel of its own, which a software adapter compiles for a second: all of them with CASES
    let step = if cases(1) > 1 { 1 } else { 7 };
    for arms in (1..=30).step_by(step) {
        let tau = *rng.choice(&[0, 1, 20, 90, 255]).expect("one");
        for aggregation in [Aggregation::Cross, Aggregation::WeightedCross] {
            let params = StereoParams { tau, arms, ..base(rng, aggregation) };
            let size = if arms % 2 == 1 { (141, 20) } else { (rng.usize(1..20), 139) };
            check(&mut engine, rng, size, &params);
        }
    }
}

#[test]
fn gpu_local_aggregation_at_the_smallest_sizes_and_beyond() {
    let Some(mut engine) = gpu_engine() else { return };
    let rng = &mut Rng::with_seed(23);
    for &aggregation in Aggregation::ALL.iter().filter(|&&aggregation| aggregation != Aggregation::None) {
        for (size, min_disparity, num_disparities) in
            [((1, 1), -3, 9), ((1, 5), 0, 1), ((5, 1), -2, 20), ((9, 4), 40, 33), ((9, 4), -60, 5), ((4, 3), -8, 64)]
        {
            let params = StereoParams { min_disparity, num_disparities, window: 7, arms: 5, ..base(rng, aggregation) };
            check(&mut engine, rng, size, &params);
        }
    }
}

/// Volumes have several buffers each, work has many pieces, and every index is checked.
#[test]
fn gpu_local_aggregation_over_several_buffers() {
    let Some(gpu) = Gpu::for_test() else { return };
    let rng = &mut Rng::with_seed(24);
    for &aggregation in Aggregation::ALL.iter().filter(|&&aggregation| aggregation != Aggregation::None) {
        for paths in [0, 2] {
            let params = StereoParams {
                paths,
                window: 9,
                arms: 30,
                tau: 90,
                num_disparities: 8,
                gating: None,
                ..base(rng, aggregation)
            };
            let case = Case::new(rng, (16, 150), Content::Blocks, 8, params);
            let widest = if paths == 0 || aggregation == Aggregation::Cross { 4 } else { 1 };
            let options = GpuOptions {
                binding_bytes: Some(16 * 8 * widest * rng.u64(50..70)),
                max_work: Some(1 << rng.u32(8..16)),
                checks: true,
                ..GpuOptions::default()
            };
            let mut engine = GpuEngine::with_options(gpu.clone(), options.clone()).expect("a live device");
            steps::check(&mut engine, &case);
            case.check(&mut engine);
            let none = GpuOptions { binding_bytes: Some(16 * 8 * widest / 2), ..options };
            let mut engine = GpuEngine::with_options(gpu.clone(), none).expect("a live device");
            let told = stereopsis_frame::engine::run(&mut engine, case.job()).map(drop);
            let Err(EngineError::TooLarge(text)) = told else { panic!("{told:?}: {}", case.what) };
            assert!(text.to_string().contains("lower num-disparities"), "{text}");
        }
    }
}
