//! Tables 4 and 5: time over directions, vector instructions and threads.

use super::setup::{Directions, REFERENCE_DIRECTIONS, method};
use crate::curves::{Curve, Curves};
use crate::reproduce::exhibit::{Cell, Exhibit, Verdict};
use crate::reproduce::resources::ExhibitResources;
use stereopsis_cpu::simd::SimdLevel;
use stereopsis_frame::engine::Job;
use stereopsis_stereo::StereoParams;

/// Columns of Table 4: name in the paper, and name of the vector instructions here.
const COLUMNS_4: [(&str, Option<&str>); 6] = [
    ("x86-64 C++", None),
    ("x86-64 SSE2/4", Some("SSE2")),
    ("x86-64 AVX2", Some("AVX2")),
    ("x86-64 AVX-512", Some("AVX-512")),
    ("ARM C++", None),
    ("ARM NEON", Some("NEON")),
];
/// Times with 24 threads (x86-64) and 4 threads (ARM), s; the paper lacks AVX-512.
const TABLE_4: [(u32, [Option<f64>; 6]); 11] = [
    (1, [Some(54.0), Some(64.0), Some(73.0), None, Some(82.0), Some(124.0)]),
    (2, [Some(60.0), Some(69.0), Some(79.0), None, Some(92.0), Some(138.0)]),
    (4, [Some(66.0), Some(71.0), Some(81.0), None, Some(97.0), Some(135.0)]),
    (8, [Some(74.0), Some(73.0), Some(83.0), None, Some(116.0), Some(148.0)]),
    (16, [Some(91.0), Some(82.0), Some(92.0), None, Some(146.0), Some(168.0)]),
    (24, [Some(109.0), Some(90.0), Some(100.0), None, Some(175.0), Some(188.0)]),
    (32, [Some(128.0), Some(99.0), Some(109.0), None, Some(205.0), Some(209.0)]),
    (64, [Some(200.0), Some(131.0), Some(144.0), None, Some(321.0), Some(289.0)]),
    (128, [Some(346.0), Some(198.0), Some(214.0), None, Some(556.0), Some(449.0)]),
    (256, [Some(636.0), Some(331.0), Some(351.0), None, Some(1023.0), Some(772.0)]),
    (384, [Some(925.0), Some(462.0), Some(491.0), None, Some(1491.0), Some(1098.0)]),
];
pub(super) const QUICK_4: [u32; 4] = [1, 8, 16, 32];
/// Tolerance of times relative to eight directions.
const MAX_TIME_DIFFERENCE: f64 = 0.25;

fn timed_jobs(resources: &ExhibitResources, directions: Directions) -> anyhow::Result<Vec<Job>> {
    let params = StereoParams { num_disparities: 64, ..method(directions) };
    resources.jobs(timed_size(resources), &params)
}

fn timed_size(resources: &ExhibitResources) -> (usize, usize) {
    if resources.quick { (320, 240) } else { (640, 480) }
}

/// Row of Table 4: number of directions, times of the paper, times here.
type TimeRow = (u32, [Option<f64>; 6], [Option<f64>; 6]);

fn measured_times(resources: &ExhibitResources) -> anyhow::Result<Vec<TimeRow>> {
    let rows = TABLE_4.iter().filter(|row| !resources.quick || QUICK_4.contains(&row.0));
    rows.map(|&(count, paper)| {
        let jobs = timed_jobs(resources, (count, 0))?;
        let mut here = [None; 6];
        for level in SimdLevel::all() {
            let column = COLUMNS_4.iter().position(|column| column.1 == Some(level.name()));
            if let Some(column) = column {
                here[column] = Some(resources.times_with(&jobs, level)?.frame_ms.median);
            }
        }
        Ok((count, paper, here))
    })
    .collect()
}

