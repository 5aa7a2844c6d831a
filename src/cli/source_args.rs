//! Flags for the source of pairs.

use super::camera_args::CameraArgs;
use super::error::refuse;
use super::values::choice;
use std::path::PathBuf;
use std::time::Duration;
use stereopsis_frame::source::{DisparityFile, parse_size};
use stereopsis_frame::{
    Arrangement, CaptureError, MaxPixels, PairBy, SceneOptions, SourceOptions, SourceSpec, Speed, TopicChoice,
};
use stereopsis_recording::Recording;
use stereopsis_settings::settings::{Origin, Word};

/// Source of the pairs.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Source")]
pub(super) struct SourceArgs {
    /// Size of each image, of the scene or requested from cameras, px
    #[arg(long, hide_short_help = true, value_name = "WxH", value_parser = parse_size)]
    pub(super) size: Option<(usize, usize)>,
    /// Pairs per second, or max: as fast as they are matched [default: 30; files in `compute`: max]
    #[arg(long, hide_short_help = true, value_name = "HZ|max", value_parser = rate)]
    pub(super) rate: Option<Rate>,
    /// Play files and recordings once instead of again and again
    #[arg(long, hide_short_help = true)]
    pub(super) once: bool,
    /// Speed of playback, as a multiple of the recorded one: 0.1 to 10, or max [default: 1; `compute`: max]
    ///
    /// max plays as fast as pairs are matched, and leaves none out.
    #[arg(long, hide_short_help = true, value_name = "TIMES|max", value_parser = speed)]
    pub(super) speed: Option<Speed>,
    /// Time after a recording's first pair at which to begin, s
    #[arg(long, hide_short_help = true, value_name = "SECONDS", value_parser = seconds)]
    pub(super) start_at: Option<Duration>,
    #[cfg(feature = "zenoh")]
    #[command(flatten)]
    zenoh: super::network_args::ZenohArgs,
    #[command(flatten)]
    pub(super) recording: RecordingArgs,
    #[command(flatten)]
    pub(super) both_views: BothViewsArgs,
    #[command(flatten)]
    pub(super) scene: SceneArgs,
    #[command(flatten)]
    pub(super) cameras: CameraArgs,
}

/// The rig and the appearance of the built-in scene.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Source")]
pub(super) struct SceneArgs {
    /// Seed of the scene's textures and noise
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = 1)]
    pub(super) scene_seed: u32,
    /// Noise of the scene's cameras, grey levels (standard deviation)
    #[arg(long, hide_short_help = true, value_name = "LEVELS", default_value_t = 0.0)]
    pub(super) scene_noise: f64,
    /// Brightness of the scene's right image relative to the left one
    #[arg(long, hide_short_help = true, value_name = "FACTOR", default_value_t = 1.0)]
    pub(super) scene_exposure: f64,
    /// Vertical misalignment of the scene's right camera, px
    #[arg(long, hide_short_help = true, value_name = "PX", default_value_t = 0.0)]
    pub(super) scene_vertical_px: f64,
    /// Baseline of the scene's rig, m
    #[arg(long, hide_short_help = true, value_name = "METRES")]
    pub(super) scene_baseline_m: Option<f64>,
}

impl SceneArgs {
    /// Returns options of the scene with these flags applied.
    pub(super) fn over(&self, scene: SceneOptions) -> SceneOptions {
        SceneOptions {
            seed: self.scene_seed,
            noise: self.scene_noise,
            exposure: self.scene_exposure,
            vertical_px: self.scene_vertical_px,
            baseline_m: self.scene_baseline_m.unwrap_or(scene.baseline_m),
            ..scene
        }
    }
}

