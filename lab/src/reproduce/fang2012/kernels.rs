//! Sections I and III: time shares, and gains by kernel optimisations.

use super::setup::{
    AGGREGATORS, ARMS, DISPARITIES, RADIUS, TSUKUBA, is_same, mean, method, needs_kernels, plain_jobs, plain_scale,
    tsukuba, tsukuba_words, usual_radius,
};
use super::tables::{TABLE_4, TABLE_5};
use crate::aggregation_model::Workload;
use crate::reproduce::exhibit::{Cell, Exhibit, Verdict};
use crate::reproduce::resources::ExhibitResources;
use rayon::prelude::*;
use std::hint::black_box;
use std::time::Instant;
use stereopsis_base::image::PictureRef;
use stereopsis_frame::engine::Job;
use stereopsis_stereo::cost::CostSettings;
use stereopsis_stereo::disparity::WinnerRules;
use stereopsis_stereo::local::LocalSettings;
use stereopsis_stereo::{Maps, Past, cost, disparity, filter_maps, local};

/// Returns the shortest time of some rounds in ms, because other programs may use the machine.
fn best_ms(rounds: usize, mut work: impl FnMut()) -> f64 {
    let round = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..rounds).map(round).fold(f64::INFINITY, f64::min)
}

/// Times the plain loops of one pair in ms: CC, CA, and DE with DR.
fn plain_stages_ms(job: &Job) -> [f64; 3] {
    let Job { frame, params, .. } = job;
    let pictures = PictureRef::pair(&*frame.left, &*frame.right);
    let [left, right] = pictures.map(|picture| picture.luma);
    let mut start = Instant::now();
    let mut lap = || {
        let ms = start.elapsed().as_secs_f64() * 1e3;
        start = Instant::now();
        ms
    };
    let costs = cost::volume(left, right, &CostSettings::of(params), &params.disparities(), None);
    let cost_ms = lap();
    let sums =
        local::aggregate(&costs, &left.to_u8(), &right.to_u8(), &LocalSettings::of(params), params.min_disparity);
    let aggregation_ms = lap();
    let left_map = disparity::winner_takes_all(&sums, &WinnerRules::of(params));
    let right_map = params.left_right.is_some().then(|| disparity::right_map(&sums, params.min_disparity));
    black_box(filter_maps(Maps { left: left_map, right: right_map }, pictures, params, &mut Past::default(), false));
    [cost_ms, aggregation_ms, lap()]
}

fn percent(parts: [f64; 3]) -> [f64; 3] {
    let sum: f64 = parts.iter().sum();
    parts.map(|part| 100.0 * part / sum)
}

/// Fig. 1: time share of CA in CW, AW and CROSS, %.
const SHARES_OF_CA: [f64; 3] = [83.88, 93.96, 50.28];

pub(super) fn shares_of_plain_loops(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let scale = plain_scale(resources);
    let here = format!(
        "The plain loops of `crates/stereo/src` on one thread, each component timed for itself, on the built-in scene of {}x{} with {DISPARITIES} \
         disparities. AD-census, radius {RADIUS} of CW and AW, L {ARMS} and tau 20 of CROSS, as in the paper.",
        TSUKUBA.0 / scale,
        TSUKUBA.1 / scale
    );
    let mut exhibit = Exhibit::new("Fig. 1", "share of each component before any optimisation", here)
        .with_quantity("CC, %", 2)
        .with_quantity("CA, %", 2)
        .with_quantity("DE and DR, %", 2);
    let mut shares = Vec::new();
    for ((name, preset, aggregation), paper) in AGGREGATORS.into_iter().zip(SHARES_OF_CA) {
        let params = method(preset, usual_radius(aggregation));
        let jobs = plain_jobs(resources, &params)?;
        let Some(first) = jobs.first() else { continue };
        let [cc, ca, rest] = percent(plain_stages_ms(first));
        shares.push(ca);
        exhibit.row(
            name,
            [Cell::here(cc), Cell::both(paper, ca), Cell::here(rest)],
            Verdict::of(
                ca > 50.0,
                format!("CA takes more than half of the time, {ca:.0} %"),
                "costs or filters that take longer here than the aggregation",
            ),
        );
    }
    if let [cw, aw, cross] = shares[..] {
        let gaps = |shares: [f64; 3]| (shares[1] - shares[0], shares[0] - shares[2]);
        let (papers, ours) = (gaps(SHARES_OF_CA), gaps([cw, aw, cross]));
        exhibit.row(
            "CA of AW less that of CW, points",
            [Cell::default(), Cell::both(papers.0, ours.0)],
            Verdict::of(ours.0 > 0.0, "AW spends the larger share", "a CW that spends as large a share as AW"),
        );
        exhibit.row(
            "CA of CW less that of CROSS, points",
            [Cell::default(), Cell::both(papers.1, ours.1)],
            Verdict::of(
                ours.1 > 0.0,
                "CW spends the larger share",
                "plain loops that add up each cross pixel by pixel, where the paper has orthogonal integral images",
            ),
        );
    }
    Ok(exhibit)
}

