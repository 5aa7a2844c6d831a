//! Banz, Blume & Pirsch 2011: rank transform, semi-global matching and median on a GPU, or with a note on the CPU engine.

use super::exhibit::{Cell, Exhibit, Verdict};
use super::resources::{ExhibitResources, Plan};
use crate::curves::{Curve, Curves};
use crate::device::RatesCache;
use crate::pipeline;
use crate::stages::{self, Stages};
use anyhow::Context as _;
use stereopsis_frame::engine::{AdapterChoice, Engine as _, Job, poll_output};
use stereopsis_gpu::tuning::study;
use stereopsis_gpu::{Gpu, GpuEngine, GpuOptions};
use stereopsis_stereo::{CostKind, Median, Preset, StereoParams};

pub(super) const TITLE: &str =
    "Banz, Blume, Pirsch 2011: Real-time semi-global matching disparity estimation on the GPU";

pub(super) const PLANS: &[Plan] = &[
    ("Fig. 4", median_shapes),
    ("Fig. 5", median),
    ("Fig. 6", rank),
    ("Section 5.2", bytes),
    ("Fig. 9", path_shapes),
    ("Table 1", stages_alone),
    ("Table 2", sizes_and_disparities),
    ("Section 5.3", overlap),
    ("Table 3", comparison),
];

const DEVICE: &str = "a Tesla C2050";
const LARGE: (usize, usize) = (1280, 960);

/// Table 2: image sizes and times with 64, 128 and 256 disparities in ms, without left-right check and transfers.
const TABLE_2: [((usize, usize), [f64; 3]); 3] =
    [((640, 480), [9.7, 16.0, 29.0]), ((1024, 768), [21.5, 35.9, 67.1]), ((1280, 960), [32.9, 56.2, 105.7])];
const DISPARITIES: [u32; 3] = [64, 128, 256];

fn method(num_disparities: u32) -> StereoParams {
    let mut params = StereoParams { num_disparities, ..StereoParams::default() };
    Preset::Banz2011.apply(&mut params);
    params
}

/// Creates jobs of the paper's largest size, in a quick run of a quarter of its pixels.
fn large(resources: &ExhibitResources) -> anyhow::Result<Vec<Job>> {
    let part = if resources.quick { 2 } else { 1 };
    resources.jobs((LARGE.0 / part, LARGE.1 / part), &method(128))
}

fn large_words(resources: &ExhibitResources) -> &'static str {
    if resources.quick { "640x480 instead of 1280x960" } else { "1280x960" }
}

fn median_shapes(_: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = "The median of the GPU engine has one shape of work-groups, because it takes a small part of a pair.";
    let mut exhibit = Exhibit::new("Fig. 4", "median 3x3 over shapes of work-groups", here)
        .with_quantity("best rows of a work-group of 32 columns", 0)
        .with_quantity("best pixels of a thread", 0);
    let needs = "kernels of the median in several shapes".to_owned();
    exhibit.row("1280x960", [Cell::paper(4.0), Cell::paper(4.0)], Verdict::NotMeasurable(needs));
    Ok(exhibit)
}

/// Compares one stage of the CPU engine with the kernels of a figure, ms.
fn stage(
    resources: &ExhibitResources,
    name: &str,
    exhibit: &mut Exhibit,
    paper_ms: f64,
    others: &[(&str, f64)],
) -> anyhow::Result<()> {
    let times = resources.times(&large(resources)?, None)?;
    let ms = times.stage_ms(name).with_context(|| format!("the CPU engine has no stage {name}"))?;
    let cell = Cell::both(paper_ms, ms);
    exhibit.row(format!("CPU engine, {}", large_words(resources)), [cell], Verdict::of_times(&[cell], DEVICE));
    for &(what, ms) in others {
        let needs = "the paper's other kernels, which it shows to be slower".to_owned();
        exhibit.row(what, [Cell::paper(ms)], Verdict::NotMeasurable(needs));
    }
    Ok(())
}

fn median(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = "The stage of the filters, of which the median is the only one in this preset; the paper's number is its best kernel's at 1280x960.";
    let mut exhibit = Exhibit::new("Fig. 5", "median 3x3", here).with_quantity("time, ms", 2);
    stage(resources, "filters", &mut exhibit, 0.64, &[("with texture memory", 2.77)])?;
    Ok(exhibit)
}

