//! Compares every step of the GPU with the same step of the reference.

use super::cases::{Case, Content, seeds};
use super::gpu::gpu_engine;
use fastrand::Rng;
use stereopsis_base::image::{Image, Luma, PictureRef};
use stereopsis_base::testing::cases;
use stereopsis_cpu::CpuEngine;
use stereopsis_gpu::{Gpu, GpuEngine, GpuOptions, Trace, TraceData};
use stereopsis_stereo::cost::CostSettings;
use stereopsis_stereo::cost::mutual_information::{self, LEVELS};
use stereopsis_stereo::disparity::WinnerRules;
use stereopsis_stereo::filter::RunningMean;
use stereopsis_stereo::filter::choice::ChoiceSettings;
use stereopsis_stereo::filter::planes::Fillable;
use stereopsis_stereo::local::LocalSettings;
use stereopsis_stereo::map::ON_PLANE;
use stereopsis_stereo::params::words::MAX_PATHS;
use stereopsis_stereo::{
    Aggregation, CostKind, DisparityMap, Fill, GateBounds, Maps, Median, Past, Prior, RightMatching, StereoParams,
    Subpixel, Volume, pyramid,
};

/// Returns the reference's intermediate results in the order and with the names of a trace.
fn reference_trace(case: &Case) -> Vec<(&'static str, TraceData)> {
    let Case { left, right, params, .. } = case;
    let mut steps = Vec::new();
    let volume = |name, volume: &Volume<u32>| (name, TraceData::Volume(volume.clone()));
    let prior = Prior::of(left, right, params, None);
    steps.extend(information_steps(left, right, params));
    let sums = stereopsis_stereo::sum_volume(left, right, params, &prior);
    if params.is_block_matching() {
        steps.push(volume("cost", &sums));
    } else {
        let costs = stereopsis_stereo::cost::volume(
            left,
            right,
            &CostSettings::of(params),
            &params.disparities(),
            prior.information.as_ref(),
        );
        steps.push(volume("cost", &costs.map(|&cost| u32::from(cost))));
        if params.aggregation != Aggregation::None {
            let aggregated = stereopsis_stereo::local::aggregate(
                &costs,
                &left.to_u8(),
                &right.to_u8(),
                &LocalSettings::of(params),
                params.min_disparity,
            );
            let mean = |&sum: &u32| u32::from(params.unit().mean(sum));
            let aggregated = if params.paths == 0 { aggregated } else { aggregated.map(mean) };
            steps.push(volume("aggregation", &aggregated));
        }
    }
    let mut left_map = stereopsis_stereo::disparity::winner_takes_all(&sums, &WinnerRules::of(params));
    steps.push(("left map", TraceData::Map(left_map.clone())));
    steps.push(volume("sums", &sums));
    let mut step = |name, map: &DisparityMap| steps.push((name, TraceData::Map(map.clone())));
    let has_right = case.wants_right || params.left_right.is_some();
    let mut right_map = match params.right_matching {
        RightMatching::Diagonal => stereopsis_stereo::disparity::right_map(&sums, params.min_disparity),
        RightMatching::Swapped => stereopsis_stereo::swapped_map(left, right, params, &prior),
    };
    if has_right && params.right_matching == RightMatching::Swapped {
        step("right map", &right_map);
    }
    let pictures = case.pictures();
    let pictures =
        PictureRef::pair(&pictures[0], &pictures[1]).map(|picture| PictureRef { is_masked: case.is_masked, ..picture });
    let mut maps = Maps { left: left_map, right: Some(right_map) };
    stereopsis_stereo::filter::black_border::drop_black_borders(&mut maps, pictures);
    (left_map, right_map) = (maps.left, maps.right.expect("there is one"));
    // steps of both maps at once, beside the black borders
    left_map = stereopsis_stereo::filter::median(&left_map, params.median);
    right_map = stereopsis_stereo::filter::median(&right_map, params.median);
    let names =
        if params.median == Median::Off { ["black border", "right black border"] } else { ["median", "right median"] };
    step(names[0], &left_map);
    if has_right {
        step(names[1], &right_map);
    }
    let unchecked = [left_map.clone(), right_map.clone()];
    let mut maps = vec![(left_map, pictures[0], LEFT_STEPS)];
    if case.wants_right {
        maps.push((right_map, pictures[1], RIGHT_STEPS));
    }
    for (side, (map, _, names)) in maps.iter_mut().enumerate() {
        if let Some(tolerance) = params.left_right {
            check_side(map, side, &unchecked[1 - side], tolerance);
            step(names[0], map);
        }
        if params.speckle_size > 0 {
            stereopsis_stereo::filter::remove_speckle(map, params.speckle_size, params.speckle_range);
            step(names[1], map);
        }
    }
    refine(&mut maps, pictures, params, &mut step);
    steps
}

