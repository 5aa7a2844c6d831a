//! Ernst & Hirschmüller 2008: semi-global matching with mutual information on a GPU. Only points of Fig. 3 with numbers are compared.

mod brightness;

use super::exhibit::{Cell, Exhibit, Verdict};
use super::resources::{ExhibitResources, MIDDLEBURY, NEEDS_MIDDLEBURY, Plan, names};
use crate::curves::{Curve, Curves};
use brightness::{other_brightness, with_cost};
use stereopsis_frame::engine::Job;
use stereopsis_images::picture_files::truth::PairWithTruth;
use stereopsis_metrics::figures;
use stereopsis_stereo::{AdaptiveP2, CostKind, Fill, Preset, StereoParams, Subpixel};

pub(super) const TITLE: &str =
    "Ernst, Hirschmüller 2008: Mutual information based semi-global stereo matching on the GPU";

pub(super) const PLANS: &[Plan] = &[
    ("Section 2", benchmark),
    ("Section 3.1", other_brightness),
    ("Section 3.5", levels),
    ("Fig. 3", times),
    ("Section 5", other_implementations),
];

fn method(mi_levels: u32) -> StereoParams {
    let mut params = StereoParams::default();
    Preset::Ernst2008.apply(&mut params);
    StereoParams { mi_levels, ..params }
}

/// Number of pyramid levels in the paper.
const LEVELS: u32 = 5;

/// Section 2: mean error of Hirschmüller's method over three regions of four pairs at 1 px, and the benchmark's disparities.
const MEAN_PERCENT: f64 = 7.5;
const RANGES: [u32; 4] = [16, 22, 56, 57];
/// Largest difference of equivalent methods, which fill holes and refine differently.
const MAX_MEAN_DIFFERENCE_PERCENT: f64 = 1.0;

fn benchmark(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = "The preset with filled holes on the four pairs of Middlebury v2: pixels off by more than 1 px, as a mean over visible pixels, all \
                pixels and those near discontinuities. The paper takes its numbers from the benchmark's table.";
    let mut exhibit = Exhibit::new("Section 2", "mean error in the Middlebury evaluation", here)
        .with_quantity("off by more than 1 px, %", 2);
    let pairs: Option<Vec<PairWithTruth>> = MIDDLEBURY.iter().map(|name| resources.pair(name)).collect();
    let what = "semi-global matching with mutual information";
    match pairs {
        Some(pairs) => {
            let mut sum = 0.0;
            for (pair, num_disparities) in pairs.into_iter().zip(RANGES) {
                sum += filled_error(resources, &PairWithTruth { num_disparities, ..pair })?;
            }
            let mean = sum / MIDDLEBURY.len() as f64;
            exhibit.row(
                what,
                [Cell::both(MEAN_PERCENT, mean)],
                Verdict::of(
                    (mean - MEAN_PERCENT).abs() <= MAX_MEAN_DIFFERENCE_PERCENT,
                    format!("to within {MAX_MEAN_DIFFERENCE_PERCENT:.0} point; this program fills holes with planes, which the original does not"),
                    "holes that are filled with planes, and other penalties",
                ),
            );
        }
        None => {
            exhibit.row(what, [Cell::paper(MEAN_PERCENT)], Verdict::NotMeasurable(NEEDS_MIDDLEBURY.to_owned()));
        }
    }
    let others = [
        (
            "its consistent variant for structured environments",
            5.8,
            "its choice of disparities by segments of the image, which this paper leaves out too",
        ),
        ("Gong and Yang: dynamic programming on a GPU", 10.7, "their program: it is another method"),
        ("the best method at that time", 4.2, "that program: it is another method"),
    ];
    for (what, percent, needs) in others {
        exhibit.row(what, [Cell::paper(percent)], Verdict::NotMeasurable(needs.to_owned()));
    }
    Ok(exhibit)
}

