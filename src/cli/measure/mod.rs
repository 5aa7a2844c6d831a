//! `stereopsis measure`: depth quality of a region, the distance of two pixels, and scores without truth, pair by pair.

mod rows;
mod run;
mod span;
mod summary;
mod table;

use super::error::refuse;
use super::input_args::{Input, InputArgs};
use super::settings_args::SettingsArgs;
use super::short_help::hidden;
use super::values::{OVERWRITE, positive, print_json};
use rows::Measurement;
use run::{Ended, Plan};
use span::Span;
use std::path::PathBuf;
use stereopsis_base::files::Outputs;
use stereopsis_base::{console, files};
use stereopsis_frame::{SourceSpec, Speed};
use stereopsis_live::headless;
use stereopsis_metrics::Region;
use stereopsis_settings::settings::Settings;

/// Arguments of `measure`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("engine", hidden))]
pub(super) struct MeasureArgs {
    /// Rectangle with a flat surface: column, row, width, height in px [default: the middle, 40 % of each side]
    ///
    /// The column and row are those of its upper left pixel in the rectified left image at its working size.
    #[arg(long, value_name = "X,Y,W,H")]
    region: Option<Region>,
    /// True distance of the surface in the middle of the image, m
    ///
    /// Measure it with a ruler, from the left camera along its line of sight through the middle of the image.
    #[arg(long, value_name = "METRES", value_parser = positive)]
    distance_m: Option<f64>,
    /// Measure the distance between what two pixels show, too
    #[arg(long, value_name = "X1,Y1,X2,Y2", value_parser = two_pixels)]
    points: Option<[(usize, usize); 2]>,
    /// Pairs that are summed up together, from 0, both ends included: wall=0-39; repeat for several
    ///
    /// Without a number behind the dash it goes to the end of the source. Without any range all pairs are summed up.
    #[arg(long = "range", value_name = "NAME=FROM-TO", value_parser = span::parse)]
    ranges: Vec<Span>,
    /// End after N pairs [default: 40 of cameras and the scene]
    ///
    /// Files and recordings are measured to their end, or to that of the last range.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    frames: Option<u64>,
    /// Write one line for each pair as .csv
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[arg(long, hide_short_help = true, help = OVERWRITE, requires = "csv")]
    overwrite: bool,
    /// Print all numbers of each pair and their summary as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Number of pairs of a source that does not end: RealSense's tool measures temporal noise over as many.
const DEFAULT_FRAMES: u64 = 40;

fn two_pixels(text: &str) -> Result<[(usize, usize); 2], &'static str> {
    let numbers: Result<Vec<usize>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[x1, y1, x2, y2]) => Ok([(x1, y1), (x2, y2)]),
        _ => Err("expected two pixels X1,Y1,X2,Y2 such as 120,200,420,210"),
    }
}

/// Runs `measure`.
///
/// # Errors
/// A source, calibration or engine cannot be opened, the region lies outside the image, there is no pair, or a table cannot be written.
pub(super) fn run(args: &MeasureArgs) -> anyhow::Result<()> {
    let named = args.input.named_source()?;
    let mut words = args.settings.words()?;
    words.extend(args.input.recorded_words(named.as_ref())?);
    let settings = Settings::resolve(&words)?;
    let Input { source: in_rig, rig_file, mut options, calibration } = args.input.resolve()?;
    let spec = named.or(in_rig).unwrap_or(SourceSpec::Scene);
    (options.looped, options.watched, options.speed) = (false, false, Speed::Max);
    if !spec.is_live() {
        options.rate_hz = None;
    }
    let stereopsis_sources::CalibratedSource { source, calibrated, mut inputs } =
        stereopsis_sources::open_corrected(&spec, &options, &calibration)?;
    inputs.extend(rig_file.iter().chain(args.settings.file()).cloned());
    if let Some(csv) = &args.csv {
        Outputs::new(inputs, args.overwrite).add(csv)?;
    }
    let note = calibrated.remarks();
    note.iter().filter(|_| !args.json).for_each(console::say);
    let is_endless = spec.is_live() || spec == SourceSpec::Scene;
    let plan = Plan {
        settings: &settings,
        region: args.region,
        distance_m: args.distance_m,
        points: args.points,
        spans: if args.ranges.is_empty() { vec![Span::all()] } else { args.ranges.clone() },
        frames: args.frames.or_else(|| frames_for(&args.ranges, is_endless)),
        lossless: !spec.is_live(),
        shows_progress: !args.json,
    };
    let interrupt = headless::interrupt()?;
    let (measurement, mut ended) = run::run(&plan, source, calibrated.preparation, interrupt)?;
    if args.json {
        ended.remarks.splice(..0, note);
    }
    finish(args, &spec, &measurement, ended)
}