pub(super) fn shares_of_engine(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = format!(
        "The stages of the CPU engine ({}). {}. It chooses winners while it aggregates, so DE stands with CA, and DR alone is the third share.",
        resources.cpu.adapter,
        tsukuba_words(resources)
    );
    let mut exhibit = Exhibit::new("Fig. 18", "share of each component after all optimisations", here)
        .with_quantity("CC, %", 2)
        .with_quantity("CA (here with DE), %", 2)
        .with_quantity("DR, %", 2);
    for (name, preset, aggregation) in AGGREGATORS {
        let jobs = tsukuba(resources, &method(preset, usual_radius(aggregation)))?;
        let times = resources.times(&jobs, None)?;
        let stage = |name| times.stage_ms(name).unwrap_or(f64::NAN);
        let shares = percent([stage("cost"), stage("aggregation + winner"), stage("filters")]);
        let [cc, ca, _] = shares;
        exhibit.row(
            format!("{name}: CC takes longer than CA"),
            shares.map(Cell::here),
            Verdict::of(
                cc > ca,
                format!("CC takes {:.1} times as long as CA", cc / ca),
                format!(
                    "an aggregation that stays the bottleneck on this CPU: it takes {:.1} times as long as CC",
                    ca / cc
                ),
            ),
        );
    }
    Ok(exhibit)
}

/// Table I: times of work-item mappings for each image side, ms.
const MAPPINGS: [(usize, [f64; 6]); 3] = [
    (512, [0.42, 0.50, 1.06, 6.33, 2.58, 7.08]),
    (1024, [1.50, 1.72, 4.19, 24.48, 12.15, 28.70]),
    (2048, [5.80, 7.01, 16.76, 93.92, 64.00, 117.31]),
];
/// Names of the mappings, and their axes (x, y or d) for i, j and the remaining loop.
pub(super) const ORDERS: [(&str, [usize; 3]); 6] = [
    ("(x, y)", [0, 1, 2]),
    ("(x, d)", [0, 2, 1]),
    ("(y, x)", [1, 0, 2]),
    ("(y, d)", [1, 2, 0]),
    ("(d, x)", [2, 0, 1]),
    ("(d, y)", [2, 1, 0]),
];

/// Reads and writes all values of a volume (x innermost, d outermost), with the first axis of the order in the innermost loop.
pub(super) fn visit(volume: &mut [f32], lengths: [usize; 3], order: [usize; 3]) {
    let steps = [1, lengths[0], lengths[0] * lengths[1]];
    let [i_axis, j_axis, k_axis] = order;
    for k in 0..lengths[k_axis] {
        for j in 0..lengths[j_axis] {
            let first = k * steps[k_axis] + j * steps[j_axis];
            for i in 0..lengths[i_axis] {
                if let Some(value) = volume.get_mut(first + i * steps[i_axis]) {
                    *value += 1.0;
                }
            }
        }
    }
}