/// Computes the mean error over the pair's regions: pixels of a filled map off by more than 1 px, %.
fn filled_error(resources: &ExhibitResources, pair: &PairWithTruth) -> anyhow::Result<f64> {
    let map = resources.map(pair, &StereoParams { fill: Fill::Planes, ..method(LEVELS) })?;
    let regions = pair.regions.present();
    let of_region = |mask| figures(&map, &pair.truth.left_px, mask).map_or(f64::NAN, |found| found.error.bad_1_percent);
    Ok(regions.iter().map(|&(_, mask)| of_region(mask)).sum::<f64>() / regions.len() as f64)
}

const JUDGED_ON: [&str; 3] = ["venus", "teddy", "cones"];

/// Computes the mean share of visible pixels off by more than 1 px or without a disparity, %.
fn mean_error(resources: &ExhibitResources, pairs: &[PairWithTruth], params: &StereoParams) -> anyhow::Result<f64> {
    let mut sum = 0.0;
    for pair in pairs {
        sum += resources.figures(pair, params)?.error.bad_1_percent;
    }
    Ok(sum / pairs.len() as f64)
}

/// Largest extra error of more levels, percentage points.
const MAX_LEVELS_LOSS_PERCENT: f64 = 0.2;

fn levels(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let size = if resources.quick { (320, 240) } else { (640, 480) };
    let pairs = resources.pairs(&JUDGED_ON);
    let here = format!(
        "Time on the built-in scene at {}x{} with 64 disparities; visible pixels off by more than 1 px or without a disparity on {}, as a mean. \
         With one level, what is learned at full size comes from random disparities.",
        size.0,
        size.1,
        names(&pairs)
    );
    let mut exhibit = Exhibit::new("Section 3.5", "mutual information learned level by level", here)
        .with_quantity("time, ms", 2)
        .with_quantity("wrong, %", 2);
    let mut one = f64::NAN;
    for count in 1..=LEVELS {
        let params = StereoParams { num_disparities: 64, ..method(count) };
        let ms = resources.times(&resources.jobs(size, &params)?, None)?.frame_ms.median;
        let wrong = mean_error(resources, &pairs, &method(count))?;
        let verdict = if count == 1 {
            one = wrong;
            Verdict::Reproduced("the method runs; the other rows are compared with this one".to_owned())
        } else {
            let more = wrong - one;
            Verdict::of(
                more <= MAX_LEVELS_LOSS_PERCENT,
                format!("what coarser levels teach is as good, to {MAX_LEVELS_LOSS_PERCENT} points: {more:+.2}"),
                format!("a start at full size from which more is learned: {more:+.2} points of error"),
            )
        };
        let what = if count == 1 { "1 level".to_owned() } else { format!("{count} levels") };
        exhibit.row(what, [Cell::here(ms), Cell::here(wrong)], verdict);
    }
    Ok(exhibit)
}

/// Configuration of Fig. 3: width, height, disparities, levels.
type Configuration = (usize, usize, u32, u32);

const SIZES: [(usize, usize); 3] = [(320, 240), (450, 375), (640, 480)];
const DISPARITIES: [u32; 2] = [64, 128];
/// Rates in the paper, pairs/s.
const GEFORCE_8800: [(Configuration, f64); 4] = [
    ((320, 240, 64, LEVELS), 13.0),
    ((450, 375, 64, LEVELS), 8.8),
    ((450, 375, 64, 1), 16.1),
    ((640, 480, 128, LEVELS), 4.2),
];
const GEFORCE_7800: [(Configuration, f64); 2] = [((320, 240, 64, LEVELS), 4.7), ((320, 240, 64, 1), 8.1)];

/// Cost of five levels over one in Hirschmüller 2008, %.
const LEVELS_PERCENT: f64 = 14.0;
/// Largest cost of five levels here. The theory is 14 %, but each level has constant parts such as the table of 256 x 256 costs, and the
/// paper's GPU needed twice the time.
const MAX_LEVELS_PERCENT: f64 = 60.0;
/// Largest difference between the two GPUs, percentage points.
const MAX_LEVELS_DIFFERENCE_POINTS: f64 = 25.0;

fn jobs(
    resources: &ExhibitResources,
    (width, height, num_disparities, levels): Configuration,
) -> anyhow::Result<Vec<Job>> {
    resources.jobs((width, height), &StereoParams { num_disparities, ..method(levels) })
}