fn rank(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here =
        "The stage before the paths: the rank transforms of both images. The costs are computed where paths need them.";
    let mut exhibit = Exhibit::new("Fig. 6", "rank transform 9x9", here).with_quantity("time, ms", 2);
    let others =
        [("with texture memory", 3.13), ("GT200, texture memory, ceil", 4.0), ("GT200, texture memory, if/else", 62.6)];
    stage(resources, "cost", &mut exhibit, 0.78, &others)?;
    Ok(exhibit)
}

fn bytes(_: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = "Computed from the parameters of the preset, as the engines do to choose the width of path costs.";
    let mut exhibit =
        Exhibit::new("Section 5.2", "costs and path costs fit in eight bits", here).with_quantity("largest", 0);
    let params = method(128);
    let cost = f64::from(params.largest_cost());
    let holds = |holds| Verdict::of(holds, "exactly", "another range of costs");
    exhibit.row("matching cost", [Cell::both(80.0, cost)], holds((cost - 80.0).abs() < 0.5));
    let path = cost + f64::from(params.largest_p2());
    exhibit.row("path cost, largest cost plus P2 (paper: up to 2^8)", [Cell::both(256.0, path)], holds(path <= 256.0));
    Ok(exhibit)
}

fn path_shapes(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = "All variants of the path kernels are timed, as `stereopsis-lab variants` does; a row is the quickest one with so many \
                invocations in a work-group.";
    let mut exhibit =
        Exhibit::new("Fig. 9", "path costs over shapes of work-groups, 1280x960 with 128 disparities", here)
            .with_quantity("time of the paths, ms", 2);
    let Ok(gpu) = resources.gpu.clone() else {
        let what = "best shape: 32x4, tiles of 16 rows";
        exhibit.row(what, [Cell::paper(39.8)], resources.needs_gpu());
        return Ok(exhibit);
    };
    let jobs = large(resources)?;
    let job = jobs.first().context("no pair to time")?;
    let mut engine = GpuEngine::with_options(gpu, GpuOptions { forgets: true, ..GpuOptions::default() })?;
    let study = study(&mut engine, job, if resources.quick { 1 } else { 3 }, &mut |_, _, _| true)?;
    let ms = |trial: &stereopsis_gpu::tuning::Trial| trial.paths_ms.unwrap_or(trial.pair_ms);
    let mut workgroups: Vec<_> = study.trials.iter().map(|trial| trial.variant.workgroup).collect();
    workgroups.sort_unstable();
    workgroups.dedup();
    let best_of = |workgroup| {
        study.trials.iter().filter(|trial| trial.variant.workgroup == workgroup).map(ms).fold(f64::INFINITY, f64::min)
    };
    let best = workgroups.iter().map(|&workgroup| best_of(workgroup)).fold(f64::INFINITY, f64::min);
    for workgroup in workgroups {
        let here_ms = best_of(workgroup);
        // 32x4 invocations are the paper's optimum
        let paper = (workgroup == 128).then_some(39.8);
        let verdict = Verdict::of(
            here_ms <= 2.0 * best,
            "within twice the time of the best shape: the shape matters, but not by orders of magnitude",
            "a work-group that is too small or too large for this device",
        );
        exhibit.row(format!("{workgroup} invocations"), [Cell { paper, here: Some(here_ms) }], verdict);
    }
    Ok(exhibit)
}

/// Table 1: kernel, time (ms), rate (GB/s).
const TABLE_1: [(&str, f64, f64); 6] = [
    ("matching costs, unaligned", 16.32, 48.6),
    ("matching costs, proposed, float", 6.12, 126.2),
    ("matching costs, proposed, uchar4", 1.80, 107.3),
    ("costs and paths, 8 directions, one after another", 75.68, 20.9),
    ("costs and paths, 8 directions, together", 39.81, 39.7),
    ("sum and winner, left map", 15.09, 117.4),
];
/// Largest time of all directions together over their sum one by one (0.53 in the paper).
/// On a CPU threads replace concurrent kernels; two that share a core's units reach about 0.6.
const MAX_CONCURRENT_SHARE: f64 = 0.8;

