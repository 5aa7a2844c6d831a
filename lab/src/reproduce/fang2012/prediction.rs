//! Section IV: the aggregation model and its prediction errors.

use super::setup::{
    AGGREGATORS, ARMS, DEVICE, DISPARITIES, TSUKUBA, is_same, job, mean, method, tsukuba, tsukuba_words, usual_radius,
};
use super::tables::{NVS_BYTES_PER_S, QUADRO_BYTES_PER_S, TABLE_3, TABLE_3_CROSS, TABLE_4, TABLE_5};
use crate::aggregation_model::{Kernel, Usage, Workload};
use crate::curves::{Curve, Curves};
use crate::reproduce::exhibit::{Cell, Exhibit, Verdict};
use crate::reproduce::resources::{ExhibitResources, NEEDS_MIDDLEBURY};
use crate::{memory, model};
use stereopsis_base::image::Image;
use stereopsis_cpu::CpuEngine;
use stereopsis_frame::engine::Job;
use stereopsis_images::picture_files::truth::PairWithTruth;
use stereopsis_stereo::{Aggregation, Preset, StereoParams};

/// Mean cross heights, px.
const HEIGHTS: [(&str, f64); 2] = [("tsukuba", 17.0), ("cones", 11.0)];

/// Computes the mean of upper arm, lower arm and own pixel in px; an arm ends at `longest` or where a channel differs by more than `tau`.
pub(super) fn mean_height_in_colour(picture: &Image<[u8; 3]>, tau: u8, longest: usize) -> f64 {
    let (width, height) = picture.size();
    let mut sum = 0;
    for x in 0..width {
        for y in 0..height {
            let pixel = picture.at(x, y);
            let is_like = |&y: &usize| picture.at(x, y).iter().zip(pixel).all(|(&a, b)| a.abs_diff(b) <= tau);
            let up = (0..y).rev().take(longest).take_while(is_like).count();
            let down = (y + 1..height).take(longest).take_while(is_like).count();
            sum += up + 1 + down;
        }
    }
    sum as f64 / (width * height) as f64
}

pub(super) fn mean_heights(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = format!(
        "H_AVG of eq. 7: upper arm, lower arm and the pixel itself, on average over the left image, with L {ARMS} and tau 20. Once an arm ends \
         where one of the three colours differs by more, once where brightness does, as in our CROSS."
    );
    let mut exhibit = Exhibit::new("Section IV", "mean height of the crosses", here).with_quantity("H_AVG, px", 2);
    for (name, paper) in HEIGHTS {
        let Some(pair) = resources.pair(name) else {
            exhibit.row(name, [Cell::paper(paper)], Verdict::NotMeasurable(NEEDS_MIDDLEBURY.to_owned()));
            continue;
        };
        let params = method(Preset::Fang2012Cross, ARMS);
        if let Some(rgb) = &pair.raw.left.rgb {
            let height = mean_height_in_colour(rgb, params.tau as u8, ARMS as usize);
            exhibit.row(
                format!("{name}, by colour"),
                [Cell::both(paper, height)],
                Verdict::of(
                    is_same(paper, height, 0),
                    "to the whole pixel that the paper has",
                    "another rule for arms",
                ),
            );
        }
        let (_, height) = model::kernel(&job(&pair, &params)?, &params, ARMS);
        let because = "arms that follow brightness, which differs less than a single colour does: they are longer";
        exhibit.row(
            format!("{name}, by brightness"),
            [Cell::both(paper, height)],
            Verdict::of(is_same(paper, height, 0), "to the whole pixel that the paper has", because),
        );
    }
    Ok(exhibit)
}