/// Topics of both images in a recording, and the limit of image sizes.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Source")]
pub(super) struct TopicArgs {
    /// Topic of the left images in a recording of another program [default: found by its name]
    #[arg(long, hide_short_help = true, value_name = "TOPIC")]
    pub(super) left_topic: Option<String>,
    /// Topic of the right images
    #[arg(long, hide_short_help = true, value_name = "TOPIC")]
    pub(super) right_topic: Option<String>,
    /// Topic of images that hold both views side by side, the left one left
    #[arg(long, hide_short_help = true, value_name = "TOPIC", conflicts_with_all = ["left_topic", "right_topic"])]
    pub(super) topic: Option<String>,
    /// Times by which the images of two topics are paired
    #[arg(long, hide_short_help = true, value_name = "TIME", default_value = "stamp", value_parser = choice(PairBy::ALL, PairBy::word, PairBy::help))]
    pub(super) pair_by: PairBy,
    /// Do not read images of more pixels from files and recordings: a few bytes can claim billions
    #[arg(long, hide_short_help = true, value_name = "PIXELS", default_value_t)]
    pub(super) max_pixels: MaxPixels,
}

/// Arrangement of images that show both views, and the times of those of two videos.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[command(next_help_heading = "Source")]
pub(super) struct BothViewsArgs {
    /// Each image holds both views side by side, the left view left
    ///
    /// For a file, a folder or --topic; add --swap-pictures where the right view is left.
    #[arg(long, hide_short_help = true, conflicts_with = "top_bottom")]
    side_by_side: bool,
    /// Each image holds both views, the left one above the right one
    ///
    /// For a file, a folder or --topic.
    #[arg(long, hide_short_help = true)]
    top_bottom: bool,
    /// Time by which the right one of two videos began after the left one, s; negative: before it
    #[arg(long, hide_short_help = true, value_name = "SECONDS", default_value_t = 0.0, allow_negative_numbers = true, value_parser = shift)]
    right_shift_s: f64,
}

impl BothViewsArgs {
    /// Returns the arrangement, if one was given.
    pub(super) fn arrangement(self) -> Option<Arrangement> {
        match self {
            Self { side_by_side: true, .. } => Some(Arrangement::SideBySide),
            Self { top_bottom: true, .. } => Some(Arrangement::TopBottom),
            Self { .. } => None,
        }
    }

    /// Applies the flags to options for opening.
    pub(super) fn fill(self, options: &mut SourceOptions) {
        options.both_views = self.arrangement();
        options.right_shift_s = self.right_shift_s;
    }

    /// Returns the source of path arguments.
    ///
    /// # Errors
    /// They are no source, or a source whose images cannot show both views.
    pub(super) fn of_paths(self, paths: &[PathBuf]) -> Result<SourceSpec, CaptureError> {
        match self.arrangement() {
            Some(arrangement) => SourceSpec::of_both_views(paths, arrangement),
            None => SourceSpec::from_paths(paths),
        }
    }

    /// Checks that images of this source can show both views, where a flag states it, and that its right view can be shifted.
    ///
    /// # Errors
    /// They cannot show both, or are not those of videos.
    pub(super) fn check(self, spec: &SourceSpec) -> Result<(), CaptureError> {
        spec.check_right_shift(self.right_shift_s)?;
        self.arrangement().map_or(Ok(()), |arrangement| spec.check_both_views(arrangement))
    }
}

/// Ground truth of one pair of files.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Source")]
pub(super) struct TruthArgs {
    /// True disparities of the left image, to measure results [default: a data set's, beside the pair]
    ///
    /// .pfm, .tif or .npy of floats (px), 16-bit .png (px x 256, as KITTI), or 8 bits with --truth-scale.
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Scale of --truth: its numbers are the disparity in px times this; negative for right minus left
    #[arg(long, hide_short_help = true, value_name = "N", requires = "truth", value_parser = truth_scale)]
    truth_scale: Option<i32>,
}

impl TruthArgs {
    /// Returns the source with this truth; unchanged without one.
    ///
    /// # Errors
    /// The source is no pair of files.
    pub(super) fn of(&self, source: SourceSpec) -> Result<SourceSpec, CaptureError> {
        match &self.truth {
            Some(path) => source.with_truth(DisparityFile { path: path.clone(), scale: self.truth_scale }),
            None => Ok(source),
        }
    }

