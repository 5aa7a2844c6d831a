//! Mutual information on the GPU: counts and costs of each level, and the state that one pair leaves for the next.

use super::cases::{Case, Content, job};
use super::gpu::gpu_engine;
use super::{engines, steps};
use fastrand::Rng;
use std::collections::VecDeque;
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_base::testing::cases;
use stereopsis_frame::engine::{Engine, next_output};
use stereopsis_gpu::variant::{Variant, VariantOverrides};
use stereopsis_gpu::{Gpu, GpuEngine, GpuOptions};
use stereopsis_stereo::MiStart;
use stereopsis_stereo::{CostKind, DisparityMap, Fill, GateBounds, Past, RightMatching, StereoParams, Subpixel};

fn params() -> StereoParams {
    StereoParams { num_disparities: 12, ..StereoParams::for_cost(CostKind::MutualInformation) }
}

/// Counts have 32 bits; an image that could exceed them is refused before anything is allocated for it.
#[test]
fn images_too_large_to_count_are_refused() {
    let params = StereoParams { num_disparities: 1, ..StereoParams::for_cost(CostKind::MutualInformation) };
    let picture = Picture { luma: Luma::U8(Image::filled(8192, 2049, 7)), rgb: None };
    for mut engine in engines() {
        let refused = stereopsis_frame::engine::run(&mut *engine, job([picture.clone(), picture.clone()], &params))
            .map(drop)
            .expect_err("too large");
        let text = refused.to_string();
        assert!(text.contains("8192x2049") && text.contains("lower scale"), "{text}");
    }
}

/// Includes pyramids of every height with and without gates, odd sizes, every depth and kind of content.
#[test]
fn gpu_learns_the_same_table_on_each_level() {
    let Some(mut engine) = gpu_engine() else { return };
    let rng = &mut Rng::with_seed(21);
    let sizes = [(1, 1), (31, 17), (32, 31), (65, 33), (77, 70), (130, 67), (9, 90)];
    for (i, &size) in sizes.iter().cycle().take(cases(14) as usize).enumerate() {
        let params = StereoParams {
            mi_levels: 1 + i as u32 % 5,
            gating: [None, None, Some(1), Some(3)][i % 4],
            gate_bounds: GateBounds::ALL[i / 4 % 2],
            min_disparity: [0, -7, 3, -20][(i / 2) % 4],
            num_disparities: [12, 1, 27][i % 3],
            paths: [8, 0, 5][(i / 3) % 3],
            subpixel: Subpixel::ALL[(i / 7) % 3],
            right_matching: RightMatching::ALL[(i / 5) % 2],
            ..params()
        };
        let content = [Content::Shifted, Content::Noise, Content::Blocks, Content::Flat][(i / 3) % 4];
        let bits = [8, 10, 16][i % 3];
        steps::check(&mut engine, &Case::new(rng, size, content, bits, params));
    }
}

/// Includes an image with so many pixels of one brightness that counts are large.
#[test]
fn gpu_counts_uniform_images() {
    let Some(mut engine) = gpu_engine() else { return };
    let flat = |value| Luma::U8(Image::filled(301, 203, value));
    for (left, right) in [(0, 0), (255, 255), (0, 255), (7, 130)] {
        let what = format!("flat {left} and {right}");
        let params = StereoParams { num_disparities: 4, paths: 1, mi_levels: 2, ..params() };
        steps::check(
            &mut engine,
            &Case {
                left: flat(left),
                right: flat(right),
                params,
                wants_right: false,
                colored: false,
                is_masked: false,
                what,
            },
        );
    }
}

fn deeper_on_the_right(case: Case) -> Case {
    let Luma::U8(image) = &case.right else { return case };
    let right = Luma::U16 { image: image.map(|&v| u16::from(v) << 4 | u16::from(v) >> 5), bits: 12 };
    Case { right, what: format!("12 bits on the right, {}", case.what), ..case }
}