pub(super) fn ideal_rates(_: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let mut exhibit = Exhibit::new(
        "Table III",
        "theoretical pairs a second on Tsukuba",
        "Computed by eqs. 7 to 10 with costs of 4 bytes, work groups of 16x16 and 120 GB/s, which the paper counts in GiB. CROSS has the paper's \
         mean height of 17. For the paper's second card, the Quadro NVS 140M, the bandwidth of its data sheet is taken, 9.6 GB/s (64 bits at \
         600 MHz), and counted the same way; the paper has no such numbers.",
    );
    for name in ["CW without", "CW with local memory", "AW without", "AW with local memory", "CROSS"] {
        exhibit = exhibit.with_quantity(format!("{name}, pairs/s"), 2);
    }
    let workload = Workload::of_paper(TSUKUBA.0, TSUKUBA.1, DISPARITIES as usize);
    let rates = |radius: u32, bytes_per_s: f64| {
        let [cw, aw, cross] =
            [Kernel::Window { radius }, Kernel::AdaptiveWeight { radius }, Kernel::Cross { mean_height_px: 17.0 }]
                .map(|kernel| workload.ideal_rates_hz(kernel, bytes_per_s));
        [cw[0], cw[1], aw[0], aw[1], cross[0]]
    };
    for (radius, [cw_without, cw_with, aw_without, aw_with]) in TABLE_3 {
        let paper = [cw_without, cw_with, aw_without, aw_with, TABLE_3_CROSS];
        let here = rates(radius, QUADRO_BYTES_PER_S);
        let holds = paper.iter().zip(here).all(|(&paper, here)| is_same(paper, here, 2));
        let cells: Vec<_> = paper.into_iter().zip(here).map(|(paper, here)| Cell::both(paper, here)).collect();
        let verdict = Verdict::of(holds, "to the last digit", "another reading of eqs. 7 to 10");
        exhibit.row(format!("Quadro 5000, radius {radius}"), cells, verdict);
    }
    for radius in [1, 4, 16] {
        let needs = "a Quadro NVS 140M: these are predictions, and the paper has no number of it".to_owned();
        let cells = rates(radius, NVS_BYTES_PER_S).map(Cell::here);
        exhibit.row(format!("prediction for the NVS 140M, radius {radius}"), cells, Verdict::NotMeasurable(needs));
    }
    Ok(exhibit)
}

/// Measured rate of an aggregator at one radius.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    pub(super) radius: u32,
    /// Window side or mean cross height, px.
    pub(super) side_px: f64,
    pub(super) rate_hz: f64,
    /// Ideal rates without and with sharing, pairs/s.
    pub(super) ideal_hz: [f64; 2],
}

/// Measures an aggregator at some radii on the CPU engine, with the ideal rates of a memory.
pub(super) fn rates(
    engine: &mut CpuEngine,
    job: &Job,
    (aggregation, radii): (Aggregation, &[u32]),
    bytes_per_s: f64,
    frames: usize,
) -> anyhow::Result<Vec<Rate>> {
    let (width, height) = job.frame.size();
    let workload = Workload::of_paper(width, height, job.params.num_disparities as usize);
    let mut rates = Vec::new();
    for &radius in radii {
        let params = model::of_radius(&job.params, aggregation, radius);
        let (kernel, side_px) = model::kernel(job, &params, radius);
        let rate_hz = model::measure(engine, std::slice::from_ref(job), &params, frames)?;
        let ideal_hz = workload.ideal_rates_hz(kernel, bytes_per_s);
        rates.push(Rate { radius, side_px, rate_hz: rate_hz.unwrap_or(f64::NAN), ideal_hz });
    }
    Ok(rates)
}

fn frames(resources: &ExhibitResources) -> usize {
    if resources.quick { 3 } else { 7 }
}

/// Whether a usage (%) follows from a rate and an ideal rate, all rounded to two decimals.
pub(super) fn follows(usage: f64, rate_hz: f64, ideal_hz: f64) -> bool {
    const HALF: f64 = 0.005;
    let least = 100.0 * (rate_hz - HALF) / (ideal_hz + HALF) - HALF;
    let most = 100.0 * (rate_hz + HALF) / (ideal_hz - HALF) + HALF;
    (least..=most).contains(&usage)
}

/// Returns rates and usages of both tables with the ideal rates of Table III: `[pairs/s, usage in %, ideal pairs/s]` of CW, AW and CROSS
/// without local memory, then of CW and AW with it.
pub(super) fn typed_rates() -> Vec<[[f64; 3]; 5]> {
    let tables = TABLE_3.iter().zip(&TABLE_4).zip(&TABLE_5);
    tables
        .map(|(((_, ideal), (_, without)), (_, with))| {
            [
                [without[0], without[1], ideal[0]],
                [without[2], without[3], ideal[2]],
                [without[4], without[5], TABLE_3_CROSS],
                [with[0], with[1], ideal[1]],
                [with[2], with[3], ideal[3]],
            ]
        })
        .collect()
}

