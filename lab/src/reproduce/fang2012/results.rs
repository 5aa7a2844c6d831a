//! Section III.C: accuracy, and time over the radius.

use super::setup::{
    AGGREGATORS, ARMS, DEVICE, DISPARITIES, TSUKUBA, is_same, mean, method, plain_jobs, plain_scale, tsukuba,
    tsukuba_words,
};
use super::tables::TABLE_5;
use crate::curves::{Curve, Curves};
use crate::reproduce::exhibit::{Cell, Exhibit, Verdict};
use crate::reproduce::resources::{ExhibitResources, NEEDS_MIDDLEBURY};
use stereopsis_images::picture_files::truth::PairWithTruth;
use stereopsis_metrics::COLUMNS;
use stereopsis_stereo::StereoParams;

/// Fig. 15: error rates of CW, AW and CROSS on Tsukuba, %.
const ERRORS: [f64; 3] = [8.29, 4.28, 5.41];

pub(super) fn errors(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = format!(
        "The presets of the paper on Tsukuba with {DISPARITIES} disparities: pixels that both views see and that are off by more than 1 px. The \
         paper does not tell which pixels it counts, nor its refinement."
    );
    let mut exhibit =
        Exhibit::new("Fig. 15", "error rates on Tsukuba", here).with_quantity("off by more than 1 px, %", 2);
    let Some(pair) = resources.pair("tsukuba") else {
        for ((name, ..), paper) in AGGREGATORS.into_iter().zip(ERRORS) {
            exhibit.row(name, [Cell::paper(paper)], Verdict::NotMeasurable(NEEDS_MIDDLEBURY.to_owned()));
        }
        return Ok(exhibit);
    };
    let pair = PairWithTruth { num_disparities: DISPARITIES, ..pair };
    let mut found = [f64::NAN; 3];
    for (((name, preset, _), paper), error) in AGGREGATORS.into_iter().zip(ERRORS).zip(&mut found) {
        let mut params = StereoParams::default();
        preset.apply(&mut params);
        let figures = resources.figures(&pair, &params)?;
        let bad_1 = COLUMNS.iter().find(|column| column.name == "bad_1_percent");
        *error = bad_1.map_or(f64::NAN, |column| (column.of)(&figures));
        exhibit.row(
            name,
            [Cell::both(paper, *error)],
            Verdict::of(
                *error <= paper,
                format!("at most the paper's error, {:.2} times it", *error / paper),
                "another refinement, which the paper does not describe",
            ),
        );
    }
    let mut order = |what: &str, [less, more]: [usize; 2], because: &str| {
        let (paper, here) = (ERRORS[less] / ERRORS[more], found[less] / found[more]);
        exhibit.row(
            what,
            [Cell::both(paper, here)],
            Verdict::of(here < 1.0, "the same one of both is the more exact one", because),
        );
    };
    order("error of AW over that of CW", [1, 0], "weights that a refinement evens out");
    order("error of CROSS over that of CW", [2, 0], "regions that a refinement evens out");
    order(
        "error of AW over that of CROSS",
        [1, 2],
        "arms and weights that follow brightness alone, and another refinement: CROSS is the most exact one here",
    );
    Ok(exhibit)
}

fn timed_radii(resources: &ExhibitResources) -> &'static [u32] {
    if resources.quick { &[1, 4] } else { &[1, 4, 8, 16] }
}

/// Fig. 16: mean speed-ups of CW, AW and CROSS on the Quadro 5000.
const SPEED_UPS: [f64; 3] = [523.0, 90.0, 53.0];
/// Largest growth of times between two radii that counts as independent of the window (border, caches, shared machine).
const MAX_FLAT_GROWTH: f64 = 2.0;
/// Smallest growth of times proportional to the window as a share of its pixels' growth, since other work is constant.
const MIN_AW_GROWTH_SHARE: f64 = 0.3;

#[derive(Default)]
struct RadiusTimes {
    /// Whole method in plain loops, ms.
    plain_ms: Vec<f64>,
    /// Whole method by the engine, ms.
    engine_ms: Vec<f64>,
    /// Aggregation by the engine, ms.
    aggregation_ms: Vec<f64>,
}

/// Returns the time of the paper's quickest kernel in a table, ms; none exists for CROSS by arm length.
fn optimised_ms(aggregator: usize, radius: u32) -> Option<f64> {
    let rates = TABLE_5.iter().find(|row| row.0 == radius)?.1;
    [Some(rates[0]), Some(rates[2]), None][aggregator].map(|rate_hz| 1e3 / rate_hz)
}