fn stages_alone(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = if resources.gpu.is_ok() {
        "The stages of the GPU engine."
    } else {
        "The CPU engine: directions one after another are one thread, together all threads; winners are chosen within the second sweep \
         over the paths, and costs are computed within the paths, so these stages have no time of their own."
    };
    let mut exhibit = Exhibit::new(
        "Table 1",
        "stages of 1280x960 with 128 disparities",
        format!("{here} {}.", large_words(resources)),
    )
    .with_quantity("time, ms", 2)
    .with_quantity("GB/s", 1);
    let jobs = large(resources)?;
    let mut measured: [[Option<f64>; 2]; 6] = [[None; 2]; 6];
    if let Ok(gpu) = &resources.gpu {
        let Stages { costs, one_by_one, together, winners } =
            stages::measure(gpu, &mut RatesCache::default(), &jobs, 9)?;
        for (n, figures) in [(2, costs), (3, one_by_one), (4, together), (5, winners)] {
            measured[n] = figures.map_or([None; 2], |figures| [figures.ms, figures.gb_per_s]);
        }
    } else {
        for (threads, n) in [(Some(1), 3), (None, 4)] {
            measured[n][0] = resources.times(&jobs, threads)?.stage_ms("paths + winner");
        }
    }
    for ((what, ms, gb_per_s), [here_ms, here_gb_per_s]) in TABLE_1.into_iter().zip(measured) {
        let cells = [Cell { paper: Some(ms), here: here_ms }, Cell { paper: Some(gb_per_s), here: here_gb_per_s }];
        let verdict = match (here_ms, &resources.gpu) {
            (Some(_), _) => Verdict::of_times(&cells[..1], DEVICE),
            (None, Ok(_)) => {
                Verdict::NotMeasurable("the paper's first kernels; ours is the one that it proposes".to_owned())
            }
            (None, Err(_)) => resources.needs_gpu(),
        };
        exhibit.row(what, cells, verdict);
    }
    if let (Some(sequential), Some(together)) = (measured[3][0], measured[4][0]) {
        let share = together / sequential;
        exhibit.row(
            "together over one after another",
            [Cell::both(39.81 / 75.68, share)],
            Verdict::of(
                share <= MAX_CONCURRENT_SHARE,
                "directions that run at the same time hide each other's latency",
                "one thread that keeps the memory busy by itself",
            ),
        );
    }
    Ok(exhibit)
}

/// Tolerance of time ratios, whose ideal value of 4 no machine reaches exactly.
const RATIO_TOLERANCE: f64 = 0.5;

fn sizes_and_disparities(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = "The whole method on the built-in scene: rank 9x9, eight paths, median 3x3. On a GPU without transfers.";
    let mut exhibit = Exhibit::new("Table 2", "time over sizes and disparities", here);
    for disparities in DISPARITIES {
        exhibit = exhibit.with_quantity(format!("{disparities} disparities, ms"), 1);
    }
    let sizes = if resources.quick { &TABLE_2[..2] } else { &TABLE_2[..] };
    let mut curves = Vec::new();
    for engine in ["CPU engine", "GPU engine"] {
        if engine == "GPU engine" && resources.gpu.is_err() {
            for &((width, height), paper) in sizes {
                exhibit.row(format!("{engine}, {width}x{height}"), paper.map(Cell::paper), resources.needs_gpu());
            }
            continue;
        }
        let mut all = Vec::new();
        for &(size, paper) in sizes {
            let mut cells = Vec::new();
            for (disparities, paper_ms) in DISPARITIES.into_iter().zip(paper) {
                let jobs = resources.jobs(size, &method(disparities))?;
                let here_ms = match engine {
                    "CPU engine" => Some(resources.times(&jobs, None)?.frame_ms.median),
                    _ => resources.gpu_ms(&jobs)?,
                };
                cells.push(Cell { paper: Some(paper_ms), here: here_ms });
            }
            let words = format!("{engine}, {}x{}", size.0, size.1);
            let points = |of: fn(&Cell) -> Option<f64>| -> Vec<_> {
                DISPARITIES.iter().zip(&cells).filter_map(|(&d, cell)| Some((f64::from(d), of(cell)?))).collect()
            };
            curves.push(Curve { name: words.clone(), points: points(|cell| cell.here), is_of_paper: false });
            if engine == "CPU engine" {
                let name = format!("Tesla C2050, {}x{}", size.0, size.1);
                curves.push(Curve { name, points: points(|cell| cell.paper), is_of_paper: true });
            }
            let verdict = Verdict::of_times(&cells, DEVICE);
            exhibit.row(words, cells.clone(), verdict);
            all.push(cells);
        }
        growth(&mut exhibit, engine, &all);
    }
    exhibit.curves = Some(Curves {
        along: "disparities".to_owned(),
        upwards: "time of a pair, ms".to_owned(),
        is_logarithmic: true,
        curves,
    });
    Ok(exhibit)
}

