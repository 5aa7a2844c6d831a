//! `compute`: disparity of a pair, or of a folder of pairs, into files. Nothing is dropped.

use super::calibration_args::RigArgs;
use super::error::refuse;
use super::settings_args::SettingsArgs;
use super::short_help::shown;
use super::source_args::{BothViewsArgs, RecordingArgs, TruthArgs};
use super::values::{OVERWRITE, print_json};
use anyhow::Context as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stereopsis_base::files::Outputs;
use stereopsis_base::newest::Policy;
use stereopsis_base::{console, files};
use stereopsis_engine::Opened;
use stereopsis_frame::engine::{Job, Output};
use stereopsis_frame::{SourceOptions, SourceSpec, SourceState, Speed};
use stereopsis_images::colormap::{Colormap, DisplayRange};
use stereopsis_live::capture::{Capture, CaptureOptions};
use stereopsis_live::{Health, warnings_of};
use stereopsis_metrics::{TruthError, truth_error};
use stereopsis_recording::pair_bar;
use stereopsis_settings::settings::Settings;

/// Arguments of `compute`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rectify", shown))]
pub(super) struct ComputeArgs {
    /// Left image, or a folder of pairs (left*/right*, Middlebury im0/im1), or a recording (.mcap, or - for a pipe), or an image of
    /// both views or a folder of such (--side-by-side, --top-bottom)
    left: PathBuf,
    /// Right image
    right: Option<PathBuf>,
    #[command(flatten)]
    targets: Targets,
    #[arg(long, help = OVERWRITE)]
    overwrite: bool,
    /// Print engine, adapter, parameters, valid share and times as JSON
    #[arg(long, hide_short_help = true)]
    json: bool,
    #[command(flatten)]
    truth: TruthArgs,
    #[command(flatten)]
    recording: RecordingArgs,
    #[command(flatten)]
    both_views: BothViewsArgs,
    #[command(flatten)]
    rig: RigArgs,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Where the results of one pair go, or of all pairs of a folder: then each is a folder.
#[derive(Clone, Debug, clap::Args)]
struct Targets {
    /// Disparity file: .pfm, .tif or .png; a folder for a folder of pairs
    ///
    /// .pfm: float, px, invalid is +infinity; .tif or .tiff: float, px, invalid is NaN; .png: 16 bits, px x 256, invalid is 0.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Format of the files in an output folder
    #[arg(long, hide_short_help = true, value_name = "ENDING", default_value = "pfm", value_parser = ["pfm", "tiff", "png"])]
    format: String,
    /// Disparity in colours, .png; a folder for a folder of pairs
    #[arg(long, value_name = "FILE")]
    color: Option<PathBuf>,
    /// Depth as 16-bit .png in mm, or as .tiff of 32-bit floats in m; needs a calibration
    ///
    /// .png: 0 where there is none, and beyond 65.535 m; .tiff: NaN where there is none. A folder for a folder of pairs.
    #[arg(long, value_name = "FILE")]
    depth: Option<PathBuf>,
    /// Format of the files in the folder of --depth
    #[arg(long, hide_short_help = true, value_name = "ENDING", default_value = "png", value_parser = ["png", "tiff"])]
    depth_ending: String,
    /// Disparity of the right image too, in the same formats; a folder for a folder of pairs
    ///
    /// Right (x, y) shows the point of left (x + disparity, y).
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    right_map: Option<PathBuf>,
    /// Confidence of each disparity as 8-bit .png: 255 is highest, 0 not measured
    ///
    /// Switches --confidence on. A folder for a folder of pairs.
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    confidence_map: Option<PathBuf>,
}

impl Targets {
    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let others = [&self.right_map, &self.color, &self.depth, &self.confidence_map];
        std::iter::once(&self.output).chain(others.into_iter().flatten())
    }

    /// Creates the folders, or checks the names of the maps.
    fn prepare(&self, is_folder: bool) -> anyhow::Result<()> {
        if self.right_map.as_ref() == Some(&self.output) {
            let name = self.output.display();
            return refuse(format!("--right-map and --output are both {name}: give each its own"));
        }
        if is_folder {
            self.paths().try_for_each(|folder| files::make_folder(folder))?;
        } else {
            for map in std::iter::once(&self.output).chain(&self.right_map) {
                stereopsis_images::check_disparity_name(map)?;
            }
            self.depth.iter().try_for_each(|depth| stereopsis_images::check_depth_name(depth))?;
        }
        Ok(())
    }

