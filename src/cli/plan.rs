//! `stereopsis plan`: depth range and errors of a rig, before it is built.

use super::lens_args::LensArgs;
use super::short_help::shown;
use super::values::{OVERWRITE, of_parameter, positive, print_json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use stereopsis_base::console;
use stereopsis_base::files::Outputs;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::parameter::Domain;
use stereopsis_calibration::{FocalLength, doubts_of_typed};
use stereopsis_figures::{check_figure_name, write_reach};
use stereopsis_frame::source::parse_size;
use stereopsis_images::reach::{Reach, STEP_PX, Sample, TOLERANCE_PERCENT, TYPICAL_ERROR_PX};
use stereopsis_stereo::StereoParams;

/// Arguments of `plan`.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("a lens").required(true).args(["fov_deg", "focal_px", "focal_mm"]))]
#[command(mut_args(shown))]
pub(super) struct PlanArgs {
    #[command(flatten)]
    lens: LensArgs,
    /// Distance of the two cameras, m
    #[arg(long, value_name = "M", value_parser = positive)]
    baseline_m: f64,
    /// Size of each image
    #[arg(long, value_name = "WxH", value_parser = parse_size, default_value = "640x480")]
    size: (usize, usize),
    /// Smallest disparity that is searched: what lies farther cannot be found
    #[arg(long, value_name = "PX", value_parser = of_parameter::<i32>("min-disparity"))]
    #[arg(default_value_t = StereoParams::default().min_disparity)]
    min_disparity: i32,
    /// Number of disparities searched, from the smallest up
    #[arg(long, value_name = "N", value_parser = of_parameter::<u32>("num-disparities"))]
    #[arg(default_value_t = StereoParams::default().num_disparities)]
    num_disparities: u32,
    /// Error of a disparity, px: 0.25 is usual for textured surfaces and a good calibration
    #[arg(long, value_name = "PX", value_parser = positive, default_value_t = TYPICAL_ERROR_PX)]
    error_px: f64,
    /// Draw distance and error over the disparity into a file: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[arg(long, help = OVERWRITE, requires = "plot")]
    overwrite: bool,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

const DISTANCES_M: [f64; 6] = [0.5, 1.0, 2.0, 3.0, 5.0, 10.0];
/// Relative depth errors for which the range is printed, %.
const ERRORS_PERCENT: [f64; 3] = [1.0, 2.0, TOLERANCE_PERCENT];
/// Near distances for which the search range is printed, m.
const NEAR_M: [f64; 2] = [0.3, 0.5];

/// Runs `plan`.
///
/// # Errors
/// The result or the figure cannot be written.
pub(super) fn run(args: &PlanArgs) -> anyhow::Result<()> {
    let plan = Plan::new(args);
    if let Some(path) = &args.plot {
        check_figure_name(path)?;
        Outputs::new::<&Path>([], args.overwrite).add(path)?;
        write_reach(path, &plan.reach, plan.error_px)?;
    }
    if args.json {
        return print_json(&serde_json::to_value(&plan)?);
    }
    Ok(console::print(&plan.text())?)
}

/// Depth range and errors of a planned rig.
#[derive(Debug, serde::Serialize)]
struct Plan {
    #[serde(skip)]
    reach: Reach,
    size: (usize, usize),
    fov_deg: f64,
    focal_px: f64,
    baseline_m: f64,
    /// Doubts about lens and baseline, each with advice.
    doubts: Vec<String>,
    parameters: SearchRange,
    error_px: f64,
    /// Nearest depth, m; `None` where the whole range lies behind infinity.
    nearest_m: Option<f64>,
    /// Farthest depth, m; `None` where the range reaches infinity.
    farthest_m: Option<f64>,
    disparities: Vec<Row>,
    distances: Vec<DistanceRow>,
    reaches: Vec<Exact>,
    /// Largest distances with these depth errors where the disparity is off by one.
    step_reaches: Vec<Exact>,
    /// Sentence about the distance up to which depth is within 5 %.
    sentence: String,
    near: Vec<NearRow>,
}

/// Parameters of the search range, by their names.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
struct SearchRange {
    min_disparity: i32,
    num_disparities: u32,
}

#[derive(Debug, serde::Serialize)]
struct Row {
    disparity_px: f64,
    distance_m: f64,
    /// Depth error, m, where the disparity is off by one.
    step_error_m: f64,
    step_error_percent: f64,
    /// Depth error, m, where the disparity is off by the error of the flag.
    error_m: f64,
    error_percent: f64,
}

#[derive(Debug, serde::Serialize)]
struct DistanceRow {
    distance_m: f64,
    disparity_px: f64,
    error_m: f64,
    error_percent: f64,
    /// Whether the search range contains it.
    seen: bool,
}

/// Largest distance with a given accuracy, for any search range.
#[derive(Debug, serde::Serialize)]
struct Exact {
    error_percent: f64,
    distance_m: f64,
}

#[derive(Debug, serde::Serialize)]
struct NearRow {
    distance_m: f64,
    #[serde(rename = "num-disparities")]
    num_disparities: u32,
}

impl Plan {
    fn new(args: &PlanArgs) -> Self {
        let ((width, height), error_px) = (args.size, args.error_px);
        // clap has checked that there is one
        let focal_px = args.lens.focal().map_or(f64::NAN, |focal: FocalLength| focal.px(width));
        let (cx_px, cy_px) = ((width as f64 - 1.0) / 2.0, (height as f64 - 1.0) / 2.0);
        let baseline_m = args.baseline_m;
        let geometry = Geometry::new(focal_px, baseline_m, 0.0, [cx_px, cy_px]);
        let (min_disparity, num_disparities) = (args.min_disparity, args.num_disparities);
        let reach = Reach { geometry, min_disparity, num_disparities };
        let (first_px, last_px) = reach.range_px();
        let at = |distance_m: f64| {
            let sample = reach.sample(geometry.disparity_px(distance_m))?;
            let seen = (first_px..=last_px).contains(&sample.disparity_px);
            let (error_m, error_percent) = (sample.error_m(error_px), sample.error_percent(error_px));
            Some(DistanceRow { distance_m, disparity_px: sample.disparity_px, error_m, error_percent, seen })
        };
        let exact = |error_px: f64| {
            let exact = |percent| Exact { error_percent: percent, distance_m: reach.exact_m(percent, error_px) };
            ERRORS_PERCENT.map(exact).into()
        };
        let near = |distance_m: f64| {
            let nearest_px = geometry.disparity_px(distance_m).ceil();
            NearRow { distance_m, num_disparities: ((nearest_px - first_px).max(0.0) as u32).saturating_add(1) }
        };
        Self {
            size: (width, height),
            fov_deg: FocalLength::Px(focal_px).fov_deg(width),
            focal_px,
            baseline_m,
            doubts: doubts_of_typed(args.lens.focal(), Some(baseline_m), width),
            parameters: SearchRange { min_disparity, num_disparities },
            error_px,
            nearest_m: reach.nearest_m(),
            farthest_m: reach.farthest_m(),
            disparities: reach.table().iter().map(|sample| Row::of(sample, error_px)).collect(),
            distances: DISTANCES_M.into_iter().filter_map(at).collect(),
            reaches: exact(error_px),
            step_reaches: exact(STEP_PX),
            sentence: sentence(&reach, STEP_PX, TOLERANCE_PERCENT),
            near: NEAR_M.map(near).into(),
            reach,
        }
    }

    fn text(&self) -> String {
        let Self { size: (width, height), fov_deg, focal_px, baseline_m, doubts, parameters, error_px, reach, .. } =
            self;
        let SearchRange { num_disparities, .. } = parameters;
        let (first, last) = reach.range_px();
        let metres = |m: Option<f64>, none: &str| m.map_or_else(|| none.to_owned(), |m| format!("{m:.2} m"));
        let nearest = metres(self.nearest_m, "none: the whole range lies behind infinity");
        let farthest = metres(self.farthest_m, "infinity");
        let most = StereoParams::parameter("num-disparities").and_then(|parameter| match &parameter.domain {
            Domain::Integer(range) => Some(*range.end()),
            _ => None,
        });
        let mut text = format!(
            "{width}x{height}, {fov_deg:.1} degrees wide (focal length {focal_px:.0} px), baseline {:.1} mm\n{}\
             nearest depth with {num_disparities} disparities ({first} to {last} px): {nearest}, farthest: {farthest}\n\n\
             disparity    distance    error of depth where disparity is off by one px    by {error_px} px\n",
            baseline_m * 1e3,
            doubts.iter().fold(String::new(), |all, doubt| all + doubt + "\n")
        );
        for Row { disparity_px, distance_m, step_error_m, step_error_percent, error_m, error_percent } in
            &self.disparities
        {
            let _ = writeln!(
                text,
                "{disparity_px:6.0} px  {distance_m:8.2} m  {step_error_m:31.3} m {step_error_percent:6.1} %  {error_m:9.3} m {error_percent:6.1} %"
            );
        }
        let _ = writeln!(text, "\ndistance  disparity    error of depth where disparity is off by {error_px} px");
        for DistanceRow { distance_m, disparity_px, error_m, error_percent, seen } in &self.distances {
            let seen = match seen {
                true => "",
                false if *disparity_px > last => "   nearer than it sees",
                false => "   farther than it sees",
            };
            let _ = writeln!(
                text,
                "{distance_m:6.1} m  {disparity_px:6.1} px  {error_m:9.3} m {error_percent:6.1} %{seen}"
            );
        }
        text.push('\n');
        for (px, reaches) in [(STEP_PX, &self.step_reaches), (*error_px, &self.reaches)] {
            for Exact { error_percent, .. } in reaches {
                let _ = writeln!(text, "{}", sentence(reach, px, *error_percent));
            }
        }
        for NearRow { distance_m, num_disparities } in &self.near {
            let fits = matches!(&most, Some(most) if i64::from(*num_disparities) <= *most);
            let remark = if fits { "" } else { ", more than there can be: smaller images see nearer" };
            let _ = writeln!(text, "to see {distance_m} m: --num-disparities {num_disparities}{remark}");
        }
        text
    }
}

fn sentence(reach: &Reach, error_px: f64, percent: f64) -> String {
    format!("off by {error_px} px: within {percent} % {}", reach.within(percent, error_px))
}

impl Row {
    fn of(sample: &Sample, error_px: f64) -> Self {
        Self {
            disparity_px: sample.disparity_px,
            distance_m: sample.distance_m,
            step_error_m: sample.error_m(STEP_PX),
            step_error_percent: sample.error_percent(STEP_PX),
            error_m: sample.error_m(error_px),
            error_percent: sample.error_percent(error_px),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        plan: PlanArgs,
    }

    fn plan(words: &str) -> Result<Plan, clap::Error> {
        Line::try_parse_from(["plan"].into_iter().chain(words.split(' '))).map(|line| Plan::new(&line.plan))
    }

    #[test]
    fn errors_grow_with_the_square_of_the_distance() {
        let plan = plan("--focal-px 500 --baseline-m 0.1 --num-disparities 51 --error-px 0.5").unwrap();
        assert!((plan.nearest_m.unwrap() - 1.0).abs() < 1e-12 && plan.farthest_m.is_none());
        let two = &plan.distances[2];
        assert!((two.disparity_px - 25.0).abs() < 1e-9 && (two.error_m - 0.04).abs() < 1e-9);
        assert!((two.error_percent - 2.0).abs() < 1e-9 && (plan.distances[5].error_m - 1.0).abs() < 1e-9);
        assert_eq!(plan.distances.iter().map(|at| at.seen).collect::<Vec<_>>(), [false, true, true, true, true, true]);
        assert!((plan.reaches[1].distance_m - 2.0).abs() < 1e-9, "{:?}", plan.reaches);
        assert_eq!(plan.near[1].num_disparities, 101);
        assert!(plan.doubts.is_empty(), "{:?}", plan.doubts);
        let text = plan.text();
        assert!(text.contains("nearer than it sees") && text.contains("to see 0.5 m: --num-disparities 101"), "{text}");
    }

    #[test]
    fn numbers_that_no_rig_has_are_refused_or_answered() {
        let folder = tempfile::tempdir().unwrap();
        for words in
            ["--focal-px 1e9 --baseline-m 1e9 --error-px 1e-9", "--focal-px 1e-9 --baseline-m 1e-9 --error-px 1e9"]
        {
            let plan = plan(words).unwrap();
            assert!(plan.text().contains("--num-disparities"), "{words}");
            for name in ["a.svg", "a.png"] {
                let path = folder.path().join(name);
                write_reach(&path, &plan.reach, plan.error_px).unwrap();
                assert!(std::fs::metadata(&path).unwrap().len() < 1 << 20, "{words}: {name}");
            }
        }
        for wrong in ["1e308", "1e10", "1e-10", "0", "-1", "inf", "NaN"] {
            assert!(plan(&format!("--focal-px 500 --baseline-m={wrong}")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_baseline_in_millimetres_is_doubted() {
        let plan = plan("--fov-deg 65 --baseline-m 60").unwrap();
        assert!(plan.text().contains("baseline-m 0.06 if it is 60 mm") && plan.doubts.len() == 1, "{:?}", plan.doubts);
    }

    #[test]
    fn lens_is_given_in_one_of_three_ways() {
        for lens in ["--fov-deg 90", "--focal-px 320", "--focal-mm 2.4 --sensor-width-mm 4.8"] {
            let by = plan(&format!("{lens} --baseline-m 0.06")).unwrap();
            assert!((by.focal_px - 320.0).abs() < 1e-9 && (by.fov_deg - 90.0).abs() < 1e-9, "{lens}");
        }
        let text = plan("--baseline-m 0.06").unwrap_err().to_string();
        for flag in ["--fov-deg", "--focal-px", "--focal-mm"] {
            assert!(text.contains(flag), "one of the three is needed: {text}");
        }
        let text = plan("--focal-mm 11 --baseline-m 0.06").unwrap_err().to_string();
        assert!(text.contains("--sensor-width-mm"), "{text}");
        for wrong in [
            "--fov-deg 90 --focal-px 320",
            "--focal-px 320 --focal-mm 2.4 --sensor-width-mm 4.8",
            "--fov-deg 90 --sensor-width-mm 4.8",
            "--sensor-width-mm 4.8",
            "--fov-deg 180",
        ] {
            assert!(plan(&format!("{wrong} --baseline-m 0.06")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn range_sentence_contains_nearest_and_farthest_distance() {
        let words = "--focal-mm 11 --sensor-width-mm 15.36 --size 1280x480 --baseline-m 0.456";
        let paper = plan(&format!("{words} --min-disparity 20 --num-disparities 44")).unwrap();
        assert!((paper.nearest_m.unwrap() - 6.635).abs() < 0.01 && (paper.farthest_m.unwrap() - 20.9).abs() < 0.01);
        let ends = [paper.disparities.first(), paper.disparities.last()].map(|row| row.unwrap().disparity_px as u32);
        assert_eq!(ends, [20, 63]);
        assert!((paper.disparities[0].step_error_percent - 5.0).abs() < 1e-9);
        let text = paper.text();
        assert!(text.contains("(20 to 63 px): 6.63 m, farthest: 20.90 m"), "{text}");
        assert!(text.contains("off by 1 px: within 5 % up to 20.90 m"), "{text}");
        assert!(text.contains("--num-disparities 1375, more than there can be"), "{text}");
        assert!(paper.sentence.contains("within 5 % up to 20.90 m"), "{}", paper.sentence);
        let whole = plan(words).unwrap();
        assert!((whole.step_reaches[2].distance_m - 20.9).abs() < 0.01 && whole.farthest_m.is_none());
        assert!(plan(&format!("{words} --min-disparity 5000")).is_err(), "no such parameter");
    }
}