fn described((width, height, disparities, levels): Configuration) -> String {
    format!("{width}x{height}, {disparities} disparities, {levels} level{}", if levels == 1 { "" } else { "s" })
}

/// Returns the paper's rate of a configuration, pairs/s.
fn published_hz(device: &[(Configuration, f64)], configuration: Configuration) -> Option<f64> {
    device.iter().find(|told| told.0 == configuration).map(|told| told.1)
}

fn time_and_rate(paper_hz: Option<f64>, ms: f64) -> [Cell; 2] {
    [Cell { paper: paper_hz.map(|hz| 1e3 / hz), here: Some(ms) }, Cell { paper: paper_hz, here: Some(1e3 / ms) }]
}

fn times(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = format!(
        "The built-in scene on the CPU engine ({}), with the whole method. The paper's GPU is a GeForce 8800 ULTRA where nothing else is said, and \
         its times contain the transfers.",
        resources.cpu.adapter
    );
    let mut exhibit = Exhibit::new("Fig. 3", "time over sizes, disparities and levels", here)
        .with_quantity("time, ms", 1)
        .with_quantity("pairs/s", 1);
    let has_gpu = resources.gpu.is_ok();
    if has_gpu {
        exhibit = exhibit.with_quantity("time on the GPU here, ms", 2);
    }
    let mut measured: Vec<(Configuration, f64)> = Vec::new();
    for levels in [LEVELS, 1] {
        for disparities in DISPARITIES {
            for (width, height) in SIZES {
                let configuration = (width, height, disparities, levels);
                let jobs = jobs(resources, configuration)?;
                let ms = resources.times(&jobs, None)?.frame_ms.median;
                let hz = published_hz(&GEFORCE_8800, configuration);
                let mut cells = time_and_rate(hz, ms).to_vec();
                let verdict = match hz {
                    Some(_) => Verdict::of_times(&cells[..1], "a GeForce 8800 ULTRA"),
                    None => Verdict::no_points(),
                };
                if let Some(ms) = resources.gpu_ms(&jobs)? {
                    cells.push(Cell::here(ms));
                }
                exhibit.row(described(configuration), cells, verdict);
                measured.push((configuration, ms));
            }
        }
    }
    let ms = |configuration| published_hz(&measured, configuration).unwrap_or(f64::NAN);
    for (configuration, hz) in GEFORCE_7800 {
        let cells = time_and_rate(Some(hz), ms(configuration));
        let verdict = Verdict::of_times(&cells[..1], "a GeForce 7800 GTX");
        exhibit.row(format!("{}: GeForce 7800 GTX", described(configuration)), cells, verdict);
    }
    add_growth(&mut exhibit, ms);
    exhibit.curves = Some(time_curves(&measured));
    Ok(exhibit)
}