/// Checks the map of a side, the right one as the left one of mirrored images.
fn check_side(map: &mut DisparityMap, side: usize, other: &DisparityMap, tolerance: u32) {
    if side == 0 {
        return stereopsis_stereo::filter::check_left_right(map, other, tolerance);
    }
    let mut mirrored = map.mirrored();
    stereopsis_stereo::filter::check_left_right(&mut mirrored, &other.mirrored(), tolerance);
    *map = mirrored.mirrored();
}

const LEFT_STEPS: [&str; 9] =
    ["left-right", "speckle", "spatial", "planes", "bands", "fill", "choice", "weighted median", "last median"];
const RIGHT_STEPS: [&str; 9] = [
    "right left-right",
    "right speckle",
    "right spatial",
    "right planes",
    "right bands",
    "right fill",
    "", // the right map has no choice
    "right weighted median",
    "right last median",
];

/// Filters each map with the reference and names the steps; only the left map is filtered over time.
fn refine(
    maps: &mut [(DisparityMap, PictureRef<'_>, [&'static str; 9])],
    pictures: [PictureRef<'_>; 2],
    params: &StereoParams,
    step: &mut dyn FnMut(&'static str, &DisparityMap),
) {
    for ((map, _, names), iterations) in maps.iter_mut().zip(params.spatial.into_iter().cycle()) {
        stereopsis_stereo::filter::smooth_along_surfaces(map, iterations, RunningMean::along_surfaces(params));
        step(names[2], map);
    }
    if params.smooths_over_time() {
        stereopsis_stereo::filter::smooth_over_time(
            &mut maps[0].0,
            &mut None,
            RunningMean::over_time(params),
            params.persistence,
        );
        step("temporal", &maps[0].0);
    }
    // only the left map has a choice
    let of_sides = [params.clone(), StereoParams { choice: false, ..params.clone() }];
    for ((map, picture, names), params) in maps.iter_mut().zip(&of_sides).filter(|_| params.fill != Fill::None) {
        if params.fill == Fill::Planes {
            let fillable = Fillable::of(params);
            stereopsis_stereo::filter::planes::fill_planes(map, &picture.luma.to_u8(), &fillable);
            step(names[3], map);
            stereopsis_stereo::filter::band::fill_bands(map, &fillable);
            step(names[4], map);
        }
        stereopsis_stereo::filter::fill_rows(map, params.fill.values_per_side());
        stereopsis_stereo::filter::black_border::empty(map);
        step(names[5], map);
    }
    for (map, _, names) in maps.iter_mut().take(1).filter(|_| params.choice) {
        stereopsis_stereo::filter::choice::choose(map, pictures, None, &ChoiceSettings::of(params));
        step(names[6], map);
    }
    for (map, picture, names) in maps.iter_mut().filter(|_| params.weighted_median) {
        stereopsis_stereo::filter::weighted_median::weighted_median(map, &picture.guide());
        step(names[7], map);
    }
    let is_smoothed_again =
        params.median != Median::Off && (params.fill != Fill::None || params.choice || params.weighted_median);
    for (map, _, names) in maps.iter_mut().filter(|_| is_smoothed_again) {
        step(names[8], &stereopsis_stereo::filter::median(map, params.median));
    }
}

/// Computes counts and costs of mutual information for each level of the pyramid, the coarsest first.
fn information_steps(left: &Luma, right: &Luma, params: &StereoParams) -> Vec<(&'static str, TraceData)> {
    if !params.cost.is_learned() {
        return Vec::new();
    }
    let size = left.size();
    let coarser = pyramid::coarser(params, size).map(|params| (pyramid::halve(left), pyramid::halve(right), params));
    let mut steps = coarser.as_ref().map_or(Vec::new(), |(left, right, params)| information_steps(left, right, params));
    let map = coarser.filter(|_| pyramid::has_coarse_information(params, size));
    let map = map.map(|(left, right, params)| stereopsis_stereo::match_pair(&left, &right, &params));
    let start = mutual_information::start(size, map.as_ref(), None, &params.disparities());
    let counts = mutual_information::histogram(&left.to_u8(), &right.to_u8(), &start);
    let costs = mutual_information::table(&counts).0.into_iter().map(u32::from).collect();
    steps.extend([("histogram", TraceData::Numbers(counts)), ("table", TraceData::Numbers(costs))]);
    steps
}

pub(crate) fn check(engine: &mut GpuEngine, case: &Case) {
    let Trace { mut steps } = engine.trace(&case.job()).unwrap_or_else(|err| panic!("{err} ({})", case.what));
    let mut expected = reference_trace(case);
    // sums first: a wrong sum causes wrong winners; costs from codes are in no trace
    for steps in [&mut steps, &mut expected] {
        steps.sort_by_key(|(name, _)| *name != "sums");
    }
    if steps.iter().all(|(name, _)| *name != "cost") {
        expected.retain(|(name, _)| *name != "cost");
    }
    let names = |steps: &[(&'static str, TraceData)]| steps.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    assert_eq!(names(&steps), names(&expected), "{}", case.what);
    for (i, ((name, got), (_, wanted))) in steps.iter().zip(&expected).enumerate() {
        match (got, wanted) {
            (TraceData::Volume(got), TraceData::Volume(wanted)) => {
                for (x, y) in (0..wanted.height).flat_map(|y| (0..wanted.width).map(move |x| (x, y))) {
                    let exist = wanted.gate(x, y).range();
                    let (got, wanted) = (&got.at(x, y)[exist.clone()], &wanted.at(x, y)[exist.clone()]);
                    assert_eq!(got, wanted, "step {i}, {name}: candidates {exist:?} of ({x}, {y}), {}", case.what);
                }
            }
            (TraceData::Map(got), TraceData::Map(wanted)) => {
                case.compare(&format!("step {i}, {name}"), got, wanted);
            }
            (TraceData::Numbers(got), TraceData::Numbers(wanted)) => {
                let differs = got.iter().zip(wanted).position(|(got, wanted)| got != wanted);
                let pair = differs.map(|at| (at / LEVELS, at % LEVELS, got[at], wanted[at]));
                assert_eq!((got.len(), pair), (wanted.len(), None), "step {i}, {name}, of {}", case.what);
            }
            _ => panic!("step {i}, {name}: data of another kind"),
        }
    }
}

#[test]
fn gpu_agrees_step_by_step() {
    let Some(mut engine) = gpu_engine() else { return };
    for seed in seeds(4) {
        let case = Case::random(seed, (40, 24));
        check(&mut engine, &case);
    }
}

/// Includes windows of every size, in images of more than one tile, strip and group of candidates in each direction.
#[test]
fn gpu_windows_reach_across_tiles() {
    let Some(mut engine) = gpu_engine() else { return };
    let rng = &mut Rng::with_seed(9);
    let census = [CostKind::Census5x5, CostKind::Census7x7, CostKind::Census9x7, CostKind::Census9x7Symmetric];
    let mut all: Vec<_> = census.map(StereoParams::for_cost).to_vec();
    all.extend([3, 5, 7, 9].map(|rank_window| StereoParams { rank_window, ..StereoParams::for_cost(CostKind::Rank) }));
    all.extend(
        [1, 3, 5, 11, 21].map(|sad_window| StereoParams { sad_window, ..StereoParams::for_cost(CostKind::Sad) }),
    );
    for (i, params) in all.into_iter().enumerate() {
        let params = StereoParams { paths: 1, min_disparity: -9, num_disparities: 22, ..params };
        for (size, bits) in [((71, 41), 8), ((33, 34), 12)] {
            check(&mut engine, &Case::new(rng, size, Content::Noise, bits, params.clone()));
        }
        let pathless = StereoParams { paths: 0, ..params };
        check(&mut engine, &Case::new(rng, (130 - i, 9), Content::Shifted, 16, pathless));
    }
}

/// Filters rough maps of many tiles: regions of every size and shape, holes of every kind.
#[test]
fn gpu_filters_reach_across_tiles() {
    let Some(mut engine) = gpu_engine() else { return };
    let rng = &mut Rng::with_seed(14);
    for (i, speckle_size) in [1, 5, 20, 70, 400, 4000].into_iter().enumerate() {
        let params = StereoParams {
            num_disparities: [3, 6, 11][i % 3],
            paths: 0,
            subpixel: Subpixel::ALL[i % 3],
            uniqueness: [0, 2, 10][i / 2],
            median: Median::ALL[i % 3],
            left_right: [Some(1), None][i % 2],
            speckle_size,
            speckle_range: [0, 1, 3][i / 2],
            spatial: [None, Some(1), Some(2)][i % 3],
            spatial_delta: [10, 40][i % 2],
            fill: Fill::ALL[1 + i % 3],
            choice: i % 3 == 1,
            min_chance: [None, Some(50)][i / 3],
            weighted_median: i % 2 == 1,
            ..StereoParams::default()
        };
        for content in [Content::Noise, Content::Shifted, Content::Blocks, Content::Walls] {
            let case = Case::new(rng, (163, 75), content, 8, params.clone());
            let wants_right = i % 2 == 0 || params.left_right.is_none();
            check(&mut engine, &Case { wants_right, colored: i % 3 != 1, ..case });
        }
    }
}

/// Filters walls without texture at several sizes: segments across many tiles, planes with and without enough votes, bands at both
/// borders, edges of depth with colours and without.
#[test]
fn planes_bands_choices_and_weighted_medians_agree() {
    let Some(mut engine) = gpu_engine() else { return };
    let rng = &mut Rng::with_seed(24);
    let mut changed = [0; 5];
    let sizes = [(1, 1), (3, 200), (200, 3), (97, 61), (163, 140), (210, 50), (64, 64), (130, 33)];
    for (i, &size) in sizes.iter().enumerate() {
        let params = StereoParams {
            min_disparity: [0, -6, -14][i % 3],
            num_disparities: [12, 20, 33][i / 2 % 3],
            uniqueness: [3, 0, 12][i % 3],
            median: Median::ALL[i % 3],
            fill: Fill::Planes,
            choice: true,
            confidence: i % 4 < 2,
            min_chance: [None, Some(40), Some(80)][i % 3],
            ..StereoParams::default()
        };
        for bits in [8, 12] {
            let case = Case::new(rng, size, Content::Walls, bits, params.clone());
            let case = Case { wants_right: i % 2 == 0, colored: i % 3 > 0, ..case };
            check(&mut engine, &case);
            case.check(&mut CpuEngine::new(None));
            let without = |params: StereoParams| Case { params, ..case.clone() }.expected();
            let finished = case.expected_after(&mut Past::default());
            for map in [Some(&finished.left), finished.right.as_ref()].into_iter().flatten() {
                let marked = map.reasons.pixels().iter().filter(|&&reasons| reasons & ON_PLANE == ON_PLANE).count();
                assert_eq!(marked, 0, "the mark ends with the choice, {}", case.what);
            }
            let all = finished.left;
            let others = [
                StereoParams { fill: Fill::Interpolate, ..params.clone() },
                StereoParams { weighted_median: false, ..params.clone() },
                StereoParams { choice: false, ..params.clone() },
                StereoParams { fill: Fill::None, ..params.clone() },
                StereoParams { min_chance: None, ..params.clone() },
            ];
            for (changed, other) in changed.iter_mut().zip(others) {
                *changed += usize::from(without(other) != all);
            }
        }
    }
    assert!(changed.iter().all(|&cases| cases > 6), "each filter changes something in {changed:?} of 16 cases");
}

/// Fills wide and high images with few disparities far apart: other pixels match any disparity equally well, and are dropped.
#[test]
fn gpu_fills_large_holes() {
    let Some(mut engine) = gpu_engine() else { return };
    let rng = &mut Rng::with_seed(15);
    let params = StereoParams {
        num_disparities: 6,
        paths: 0,
        sad_window: 1,
        median: Median::Off,
        uniqueness: 1,
        left_right: None,
        speckle_size: 0,
        ..StereoParams::for_cost(CostKind::Sad)
    };
    for (width, height, points) in [(2600, 3, 7), (1056, 2, 1), (3, 700, 9), (70, 40, 6), (65, 5, 0)] {
        let points: Vec<_> = (0..points).map(|_| (rng.usize(..width), rng.usize(..height), rng.usize(..6))).collect();
        let luma = |is_right: bool| {
            let mut image = Image::filled(width, height, if is_right { 90 } else { 100 });
            for &(x, y, d) in &points {
                image.set(x.saturating_sub(if is_right { d } else { 0 }), y, 200);
            }
            Luma::U8(image)
        };
        let what = format!("{width}x{height} with {points:?}");
        for fill in [Fill::Background, Fill::Interpolate, Fill::Planes] {
            let params = StereoParams { fill, ..params.clone() };
            let (left, right, what) = (luma(false), luma(true), format!("{fill}, {what}"));
            let case = Case { left, right, params, wants_right: false, colored: false, is_masked: false, what };
            let found: usize = case.expected().reasons.pixels().iter().map(|&why| usize::from(why == 0)).sum();
            assert!(found <= 8 * points.len(), "{found} disparities in {}", case.what);
            check(&mut engine, &case);
            case.check(&mut CpuEngine::new(Some(1)));
        }
    }
}

/// Follows one direction after the other, from straight to diagonal and between, in images of every shape.
#[test]
fn gpu_follows_any_direction() {
    let Some(mut engine) = gpu_engine() else { return };
    let rng = &mut Rng::with_seed(10);
    let fixed = [(1, 30), (2, 91), (3, 0), (5, 18), (7, 359), (8, 45), (16, 0), (16, 7), (24, 11)];
    let random: Vec<_> = (0..6).map(|_| (rng.u32(1..=40), rng.u32(..360))).collect();
    for (i, &(paths, start_angle_deg)) in fixed.iter().chain(&random).enumerate() {
        let size = [(1, 1), (1, 9), (9, 1), (7, 5), (40, 3), (3, 40), (31, 44), (29, 29)][i % 8];
        let params = StereoParams { num_disparities: 6, paths, start_angle_deg, ..StereoParams::default() };
        check(&mut engine, &Case::new(rng, size, Content::Noise, 8, params.clone()));
        check(&mut engine, &Case::new(rng, (17, 12), Content::Shifted, 8, params));
    }
    let all = StereoParams { num_disparities: 3, paths: MAX_PATHS, start_angle_deg: 7, ..StereoParams::default() };
    check(&mut engine, &Case::new(rng, (23, 14), Content::Noise, 8, all));
}

/// Lines of the spatial filter are longer than its tiles, and end at steps and holes anywhere in them.
#[test]
fn gpu_smooths_along_lines_of_any_length() {
    let Some(mut engine) = gpu_engine() else { return };
    let rng = &mut Rng::with_seed(17);
    let sizes = [(163, 75), (64, 32), (33, 65), (32, 31), (1, 130), (130, 1), (31, 97)];
    for (i, (size, spatial)) in sizes.into_iter().zip([1, 2, 5].into_iter().cycle()).enumerate() {
        let params = StereoParams {
            min_disparity: [0, -12][i % 2],
            num_disparities: 20,
            paths: 4,
            uniqueness: 2,
            left_right: None,
            spatial: Some(spatial),
            spatial_alpha: [50, 1, 100, 33][i % 4],
            spatial_delta: [10, 255, 40][i % 3],
            confidence: i % 2 == 0,
            ..StereoParams::default()
        };
        for content in [Content::Noise, Content::Shifted, Content::Blocks] {
            check(&mut engine, &Case::new(rng, size, content, 8, params.clone()));
        }
    }
}

/// The border and the match threshold drop all pixels, many, few or none.
#[test]
fn gpu_drops_the_border_and_bad_matches() {
    let Some(mut engine) = gpu_engine() else { return };
    let rng = &mut Rng::with_seed(18);
    let sad = StereoParams { paths: 0, sad_window: 3, ..StereoParams::for_cost(CostKind::Sad) };
    for cost in [StereoParams::default(), sad, StereoParams::for_cost(CostKind::Rank)] {
        for (size, min_disparity, num_disparities) in [
            ((60, 40), 0, 24),
            ((41, 23), -9, 20),
            ((20, 30), -40, 12),
            ((20, 30), 12, 30),
            ((9, 3), 0, 2),
            ((1, 1), -1, 3),
        ] {
            for (match_threshold, drop_border, uniqueness) in
                [(Some(15), false, 0), (None, true, 0), (Some(99), true, 4), (Some(1), true, 20)]
            {
                let params = StereoParams {
                    min_disparity,
                    num_disparities,
                    match_threshold,
                    drop_border,
                    uniqueness,
                    confidence: match_threshold == Some(99),
                    gating: (size.0 == 60).then_some(2),
                    ..cost.clone()
                };
                check(&mut engine, &Case::new(rng, size, Content::Shifted, 8, params));
            }
        }
    }
}

/// Includes gates of both maps, tables that are read the other way round, images of two depths, and sums in turns.
#[test]
fn gpu_matches_with_swapped_images() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut engine = GpuEngine::new(gpu.clone()).expect("a fresh device");
    // two directions at a time, volumes in several buffers
    let options = GpuOptions { path_bytes: Some(1 << 17), binding_bytes: Some(1 << 18), ..GpuOptions::default() };
    let mut short = GpuEngine::with_options(gpu, options).expect("a fresh device");
    let rng = &mut Rng::with_seed(19);
    let sizes = [(61, 40), (1, 1), (70, 9), (33, 71), (6, 5), (52, 37)];
    for (i, (&cost, &size)) in
        CostKind::ALL.iter().cycle().take(cases(11) as usize).zip(sizes.iter().cycle()).enumerate()
    {
        let params = StereoParams {
            min_disparity: [0, -11, 4][i % 3],
            num_disparities: [24, 70, 9][i / 2 % 3],
            right_matching: RightMatching::Swapped,
            gating: [None, Some(1), Some(3)][i / 3 % 3],
            gate_bounds: GateBounds::ALL[i % 2],
            left_right: [Some(1), Some(0), None][i % 3],
            median: Median::ALL[i / 2 % 3],
            uniqueness: [0, 5][i % 2],
            drop_border: i % 4 == 1,
            match_threshold: (i % 5 == 0).then_some(60),
            confidence: i % 2 == 1,
            fill: Fill::ALL[i / 4 % 4],
            paths: [8, 0, 5][i / 2 % 3],
            aggregation: if i % 5 < 3 { Aggregation::None } else { Aggregation::ALL[i % Aggregation::ALL.len()] },
            window: 5,
            arms: 4,
            ..StereoParams::for_cost(cost)
        };
        let case = Case::new(rng, size, Content::Shifted, [8, 12][i % 2], params);
        let case = Case { wants_right: i % 3 != 1, ..case };
        check(&mut engine, &case);
        case.check(&mut engine);
        check(&mut short, &case);
        let deep = Luma::U16 { image: case.right.to_u8().map(|&v| 5 * u16::from(v)), bits: 11 };
        let what = format!("a deeper right image, {}", case.what);
        check(&mut engine, &Case { right: deep, what, ..case });
    }
}