pub(super) fn measured_rates(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let all: Vec<u32> = TABLE_3.iter().map(|row| row.0).collect();
    let radii: &[u32] = if resources.quick { &[1, 4] } else { &all };
    let bytes_per_s = memory::bytes_per_s(None)?;
    let here = format!(
        "{}. The aggregation stage of the CPU engine ({}), which chooses winners too. Its kernels exist once, so the same rate stands beside both \
         tables, and its usage is taken of the ideal rate of this machine's memory ({:.1} GB/s read and written): without sharing for Table IV, \
         with it for Table V. The engine fills whole vector registers, so with AVX-512 \
         {DISPARITIES} disparities take as long as 64. Above 100 % are kernels that ask for less than the paper's. The rate of CROSS does not depend on the radius; the \
         paper's is the mean of its 16.",
        tsukuba_words(resources),
        resources.cpu.adapter,
        bytes_per_s * 1e-9
    );
    let mut exhibit = Exhibit::new("Tables IV and V", "measured pairs a second and usage", here)
        .with_quantity("without local memory, pairs/s", 2)
        .with_quantity("usage, %", 2)
        .with_quantity("with local memory, pairs/s", 2)
        .with_quantity("usage, %", 2);
    let typed = typed_rates();
    let mut engine = CpuEngine::new(None);
    for (n, (name, preset, aggregation)) in AGGREGATORS.into_iter().enumerate() {
        let jobs = tsukuba(resources, &method(preset, usual_radius(aggregation)))?;
        let Some(first) = jobs.first() else { continue };
        let is_cross = aggregation.has_arms();
        let radii = if is_cross { &[ARMS] } else { radii };
        let measured = rates(&mut engine, first, (aggregation, radii), bytes_per_s, frames(resources))?;
        for rate in &measured {
            let usage = rate.ideal_hz.map(|ideal_hz| 100.0 * rate.rate_hz / ideal_hz);
            let cells = if is_cross {
                let [paper_hz, paper_usage] = [0, 1].map(|column| mean(typed.iter().map(|row| row[n][column])));
                vec![Cell::both(paper_hz, rate.rate_hz), Cell::both(paper_usage, usage[0])]
            } else {
                let [[without, its_usage, _], [with, with_usage, _]] =
                    [n, n + 3].map(|column| typed[rate.radius as usize - 1][column]);
                vec![
                    Cell::both(without, rate.rate_hz),
                    Cell::both(its_usage, usage[0]),
                    Cell::both(with, rate.rate_hz),
                    Cell::both(with_usage, usage[1]),
                ]
            };
            let in_ms = |hz: Option<f64>| hz.map(|hz| 1e3 / hz);
            let times: Vec<_> =
                cells.iter().step_by(2).map(|c| Cell { paper: in_ms(c.paper), here: in_ms(c.here) }).collect();
            let what = if is_cross { format!("{name}, L {ARMS}") } else { format!("{name}, radius {}", rate.radius) };
            exhibit.row(what, cells, Verdict::of_times(&times, DEVICE));
        }
        if let (false, [first, .., last]) = (is_cross, &measured[..]) {
            add_fall(&mut exhibit, name, n, [first, last]);
        }
    }
    for (column, what) in
        ["CW, Table IV", "AW, Table IV", "CROSS, Table IV", "CW, Table V", "AW, Table V"].iter().enumerate()
    {
        let agreeing =
            typed.iter().map(|row| row[column]).filter(|&[hz, usage, ideal_hz]| follows(usage, hz, ideal_hz)).count();
        exhibit.row(
            format!("{what}: the paper's usage follows from its rate and Table III"),
            [],
            Verdict::of(
                agreeing == TABLE_3.len(),
                "all of them, to within rounding",
                "numbers that do not belong together",
            ),
        );
    }
    Ok(exhibit)
}

