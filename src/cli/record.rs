//! `record`: writes pairs, depth and all that belongs to them into an MCAP file, or into a pipe.

use super::depth_args::DepthArgs;
use super::error::refuse;
use super::input_args::{Input, InputArgs, params_at_start};
use super::publish_args::PublishArgs;
use super::settings_args::SettingsArgs;
use super::values::{choice, positive, print_json};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::console;
use stereopsis_base::newest::Policy;
use stereopsis_frame::{FramePreparation, Pixels, SourceInfo, SourceSpec};
use stereopsis_live::capture::{CaptureOptions, CountsFrom};
use stereopsis_live::headless::{Finished, RunObserver};
use stereopsis_live::{LiveOptions, Status, headless};
use stereopsis_recording::write::{
    Begins, Compression, RecordError, RecordOptions, RecordStatus, Recorder, Split, Target, WAITING, default_name,
};
use stereopsis_recording::{About, Counters, Format, Stream, Streams};
use stereopsis_settings::settings::{Settings, parameter_words};
use stereopsis_stereo::{Fill, StereoParams};

/// Arguments of `record`.
#[derive(Debug, clap::Args)]
pub(super) struct RecordArgs {
    /// The file, or - for a pipe; an existing one is never overwritten [default: stereopsis_DATE_TIME.mcap]
    #[arg(short, long, value_name = "FILE.mcap|-")]
    output: Option<PathBuf>,
    /// Streams to record, with commas between: raw, eyes, rectified, disparity, depth [default: raw,depth; without a
    /// calibration raw,disparity]
    #[arg(long, value_name = "STREAMS")]
    streams: Option<Streams>,
    /// Whose messages the file holds
    #[arg(long, hide_short_help = true, value_name = "WHOSE", default_value = "ros2", value_parser = choice(Format::ALL, Format::word, Format::help))]
    messages: Format,
    /// Compression of the chunks of the file
    #[arg(long, hide_short_help = true, value_name = "HOW", default_value = "zstd", value_parser = choice(Compression::ALL, Compression::word, Compression::help))]
    compression: Compression,
    /// Go on in another file at this size (4GB, 700MiB) or time (10min, 2h) [default: one file, unless the disk takes no larger one]
    ///
    /// FILE.mcap is followed by FILE_part002.mcap and so on. Each file is whole; the first one opens all.
    #[arg(long, value_name = "SIZE|TIME")]
    split: Option<Split>,
    /// End after so many seconds of recording
    #[arg(long, value_name = "S", value_parser = positive)]
    seconds: Option<f64>,
    /// End after so many recorded pairs [default: files once; others until Ctrl-C]
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    frames: Option<u64>,
    /// Hold the source back until each pair is matched and written; nothing is dropped
    ///
    /// A camera does not wait: with one, a missing raw pair is a failure (exit code 1).
    #[arg(long)]
    lossless: bool,
    /// Record disparity and depth with filled holes (--fill) too, not only measured pixels
    #[arg(long, hide_short_help = true)]
    filled: bool,
    /// Print the summary at the end as JSON
    #[arg(long, hide_short_help = true)]
    json: bool,
    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    publish: PublishArgs,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Runs `record`.
///
/// # Errors
/// A source, calibration or file cannot be opened, a disk is full, or a source was lost.
pub(super) fn run(args: &RecordArgs) -> anyhow::Result<()> {
    let target = target(args)?;
    let depth_format = args.depth.of_messages(args.messages)?.unwrap_or_default();
    let Input { source: in_rig, mut options, calibration, .. } = args.input.resolve()?;
    let spec = args.input.named_source()?.or(in_rig).unwrap_or(SourceSpec::Scene);
    let mut words = args.settings.words()?;
    words.extend(args.input.recorded_words(Some(&spec))?);
    let mut settings = Settings::resolve(&words)?;
    if args.filled && settings.params.fill == Fill::None {
        return refuse("--filled records what --fill puts into holes: give --fill too");
    }
    options.watched = false;
    options.looped &= args.frames.is_some() || args.seconds.is_some() || spec == SourceSpec::Scene;
    // cameras' raw images are recorded unchanged: colours are only decoded for derived streams
    let asked = args.streams.unwrap_or_default();
    let needs_colors = args.publish.is_asked()
        || asked.has(Stream::Eyes)
        || asked.has(Stream::Rectified)
        || asked.needs_results() && settings.params.reads_colors();
    if spec.is_camera() && !needs_colors {
        options.pixels = Pixels::Luma;
    }
    let stereopsis_sources::CalibratedSource { source, calibrated, .. } =
        stereopsis_sources::open_to_match(&spec, &options, &calibration, &mut settings)?;
    let note = calibrated.remarks();
    note.iter().for_each(console::say);
    let info = source.info();
    let streams = streams(args.streams, &calibrated.preparation, &info)?;
    let published = args.publish.start(depth_format)?;
    // clients may need streams that are not recorded
    let matches = streams.needs_results() || !published.0.is_empty();
    let params =
        if matches { params_at_start(&settings, &calibrated.preparation, &info)? } else { settings.params.clone() };
    let about = About {
        streams,
        filled: args.filled,
        depth_format,
        calibration: calibrated.to_note(calibration.crop(), &info),
        parameters: parameter_words(&params.of_source(info.is_camera)),
        ..About::of_source(&spec.to_string(), &info, SystemTime::now())
    };
    let record_options = RecordOptions {
        format: args.messages,
        compression: args.compression,
        lossless: args.lossless,
        split: args.split,
        begins: if spec.is_live() { Begins::WithResult } else { Begins::Held },
        ..RecordOptions::default()
    };
    for remote in &published.0 {
        remote.set_about(about.clone());
    }
    let recorder = Recorder::start(target.clone(), about, record_options)?;
    console::say(format_args!("recording {streams} of {} to {target}", info.name));
    let mut capture = CaptureOptions::from(calibrated.preparation);
    capture.taps = recorder.taps();
    let counted = Arc::clone(&recorder);
    let counts_from: CountsFrom = Arc::new(move || counted.has_begun());
    capture.counts_from = Some(counts_from);
    (capture.max_pairs, capture.max_time) = (args.frames, args.seconds.map(Duration::from_secs_f64));
    let status = recorder.status();
    let mut beside = Recording { recorder: Arc::clone(&recorder), status, streams, started: Instant::now() };
    let end = if matches {
        if args.lossless && streams.needs_results() && !spec.is_live() {
            capture.policy = Policy::Lossless;
        }
        let taps = if streams.needs_results() { vec![Arc::clone(&recorder) as _] } else { Vec::new() };
        let remotes = published.0.clone();
        let options = LiveOptions { capture, taps, remotes, ..LiveOptions::new(params, settings.engine_options()) };
        headless::run_observed(source, options, &mut beside)?
    } else {
        headless::capture_observed(source, capture, &mut beside)?
    };
    finish(args, &recorder, &end, note)
}

fn finish(args: &RecordArgs, recorder: &Recorder, end: &Finished, note: Option<String>) -> anyhow::Result<()> {
    let stopped = recorder.stop();
    let status = recorder.status();
    if !stopped.as_ref().is_err_and(RecordError::is_closed_pipe) {
        console::say(status.summary());
        status.depth_loss.iter().for_each(console::say);
    }
    if args.json {
        print_json(&about(&status, end, note))?;
    }
    stopped?;
    if !end.status.errors.is_empty() {
        anyhow::bail!("{}", end.status.errors.join("; "));
    }
    let captured = end.status.capture.captured;
    let Counters { pairs, dropped_by_disk, dropped_by_source, .. } = status.counters;
    if pairs == 0 {
        anyhow::bail!("no pair came{}, so nothing was recorded", if captured > 0 { " with depth" } else { "" });
    }
    if args.lossless && dropped_by_disk + dropped_by_source > 0 {
        anyhow::bail!(
            "missing: {}, {dropped_by_disk} that the disk could not take in time, {dropped_by_source} that the source dropped",
            console::counted(dropped_by_disk + dropped_by_source, "pair")
        );
    }
    Ok(())
}

fn about(status: &RecordStatus, end: &Finished, note: Option<String>) -> serde_json::Value {
    let mut about = status.to_json();
    about["run"] = serde_json::json!(end.summary);
    about["engine"] = serde_json::json!(end.status.engine.engine.as_deref());
    about["errors"] = end.status.errors.clone().into();
    about["remarks"] =
        note.into_iter().chain(end.status.cameras.remarks.clone()).chain(status.depth_loss.clone()).collect();
    about
}

fn target(args: &RecordArgs) -> anyhow::Result<Target> {
    match &args.output {
        Some(path) if path.as_os_str() == "-" => {
            if args.split.is_some() {
                return refuse("--split makes several files, and -o - is one pipe: give -o a file");
            }
            if args.json {
                return refuse("-o - and --json both write to standard output: give -o a file");
            }
            if std::io::stdout().is_terminal() {
                return refuse("-o - writes a file to the terminal: put a pipe behind it, or give -o a file");
            }
            Ok(Target::Stdout)
        }
        Some(path) => Ok(Target::File(path.clone())),
        None => Ok(Target::File(default_name(Path::new(""), SystemTime::now()))),
    }
}

/// Returns the requested streams, or those that the source can provide.
fn streams(asked: Option<Streams>, preparation: &FramePreparation, info: &SourceInfo) -> anyhow::Result<Streams> {
    let has_depth = preparation.geometry(info).is_some();
    let streams = asked.unwrap_or_else(|| {
        let streams = Streams::default();
        if has_depth {
            return streams;
        }
        console::say(format_args!("without a calibration there is no depth: recording disparity instead"));
        streams.with(Stream::Depth, false).with(Stream::Disparity, true)
    });
    if streams.has(Stream::Depth) && !has_depth {
        return refuse(format!(
            "--streams {streams}: depth of {} needs a calibration: give --calibration, or the lens (--fov-deg) and --baseline-m, or \
             --rectify auto; raw and disparity need none",
            info.name
        ));
    }
    Ok(streams)
}

struct Recording {
    recorder: Arc<Recorder>,
    status: RecordStatus,
    streams: Streams,
    started: Instant,
}

/// Duration above which a wait is reported.
const LONG_WAIT: Duration = Duration::from_millis(500);

impl RunObserver for Recording {
    fn poll(&mut self, status: &Status) -> bool {
        self.recorder.watch(&status.errors);
        if status.engine.ended && status.errors.is_empty() {
            self.recorder.event("source", &format!("{} has ended", status.source.name));
        }
        if let Some(why) = status.no_result() {
            self.recorder.begin_without_depth(why);
        }
        self.status = self.recorder.status();
        self.status.ended.is_some() || status.capture.unprepared && !self.streams.has_unrectified()
    }

    fn set_params(&mut self, params: &StereoParams) {
        self.recorder.set_params(params);
    }

    fn news(&self) -> Option<String> {
        let RecordStatus { is_waiting, without_depth, .. } = &self.status;
        let without = without_depth.as_ref().map(|why| format!("the recording has begun without depth: {why}"));
        if *is_waiting && self.started.elapsed() >= LONG_WAIT {
            Some(format!("{WAITING}, with which the recording begins"))
        } else {
            without
        }
    }

    fn status_parts(&self) -> Vec<String> {
        self.status.parts()
    }

    fn close(&mut self) {
        self.recorder.close();
    }
}