    /// Returns the files of a pair in these folders.
    fn of_pair(&self, name: &str) -> Self {
        let file = |folder: &PathBuf, ending: &str| folder.join(format!("{name}.{ending}"));
        let picture = |folder: &Option<PathBuf>| folder.as_ref().map(|folder| file(folder, "png"));
        Self {
            output: file(&self.output, &self.format),
            format: self.format.clone(),
            color: picture(&self.color),
            depth: self.depth.as_ref().map(|folder| file(folder, &self.depth_ending)),
            depth_ending: self.depth_ending.clone(),
            right_map: self.right_map.as_ref().map(|folder| file(folder, &self.format)),
            confidence_map: picture(&self.confidence_map),
        }
    }
}

/// Runs `compute`.
///
/// # Errors
/// The input is wrong, the engine cannot match it, or a file cannot be written; earlier pairs are written.
pub(super) fn run(args: &ComputeArgs) -> anyhow::Result<()> {
    let inputs: Vec<_> = std::iter::once(&args.left).chain(&args.right).cloned().collect();
    let spec = args.truth.of(args.both_views.of_paths(&inputs)?)?;
    let mut words = args.settings.words()?;
    words.extend(args.recording.words(Some(&spec))?);
    let mut settings = Settings::resolve(&words)?;
    settings.params.confidence |= args.targets.confidence_map.is_some();
    let is_folder = match &spec {
        SourceSpec::Folder(path) => !path.is_file(), // else one image of both views
        spec => matches!(spec, SourceSpec::Recording(_) | SourceSpec::Video(_) | SourceSpec::Pipe),
    };
    args.targets.prepare(is_folder)?;
    let choice = args.rig.choice()?;
    let mut options = SourceOptions { speed: Speed::Max, ..args.recording.topics.options() };
    args.both_views.fill(&mut options);
    let stereopsis_sources::CalibratedSource { source, calibrated, mut inputs } =
        stereopsis_sources::open_to_match(&spec, &options, &choice, &mut settings)?;
    inputs.extend(args.rig.rig.iter().chain(args.settings.file()).cloned());
    let mut outputs = Outputs::new(inputs, args.overwrite);
    let info = source.info();
    let note = calibrated.remarks();
    note.iter().filter(|_| !args.json).for_each(console::say);
    let mut capture = Capture::start(
        source,
        CaptureOptions { policy: Policy::Lossless, ..CaptureOptions::from(calibrated.preparation) },
    );

    let mut progress = None;
    let mut engine: Option<Opened> = None;
    let mut results = Vec::new();
    for frame in capture.frames.channel() {
        let targets = if is_folder { args.targets.of_pair(&frame.raw.name) } else { args.targets.clone() };
        targets.paths().try_for_each(|path| outputs.add(path))?;
        let bar =
            progress.get_or_insert_with(|| pair_bar(info.num_pairs.filter(|&n| n > 1 && is_folder && !args.json)));
        let params = Arc::new(settings.params_for(frame.extent_px(), frame.geometry.as_ref())?);
        let job = Job { frame: frame.clone(), params, read_back: true, wants_right: args.targets.right_map.is_some() };
        let opened = match &mut engine {
            Some(opened) => opened,
            None => engine.insert(open_engine(&settings, &job)?),
        };
        let output = stereopsis_frame::engine::run(opened.engine.as_mut(), job)?;
        let warnings = write(&output, &targets)?;
        for (file, warning) in warnings {
            bar.suspend(|| console::say(format_args!("{}: {warning}", file.display())));
        }
        let error = error_of(&output);
        if !args.json {
            bar.suspend(|| console::line(summary(&output, error.as_ref(), &targets)));
            let other_scale = error.and_then(|error| error.other_scale);
            if let Some(found) = other_scale {
                bar.suspend(|| console::say(found));
            }
        }
        bar.inc(1);
        // a folder's pairs come from one rig: the first one shows how it stands
        let others = || Health { is_measured: true, ..Health::default() };
        let health = if results.is_empty() { Health::of(&output.job) } else { others() };
        let warnings = warnings_of(&output, &health);
        for warning in &warnings {
            bar.suspend(|| console::say(format_args!("{}: {warning}", output.job.frame.raw.name)));
        }
        let mut about = stereopsis_images::describe(&output);
        about["warnings"] = serde_json::json!(warnings);
        about["drift"] = serde_json::json!(health.drift);
        about["truth_error"] = serde_json::json!(error);
        about["output"] = targets.output.display().to_string().into();
        if let Some(right) = &targets.right_map {
            about["right_map"] = right.display().to_string().into();
        }
        results.push(about);
    }
    if let Some(bar) = progress {
        bar.finish_and_clear();
    }
    let stats = capture.stats();
    let SourceState { remarks, skew, .. } = capture.state();
    remarks.iter().for_each(console::say);
    capture.stop();
    if let Some(reason) = stats.last_error {
        anyhow::bail!("{reason}");
    }
    if args.json {
        let skew_ms = skew.map(|skew| 1e3 * skew.mean_s);
        let why = engine.and_then(|opened| opened.why);
        let remarks: Vec<_> = note.into_iter().chain(remarks).collect();
        let about =
            serde_json::json!({ "engine_why": why, "results": results, "skew_ms": skew_ms, "remarks": remarks });
        print_json(&about)?;
    }
    Ok(())
}