fn growth(exhibit: &mut Exhibit, engine: &str, all: &[Vec<Cell>]) {
    let ratio = |above: &Cell, below: &Cell| Cell {
        paper: above.paper.zip(below.paper).map(|(a, b)| a / b),
        here: above.here.zip(below.here).map(|(a, b)| a / b),
    };
    let verdict = |cell: &Cell| {
        let off = cell.here.zip(cell.paper).map_or(f64::NAN, |(here, paper)| here / paper - 1.0);
        Verdict::of(
            off.abs() <= RATIO_TOLERANCE,
            format!("within {:.0} % of the paper's ratio", 100.0 * RATIO_TOLERANCE),
            format!("a growth that is {:+.0} % off, where volumes leave the caches", 100.0 * off),
        )
    };
    if let Some([few, _, many]) = all.first().map(Vec::as_slice) {
        let cell = ratio(many, few);
        exhibit.row(format!("{engine}: 256 over 64 disparities, times"), [cell], verdict(&cell));
    }
    if let Some((small, large)) = all.first().zip(all.last()) {
        let cell = ratio(&large[1], &small[1]);
        exhibit.row(format!("{engine}: largest over smallest size, times"), [Cell::default(), cell], verdict(&cell));
    }
}

fn overlap(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = "Pairs are submitted until the GPU engine takes no more, and then the first result is read; on a GPU that is hardware each \
                part is timed too, as `stereopsis-lab pipeline` does.";
    let mut exhibit =
        Exhibit::new("Section 5.3", "transfers are hidden behind computation", here).with_quantity("number", 2);
    let in_flight = Gpu::open(&AdapterChoice::Best).ok().map(|gpu| pairs_in_flight(resources, gpu)).transpose()?;
    let what = "pairs uploaded before the first result is read";
    match in_flight {
        Some(pairs) => exhibit.row(
            what,
            [Cell::here(pairs as f64)],
            Verdict::of(
                pairs > 1,
                "by the order of events: the next pair is on its way while one is computed",
                "an engine that takes one pair at a time",
            ),
        ),
        None => exhibit.row(what, [], resources.needs_gpu()),
    }
    let rows = ["upload of a pair, ms", "a pair at a time, ms", "all on their way, ms a pair"];
    let Ok(gpu) = resources.gpu.clone() else {
        for (n, what) in rows.into_iter().enumerate() {
            // the paper has only the whole transfer at 1280x960
            exhibit.row(what, if n == 0 { vec![Cell::paper(5.0)] } else { vec![] }, resources.needs_gpu());
        }
        return Ok(exhibit);
    };
    let mut engine = GpuEngine::new(gpu)?;
    let measured = pipeline::measure(&mut engine, &large(resources)?, 21)?;
    let upload = Cell::both(5.0, measured.transfers.upload_ms + measured.transfers.read_back_ms);
    exhibit.row(rows[0], [upload], Verdict::of_times(&[upload], DEVICE));
    let hidden = Verdict::of(
        measured.excess_percent < 25.0,
        "a pair takes at most a quarter longer than the slowest part, so the others are hidden",
        "parts that wait for each other",
    );
    exhibit.row(rows[1], [Cell::here(measured.serial_ms)], hidden.clone());
    exhibit.row(rows[2], [Cell::here(measured.pipelined_ms)], hidden);
    Ok(exhibit)
}

/// Counts the small pairs that a GPU accepts before the first result is read.
fn pairs_in_flight(resources: &ExhibitResources, gpu: Gpu) -> anyhow::Result<usize> {
    let jobs = resources.jobs((64 * resources.shrink, 48 * resources.shrink), &method(16))?;
    let mut engine = GpuEngine::new(gpu)?;
    let mut submitted = 0;
    for job in jobs.iter().cycle().take(engine.slots()) {
        engine.submit(job.clone())?;
        submitted += 1;
    }
    for _ in 0..submitted {
        poll_output(&mut engine)?;
    }
    Ok(submitted)
}