pub(super) fn times_over_radii(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let (radii, scale) = (timed_radii(resources), plain_scale(resources));
    let scaled = if scale > 1 {
        format!(", timed on images of 1/{scale} of each side and multiplied by {}", scale * scale)
    } else {
        String::new()
    };
    let here = format!(
        "{} for the CPU engine ({}), and the built-in scene for the plain loops of `crates/stereo/src` on one thread{scaled}. Both are timed with the \
         whole method; the engine's aggregation stands beside, and the paper's number there is that of Table V. The arms of CROSS are as long \
         as the radius, where the paper's stay at {ARMS}.",
        tsukuba_words(resources),
        resources.cpu.adapter
    );
    let mut exhibit = Exhibit::new("Fig. 16", "sequential and optimised time over the radius", here)
        .with_quantity("plain loops, ms", 0)
        .with_quantity("engine, ms", 2)
        .with_quantity("speed-up, times", 1)
        .with_quantity("aggregation of the engine, ms", 2);
    let mut all: [RadiusTimes; 3] = Default::default();
    for (n, ((name, preset, _), times)) in AGGREGATORS.into_iter().zip(&mut all).enumerate() {
        for &radius in radii {
            let params = method(preset, radius);
            let plain_ms = resources.plain_ms(&plain_jobs(resources, &params)?)? * (scale * scale) as f64;
            let engine = resources.times(&tsukuba(resources, &params)?, None)?;
            let engine_ms = engine.frame_ms.median;
            let aggregation_ms = engine.stage_ms("aggregation + winner").unwrap_or(engine_ms);
            times.plain_ms.push(plain_ms);
            times.engine_ms.push(engine_ms);
            times.aggregation_ms.push(aggregation_ms);
            let optimised = Cell { paper: optimised_ms(n, radius), here: Some(aggregation_ms) };
            let verdict =
                if optimised.paper.is_some() { Verdict::of_times(&[optimised], DEVICE) } else { Verdict::no_points() };
            exhibit.row(
                format!("{name}, radius {radius}"),
                [Cell::here(plain_ms), Cell::here(engine_ms), Cell::here(plain_ms / engine_ms), optimised],
                verdict,
            );
        }
        let speed_up = mean(times.plain_ms.iter().zip(&times.engine_ms).map(|(plain, engine)| plain / engine));
        exhibit.row(
            format!("{name}, mean speed-up"),
            [Cell::default(), Cell::default(), Cell::both(SPEED_UPS[n], speed_up)],
            Verdict::Differs(format!(
                "other hardware: a CPU of {} threads with vector instructions over loops of ours, where the paper has 352 cores over loops of its \
                 own",
                rayon::current_num_threads()
            )),
        );
    }
    add_trends(&mut exhibit, &all, radii);
    exhibit.curves = Some(curves_over_radii(all, radii));
    Ok(exhibit)
}

/// Adds rows for the text's statements on Fig. 16.
fn add_trends(exhibit: &mut Exhibit, all: &[RadiusTimes; 3], radii: &[u32]) {
    // tiny windows have hardly any sums, so growth counts from radius 4 if there are larger ones
    let from = radii.iter().position(|&radius| radius >= 4).filter(|&at| at + 1 < radii.len()).unwrap_or(0);
    let to = radii.len() - 1;
    let pixels = |at: usize| f64::from(2 * radii[at] + 1).powi(2);
    let window = pixels(to) / pixels(from);
    let growth = |times: &RadiusTimes| times.aggregation_ms[to] / times.aggregation_ms[from];
    let [cw, aw, cross] = all;
    let what = |name: &str| {
        format!("{name}, aggregation at radius {} over that at {} (the window: {window:.1})", radii[to], radii[from])
    };
    let in_last = |paper: Option<f64>, here: f64| {
        [Cell::default(), Cell::default(), Cell::default(), Cell { paper, here: Some(here) }]
    };
    let paper = |n: usize| Some(optimised_ms(n, radii[to])? / optimised_ms(n, radii[from])?);
    exhibit.row(
        what("CW"),
        in_last(paper(0), growth(cw)),
        Verdict::of(
            growth(cw) >= MAX_FLAT_GROWTH,
            "the time grows with the window",
            format!(
                "running sums, which ask for each cost once: the time stays within {MAX_FLAT_GROWTH:.0} times, as it does not in the paper's kernels"
            ),
        ),
    );
    exhibit.row(
        what("AW"),
        in_last(paper(1), growth(aw)),
        Verdict::of(
            growth(aw) > MIN_AW_GROWTH_SHARE * window,
            "the time grows with the window, with the square of its side and not exponentially as the text has it",
            "an engine whose time of AW does not follow the window",
        ),
    );
    exhibit.row(
        what("CROSS"),
        in_last(None, growth(cross)),
        Verdict::of(
            growth(cross) < MAX_FLAT_GROWTH,
            format!("the time is stable: less than {MAX_FLAT_GROWTH:.0} times, while the arms grow with the radius"),
            "sums that walk along each arm, where the paper has integral images and arms of one length",
        ),
    );
    let slowest = (from..radii.len()).all(|at| {
        let ms = |times: &RadiusTimes| times.aggregation_ms[at];
        ms(aw) > ms(cw) && ms(aw) > ms(cross)
    });
    exhibit.row(
        format!("AW over CW at radius {}", radii[to]),
        in_last(optimised_ms(1, radii[to]).zip(optimised_ms(0, radii[to])).map(|(aw, cw)| aw / cw), {
            aw.aggregation_ms[to] / cw.aggregation_ms[to]
        }),
        Verdict::of(
            slowest,
            format!("AW takes the longest of the three at every radius from {}", radii[from]),
            "a radius at which another one takes longer",
        ),
    );
}

