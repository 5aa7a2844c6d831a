//! `stereopsis plan`: what depth a rig can measure, and how well, before it is built.

use super::values::positive;
use crate::calibration::focal_from_fov;
use crate::capture::source::parse_size;
use crate::frame::Geometry;
use std::fmt::Write;
use std::io::Write as _;

/// Arguments of `plan`.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("lens").required(true))]
pub(super) struct PlanArgs {
    /// How wide the pictures are, degrees: the horizontal field of view, not the diagonal one
    #[arg(long, value_name = "DEGREES", value_parser = fov, group = "lens")]
    fov_deg: Option<f64>,
    /// Focal length instead of the field of view, px
    #[arg(long, value_name = "PX", value_parser = positive, group = "lens")]
    focal_px: Option<f64>,
    /// Distance of the two cameras, m
    #[arg(long, value_name = "M", value_parser = positive)]
    baseline_m: f64,
    /// Size of each eye
    #[arg(long, value_name = "WxH", value_parser = parse_size, default_value = "640x480")]
    size: (usize, usize),
    /// How many disparities are searched, from 0 up
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1024), default_value_t = 64)]
    num_disparities: u32,
    /// Error of a disparity, px: 0.25 is usual for textured surfaces and a good calibration
    #[arg(long, value_name = "PX", value_parser = positive, default_value_t = 0.25)]
    error_px: f64,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Distances of the table, m.
const DISTANCES_M: [f64; 6] = [0.5, 1.0, 2.0, 3.0, 5.0, 10.0];
/// Errors whose reach is told, %.
const ERRORS_PERCENT: [f64; 3] = [1.0, 2.0, 5.0];
/// Near distances whose search range is told, m.
const NEAR_M: [f64; 2] = [0.3, 0.5];

/// Runs `plan`.
///
/// # Errors
/// The answer cannot be written.
pub(super) fn run(args: &PlanArgs) -> anyhow::Result<()> {
    let plan = Plan::new(args);
    if args.json {
        return super::print_json(&serde_json::to_value(&plan)?);
    }
    std::io::stdout().lock().write_all(plan.text().as_bytes())?;
    Ok(())
}

/// What a rig can measure: `z = f T / d`, so `dz = z² dd / (f T)`.
#[derive(Debug, serde::Serialize)]
struct Plan {
    width: usize,
    height: usize,
    fov_deg: f64,
    focal_px: f64,
    baseline_m: f64,
    num_disparities: u32,
    error_px: f64,
    nearest_m: f64,
    distances: Vec<At>,
    reaches: Vec<Reach>,
    near: Vec<Near>,
}

/// One distance.
#[derive(Debug, serde::Serialize)]
struct At {
    distance_m: f64,
    disparity_px: f64,
    error_m: f64,
    error_percent: f64,
    /// Whether the search range holds it.
    seen: bool,
}

/// How far depth is as exact as this.
#[derive(Debug, serde::Serialize)]
struct Reach {
    error_percent: f64,
    distance_m: f64,
}

/// The search range that sees this near.
#[derive(Debug, serde::Serialize)]
struct Near {
    distance_m: f64,
    num_disparities: u32,
}