fn add_fall(exhibit: &mut Exhibit, name: &str, n: usize, [first, last]: [&Rate; 2]) {
    let typed = typed_rates();
    let paper = [n, n + 3].map(|column| {
        let hz = |radius: u32| typed[radius as usize - 1][column][0];
        hz(first.radius) / hz(last.radius)
    });
    let fall = first.rate_hz / last.rate_hz;
    let verdict = Verdict::of(
        paper.iter().all(|paper| (0.5..=2.0).contains(&(fall / paper))),
        "the rate falls as the paper's does without local memory and with it, within twice",
        "other kernels: running sums, which ask for each cost once at any radius",
    );
    let because = "sums that fill vectors and caches better the larger the window is";
    let verdict = match verdict {
        Verdict::Differs(_) if n != 0 => Verdict::Differs(because.to_owned()),
        verdict => verdict,
    };
    exhibit.row(
        format!("{name}: rate at radius {} over that at {}", first.radius, last.radius),
        [Cell::both(paper[0], fall), Cell::default(), Cell::both(paper[1], fall)],
        verdict,
    );
}

/// Number of disparities for predictions, which fills the vector registers of every machine: a shorter range, unlike in eq. 7, saves no
/// time.
const PREDICTION_DISPARITIES: u32 = 64;

/// Section IV.C: mean prediction errors of CW, AW and CROSS without local memory, %.
const PREDICTION_ERRORS: [f64; 3] = [6.7, 16.0, 6.6];
/// Mean prediction errors of CW and AW with local memory, %.
const PREDICTION_ERRORS_SHARED: [f64; 2] = [4.9, 17.9];
/// Mean of these five in the abstract, %.
const MEAN_PREDICTION_ERROR: f64 = 10.4;

pub(super) struct Prediction {
    rate: Rate,
    /// Predicted rates without and with sharing.
    rate_hz: [f64; 2],
}

impl Prediction {
    pub(super) fn errors(&self) -> [f64; 2] {
        self.rate_hz.map(|hz| 100.0 * (hz / self.rate.rate_hz - 1.0).abs())
    }
}

/// Predicts rates on one pair from the usage on another.
pub(super) fn predict(calibrating: &[Rate], measured: Vec<Rate>) -> Vec<Prediction> {
    let usages = [0, 1].map(|kind| {
        let mut usage = Usage::default();
        for rate in calibrating {
            usage.calibrate(rate.side_px, rate.rate_hz, rate.ideal_hz[kind]);
        }
        usage
    });
    let of = |rate: Rate| {
        let rate_hz = [0, 1]
            .map(|kind: usize| usages[kind].at(rate.side_px).map_or(f64::NAN, |usage| usage * rate.ideal_hz[kind]));
        Prediction { rate, rate_hz }
    };
    measured.into_iter().map(of).collect()
}