fn open_engine(settings: &Settings, job: &Job) -> anyhow::Result<Opened> {
    let opened = stereopsis_engine::open(&settings.engine_options().into(), Some(job))?;
    if let Some(why) = &opened.why {
        log::info!("{why}");
    }
    Ok(opened)
}

/// Writes all requested files, and returns what was lost in the process, with the file.
fn write<'a>(output: &Output, targets: &'a Targets) -> anyhow::Result<Vec<(&'a Path, String)>> {
    let map = output.map.as_deref().context("the engine gave no numbers back")?;
    let geometry = output.job.frame.geometry.as_ref();
    let mut warnings = Vec::new();
    let mut write_disparity = |path: &'a Path, map| -> anyhow::Result<()> {
        warnings.extend(stereopsis_images::write_disparity(path, map)?.into_iter().map(|warning| (path, warning)));
        Ok(())
    };
    write_disparity(&targets.output, map)?;
    if let Some(path) = &targets.right_map {
        let right = output.right_map.as_deref().context("the engine gave no map of the right image back")?;
        write_disparity(path, right)?;
    }
    if let Some(path) = &targets.color {
        let range = DisplayRange::fit(map, None);
        stereopsis_images::write_color(path, map, None, range, Colormap::Turbo)?;
    }
    if let Some(path) = &targets.depth {
        let Some(geometry) = geometry else {
            return refuse(
                "--depth needs a calibration: give --calibration, --rectify auto, or the lens (--fov-deg) and --baseline-m",
            );
        };
        warnings
            .extend(stereopsis_images::write_depth(path, map, geometry)?.into_iter().map(|warning| (&**path, warning)));
    }
    if let Some(path) = &targets.confidence_map {
        let confidence = map.confidence.as_ref().context("the engine gave no confidence back")?;
        stereopsis_images::write_confidence(path, confidence)?;
    }
    Ok(warnings)
}

fn error_of(output: &Output) -> Option<TruthError> {
    truth_error(output.map.as_deref()?, output.job.frame.truth.as_deref()?)
}

fn summary(output: &Output, error: Option<&TruthError>, targets: &Targets) -> String {
    let params = &output.job.params;
    let shares = output.map.as_deref().map(|map| map.shares(params.min_disparity, params.last_disparity()));
    let shares = shares.unwrap_or_default();
    let error = error.map_or_else(String::new, |error| format!(", {error}, mean error {:.2} px", error.all.average_px));
    let frame = &output.job.frame;
    let lines = frame.axis.lines();
    let across_px = frame.size().0 + frame.size().1 - frame.extent_px();
    let rows = frame.rows.as_ref().filter(|rows| !rows.field.is_zero());
    let rows = rows.map_or_else(String::new, |rows| {
        format!(", {lines} corrected by up to {:.2} px", rows.field.max_px(across_px))
    });
    format!(
        "{}: {shares}{error}{rows}, {:.1} ms on {} ({}) -> {}",
        output.job.frame.raw.name,
        output.compute_time.as_secs_f64() * 1e3,
        output.engine.kind,
        output.engine.adapter,
        targets.output.display(),
    )
}