impl Plan {
    fn new(args: &PlanArgs) -> Self {
        let (width, height) = args.size;
        let focal_px = args.focal_px.or(args.fov_deg.map(|fov| focal_from_fov(width, fov))).unwrap_or(f64::NAN);
        let (cx_px, cy_px) = ((width as f64 - 1.0) / 2.0, (height as f64 - 1.0) / 2.0);
        let baseline_m = args.baseline_m;
        let geometry = Geometry { focal_px, baseline_m, doffs_px: 0.0, cx_px, cy_px, estimated: false };
        let largest_px = f64::from(args.num_disparities - 1);
        let share = |distance_m: f64| args.error_px / geometry.disparity_px(distance_m);
        let at = |distance_m: f64| At {
            distance_m,
            disparity_px: geometry.disparity_px(distance_m),
            error_m: distance_m * share(distance_m),
            error_percent: 100.0 * share(distance_m),
            seen: geometry.disparity_px(distance_m) <= largest_px,
        };
        let reach = |error_percent: f64| Reach {
            error_percent,
            distance_m: focal_px * baseline_m * error_percent / 100.0 / args.error_px,
        };
        let near =
            |distance_m: f64| Near { distance_m, num_disparities: geometry.disparity_px(distance_m).ceil() as u32 + 1 };
        Self {
            width,
            height,
            fov_deg: 2.0 * (width as f64 / 2.0 / focal_px).atan().to_degrees(),
            focal_px,
            baseline_m,
            num_disparities: args.num_disparities,
            error_px: args.error_px,
            nearest_m: focal_px * baseline_m / largest_px,
            distances: DISTANCES_M.map(at).into(),
            reaches: ERRORS_PERCENT.map(reach).into(),
            near: NEAR_M.map(near).into(),
        }
    }

    fn text(&self) -> String {
        let Self { width, height, fov_deg, focal_px, baseline_m, num_disparities, error_px, nearest_m, .. } = self;
        let mut text = format!(
            "{width}x{height}, {fov_deg:.1} degrees wide (focal length {focal_px:.0} px), baseline {:.1} mm\n\
             nearest depth with {num_disparities} disparities: {nearest_m:.2} m\n\n\
             distance  disparity    error of depth where disparity is off by {error_px} px\n",
            baseline_m * 1e3
        );
        for At { distance_m, disparity_px, error_m, error_percent, seen } in &self.distances {
            let seen = if *seen { "" } else { "   nearer than it sees" };
            let _ = writeln!(
                text,
                "{distance_m:6.1} m  {disparity_px:6.1} px  {error_m:9.3} m {error_percent:6.1} %{seen}"
            );
        }
        text.push('\n');
        for Reach { error_percent, distance_m } in &self.reaches {
            let _ = writeln!(text, "within {error_percent} % up to {distance_m:.2} m");
        }
        for Near { distance_m, num_disparities } in &self.near {
            let _ = writeln!(text, "to see {distance_m} m: --num-disparities {num_disparities}");
        }
        text
    }
}

fn fov(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|v| (1.0..=170.0).contains(v)).ok_or_else(|| "expected 1 to 170 degrees".to_owned())
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
        assert!((plan.nearest_m - 1.0).abs() < 1e-12);
        let two = &plan.distances[2];
        assert!((two.disparity_px - 25.0).abs() < 1e-9 && (two.error_m - 0.04).abs() < 1e-9);
        assert!((two.error_percent - 2.0).abs() < 1e-9 && (plan.distances[5].error_m - 1.0).abs() < 1e-9);
        assert_eq!(plan.distances.iter().map(|at| at.seen).collect::<Vec<_>>(), [false, true, true, true, true, true]);
        assert!((plan.reaches[1].distance_m - 2.0).abs() < 1e-9, "{:?}", plan.reaches);
        assert_eq!(plan.near[1].num_disparities, 101);
        let text = plan.text();
        assert!(text.contains("nearer than it sees") && text.contains("to see 0.5 m: --num-disparities 101"), "{text}");
    }

    #[test]
    fn a_field_of_view_is_a_focal_length() {
        let by_fov = plan("--fov-deg 90 --baseline-m 0.06").unwrap();
        assert!((by_fov.focal_px - 320.0).abs() < 1e-9 && (by_fov.fov_deg - 90.0).abs() < 1e-9);
        let text = plan("--baseline-m 0.06").unwrap_err().to_string();
        assert!(text.contains("--fov-deg") && text.contains("--focal-px"), "one of both is needed: {text}");
        assert!(plan("--fov-deg 90 --focal-px 320 --baseline-m 0.06").is_err(), "both may contradict");
        assert!(plan("--fov-deg 180 --baseline-m 0.06").is_err());
    }
}
