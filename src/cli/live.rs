//! `live`, the main command: in a window where there is a display, otherwise as a status line and a preview image.

use super::depth_args::DepthArgs;
use super::error::refuse;
use super::input_args::{Input, InputArgs, params_at_start};
use super::publish_args::PublishArgs;
use super::settings_args::SettingsArgs;
use super::short_help::shown_too;
use super::values::{OVERWRITE, print_json};
use anyhow::Context as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use stereopsis_base::console;
use stereopsis_base::files::Outputs;
use stereopsis_figures::write_preview;
use stereopsis_frame::engine::Output;
use stereopsis_frame::{Frame, FramePreparation, Pixels, RawPair, SourceInfo, SourceSpec};
use stereopsis_live::headless::Finished;
use stereopsis_live::{LiveOptions, headless};
use stereopsis_recording::{About, DepthFormat};
use stereopsis_settings::rig::CalibrationChoice;
use stereopsis_settings::settings::{Settings, Word};
use stereopsis_ui::WindowOptions;

/// Name of the preview where none is given.
const PREVIEW: &str = "stereopsis-preview.png";
/// Number of results after which the scene ends without a window.
const SCENE_FRAMES: u64 = 100;

/// Arguments of `live`.
#[derive(Debug, clap::Args)]
#[command(mut_args(shown_too(&["publish", "rig", "rectify", "fov_deg", "baseline_m", "swap_pictures", "p1", "p2"])))]
pub(super) struct LiveArgs {
    /// No window: a status line, then a preview image
    ///
    /// Output of a program without a display.
    #[arg(long)]
    headless: bool,
    /// End after N results, without a window [default: 100 for the scene; files once; cameras until Ctrl-C]
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    frames: Option<u64>,
    /// Without a window, the image written at the end: left, disparity, depth [default: stereopsis-preview.png, replaced by each run]
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    preview: Option<PathBuf>,
    #[arg(long, hide_short_help = true, help = OVERWRITE, requires = "preview")]
    overwrite: bool,
    /// Without a window, print the last result's engine, parameters, rates and errors as JSON
    #[arg(long, hide_short_help = true)]
    json: bool,
    /// Forget what the window remembers: views, panels, source, parameters
    #[arg(long, hide_short_help = true)]
    reset: bool,
    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    publish: PublishArgs,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Runs `live`.
///
/// # Errors
/// A source, calibration, engine or window cannot be opened; the text contains cause and remedy.
pub(super) fn run(args: &LiveArgs) -> anyhow::Result<()> {
    let spec = args.input.named_source()?;
    let mut words = args.settings.words()?;
    words.extend(args.input.recorded_words(spec.as_ref())?);
    let settings = Settings::resolve(&words)?;
    let asked = args.headless || args.frames.is_some() || args.json;
    if !asked && has_display() {
        let input = args.input.resolve()?;
        return run_window(args, words, input, spec);
    }
    if !asked {
        console::say(format_args!("no display: running without a window (as with --headless)"));
    }
    run_headless(args, settings, spec)
}

fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(all(unix, not(target_os = "macos"))) || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

fn run_headless(args: &LiveArgs, mut settings: Settings, spec: Option<SourceSpec>) -> anyhow::Result<()> {
    let Input { source: in_rig, rig_file, mut options, calibration } = args.input.resolve()?;
    let spec = spec.or(in_rig).unwrap_or(SourceSpec::Scene);
    options.looped &= args.frames.is_some() || spec == SourceSpec::Scene;
    options.watched = false;
    if spec.is_camera() && !args.publish.is_asked() && !settings.params.reads_colors() {
        options.pixels = Pixels::Luma;
    }
    // what comes live is corrected while it runs
    let is_once = spec.is_live() || spec == SourceSpec::Pipe;
    let opened_by = CalibrationChoice { self_calibrate: calibration.self_calibrate && !is_once, ..calibration.clone() };
    let stereopsis_sources::CalibratedSource { source, calibrated, mut inputs } =
        stereopsis_sources::open_to_match(&spec, &options, &opened_by, &mut settings)?;
    inputs.extend(rig_file.iter().chain(args.settings.file()).cloned());
    let preview = args.preview.as_deref().unwrap_or(Path::new(PREVIEW));
    Outputs::new(inputs, args.overwrite || args.preview.is_none()).add(preview)?;
    let note = calibrated.remarks();
    note.iter().for_each(console::say);
    let info = source.info();
    let params = params_at_start(&settings, &calibrated.preparation, &info)?;
    let published = args.publish.start(depth_format(args)?)?;
    for remote in &published.0 {
        let calibration = calibrated.to_note(calibration.crop(), &info);
        remote.set_about(About { calibration, ..About::of_source(&spec.to_string(), &info, SystemTime::now()) });
    }
    let frames = args.frames.or((spec == SourceSpec::Scene).then_some(SCENE_FRAMES));
    let capture = calibrated.preparation.clone().into();
    let remotes = published.0.clone();
    let self_calibrate = calibration.self_calibrate;
    let options =
        LiveOptions { capture, remotes, self_calibrate, ..LiveOptions::new(params, settings.engine_options()) };
    let end = headless::run(source, options, frames)?;
    let Some(output) = &end.output else {
        let reasons = end.status.errors.join("; ");
        anyhow::bail!("no pair was matched: {}", if reasons.is_empty() { "none came in time" } else { &reasons });
    };
    let map = output.map.as_deref().context("the engine gave no numbers back")?;
    let frame = &output.job.frame;
    let colored = in_colors(frame, &calibrated.preparation, &info);
    write_preview(preview, colored.as_ref().unwrap_or(frame), map)?;
    console::say(format_args!("wrote {}", preview.display()));
    if args.json {
        print_json(&about(output, &end, note))?;
    }
    if !end.status.errors.is_empty() {
        anyhow::bail!("{}", end.status.errors.join("; "));
    }
    Ok(())
}

/// Returns the format of depth for subscribers.
fn depth_format(args: &LiveArgs) -> anyhow::Result<DepthFormat> {
    match args.depth.depth_format {
        Some(format) if !args.publish.is_asked() => refuse(format!(
            "--depth-format {format} is for recordings and subscribers: give --publish too, or `record`"
        )),
        format => Ok(format.unwrap_or_default()),
    }
}

/// Returns the frame with the colours that were not decoded for it; `None` where there are none.
fn in_colors(frame: &Frame, preparation: &FramePreparation, info: &SourceInfo) -> Option<Frame> {
    let original = frame.raw.original.as_ref().filter(|_| frame.left.rgb.is_none())?;
    let (left, right) = original.pictures(Pixels::Color).ok()?;
    let raw = RawPair { left, right, ..(*frame.raw).clone() };
    preparation.prepare(&Arc::new(raw), info, frame.arrived).ok()
}

/// Describes the last result and the whole run; `note` is the remark on the calibration.
fn about(output: &Output, end: &Finished, note: Option<String>) -> serde_json::Value {
    let Finished { status, summary, .. } = end;
    let mut about = stereopsis_images::describe(output);
    about["captured_hz"] = status.capture.rate_hz.into();
    about["computed_hz"] = status.computed_hz.into();
    about["computed"] = status.engine.computed.into();
    about["dropped"] = serde_json::json!(status.dropped);
    let latency_ms = status.engine.latency_ms();
    about["latency_ms"] = latency_ms.map(|(median, p99)| serde_json::json!({ "median": median, "p99": p99 })).into();
    about["latency_since"] = serde_json::json!(status.engine.latency_since);
    about["run"] = serde_json::json!(summary);
    about["rig"] = serde_json::json!({
        "row_offset": status.health.row_offset,
        "row_correction": status.health.row_fit,
        "drift": status.health.drift,
        "blank": status.health.blank,
        "luma_difference": status.health.luma,
        "motion_px_per_s": status.health.motion_px_per_s,
        "skew_ms": status.cameras.skew.map(|skew| 1e3 * skew.mean_s),
        "skew_spread_ms": status.cameras.skew.map(|skew| 1e3 * skew.spread_s),
        "unpaired": status.cameras.unpaired,
        "cameras": status.cameras.cameras,
        "warnings": status.warnings,
    });
    about["engine_why"] = status.engine.why.clone().into();
    about["truth_error"] = serde_json::json!(status.engine.figures.and_then(|figures| figures.truth));
    about["errors"] = status.errors.clone().into();
    about["remarks"] = note.into_iter().chain(status.cameras.remarks.clone()).collect();
    about
}

fn run_window(args: &LiveArgs, words: Vec<Word>, input: Input, source: Option<SourceSpec>) -> anyhow::Result<()> {
    let published = args.publish.start(depth_format(args)?)?;
    stereopsis_ui::run(WindowOptions {
        words,
        remotes: published.0.clone(),
        source: source.or(input.source),
        source_options: input.options,
        calibration: input.calibration,
        rig_file: input.rig_file,
        reset: args.reset,
        icon: include_bytes!("../../assets/desktop/stereopsis.png"),
        ..WindowOptions::default()
    })
}