pub(super) fn mappings(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = format!(
        "A micro-benchmark of ours on one thread of the CPU, not the paper's kernels: three nested loops read and write each value of a volume \
         of {DISPARITIES} disparities once. Like neighbouring work-items, i is the quickest loop; x is innermost in memory. Best of three rounds."
    );
    let mut exhibit = Exhibit::new("Table I", "six ways to map work-items (i, j) to the volume", here);
    for (name, _) in ORDERS {
        exhibit = exhibit.with_quantity(format!("{name}, ms"), 2);
    }
    let sizes = if resources.quick { &MAPPINGS[..2] } else { &MAPPINGS[..] };
    for &(side, paper) in sizes {
        let side_here = side / resources.shrink;
        let lengths = [side_here, side_here, DISPARITIES as usize];
        // written once, so that its pages are mapped
        let mut volume = vec![1.0f32; lengths.iter().product()];
        let times = ORDERS.map(|(_, order)| best_ms(3, || visit(black_box(&mut volume), lengths, order)));
        let slower = |of: usize| times.iter().filter(|&&ms| ms > times[of]).count();
        let is_trend = slower(0) >= 4 && slower(1) >= 4 && slower(5) <= 1;
        let ratio = times[5] / times[0];
        let cells: Vec<_> = paper.into_iter().zip(times).map(|(paper, ms)| Cell::both(paper, ms)).collect();
        exhibit.row(
            format!("{side}x{side}"),
            cells,
            Verdict::of(
                is_trend,
                format!(
                    "both mappings with x first are the quickest ones and (d, y) is among the two slowest, {ratio:.1} times as slow as \
                     (x, y); {:.1} times in the paper",
                    paper[5] / paper[0]
                ),
                "caches of a CPU, which hide some of the orders that a GPU punishes",
            ),
        );
    }
    Ok(exhibit)
}

pub(super) fn mappings_of_kernels(_: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let mut exhibit = Exhibit::new(
        "Fig. 7",
        "mapping (x, y) over mapping (d, x) in the kernels",
        "Ours have one mapping each, so there is nothing to compare. Table I shows the effect for loops on the CPU.",
    )
    .with_quantity("speed-up, times", 2);
    for (name, speed_up) in [("CW", 9.4), ("AW", 11.1), ("CROSS", 1.24)] {
        exhibit.row(name, [Cell::paper(speed_up)], needs_kernels("ours have one mapping each"));
    }
    Ok(exhibit)
}

pub(super) fn shared_data(_: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let mut exhibit = Exhibit::new(
        "Fig. 8",
        "shared data ratio, eq. 5",
        "Computed by eq. 5: two pixels side by side with radius 1 ask for 3x4 costs instead of twice 3x3.",
    )
    .with_quantity("SR", 4);
    let two = Workload { group: (2, 1), ..Workload::of_paper(4, 4, 1) };
    let (paper, ratio) = (2.0 / 3.0, two.shared_ratio(1));
    exhibit.row(
        "two work-items, radius 1",
        [Cell::both(paper, ratio)],
        Verdict::of(is_same(paper, ratio, 9), "2/3, to nine digits", "another count of shared costs"),
    );
    Ok(exhibit)
}

pub(super) fn local_memory(_: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let mut exhibit = Exhibit::new(
        "Figs. 9 and 10",
        "kernels with local memory over those without",
        "Each of our kernels exists once, with the memory that suits it. Tables IV and V hold the paper's rates of both kinds.",
    )
    .with_quantity("speed-up on average, times", 2);
    for (name, speed_up, column, column_5) in [("CW", 2.3, 0, 0), ("AW", 1.2, 2, 2)] {
        exhibit.row(name, [Cell::paper(speed_up)], needs_kernels("ours exist in one kind"));
        let of_tables = mean(TABLE_4.iter().zip(&TABLE_5).map(|(without, with)| with.1[column_5] / without.1[column]));
        exhibit.row(
            format!("{name}, from the paper's own rates on Tsukuba (Table V over Table IV)"),
            [Cell::both(speed_up, of_tables)],
            Verdict::of(
                (of_tables / speed_up - 1.0).abs() < 0.1,
                "its tables and its text agree within 10 %",
                "tables of one pair, where the text has the mean over four pairs and, of CW, kernels that were unrolled later",
            ),
        );
    }
    Ok(exhibit)
}