pub(super) fn times_over_directions(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let (width, height) = timed_size(resources);
    let here = format!(
        "The built-in scene at {width}x{height} with 64 disparities, the method of Table 1 ({}). The paper matches 8192x6144 pixels on 24 cores, \
         and 2048x1536 on the 4 of its ARM board, over the range that the smallest images find, and counts reading and writing.",
        resources.cpu.adapter
    );
    let mut exhibit = Exhibit::new("Table 4", "time over the number of directions by vector instructions", here);
    for (name, _) in COLUMNS_4 {
        exhibit = exhibit.with_quantity(format!("{name} (paper: s; here: ms)"), 1);
    }
    let rows = measured_times(resources)?;
    // narrowest registers of this machine: SSE2 or NEON
    let narrow = [1, 5].into_iter().find(|&column| rows.iter().any(|row| row.2[column].is_some()));
    let ratio = |times: fn(&TimeRow) -> &[Option<f64>; 6], column: usize, [to, from]: [u32; 2]| {
        let time = |count| times(rows.iter().find(|row| row.0 == count)?)[column];
        Some(time(to)? / time(from)?)
    };
    let ratios = |column, ends| Some((ratio(|row| &row.1, column, ends)?, ratio(|row| &row.2, column, ends)?));
    for &(count, paper, here) in &rows {
        let cells: Vec<_> = paper.into_iter().zip(here).map(|(paper, here)| Cell { paper, here }).collect();
        let growth = narrow.and_then(|column| ratios(column, [count, REFERENCE_DIRECTIONS.0]));
        let verdict = match growth {
            _ if count == REFERENCE_DIRECTIONS.0 => {
                Verdict::Reproduced("the method runs; the other rows are compared with this one".to_owned())
            }
            Some((paper, here)) => {
                let measure = format!("{here:.2} times the time of 8 directions, in the paper {paper:.2} times");
                Verdict::of(
                    (here / paper - 1.0).abs() <= MAX_TIME_DIFFERENCE,
                    measure.clone(),
                    format!(
                        "parts that do not depend on the directions, files among them, which the paper has more of: {measure}"
                    ),
                )
            }
            None => Verdict::NotMeasurable("a processor with SSE2 or NEON".to_owned()),
        };
        exhibit.row(count.to_string(), cells, verdict);
    }
    add_growth(&mut exhibit, narrow, ratios);
    add_widths(&mut exhibit, &rows);
    let missing: Vec<_> = (0..COLUMNS_4.len()).filter(|&n| rows.iter().all(|row| row.2[n].is_none())).collect();
    let missing: Vec<_> = missing.into_iter().map(|n| COLUMNS_4[n].0).collect();
    exhibit.row(
        missing.join(", "),
        [],
        Verdict::NotMeasurable(
            "loops without vector instructions, of which the engine has none, for plain C++; another processor for the rest"
                .to_owned(),
        ),
    );
    exhibit.curves = Some(growth_curves(&rows));
    Ok(exhibit)
}

/// Adds rows for the text's statements on growth: 12 % for twice the directions, 36 % for four times.
fn add_growth(exhibit: &mut Exhibit, narrow: Option<usize>, ratios: impl Fn(usize, [u32; 2]) -> Option<(f64, f64)>) {
    for to in [16, 32] {
        let Some((column, (paper, here))) =
            narrow.and_then(|column| Some((column, ratios(column, [to, REFERENCE_DIRECTIONS.0])?)))
        else {
            continue;
        };
        let percent = |ratio: f64| 100.0 * (ratio - 1.0);
        let linear = f64::from(to / REFERENCE_DIRECTIONS.0);
        let mut cells = [Cell::default(); 6];
        cells[column] = Cell::both(percent(paper), percent(here));
        exhibit.row(
            format!("from 8 to {to} directions, % longer"),
            cells,
            Verdict::of(
                here < linear,
                format!(
                    "less than {:.0} %, so not in proportion, as in the paper; how much less depends on what else is timed",
                    percent(linear)
                ),
                "times that follow the directions alone",
            ),
        );
    }
}

