//! Leu, Bacăra & Jivet 2010: block matching on CPU, GPU and FPGA. Figs. 8 to 10 lack numbers; the text's statements are compared.

use super::exhibit::{Cell, Exhibit, Verdict};
use super::resources::{ExhibitResources, Plan, names};
use crate::curves::{Curve, Curves};
use stereopsis_base::geometry::Geometry;
use stereopsis_images::reach::{Reach, STEP_PX, TOLERANCE_PERCENT};
use stereopsis_metrics::{COLUMNS, Figures};
use stereopsis_stereo::{Preset, StereoParams, reason};

pub(super) const TITLE: &str =
    "Leu, Bacăra, Jivet 2010: Disparity map computation speed comparison for CPU, GPU and FPGA implementations";

pub(super) const PLANS: &[Plan] = &[
    ("Figs. 2 and 3", small_and_large_windows),
    ("Fig. 5", distances),
    ("Section II", reliability_tests),
    ("Section III", dropped_border),
    ("Fig. 8", times_on_cpu),
    ("Fig. 9", times_on_gpu),
    ("Fig. 10", fpga),
];

/// Sections I and II: rig and search range.
const BASELINE_M: f64 = 0.456;
const FOCAL_MM: f64 = 11.0;
const PIXEL_MM: f64 = 0.012;
const SIZE: (usize, usize) = (1280, 480);
const MAX_DISPARITY: u32 = 64;
const MIN_DISPARITY: u32 = 20;
const WINDOW: u32 = 19;
/// Windows of Figs. 8 and 9.
const WINDOWS: [u32; 9] = [5, 7, 9, 11, 13, 15, 17, 19, 21];

/// Returns block matching with a window and without reliability tests.
fn block_matching(window: u32) -> StereoParams {
    let mut params = StereoParams::default();
    Preset::Leu2010.apply(&mut params);
    StereoParams { sad_window: window, match_threshold: None, left_right: None, drop_border: false, ..params }
}

/// Returns the share of disparities off by more than 2 px, %, and the density, %.
fn badv_and_density(figures: &Figures) -> [f64; 2] {
    ["badv_2_percent", "density_percent"]
        .map(|name| COLUMNS.iter().find(|column| column.name == name).map_or(f64::NAN, |column| (column.of)(figures)))
}

fn mean_badv_and_density(
    resources: &ExhibitResources,
    groups: &[&str],
    params: &StereoParams,
) -> anyhow::Result<[f64; 2]> {
    let pairs = resources.pairs(groups);
    let mut sums = [0.0; 2];
    for pair in &pairs {
        for (sum, value) in sums.iter_mut().zip(badv_and_density(&resources.figures(pair, params)?)) {
            *sum += value / pairs.len() as f64;
        }
    }
    Ok(sums)
}

/// Pairs for error measurements, because the paper's street scenes have no truth.
const JUDGED_ON: [&str; 4] = ["venus", "teddy", "cones", "reindeer"];

fn small_and_large_windows(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = format!(
        "The paper shows maps of a street; instead, wrong pixels are counted on {}, where truth is known, as a mean. No reliability test.",
        names(&resources.pairs(&JUDGED_ON))
    );
    let mut exhibit =
        Exhibit::new("Figs. 2 and 3", "5x5 is noisier than 19x19", here).with_quantity("off by more than 2 px, %", 2);
    let [small, large] =
        [5, WINDOW].map(|window| mean_badv_and_density(resources, &JUDGED_ON, &block_matching(window)));
    let (small, large) = (small?[0], large?[0]);
    let verdict = || {
        Verdict::of(
            small > large,
            format!("{:.2} times as many wrong pixels with 5x5 as with 19x19", small / large),
            "images in which edges cost a large window more than noise costs a small one",
        )
    };
    exhibit.row("5x5", [Cell::here(small)], verdict());
    exhibit.row("19x19", [Cell::here(large)], verdict());
    Ok(exhibit)
}

fn reach() -> Reach {
    Reach {
        geometry: Geometry::centred(FOCAL_MM / PIXEL_MM, BASELINE_M, 0.0, SIZE),
        min_disparity: MIN_DISPARITY as i32,
        num_disparities: MAX_DISPARITY - MIN_DISPARITY,
    }
}