pub(super) fn predictions(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let (calibrating, predicted, groups): (&[u32], &[u32], &[&str]) = if resources.quick {
        (&[1, 4], &[2, 3], &["cones"])
    } else {
        (&[1, 4, 16], &[2, 3, 6, 8, 12], &["cones", "teddy", "venus"])
    };
    let here = format!(
        "The CPU engine on Tsukuba at the radii {calibrating:?} calibrates the model, which then predicts {} at the radii {predicted:?}. The paper \
         calibrates at every radius. All pairs have {PREDICTION_DISPARITIES} disparities, because the engine fills whole vector registers and a shorter \
         range would take as long. CROSS has L {ARMS} on all pairs. Predictions without and with the paper's local memory are of the same \
         kernel here: the model shares costs or does not. The figure shows cones.",
        groups.join(", ")
    );
    let mut exhibit = Exhibit::new("Figs. 19 and 20", "rates predicted by the model", here)
        .with_quantity("mean error without local memory, %", 1)
        .with_quantity("mean error with local memory, %", 1);
    let [mut without, mut with] = [Vec::new(), Vec::new()];
    let mut curves = Vec::new();
    let mut engine = CpuEngine::new(None);
    let bytes_per_s = memory::bytes_per_s(None)?;
    for (n, (name, preset, aggregation)) in AGGREGATORS.into_iter().enumerate() {
        let shared = PREDICTION_ERRORS_SHARED.get(n).copied();
        let paper = [Cell::paper(PREDICTION_ERRORS[n]), Cell { paper: shared, here: None }];
        let (pairs, tsukuba): (Vec<_>, _) =
            (groups.iter().filter_map(|group| resources.pair(group)).collect(), resources.pair("tsukuba"));
        let (Some(tsukuba), false) = (tsukuba, pairs.is_empty()) else {
            exhibit.row(name, paper, Verdict::NotMeasurable(NEEDS_MIDDLEBURY.to_owned()));
            continue;
        };
        let is_cross = aggregation.has_arms();
        let [calibrating, predicted] = [calibrating, predicted].map(|radii| if is_cross { &[ARMS] } else { radii });
        let params =
            StereoParams { num_disparities: PREDICTION_DISPARITIES, ..method(preset, usual_radius(aggregation)) };
        let mut measure = |pair: &PairWithTruth, radii: &[u32]| {
            rates(&mut engine, &job(pair, &params)?, (aggregation, radii), bytes_per_s, frames(resources))
        };
        let calibration = measure(&tsukuba, calibrating)?;
        let mut of_name = Vec::new();
        for pair in &pairs {
            let found = predict(&calibration, measure(pair, predicted)?);
            if pair.group() == "cones" && !is_cross {
                curves.extend(prediction_curves(name, &found));
            }
            of_name.extend(found);
        }
        let errors = [0, 1].map(|kind: usize| mean(of_name.iter().map(|predicted| predicted.errors()[kind])));
        without.push(errors[0]);
        let second = shared.map_or(Cell::default(), |shared| {
            with.push(errors[1]);
            Cell::both(shared, errors[1])
        });
        let is_good = errors[0] <= PREDICTION_ERRORS[n] && shared.is_none_or(|shared| errors[1] <= shared);
        exhibit.row(
            name,
            [Cell::both(PREDICTION_ERRORS[n], errors[0]), second],
            Verdict::of(is_good, "at most the paper's error", WHY_MODEL_IS_OFF[n]),
        );
    }
    let what = "all, on average (the paper has one number)";
    if without.is_empty() {
        let verdict = Verdict::NotMeasurable(NEEDS_MIDDLEBURY.to_owned());
        exhibit.row(what, [Cell::paper(MEAN_PREDICTION_ERROR)], verdict);
    } else {
        let all = mean(without.iter().chain(&with).copied());
        exhibit.row(
            what,
            [Cell::both(MEAN_PREDICTION_ERROR, all)],
            Verdict::of(
                all <= MEAN_PREDICTION_ERROR,
                "at most the paper's error",
                "kernels that ask for less than the model counts, and radii between those that calibrate it",
            ),
        );
        exhibit.curves = Some(Curves {
            along: "radius, px".to_owned(),
            upwards: "pairs a second on cones".to_owned(),
            is_logarithmic: true,
            curves,
        });
    }
    Ok(exhibit)
}

/// Reasons for larger prediction errors of CW, AW and CROSS here.
const WHY_MODEL_IS_OFF: [&str; 3] = [
    "running sums, whose time does not follow the costs that eq. 7 counts, so that a power of the side between few radii misses it",
    "radii between those that calibrate, of which the paper has none, and times of a shared machine",
    "a time that follows the candidates more than the mean height of the crosses, which is all that eq. 7 counts",
];

/// Returns the measured and predicted curves of an aggregator on one pair.
fn prediction_curves(name: &str, found: &[Prediction]) -> Vec<Curve> {
    let curve = |what: &str, rate_hz: fn(&Prediction) -> f64| Curve {
        name: format!("{name}, {what}"),
        points: found.iter().map(|predicted| (f64::from(predicted.rate.radius), rate_hz(predicted))).collect(),
        is_of_paper: false,
    };
    vec![
        curve("measured", |predicted| predicted.rate.rate_hz),
        curve("predicted without local memory", |predicted| predicted.rate_hz[0]),
        curve("predicted with local memory", |predicted| predicted.rate_hz[1]),
    ]
}