/// Returns the number of pairs to measure by default: up to the end of the last range. For an endless source, 40 more than the start of
/// the last range without an end. `None` for all.
fn frames_for(ranges: &[Span], is_endless: bool) -> Option<u64> {
    let ends: Option<Vec<u64>> = ranges.iter().map(Span::end).collect();
    let open = || ranges.iter().map(|span| span.first).max().unwrap_or(0) + DEFAULT_FRAMES;
    ends.and_then(|ends| ends.into_iter().max()).or_else(|| is_endless.then(open))
}

/// Prints and writes the measurement, even if the source was lost before its end.
fn finish(args: &MeasureArgs, spec: &SourceSpec, found: &Measurement, ended: Ended) -> anyhow::Result<()> {
    let Ended { remarks, warnings, drift, skew, error, interrupted } = ended;
    if !args.json {
        remarks.iter().for_each(console::say);
        warnings.iter().for_each(console::say);
        if let Some(drift) = drift.as_ref().filter(|drift| drift.is_offered) {
            console::say(format_args!("{}; {} (--self-calibrate corrects it)", drift.words(), drift.depth_words()));
        }
    }
    if found.pairs == 0 {
        anyhow::bail!("no pair of {spec} was matched: {}", error.as_deref().unwrap_or("none came"));
    }
    let is_whole = error.is_none() && !interrupted;
    if let Some(span) = found.unreached().filter(|_| is_whole) {
        return refuse(format!("--range {span}: the source has {} only", console::counted(found.pairs, "pair")));
    }
    if let Some(path) = &args.csv {
        let text = table::csv(found);
        files::write_or_keep(path, text.as_bytes(), args.overwrite)?;
    }
    if args.json {
        let mut about = summary::json(found);
        about["output"] = serde_json::json!(args.csv);
        about["skew_ms"] = skew.map(|skew| 1e3 * skew.mean_s).into();
        about["remarks"] = serde_json::json!(remarks);
        about["warnings"] = serde_json::json!(warnings);
        about["drift"] = serde_json::json!(drift);
        about["errors"] = serde_json::json!(error.iter().collect::<Vec<_>>());
        print_json(&about)?;
    } else {
        console::print(&summary::text(found))?;
        if let Some(path) = &args.csv {
            console::say(format_args!("wrote {}", path.display()));
        }
    }
    error.map_or(Ok(()), |error| Err(anyhow::anyhow!(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_ends_with_its_last_range() {
        let frames = |ranges: &[&str], is_endless| {
            let ranges: Vec<_> = ranges.iter().map(|text| span::parse(text).unwrap()).collect();
            frames_for(&ranges, is_endless)
        };
        assert_eq!((frames(&[], true), frames(&[], false)), (Some(40), None));
        assert_eq!(frames(&["a=0-9", "b=3-19"], true), Some(20));
        assert_eq!(frames(&["a=0-9", "b=3-19"], false), Some(20));
        assert_eq!(frames(&["a=0-9", "b=30-"], true), Some(70));
        assert_eq!(frames(&["a=0-9", "b=30-"], false), None);
    }

    #[test]
    fn points_are_parsed_from_four_numbers() {
        assert_eq!(two_pixels("1,2, 3,4"), Ok([(1, 2), (3, 4)]));
        for wrong in ["", "1,2,3", "1,2,3,-4", "1,2,3,4,5"] {
            assert!(two_pixels(wrong).is_err(), "{wrong}");
        }
    }
}