/// Includes costs from a volume, in one buffer or several, and from codes, for every comparison.
#[test]
fn gpu_compares_from_volumes_and_codes() {
    let Some(gpu) = Gpu::for_test() else { return };
    let rng = &mut Rng::with_seed(22);
    for (costs, binding_bytes, path_bytes) in [
        ("volume", None, None),
        ("codes", None, None),
        ("volume", Some(40_000), None),
        ("codes", Some(40_000), Some(1)),
    ] {
        let overrides: VariantOverrides = format!("costs={costs}").parse().expect("a part of a variant");
        let options = GpuOptions { overrides, path_bytes, binding_bytes, ..GpuOptions::default() };
        let mut engine = GpuEngine::with_options(gpu.clone(), options).expect("a fresh device");
        for cost in [CostKind::Ad, CostKind::AdCensus, CostKind::GradientCensus, CostKind::MutualInformation] {
            for (size, bits, paths) in [((71, 41), 8, 8), ((33, 34), 12, 3), ((1, 1), 16, 1), ((5, 40), 16, 0)] {
                let params =
                    StereoParams { paths, min_disparity: -9, num_disparities: 22, ..StereoParams::for_cost(cost) };
                let case = Case::new(rng, size, Content::Noise, bits, params);
                steps::check(&mut engine, &deeper_on_the_right(case));
                let ran = engine.variant().map(|Variant { costs, .. }| costs.to_string());
                assert_eq!(ran.as_deref(), Some(costs));
            }
        }
    }
}

enum SequenceStep {
    Pair(Box<Case>),
    Forget,
    Force(&'static str),
}

/// Returns a sequence of pairs that is interrupted by another size, other parameters, a `forget` or another variant.
fn sequence(rng: &mut Rng) -> Vec<SequenceStep> {
    let last = StereoParams { mi_start: MiStart::LastFrame, ..params() };
    let short = StereoParams { mi_levels: 1, ..last.clone() };
    let filled = StereoParams { fill: Fill::Background, min_disparity: -3, uniqueness: 3, ..last.clone() };
    let other = StereoParams { p1: last.p1 + 1, ..last.clone() };
    let random = StereoParams { mi_start: MiStart::Random, ..last.clone() };
    let gated = StereoParams { gating: Some(2), right_matching: RightMatching::Swapped, ..filled.clone() };
    let (wide, high) = ((75, 38), (41, 67));
    let padded_alike = (101, 38); // rows of a map take as many bytes
    let mut pair = |size, params: &StereoParams| {
        SequenceStep::Pair(Box::new(Case::new(rng, size, Content::Shifted, 8, params.clone())))
    };
    vec![
        pair(wide, &last),
        pair(wide, &last),
        pair(wide, &last),
        SequenceStep::Forget,
        pair(wide, &last),
        SequenceStep::Force("words=1,costs=codes"),
        pair(wide, &last),
        pair(wide, &other),
        pair(wide, &last),
        pair(wide, &last),
        SequenceStep::Force("words=2,costs=volume"),
        pair(wide, &last),
        pair(high, &last),
        pair(wide, &last),
        pair(padded_alike, &last),
        pair(padded_alike, &last),
        pair(wide, &last),
        pair(wide, &random),
        pair(wide, &random),
        pair(wide, &last),
        pair(wide, &short),
        pair(wide, &short),
        pair(wide, &short),
        pair(high, &filled),
        pair(high, &filled),
        pair(high, &filled),
        pair(wide, &gated),
        pair(wide, &gated),
        pair(wide, &gated),
    ]
}

/// Runs three jobs in flight: the next one starts before the host has the last one's map.
#[test]
fn gpu_starts_from_the_pair_before() {
    let Some(mut engine) = gpu_engine() else { return };
    let past = &mut Past::default();
    let mut waiting: VecDeque<(Box<Case>, DisparityMap)> = VecDeque::new();
    let collect = |engine: &mut GpuEngine, waiting: &mut VecDeque<(Box<Case>, DisparityMap)>| {
        let output = next_output(engine).expect("a result");
        let (case, expected) = waiting.pop_front().expect("a job");
        case.compare("GPU", &output.map.expect("asked for"), &expected);
    };
    let mut went_on = 0;
    for (i, next) in sequence(&mut Rng::with_seed(23)).into_iter().enumerate() {
        match next {
            SequenceStep::Forget => {
                *past = Past::default();
                engine.forget();
            }
            SequenceStep::Force(parts) => engine.override_variant(parts.parse().expect("parts of a variant")),
            SequenceStep::Pair(mut case) => {
                case.what = format!("pair {i}: {}", case.what);
                case.wants_right = i % 4 == 1;
                let expected = case.expected_after(past).left;
                went_on += u32::from(expected != case.expected());
                if waiting.len() == 3 {
                    collect(&mut engine, &mut waiting);
                }
                engine.submit(case.job()).expect("a free slot");
                waiting.push_back((case, expected));
            }
        }
    }
    while !waiting.is_empty() {
        collect(&mut engine, &mut waiting);
    }
    assert!(went_on > 8, "the pair before changes {went_on} maps");
}
