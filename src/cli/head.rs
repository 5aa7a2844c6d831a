//! `head`: publishes the raw pairs of cameras to other machines.

use super::error::{UsageError, refuse};
use super::input_args::{Input, InputArgs};
use super::network_args::{DefaultAccess, NetworkArgs, open_patiently};
use super::settings_args::SettingsArgs;
use super::short_help::{hidden_too, shown};
use super::values::choice;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::console;
use stereopsis_frame::{Pixels, Side, SourceSpec};
use stereopsis_live::capture::CaptureOptions;
use stereopsis_live::headless::RunObserver;
use stereopsis_live::{Status, headless};
use stereopsis_network::access::names;
use stereopsis_network::status::HeadStatus;
use stereopsis_network::{Head, NetworkError, OutletCounts};
use stereopsis_recording::About;
use stereopsis_settings::rig::RectifyChoice;
use stereopsis_settings::settings::Settings;

/// Interval at which the state for other machines is updated.
const STATUS_INTERVAL: Duration = Duration::from_millis(500);

/// Interval of polling for the end of the source and for Ctrl-C; a shorter one would cost a small machine more than the pairs do.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Arguments of `head`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rig", shown), mut_args(hidden_too(&["num-disparities", "engine"])))]
pub(super) struct HeadArgs {
    /// Name of the rig on the network: others open it as zenoh:NAME@THIS_MACHINE
    #[arg(long, value_name = "NAME")]
    name: String,
    /// Side of the one camera of this machine; the head of another machine has the other one
    ///
    /// --source webcam:0 is then one whole image, and of any other source this view is sent. Others open both as
    /// zenoh:LEFT,RIGHT@ROUTER, by the names of the two heads.
    #[arg(long, value_name = "SIDE", value_parser = choice(&Side::ALL, Side::word, help))]
    eye: Option<Side>,
    /// End after so many pairs [default: until Ctrl-C; files begin again at their end]
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    frames: Option<u64>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    settings: SettingsArgs,
    // last: its heading would hold the paths of the input
    #[command(flatten)]
    network: NetworkArgs,
}

fn help(side: Side) -> &'static str {
    match side {
        Side::Left => "the left camera, as seen from behind",
        Side::Right => "the right camera",
    }
}

/// Runs `head`.
///
/// # Errors
/// A source, calibration or address cannot be opened, another head has the name, or the source was lost.
pub(super) fn run(args: &HeadArgs) -> anyhow::Result<()> {
    stereopsis_network::key::check_rig(&args.name).map_err(|why| UsageError(format!("--name {why}")))?;
    let Input { source: in_rig, mut options, calibration, .. } = args.input.resolve()?;
    let spec = args.input.named_source()?.or(in_rig).unwrap_or(SourceSpec::Scene);
    if matches!(spec, SourceSpec::Rig { .. }) {
        return refuse(format!("{spec} has a head already: other machines can open it as it is"));
    }
    // engines use the parameters, whatever their range is on these images
    let settings = Settings::resolve(&args.settings.words()?)?;
    if args.eye.is_some() && !calibration.is_unset() {
        return refuse("a calibration is of both cameras: give it where their images come together, not with --eye");
    }
    if !calibration.mask.is_empty() {
        return refuse(
            "--mask leaves pixels out of matching, and a head sends its pairs unmatched: give it where they are matched",
        );
    }
    options.watched = false;
    options.one_view = args.eye.is_some();
    // pairs are sent as the cameras gave them, unless the pose of the cameras is estimated from the images
    options.pixels = match calibration.rectify() {
        RectifyChoice::Auto if spec.is_camera() => Pixels::Luma,
        RectifyChoice::Auto => Pixels::Color,
        _ => Pixels::Unread,
    };
    let stereopsis_sources::CalibratedSource { source, calibrated, .. } =
        stereopsis_sources::open_corrected(&spec, &options, &calibration)?;
    if let Some(note) = calibrated.remarks() {
        console::say(&note);
    }
    let info = source.info();
    let about = About {
        calibration: calibrated.to_note(calibration.crop(), &info),
        ..About::of_source(&spec.to_string(), &info, SystemTime::now())
    };
    let access = args.network.access(DefaultAccess::Listen, options.zenoh_config.as_ref());
    let network = open_patiently(&access)?;
    let head = Head::start(&network, &args.name, args.eye, about, &settings.params)?;
    let places = names(if access.listen.is_empty() { &access.connect } else { &access.listen });
    let what = args.eye.map_or_else(|| "rig".to_owned(), |eye| format!("{} camera", eye.word()));
    console::say(format_args!("{what} '{}' of {} is at {}", args.name, info.name, places));
    // the head neither rectifies nor scales
    let capture = CaptureOptions { taps: head.taps(), max_pairs: args.frames, ..CaptureOptions::default() };
    let (source_words, sent) = (spec.to_string(), OutletCounts::default());
    let mut observer = Observer { head, source: source_words, due: Instant::now(), sent, yields: None };
    let end = headless::capture_observed(source, capture, &mut observer)?;
    if let Some(why) = observer.yields {
        return Err(why.into());
    }
    if !end.status.errors.is_empty() {
        anyhow::bail!("{}", end.status.errors.join("; "));
    }
    Ok(())
}

/// Publishes the state of the source to other machines.
struct Observer {
    head: Arc<Head>,
    source: String,
    due: Instant,
    sent: OutletCounts,
    /// Reason why another head of the same name replaces this one.
    yields: Option<NetworkError>,
}

impl RunObserver for Observer {
    fn poll(&mut self, status: &Status) -> bool {
        if Instant::now() >= self.due {
            self.due = Instant::now() + STATUS_INTERVAL;
            self.yields = self.head.yields();
            self.sent = self.head.sent();
            self.head.set_status(HeadStatus {
                camera: None, // the head fills it in
                source: self.source.clone(),
                width: status.source.width,
                height: status.source.height,
                captured: status.capture.captured,
                rate_hz: status.capture.rate_hz,
                dropped_by_source: status.capture.dropped_source,
                unpaired: status.cameras.unpaired,
                cameras: status.cameras.cameras.clone(),
                sent: self.sent.clone(),
                remarks: status.cameras.remarks.clone(),
                error: status.errors.first().cloned(),
            });
        }
        status.capture.ended || self.yields.is_some()
    }

    fn interval(&self) -> Duration {
        POLL_INTERVAL
    }

    fn status_parts(&self) -> Vec<String> {
        let OutletCounts { sent, rate_hz, dropped, is_received, .. } = &self.sent;
        let dropped = if *dropped > 0 { format!(", {dropped} dropped before the network") } else { String::new() };
        let received =
            if *is_received { format!("sent {sent}, {rate_hz:.1}/s{dropped}") } else { "no receiver".to_owned() };
        vec![received]
    }
}