/// Adds rows for the paper's statements on growth with pixels, disparities and levels.
fn add_growth(exhibit: &mut Exhibit, ms: impl Fn(Configuration) -> f64) {
    let pixels = ms((640, 480, 64, LEVELS)) / ms((320, 240, 64, LEVELS));
    exhibit.row(
        "time at 640x480 over that at 320x240, 64 disparities (the paper's theory: the pixels)",
        [Cell::both(4.0, pixels)],
        Verdict::of(
            (2.5..=6.0).contains(&pixels),
            "near the ratio of the pixels, as the paper's theory has it; its GPU, which small images do not fill, only followed the width",
            format!("parts that do not grow with the image: {pixels:.1} times"),
        ),
    );
    let twice = |(width, height)| ms((width, height, 128, LEVELS)) / ms((width, height, 64, LEVELS));
    let large = twice((640, 480));
    exhibit.row(
        "time with 128 disparities over that with 64 at 640x480 (the paper's theory: 2)",
        [Cell::both(2.0, large)],
        Verdict::of(
            (1.5..=2.5).contains(&large),
            "near the ratio of the disparities, as the paper has it of large images",
            format!(
                "what does not depend on the disparities, such as tables, medians and the parabola: {large:.2} times"
            ),
        ),
    );
    let small = twice((320, 240));
    exhibit.row(
        "time with 128 disparities over that with 64 at 320x240 (the paper: only slightly more)",
        [Cell::here(small)],
        Verdict::of(
            (1.0..=1.5).contains(&small),
            "only slightly more, as in the paper; here because of what does not depend on the disparities",
            format!("a CPU, which small images fill as well as large ones: {small:.2} times"),
        ),
    );
    let more =
        |(width, height): (usize, usize)| 100.0 * (ms((width, height, 64, LEVELS)) / ms((width, height, 64, 1)) - 1.0);
    for size in SIZES {
        let percent = more(size);
        exhibit.row(
            format!("five levels at {}x{}, % longer than one (theory)", size.0, size.1),
            [Cell::both(LEVELS_PERCENT, percent)],
            Verdict::of(
                (0.0..=MAX_LEVELS_PERCENT).contains(&percent),
                format!(
                    "up to {MAX_LEVELS_PERCENT:.0} %: beside the pixels of coarser levels, a third in all, each level has parts of one \
                     size, such as its table of costs"
                ),
                if percent < 0.0 {
                    format!("times that vary more on this machine than the levels cost: {percent:.0} %")
                } else {
                    format!("parts of each level that do not shrink with its image: {percent:.0} %")
                },
            ),
        );
    }
    for (device, table, size) in
        [("GeForce 8800 ULTRA", &GEFORCE_8800[..], (450, 375)), ("GeForce 7800 GTX", &GEFORCE_7800, (320, 240))]
    {
        let [many, one] = [LEVELS, 1].map(|levels| published_hz(table, (size.0, size.1, 64, levels)));
        let Some((many, one)) = many.zip(one) else { continue };
        let (paper, here) = (100.0 * (one / many - 1.0), more(size));
        exhibit.row(
            format!("five levels at {}x{}, % longer than one ({device})", size.0, size.1),
            [Cell::both(paper, here)],
            Verdict::of(
                (paper - here).abs() <= MAX_LEVELS_DIFFERENCE_POINTS,
                format!("within {MAX_LEVELS_DIFFERENCE_POINTS:.0} points"),
                format!("another processor, with other costs of each level: {here:.0} %"),
            ),
        );
    }
}

fn time_curves(measured: &[(Configuration, f64)]) -> Curves {
    let curve = |name: &str, times: &[(Configuration, f64)], (disparities, levels), is_of_paper| {
        let chosen = times.iter().filter(|((.., d, l), _)| (*d, *l) == (disparities, levels));
        let points: Vec<_> = chosen.map(|&((width, height, ..), ms)| ((width * height) as f64 * 1e-6, ms)).collect();
        let levels = if levels == 1 { "1 level".to_owned() } else { format!("{levels} levels") };
        Curve { name: format!("{name}{disparities} disparities, {levels}"), points, is_of_paper }
    };
    let paper: Vec<_> = GEFORCE_8800.iter().map(|&(configuration, hz)| (configuration, 1e3 / hz)).collect();
    let kinds = [(64, LEVELS), (64, 1), (128, LEVELS), (128, 1)];
    let papers = kinds.iter().map(|&kind| curve("GeForce 8800 ULTRA, ", &paper, kind, true));
    let ours = kinds.iter().map(|&kind| curve("CPU engine, ", measured, kind, false));
    Curves {
        along: "million pixels".to_owned(),
        upwards: "time of a pair, ms".to_owned(),
        is_logarithmic: false,
        curves: papers.chain(ours).filter(|curve| !curve.points.is_empty()).collect(),
    }
}

/// Section 5: size of the benchmark, and times of Hirschmüller's program and of the GPU, ms.
const BENCHMARK: Configuration = (450, 375, 64, LEVELS);
const OPTERON_MS: f64 = 1800.0;
const GPU_MS: f64 = 114.0;
const GPU_FASTER: f64 = 15.0;
/// Smallest speed-up of the engine over plain loops.
const MIN_SPEED_UP: f64 = 5.0;
/// Published rates of other implementations, and of one level on the first one's GPU type.
const ROSENBERG_HZ: f64 = 8.0;
const GIBSON_HZ: f64 = 5.9;
const ONE_LEVEL_HZ: f64 = 8.1;
/// Largest time ratio of equally efficient methods.
const MAX_EQUAL_TIME_RATIO: f64 = 1.5;