/// Row of Table 3: authors and device, size, the paper's time (ms), and the parameters measured here.
type ComparedRow = (&'static str, &'static str, (usize, usize), f64, StereoParams);

fn methods() -> [ComparedRow; 7] {
    let rank = |paths, num_disparities, median| StereoParams { paths, median, ..method(num_disparities) };
    let of = |cost, paths, num_disparities| StereoParams {
        paths,
        num_disparities,
        median: Median::Off,
        left_right: None,
        speckle_size: 0,
        weighted_median: false,
        ..StereoParams::for_cost(cost)
    };
    let information = |paths, num_disparities| {
        let mut params = StereoParams { num_disparities, ..StereoParams::default() };
        Preset::Ernst2008.apply(&mut params);
        StereoParams { paths, ..params }
    };
    [
        ("Banz et al.: rank, 8 paths, median", DEVICE, (640, 480), 16.0, rank(8, 128, Median::Three)),
        ("Haller & Nedevschi: census, 4 paths", "a GTX 280", (512, 383), 19.0, of(CostKind::Census5x5, 4, 56)),
        (
            "Ernst & Hirschmüller: mutual information, 8 paths",
            "a GeForce 8800 Ultra",
            (640, 480),
            175.0,
            information(8, 128),
        ),
        (
            "Gibson & Marques: Birchfeld-Tomasi (here absolute differences), 8 paths",
            "a Quadro FX5600",
            (450, 375),
            170.0,
            of(CostKind::Ad, 8, 64),
        ),
        (
            "Banz et al. 2010: rank, 4 paths, median (31 to 13 ms)",
            "a Virtex-5 FPGA",
            (640, 480),
            31.0,
            rank(4, 128, Median::Three),
        ),
        ("Payá-Vayá et al.: rank, 4 paths", "a DSP of their own", (640, 480), 33.0, rank(4, 64, Median::Off)),
        (
            "Hirschmüller 2005: mutual information, 16 paths, median",
            "an Opteron",
            (450, 375),
            1800.0,
            information(16, 64),
        ),
    ]
}

fn comparison(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = "The nearest method that Stereopsis has, at the size and disparities of each row, on the built-in scene, by the CPU engine.";
    let mut exhibit =
        Exhibit::new("Table 3", "implementations of semi-global matching", here).with_quantity("time of a pair, ms", 1);
    let mut times = Vec::new();
    for (who, device, size, paper_ms, params) in methods() {
        let here_ms = resources.times(&resources.jobs(size, &params)?, None)?.frame_ms.median;
        let cell = Cell::both(paper_ms, here_ms);
        let what = format!("{who}, {}x{} with {} disparities", size.0, size.1, params.num_disparities);
        exhibit.row(what, [cell], Verdict::of_times(&[cell], device));
        times.push(here_ms);
    }
    let cell = Cell::both(175.0 / 16.0, times[2] / times[0]);
    exhibit.row(
        "mutual information over rank at the same size, times",
        [cell],
        Verdict::of(
            times[2] > times[0],
            "mutual information takes longer, because it matches smaller images first and stores its costs",
            "costs that are as quick as those of rank",
        ),
    );
    Ok(exhibit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_and_path_costs_of_the_paper_fit_in_a_byte() {
        let exhibit = bytes(&mut ExhibitResources::small().unwrap()).unwrap();
        assert!(exhibit.rows.iter().all(|row| matches!(row.verdict, Verdict::Reproduced(_))), "{exhibit:?}");
    }

    #[test]
    fn the_methods_of_the_comparison_are_valid_and_their_own() {
        for (who, _, (width, _), _, params) in methods() {
            params.validate().unwrap_or_else(|err| panic!("{who}: {err}"));
            params.validate_range(width).unwrap();
            assert_eq!(params.left_right.is_none(), !who.contains("information"), "{who}");
        }
    }

    #[test]
    fn a_gpu_takes_the_next_pair_while_it_computes_one() {
        let Ok(gpu) = Gpu::open(&AdapterChoice::Best) else {
            assert!(std::env::var_os("REQUIRE_GPU").is_none(), "REQUIRE_GPU is set, and there is no GPU");
            return;
        };
        assert!(pairs_in_flight(&ExhibitResources::small().unwrap(), gpu).unwrap() > 1);
    }
}