    pub(super) fn is_given(&self) -> bool {
        self.truth.is_some()
    }
}

/// Topics and images taken from a recording.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Source")]
pub(super) struct RecordingArgs {
    #[command(flatten)]
    pub(super) topics: TopicArgs,
    /// Match with the recorded parameters where flags and settings file set none
    #[arg(long, hide_short_help = true)]
    pub(super) recorded_parameters: bool,
}

impl TopicArgs {
    pub(super) fn choice(&self) -> TopicChoice {
        let Self { left_topic: left, right_topic: right, topic: both, pair_by, .. } = self.clone();
        TopicChoice { left, right, both, pair_by }
    }

    /// Returns options for a recording that is read from its start to its end.
    pub(super) fn options(&self) -> SourceOptions {
        SourceOptions { topics: self.choice(), max_pixels: self.max_pixels, ..SourceOptions::default() }
    }
}

impl RecordingArgs {
    /// Returns the recorded parameters, where they are requested.
    ///
    /// # Errors
    /// The source is no file with parameters.
    pub(super) fn words(&self, source: Option<&SourceSpec>) -> anyhow::Result<Vec<Word>> {
        if !self.recorded_parameters {
            return Ok(Vec::new());
        }
        let refuse = |why: &str| refuse(format!("--recorded-parameters {why}"));
        let Some(SourceSpec::Recording(path)) = source else {
            return refuse("needs a recording as source (FILE.mcap), not one that still comes");
        };
        let recording = Recording::open_with(path, &self.topics.choice())?;
        let Some(about) = recording.about() else {
            return refuse(&format!("needs a recording of this program, and {} has no parameters", path.display()));
        };
        let origin = Origin::Recording(path.clone());
        let word =
            |(name, text): (&String, &String)| Word { name: name.clone(), text: text.clone(), origin: origin.clone() };
        Ok(about.parameters.iter().map(word).collect())
    }
}

/// Rate in the form of the flag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rate {
    /// Pairs per second.
    Hz(f64),
    /// Rate without pauses between pairs.
    Max,
}

impl SourceArgs {
    /// Applies the given flags to options for opening; `default_rate_hz` holds without `--rate`.
    pub(super) fn fill(&self, options: &mut SourceOptions, default_rate_hz: f64) {
        options.size = self.size.or(options.size);
        options.rate_hz = match self.rate {
            Some(Rate::Hz(hz)) => Some(hz),
            Some(Rate::Max) => None,
            None => Some(default_rate_hz),
        };
        options.looped &= !self.once;
        options.speed = self.speed.unwrap_or(options.speed);
        options.start_at = self.start_at.unwrap_or(options.start_at);
        options.topics = self.recording.topics.choice();
        options.max_pixels = self.recording.topics.max_pixels;
        self.both_views.fill(options);
        #[cfg(feature = "zenoh")]
        options.zenoh_config.clone_from(&self.zenoh.zenoh_config);
        options.scene = self.scene.over(options.scene);
        self.cameras.fill(&mut options.cameras);
    }
}

fn truth_scale(text: &str) -> Result<i32, &'static str> {
    text.parse().ok().filter(|scale| *scale != 0).ok_or("expected a whole number, not 0")
}

fn speed(text: &str) -> Result<Speed, &'static str> {
    if text == "max" {
        return Ok(Speed::Max);
    }
    let times = text.parse().ok().filter(|times: &f64| (0.1..=10.0).contains(times));
    times.map(Speed::Times).ok_or("expected a number from 0.1 to 10, or max")
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or("expected seconds, 0 or more")
}

fn shift(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|seconds: &f64| seconds.abs() <= 86_400.0).ok_or("expected seconds from -86400 to 86400")
}

fn rate(text: &str) -> Result<Rate, &'static str> {
    if text == "max" {
        return Ok(Rate::Max);
    }
    let hz = text.parse().ok().filter(|hz| (0.001..=1000.0).contains(hz));
    hz.map(Rate::Hz).ok_or("expected pairs per second from 0.001 to 1000, or max")
}
