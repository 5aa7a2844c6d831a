//! Every step of the GPU against the same step of the reference.

use crate::cases::{Case, seeds};
use crate::gpu::gpu_engine;
use stereopsis::engine::gpu::{Trace, TraceData};
use stereopsis::stereo::params::{Fill, Median, Paths};
use stereopsis::stereo::{self, DisparityMap, Volume};

/// The reference's products in the order and with the names of a trace.
fn reference_trace(case: &Case) -> Vec<(&'static str, TraceData)> {
    let Case { left, right, params, .. } = case;
    let mut steps = Vec::new();
    let volume = |name, volume: &Volume<u32>| (name, TraceData::Volume(volume.clone()));
    let sums = if params.paths == Paths::None {
        let sums = stereo::cost::window_sums(left, right, params);
        steps.push(volume("cost", &sums));
        sums
    } else {
        let costs = stereo::cost::volume(left, right, params);
        steps.push(volume("cost", &costs.map(|&cost| u32::from(cost))));
        let mut sums = Volume::zero(costs.width, costs.height, costs.candidates);
        for direction in stereo::aggregate::directions(params.paths) {
            let path = stereo::aggregate::path_costs(&costs, &left.to_u8(), direction, params);
            for (sum, &cost) in sums.data.iter_mut().zip(&path.data) {
                *sum += u32::from(cost);
            }
            steps.push(volume("path", &sums));
        }
        sums
    };
    let mut step = |name, map: &DisparityMap| steps.push((name, TraceData::Map(map.clone())));
    let mut right_map = stereo::disparity::right_map(&sums, params);
    let mut map = stereo::disparity::winner_takes_all(&sums, params);
    if params.left_right.is_some() {
        step("right map", &right_map);
    }
    step("left map", &map);
    let smooth = params.median != Median::Off;
    if smooth {
        map = stereo::filter::median(&map, params.median);
        step("median", &map);
    }
    if let Some(tolerance) = params.left_right {
        if smooth {
            right_map = stereo::filter::median(&right_map, params.median);
            step("right median", &right_map);
        }
        stereo::filter::check_left_right(&mut map, &right_map, tolerance);
        step("left-right", &map);
    }
    if params.speckle_size > 0 {
        stereo::filter::remove_speckle(&mut map, params.speckle_size, params.speckle_range);
        step("speckle", &map);
    }
    if params.fill == Fill::Background {
        stereo::filter::fill_background(&mut map);
        step("fill", &map);
        if smooth {
            step("median after fill", &stereo::filter::median(&map, params.median));
        }
    }
    steps
}

#[test]
fn gpu_agrees_step_by_step() {
    let Some(mut engine) = gpu_engine() else { return };
    for seed in seeds(30) {
        let case = Case::random(seed, (40, 24));
        let Trace { steps } = engine.trace(&case.job()).unwrap_or_else(|err| panic!("{err} ({})", case.what));
        let expected = reference_trace(&case);
        let names = |steps: &[(&'static str, TraceData)]| steps.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        assert_eq!(names(&steps), names(&expected), "{}", case.what);
        for (i, ((name, got), (_, wanted))) in steps.iter().zip(&expected).enumerate() {
            match (got, wanted) {
                (TraceData::Volume(got), TraceData::Volume(wanted)) => {
                    let differing = got.data.iter().zip(&wanted.data).position(|(a, b)| a != b);
                    assert_eq!(differing, None, "step {i}, {name}: index into the volume of {}", case.what);
                }
                (TraceData::Map(got), TraceData::Map(wanted)) => {
                    case.compare(&format!("step {i}, {name}"), got, wanted);
                }
                _ => panic!("step {i}, {name}: a map and a volume"),
            }
        }
    }
}