fn agrees(paper: f64, here: f64, tolerance: f64) -> Verdict {
    Verdict::of(
        (here / paper - 1.0).abs() <= tolerance + 1e-9,
        if tolerance > 0.0 {
            format!("within {:.0} % of the paper's rounded number", 100.0 * tolerance)
        } else {
            "exactly".to_owned()
        },
        format!("a number that is {:+.1} % off", 100.0 * (here / paper - 1.0)),
    )
}

fn distances(_: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let reach = reach();
    let here = "Computed with the paper's rig by eqs. 2 and 3, as `stereopsis plan` does: 456 mm, 11 mm, pixels of 12 µm, 1280 px.";
    let mut exhibit =
        Exhibit::new("Fig. 5", "distance over disparity, and where one pixel is 5 %", here).with_quantity("number", 1);
    let nearest_m = reach.geometry.depth_m(f64::from(MAX_DISPARITY)).unwrap_or(f64::NAN);
    let exact_m = reach.exact_m(TOLERANCE_PERCENT, STEP_PX);
    exhibit.row("distance at a disparity of 64 px, m", [Cell::both(6.5, nearest_m)], agrees(6.5, nearest_m, 0.01));
    exhibit.row("up to where an error of 1 px is 5 %, m", [Cell::both(20.0, exact_m)], agrees(20.0, exact_m, 0.05));
    let limit_px = reach.limit_px(TOLERANCE_PERCENT, STEP_PX);
    exhibit.row("disparity there, px", [Cell::both(20.0, limit_px)], agrees(20.0, limit_px, 0.0));
    let levels = f64::from(reach.num_disparities);
    exhibit.row("disparities between them", [Cell::both(44.0, levels)], agrees(44.0, levels, 0.0));
    let points: Vec<_> =
        (5..=MAX_DISPARITY).filter_map(|d| Some((f64::from(d), reach.geometry.depth_m(f64::from(d))?))).collect();
    exhibit.curves = Some(Curves {
        along: "disparity, px".to_owned(),
        upwards: "distance, m".to_owned(),
        is_logarithmic: false,
        curves: vec![Curve { name: "computed with the paper's rig".to_owned(), points, is_of_paper: false }],
    });
    Ok(exhibit)
}

fn reliability_tests(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = format!(
        "The paper describes the tests without figures. Here each alone and all together, with 19x19, on {}, as means over visible pixels.",
        names(&resources.pairs(&JUDGED_ON))
    );
    let mut exhibit = Exhibit::new("Section II", "reliability tests", here)
        .with_quantity("off by more than 2 px, % of those with a disparity", 2)
        .with_quantity("density, %", 1);
    let none = block_matching(WINDOW);
    let mut all = StereoParams::default();
    Preset::Leu2010.apply(&mut all);
    let tests = [
        ("no test", none.clone()),
        ("threshold of the best match (10 %)", StereoParams { match_threshold: all.match_threshold, ..none.clone() }),
        ("left to right and right to left", StereoParams { left_right: all.left_right, ..none.clone() }),
        ("border dropped", StereoParams { drop_border: true, ..none }),
        ("all three", all),
    ];
    let mut without = f64::NAN;
    for (n, (what, params)) in tests.into_iter().enumerate() {
        let [badv, density] = mean_badv_and_density(resources, &JUDGED_ON, &params)?;
        let verdict = if n == 0 {
            without = badv;
            Verdict::Reproduced("the method runs; the paper has no figure".to_owned())
        } else {
            Verdict::of(
                badv < without,
                format!(
                    "it drops wrong pixels rather than right ones: {:.2} times the share of before",
                    badv / without
                ),
                "images that are right there too: coordinates are clamped at borders here, and the paper has no windows there",
            )
        };
        exhibit.row(what, [Cell::here(badv), Cell::here(density)], verdict);
    }
    Ok(exhibit)
}