pub(super) fn caching(_: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let mut exhibit = Exhibit::new(
        "Fig. 11",
        "CROSS with costs cached in local memory over CROSS without",
        "Our kernel of CROSS sums along rows and then along columns, and has no kind without that.",
    )
    .with_quantity("speed-up on average, times", 1);
    exhibit.row("CROSS, L 17, tau 20", [Cell::paper(1.5)], needs_kernels("ours exist in one kind"));
    Ok(exhibit)
}

pub(super) fn unrolling(_: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let mut exhibit = Exhibit::new(
        "Fig. 13",
        "loops unrolled over loops as they are",
        "The compiler decides here which loops it unrolls. The running sums of our CW have no loop over the window.",
    )
    .with_quantity("speed-up on average, times", 1);
    exhibit.row("CW", [Cell::paper(1.5)], needs_kernels("ours have no loop over the window"));
    exhibit.row("AW (slower when unrolled)", [], needs_kernels("ours leave it to the compiler"));
    Ok(exhibit)
}

/// Table II: image side, and times with 1D and 2D parallelism, ms.
const PREFIX_SUMS: [(usize, [f64; 2]); 4] =
    [(512, [24.03, 5.81]), (1024, [49.28, 22.18]), (2048, [122.73, 76.83]), (4096, [421.58, 299.11])];
/// Smallest speed-up that counts on a shared machine.
const MIN_CLEAR_SPEED_UP: f64 = 1.2;

fn sum_up(line: &mut [f32]) {
    let mut sum = 0.0;
    for value in line {
        sum += *value;
        *value = sum;
    }
}

pub(super) fn prefix_sums(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let threads = rayon::current_num_threads();
    let here = format!(
        "Sums along x in a volume of {DISPARITIES} disparities on the CPU, best of three rounds. 1D: {threads} threads share the rows, and one \
         sums up a row of all disparities. 2D: they share the lines of all rows and disparities. Beside them one thread alone."
    );
    let mut exhibit = Exhibit::new("Table II", "prefix sums with 1D and with 2D parallelism", here)
        .with_quantity("1D, ms", 2)
        .with_quantity("2D, ms", 2)
        .with_quantity("speed-up of 2D, times", 2)
        .with_quantity("one thread, ms", 2)
        .with_quantity("2D over one thread, times", 2);
    let sizes = if resources.quick { &PREFIX_SUMS[..2] } else { &PREFIX_SUMS[..] };
    let mut gains = Vec::new();
    for &(side, [one_d, two_d]) in sizes {
        let width = side / resources.shrink;
        let row = DISPARITIES as usize * width;
        let mut volume = vec![1.0f32; row * width];
        let one_ms = best_ms(3, || volume.chunks_mut(width).for_each(sum_up));
        let rows_ms = best_ms(3, || volume.par_chunks_mut(row).for_each(|row| row.chunks_mut(width).for_each(sum_up)));
        let lines_ms = best_ms(3, || volume.par_chunks_mut(width).for_each(sum_up));
        black_box(&volume);
        let (paper, gain) = (one_d / two_d, rows_ms / lines_ms);
        gains.push((paper, gain));
        exhibit.row(
            format!("{side}x{side}"),
            [
                Cell::both(one_d, rows_ms),
                Cell::both(two_d, lines_ms),
                Cell::both(paper, gain),
                Cell::here(one_ms),
                Cell::here(one_ms / lines_ms),
            ],
            Verdict::of(
                gain > MIN_CLEAR_SPEED_UP,
                format!("2D is clearly quicker, {gain:.2} times"),
                format!("{threads} threads, which the rows alone keep busy, as the paper expects of very large images"),
            ),
        );
    }
    if let [(first_paper, first), .., (last_paper, last)] = gains[..] {
        exhibit.row(
            "speed-up at the smallest size over that at the largest",
            [Cell::default(), Cell::default(), Cell::both(first_paper / last_paper, first / last)],
            Verdict::of(
                first > MIN_CLEAR_SPEED_UP * last,
                "the gain falls with the size",
                "a gain that one dimension has used up at every size",
            ),
        );
    }
    Ok(exhibit)
}