/// Returns curves of plain loops, the engine's aggregation, and the paper's quickest kernels.
fn curves_over_radii(all: [RadiusTimes; 3], radii: &[u32]) -> Curves {
    let points = |times: Vec<f64>| radii.iter().map(|&radius| f64::from(radius)).zip(times).collect();
    let mut curves = Vec::new();
    for ((name, ..), times) in AGGREGATORS.into_iter().zip(all) {
        for (kind, ms) in [("plain loops", times.plain_ms), ("engine", times.engine_ms)] {
            curves.push(Curve { name: format!("{name}, {kind}"), points: points(ms), is_of_paper: false });
        }
    }
    for (n, name) in ["CW", "AW"].into_iter().enumerate() {
        let of_row = |&(radius, _): &(u32, [f64; 4])| Some((f64::from(radius), optimised_ms(n, radius)?));
        curves.push(Curve {
            name: format!("{name}, Quadro 5000 (Table V)"),
            points: TABLE_5.iter().filter_map(of_row).collect(),
            is_of_paper: true,
        });
    }
    Curves { along: "radius, px".to_owned(), upwards: "time of a pair, ms".to_owned(), is_logarithmic: true, curves }
}

/// Eq. 6: time of CW at radius 16, ms.
const TIME_OF_EQ_6_MS: f64 = 13.37;

pub(super) fn throughput(_: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = "Computed from the paper's own numbers. The factor of 10^-3 that eq. 6 has would give MFLOPs from ms; 10^-6 gives its result.";
    let mut exhibit = Exhibit::new("Eq. 6", "sums a second of CW at radius 16", here).with_quantity("number", 2);
    let sums = (TSUKUBA.0 * TSUKUBA.1) as f64 * f64::from(DISPARITIES) * 33.0 * 33.0;
    let rate = sums / TIME_OF_EQ_6_MS * 1e-6;
    exhibit.row(
        "GFLOPs",
        [Cell::both(144.0, rate)],
        Verdict::of(is_same(144.0, rate, 0), "to the last digit that the paper has", "another count of sums"),
    );
    if let Some(ms) = optimised_ms(0, 16) {
        exhibit.row(
            "time of the pair, from Table V, ms",
            [Cell::both(TIME_OF_EQ_6_MS, ms)],
            Verdict::of((ms / TIME_OF_EQ_6_MS - 1.0).abs() < 0.002, "within 0.2 %, as rounded", "tables that disagree"),
        );
    }
    Ok(exhibit)
}

pub(super) fn small_card(_: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let mut exhibit = Exhibit::new(
        "Fig. 17",
        "speed-ups on a Quadro NVS 140M",
        "The paper's second card has 16 cores in each of two multiprocessors. Table III has predictions for it.",
    )
    .with_quantity("optimised over sequential, times", 2);
    let rows = [("CW, least", 5.0), ("CW, most", 60.0), ("CROSS", 0.75)];
    for (what, speed_up) in rows {
        let needs = "a Quadro NVS 140M and the paper's OpenCL kernels".to_owned();
        exhibit.row(what, [Cell::paper(speed_up)], Verdict::NotMeasurable(needs));
    }
    Ok(exhibit)
}