fn dropped_border(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = "Pixels that keep their window and their whole range inside both images, counted in a map with `--drop-border`.";
    let mut exhibit = Exhibit::new("Section III", "the part of the image that is matched, eq. 4", here)
        .with_quantity("columns", 0)
        .with_quantity("rows", 0);
    let params = StereoParams {
        drop_border: true,
        min_disparity: MIN_DISPARITY as i32,
        num_disparities: MAX_DISPARITY - MIN_DISPARITY + 1,
        ..block_matching(WINDOW)
    };
    let jobs = resources.jobs((SIZE.0 * resources.shrink, SIZE.1 * resources.shrink), &params)?;
    let map = resources.map_of(&jobs)?;
    let is_kept = |x, y| map.reasons.at(x, y) & reason::BORDER == 0;
    let columns = (0..SIZE.0).filter(|&x| is_kept(x, SIZE.1 / 2)).count() as f64;
    let rows = (0..SIZE.1).filter(|&y| is_kept(SIZE.0 / 2, y)).count() as f64;
    exhibit.row(
        "1280x480, up to 64 px, 19x19",
        [Cell::both(1199.0, columns), Cell::both(461.0, rows)],
        Verdict::of(
            (columns - 1199.0).abs() <= 1.0 && (rows - 461.0).abs() <= 1.0,
            "to one row and one column: eq. 4 takes one pixel more from the left and one less from the right than a window of 19 needs",
            "another rule for the border",
        ),
    );
    Ok(exhibit)
}

/// Creates jobs of the paper's size with its whole or short range.
fn jobs(
    resources: &ExhibitResources,
    window: u32,
    is_short: bool,
) -> anyhow::Result<Vec<stereopsis_frame::engine::Job>> {
    let (min_disparity, num_disparities) =
        if is_short { (MIN_DISPARITY as i32, MAX_DISPARITY - MIN_DISPARITY) } else { (0, MAX_DISPARITY) };
    resources.jobs(SIZE, &StereoParams { min_disparity, num_disparities, ..block_matching(window) })
}

/// Tolerance of the growth of plain loops relative to the window's pixels, since other work is constant.
const GROWTH_OF_PLAIN: f64 = 0.5;
/// Largest growth of running sums over the windows because of border and caches.
const MAX_RUNNING_GROWTH: f64 = 2.0;

/// Times plain loops in ms on images with sides divided by `scale`, multiplied by its square.
fn plain_ms(resources: &ExhibitResources, window: u32, num_disparities: u32, scale: usize) -> anyhow::Result<f64> {
    let params = StereoParams { num_disparities, ..block_matching(window) };
    let jobs = resources.jobs((SIZE.0 / scale, SIZE.1 / scale), &params)?;
    Ok(resources.plain_ms(&jobs)? * (scale * scale) as f64)
}

/// Returns the saved time, %.
fn saved(short: f64, long: f64) -> f64 {
    100.0 * (1.0 - short / long)
}