/// Compares each register width with the next narrower one.
fn add_widths(exhibit: &mut Exhibit, rows: &[TimeRow]) {
    for [narrow, wide] in [[1, 2], [2, 3]] {
        let mean = |times: fn(&TimeRow) -> &[Option<f64>; 6]| {
            let of_row = |row| Some(times(row)[wide]? / times(row)[narrow]?);
            let ratios: Vec<f64> = rows.iter().filter_map(of_row).collect();
            (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / ratios.len() as f64)
        };
        let (paper, here) = (mean(|row| &row.1), mean(|row| &row.2));
        let Some(ratio) = here else { continue };
        let mut cells = [Cell::default(); 6];
        cells[wide] = Cell { paper, here };
        let names = [narrow, wide].map(|n| COLUMNS_4[n].1.unwrap_or_default());
        let because = format!(
            "costs of one byte, as many of which fit as the register has, in loops compiled for each width; {} takes {ratio:.2} times the time \
             of {}",
            names[1], names[0]
        );
        let verdict = match paper {
            Some(paper) => Verdict::of((paper - 1.0) * (ratio - 1.0) > 0.0, "wider registers are slower", because),
            None => Verdict::NotMeasurable("a number of the paper: its processor has no AVX-512".to_owned()),
        };
        exhibit.row(format!("time with {} over that with {}, mean of all rows", names[1], names[0]), cells, verdict);
    }
}

fn growth_curves(rows: &[TimeRow]) -> Curves {
    let curve = |column: usize, is_of_paper: bool| {
        let times = |row: &TimeRow| if is_of_paper { row.1[column] } else { row.2[column] };
        let usual = rows.iter().find(|row| row.0 == REFERENCE_DIRECTIONS.0).and_then(times);
        let points: Vec<_> = rows.iter().filter_map(|row| Some((f64::from(row.0), times(row)? / usual?))).collect();
        let name = format!("{}{}", COLUMNS_4[column].0, if is_of_paper { ", paper" } else { "" });
        (!points.is_empty()).then_some(Curve { name, points, is_of_paper })
    };
    let columns = 0..COLUMNS_4.len();
    Curves {
        along: "directions".to_owned(),
        upwards: "time, times that of 8 directions".to_owned(),
        is_logarithmic: true,
        curves: columns.flat_map(|column| [curve(column, true), curve(column, false)]).flatten().collect(),
    }
}

/// Table 5: threads, and times of both machines with 16 directions, s.
pub(super) const TABLE_5: [(usize, f64, Option<f64>); 8] = [
    (1, 997.0, Some(557.0)),
    (2, 575.0, Some(281.0)),
    (4, 340.0, Some(143.0)),
    (8, 199.0, None),
    (16, 102.0, None),
    (24, 77.0, None),
    (32, 71.0, None),
    (48, 66.0, None),
];
/// Smallest speed-up with twice the threads (1.69 to 1.98 in the paper): cores of a shared machine are often hyperthreads in other use.
const MIN_THREAD_SPEED_UP: f64 = 1.4;

pub(super) fn times_over_threads(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (width, height) = timed_size(resources);
    let here = format!(
        "The built-in scene at {width}x{height} with 64 disparities and 16 directions, the method of Table 1, on 1 to {cores} threads, which is \
         what this machine has."
    );
    let mut exhibit = Exhibit::new("Table 5", "time over the number of threads", here)
        .with_quantity("x86-64 (paper: SSE2/4, s; here: ms)", 1)
        .with_quantity("ARM C++, s", 0);
    let jobs = timed_jobs(resources, (16, 0))?;
    let mut before: Option<(f64, f64)> = None;
    for (threads, paper, arm) in TABLE_5 {
        let is_there = threads <= cores;
        let ms = if is_there { Some(resources.times(&jobs, Some(threads))?.frame_ms.median) } else { None };
        let cells = [Cell { paper: Some(paper), here: ms }, Cell { paper: arm, here: None }];
        let verdict = match (ms, before) {
            (None, _) => Verdict::NotMeasurable(format!("{threads} cores; this machine has {cores}")),
            (Some(_), None) => {
                Verdict::Reproduced("the method runs; the other rows are compared with this one".to_owned())
            }
            (Some(ms), Some((paper_before, ms_before))) => speed_up(paper_before / paper, ms_before / ms),
        };
        exhibit.row(threads.to_string(), cells, verdict);
        before = ms.map(|ms| (paper, ms)).or(before);
    }
    Ok(exhibit)
}

fn speed_up(paper: f64, here: f64) -> Verdict {
    let measure =
        format!("{here:.2} times as quick as with the threads of the row before, in the paper {paper:.2} times");
    Verdict::of(
        here >= MIN_THREAD_SPEED_UP.min(paper),
        format!("{measure}; {MIN_THREAD_SPEED_UP} counts, because cores of a shared machine are not whole ones"),
        format!("cores that are single hyperthreads of a shared machine: {measure}"),
    )
}