fn other_implementations(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    // plain loops take seconds at full size
    let scale = if resources.quick { 3 } else { 1 };
    let here = format!(
        "The built-in scene. Hirschmüller's program on a CPU is compared with the plain loops of `crates/stereo/src` on one thread{}; the paper's GPU \
         with the CPU engine ({}).",
        if scale > 1 {
            format!(", timed on images of 1/{scale} of each side, and their time is multiplied by {}", scale * scale)
        } else {
            String::new()
        },
        resources.cpu.adapter
    );
    let mut exhibit =
        Exhibit::new("Section 5", "comparison with other implementations", here).with_quantity("time, ms", 1);
    let (width, height, disparities, _) = BENCHMARK;
    let plain_jobs = jobs(resources, (width / scale, height / scale, disparities, LEVELS))?;
    let plain_ms = resources.plain_ms(&plain_jobs)? * (scale * scale) as f64;
    let engine_ms = resources.times(&jobs(resources, BENCHMARK)?, None)?.frame_ms.median;
    let cells = [Cell::both(OPTERON_MS, plain_ms)];
    exhibit.row("450x375, 64 disparities, on a CPU", cells, Verdict::of_times(&cells, "an Opteron of 2.2 GHz"));
    let cells = [Cell::both(GPU_MS, engine_ms)];
    exhibit.row("the same, the fast implementation", cells, Verdict::of_times(&cells, "a GeForce 8800 ULTRA"));
    let faster = plain_ms / engine_ms;
    exhibit.row(
        "CPU over fast implementation, times",
        [Cell::both(GPU_FASTER, faster)],
        Verdict::of(
            faster >= MIN_SPEED_UP,
            format!("the fast implementation is {MIN_SPEED_UP:.0} times as quick or more, here with vectors and threads instead of a GPU"),
            "an engine that gains less from vectors and threads",
        ),
    );
    // 8 paths, no adaptive P2, no sub-pixel refinement, holes filled
    let rosenberg = StereoParams {
        num_disparities: 64,
        adaptive_p2: AdaptiveP2::Off,
        subpixel: Subpixel::Off,
        fill: Fill::Background,
        ..with_cost(CostKind::Ad)
    };
    let rosenberg_ms = resources.times(&resources.jobs((320, 240), &rosenberg)?, None)?.frame_ms.median;
    let cells = [Cell::both(1e3 / ROSENBERG_HZ, rosenberg_ms)];
    exhibit.row(
        "Rosenberg et al.: 320x240, 64 disparities, absolute differences, filled",
        cells,
        Verdict::of_times(&cells, "a GeForce 7900 GTX"),
    );
    let one_ms = resources.times(&jobs(resources, (320, 240, 64, 1))?, None)?.frame_ms.median;
    let relative = one_ms / rosenberg_ms;
    exhibit.row(
        "mutual information with one level over it, times",
        [Cell::both(ROSENBERG_HZ / ONE_LEVEL_HZ, relative)],
        Verdict::of(
            (1.0 / MAX_EQUAL_TIME_RATIO..=MAX_EQUAL_TIME_RATIO).contains(&relative),
            format!("both take about the same time, to within a factor of {MAX_EQUAL_TIME_RATIO}"),
            "absolute differences that need no learned table, no parabola and no P2 that adapts",
        ),
    );
    exhibit.row(
        "Gibson and Marques: 450x375, 64 disparities",
        [Cell::paper(1e3 / GIBSON_HZ)],
        Verdict::NotMeasurable(
            "a difference of brightness that does not depend on sampling, which this program does not have".to_owned(),
        ),
    );
    Ok(exhibit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_benchmark_needs_its_pairs() {
        let exhibit = benchmark(&mut ExhibitResources::small().unwrap()).unwrap();
        assert!(exhibit.rows.iter().all(|row| row.verdict.word() == "not measurable here"));
    }
}