fn times_on_cpu(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let windows: &[u32] = if resources.quick { &[5, 13, 21] } else { &WINDOWS };
    let scale = if resources.quick { 4 } else { 2 };
    let here = format!(
        "1280x480 of the built-in scene. The paper's loops add up each window anew on one thread; so do the plain loops of `crates/stereo/src`, timed \
         on images of 1/{scale} of each side, and their time is multiplied by {}. The CPU engine ({}) has running sums, which the paper \
         names as the next step.",
        scale * scale,
        resources.cpu.adapter
    );
    let mut exhibit = Exhibit::new("Fig. 8", "time over window sizes on a CPU of 2.6 GHz", here)
        .with_quantity("plain loops, 64 disparities, ms", 0)
        .with_quantity("engine, 64 disparities, ms", 2)
        .with_quantity("engine, 44 disparities, ms", 2);
    let mut curves: [Vec<(f64, f64)>; 3] = Default::default();
    for &window in windows {
        let plain_ms = plain_ms(resources, window, MAX_DISPARITY, scale)?;
        let [long, short] = [false, true]
            .map(|is_short| anyhow::Ok(resources.times(&jobs(resources, window, is_short)?, None)?.frame_ms.median));
        let times = [plain_ms, long?, short?];
        for (curve, ms) in curves.iter_mut().zip(times) {
            curve.push((f64::from(window), ms));
        }
        exhibit.row(format!("{window}x{window}"), times.map(Cell::here), Verdict::no_points());
    }
    let ends = |curve: &[(f64, f64)]| curve.first().zip(curve.last()).map_or(f64::NAN, |(a, b)| b.1 / a.1);
    let pixels = (21.0_f64 / 5.0).powi(2);
    let [plain, running, _] = &curves;
    let growth = [ends(plain), ends(running)];
    exhibit.row(
        format!("time of 21x21 over that of 5x5 (the window has {pixels:.1} times the pixels)"),
        growth.map(Cell::here),
        Verdict::of(
            growth[0] > GROWTH_OF_PLAIN * pixels && growth[1] < MAX_RUNNING_GROWTH,
            "plain loops take longer with the window, as in the paper; running sums make the time flat, as it expects of them",
            "loops whose time does not follow the window",
        ),
    );
    let sum = |curve: &[(f64, f64)]| curve.iter().map(|point| point.1).sum::<f64>();
    let plain_saved = saved(plain_ms(resources, windows[1], MAX_DISPARITY - MIN_DISPARITY, scale)?, curves[0][1].1);
    let engine_saved = saved(sum(&curves[2]), sum(&curves[1]));
    exhibit.row(
        format!("time saved with 44 disparities, % (plain loops: with {0}x{0})", windows[1]),
        [Cell::both(30.0, plain_saved), Cell::default(), Cell::here(engine_saved)],
        Verdict::of(
            (20.0..=45.0).contains(&plain_saved),
            "between 20 and 45 % for loops like the paper's; 20 of 64 disparities are 31 %. The engine fills whole vector registers, of which \
             44 disparities need as many as 64 where a register holds 64",
            format!("loops whose time does not follow the disparities: {plain_saved:.0} % saved"),
        ),
    );
    let names = ["plain loops, 64 disparities", "engine, 64 disparities", "engine, 44 disparities"];
    exhibit.curves = Some(Curves {
        along: "window, px".to_owned(),
        upwards: "time of a pair, ms".to_owned(),
        is_logarithmic: true,
        curves: curves
            .into_iter()
            .zip(names)
            .map(|(points, name)| Curve { name: name.to_owned(), points, is_of_paper: false })
            .collect(),
    });
    Ok(exhibit)
}

fn times_on_gpu(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = "1280x480 of the built-in scene on a GPU, beside the plain loops on one thread of the CPU.";
    let mut exhibit = Exhibit::new("Fig. 9", "time over window sizes on a Tesla C1060", here)
        .with_quantity("64 disparities, ms", 3)
        .with_quantity("44 disparities, ms", 3);
    let windows: &[u32] = if resources.quick { &[5, 13, 21] } else { &WINDOWS };
    let mut sums = [0.0; 2];
    for &window in windows {
        let what = format!("{window}x{window}");
        match resources
            .gpu_ms(&jobs(resources, window, false)?)?
            .zip(resources.gpu_ms(&jobs(resources, window, true)?)?)
        {
            Some((long, short)) => {
                sums = [sums[0] + long, sums[1] + short];
                exhibit.row(what, [Cell::here(long), Cell::here(short)], Verdict::no_points());
            }
            None => exhibit.row(what, [], resources.needs_gpu()),
        }
    }
    let saved = saved(sums[1], sums[0]);
    let is_measured = sums[0] > 0.0;
    let cell = Cell { paper: Some(20.0), here: is_measured.then_some(saved) };
    let verdict = Verdict::of((10.0..=45.0).contains(&saved), "between 10 and 45 %", format!("{saved:.0} % saved"));
    exhibit.row(
        "time saved with 44 disparities, %",
        [Cell::default(), cell],
        if is_measured { verdict } else { resources.needs_gpu() },
    );
    Ok(exhibit)
}

/// Fig. 10: image side, disparities and window of the FPGA, its clocks, and its parallel lines.
const FPGA_SIDE: usize = 128;
const FPGA_DISPARITIES: u32 = 16;
const FPGA_WINDOW: u32 = 7;
const FPGA_CLOCKS_HZ: [f64; 2] = [25.175e6, 125e6];
const FPGA_LINES: usize = 8;

/// Computes the clocks of a pair (section III): one per column of the right window and one per disparity for each pixel, with eight
/// parallel lines.
fn fpga_clocks() -> f64 {
    let pixel = f64::from(FPGA_DISPARITIES + FPGA_WINDOW);
    (FPGA_SIDE * FPGA_SIDE / FPGA_LINES) as f64 * pixel
}

fn fpga(resources: &mut ExhibitResources) -> anyhow::Result<Exhibit> {
    let here = format!(
        "128x128, 16 disparities, 7x7. The FPGA's rate is computed from its clock: {} lines at a time, and for each pixel a clock for each \
         disparity and for each column of the window, {:.0} clocks a pair. Nobody built it here. CPU: {}.",
        FPGA_LINES,
        fpga_clocks(),
        resources.cpu.adapter
    );
    let mut exhibit =
        Exhibit::new("Fig. 10", "rates of CPU and FPGA (Spartan-3A DSP 1800)", here).with_quantity("pairs/s", 0);
    let params = StereoParams { num_disparities: FPGA_DISPARITIES, ..block_matching(FPGA_WINDOW) };
    let side = FPGA_SIDE * resources.shrink; // cancels the division of sizes in tests
    let jobs = resources.jobs((side, side), &params)?;
    let plain_hz = 1e3 / resources.plain_ms(&jobs)?;
    let engine_hz = 1e3 / resources.times(&jobs, None)?.frame_ms.median;
    exhibit.row("plain loops on one thread", [Cell::here(plain_hz)], Verdict::no_points());
    exhibit.row("CPU engine", [Cell::here(engine_hz)], Verdict::no_points());
    for hz in FPGA_CLOCKS_HZ {
        let what = format!("FPGA at {:.3} MHz, computed", hz * 1e-6);
        let needs = "the board: the number is computed from its clock".to_owned();
        exhibit.row(what, [Cell::here(hz / fpga_clocks())], Verdict::NotMeasurable(needs));
    }
    let verdict = Verdict::of(
        FPGA_CLOCKS_HZ[1] / fpga_clocks() > plain_hz,
        "the FPGA, as computed, is quicker than plain loops on one thread",
        "a CPU that is quicker than the FPGA",
    );
    exhibit.row(
        "FPGA at 125 MHz over plain loops, times",
        [Cell::here(FPGA_CLOCKS_HZ[1] / fpga_clocks() / plain_hz)],
        verdict,
    );
    Ok(exhibit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_reproduced(exhibit: &Exhibit) -> bool {
        exhibit.rows.iter().all(|row| matches!(row.verdict, Verdict::Reproduced(_)))
    }

    #[test]
    fn the_rig_has_the_distances_of_the_paper() {
        assert!(is_reproduced(&distances(&mut ExhibitResources::small().unwrap()).unwrap()));
        assert!(!matches!(agrees(20.0, 22.0, 0.05), Verdict::Reproduced(_)), "a tenth is not within 5 %");
    }

    #[test]
    fn the_dropped_border_is_that_of_eq_4() {
        assert!(is_reproduced(&dropped_border(&mut ExhibitResources::small().unwrap()).unwrap()));
    }

    /// Checks the removal of pixels hidden from the right camera; a tenth fewer wrong pixels is well below its effect on any pair.
    #[test]
    fn the_left_right_check_drops_wrong_pixels_rather_than_right_ones() {
        let resources = ExhibitResources::small().unwrap();
        let none = block_matching(WINDOW);
        let checked = StereoParams { left_right: Some(0), ..none.clone() };
        let [all, kept] = [none, checked].map(|params| mean_badv_and_density(&resources, &JUDGED_ON, &params).unwrap());
        assert!(kept[0] < 0.9 * all[0] && kept[1] < all[1], "{all:?} {kept:?}");
    }

    /// Checks plain loops over a 21x21 window, which has 17.6 times the pixels of 5x5; the limit of four covers a shared machine.
    #[test]
    fn plain_loops_take_longer_with_the_window() {
        let resources = ExhibitResources::small().unwrap();
        let best = |window| (0..3).map(|_| plain_ms(&resources, window, 16, 2).unwrap()).fold(f64::INFINITY, f64::min);
        let [small, large] = [5, 21].map(best);
        assert!(large > 4.0 * small, "{small} and {large} ms");
    }
}
