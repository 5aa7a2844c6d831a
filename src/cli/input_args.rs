//! Source and calibration together: flags over a rig file.

use super::calibration_args::CalibrationArgs;
use super::error::{UsageError, refuse};
use super::source_args::{SourceArgs, TruthArgs};
use std::ffi::OsString;
use std::path::PathBuf;
use stereopsis_base::console;
use stereopsis_frame::{CaptureError, FramePreparation, SourceInfo, SourceOptions, SourceSpec};
use stereopsis_settings::rig::{CalibrationChoice, PathKind, RigFile};
use stereopsis_settings::settings::{Settings, Word};
use stereopsis_stereo::StereoParams;

const DEFAULT_RATE_HZ: f64 = 30.0;

/// Inputs, and the flags of their calibration.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct InputArgs {
    /// Inputs: a left and a right image, a folder of pairs, a recording (.mcap, .db3), a rig or a calibration file [default:
    /// the built-in scene]
    #[arg(num_args = 0.., value_name = "PATH", conflicts_with = "source")]
    inputs: Vec<PathBuf>,
    /// Source of the pairs: scene, LEFT,RIGHT, FOLDER, FILE.mcap, VIDEO, -, webcam:0,1, webcam:0, csi:0,1, zenoh:NAME@ROUTER or
    /// ros2:/left,/right
    ///
    /// VIDEO is a video file with both views side by side, or rtsp://HOST, a network camera, or y4m:-, raw frames from a pipe; csi:0,1 are a Raspberry
    /// Pi's cameras; a comma separates two videos, addresses or pipes, left one first. ffmpeg or rpicam-vid decodes them.
    /// `-` is a recording from a pipe, webcam:0,1 are two cameras, webcam:0 is one with both views side by side, zenoh:NAME@ROUTER
    /// is a rig on the network, by the router of this machine without @ROUTER, zenoh:LEFT,RIGHT are two heads of one camera each, and
    /// ros2: are two topics of ROS 2.
    #[arg(long, value_name = "SOURCE", help_heading = "Source")]
    source: Option<OsString>,
    /// A rig file: cameras and calibration; flags win over it
    ///
    /// It names the cameras by port, with their mode, orientation and controls.
    #[arg(long, hide_short_help = true, value_name = "FILE.toml", help_heading = "Source")]
    rig: Option<PathBuf>,
    #[command(flatten)]
    truth: TruthArgs,
    #[command(flatten)]
    options: SourceArgs,
    #[command(flatten)]
    calibration: CalibrationArgs,
}

/// Rig file with its content, and calibration files.
type Setup = (Option<(PathBuf, RigFile)>, Vec<PathBuf>);

/// Inputs and calibration from the flags and the rig file.
pub(super) struct Input {
    /// Cameras of the rig, where it has some.
    pub(super) source: Option<SourceSpec>,
    /// Rig file, if one was named.
    pub(super) rig_file: Option<PathBuf>,
    pub(super) options: SourceOptions,
    pub(super) calibration: CalibrationChoice,
}

impl InputArgs {
    /// Returns the recorded parameters, where they are requested.
    ///
    /// # Errors
    /// The source is no file with parameters.
    pub(super) fn recorded_words(&self, source: Option<&SourceSpec>) -> anyhow::Result<Vec<Word>> {
        self.options.recording.words(source)
    }

    /// Returns the source that `--source` or the paths name, if any.
    ///
    /// # Errors
    /// They name nothing that can be a source, or something that does not exist.
    pub(super) fn named_source(&self) -> Result<Option<SourceSpec>, CaptureError> {
        let source = match &self.source {
            Some(words) => {
                let spec = match words.to_str() {
                    Some(words) => SourceSpec::parse(words)?,
                    None => SourceSpec::from_paths(&[words.into()])?, // no name of another source is like that
                };
                spec.check_files_exist()?;
                Some(spec)
            }
            None => self.named()?.and_then(|named| if let PathKind::Source(spec) = named { Some(spec) } else { None }),
        };
        if let Some(source) = &source {
            self.options.both_views.check(source)?;
        }
        match source {
            None if !self.truth.is_given() => Ok(None),
            source => self.truth.of(source.unwrap_or(SourceSpec::Scene)).map(Some),
        }
    }

    /// Resolves the paths, if there are any, by the rules for files that are dropped on the window.
    fn named(&self) -> Result<Option<PathKind>, CaptureError> {
        if self.inputs.is_empty() {
            return Ok(None);
        }
        match self.options.both_views.arrangement() {
            Some(arrangement) => {
                SourceSpec::of_both_views(&self.inputs, arrangement).map(|spec| Some(PathKind::Source(spec)))
            }
            None => PathKind::of(&self.inputs).map(Some),
        }
    }

    /// Returns the rig file and the calibration files that flags or paths name.
    fn setup(&self) -> anyhow::Result<Setup> {
        let read = |path: &PathBuf| RigFile::read(path).map(|rig| (path.clone(), rig));
        let of_flag = self.rig.as_ref().map(read).transpose()?;
        let Some(PathKind::Setup(files)) = self.named()? else { return Ok((of_flag, Vec::new())) };
        // a file that is no rig is a calibration
        let [one] = &files[..] else { return Ok((of_flag, files)) };
        match (read(one), of_flag) {
            (Ok(_), Some((other, _))) => {
                let (one, other) = (console::path(one), console::path(&other));
                refuse(format!("{one} and {other} are both rigs: give one of them"))
            }
            (Ok(rig), None) => Ok((Some(rig), Vec::new())),
            (Err(_), of_flag) => Ok((of_flag, files)),
        }
    }

    /// Reads the rig file, if one was named; files are looped and watched.
    ///
    /// # Errors
    /// The rig file cannot be used, or flags cannot be combined.
    pub(super) fn resolve(&self) -> anyhow::Result<Input> {
        let (rig, calibration_files) = self.setup()?;
        let (rig_file, rig) = rig.map_or_else(Default::default, |(path, rig)| (Some(path), rig));
        let rate_hz = rig.rate_hz.unwrap_or(DEFAULT_RATE_HZ);
        let mut options = SourceOptions { looped: true, watched: true, ..SourceOptions::default() };
        rig.fill(&mut options);
        self.options.fill(&mut options, rate_hz);
        let calibration = self.calibration.over(rig.calibration, calibration_files)?;
        Ok(Input { source: rig.source, rig_file, options, calibration })
    }
}

/// Returns the parameters for the coming frames: `--near-m` needs their geometry.
///
/// # Errors
/// The settings do not fit the frames.
pub(super) fn params_at_start(
    settings: &Settings,
    preparation: &FramePreparation,
    info: &SourceInfo,
) -> anyhow::Result<StereoParams> {
    let geometry = preparation.geometry(info).map(|g| g.scaled(preparation.scale.factor()));
    let axis = geometry.map_or(preparation.axis, |geometry| geometry.axis);
    let extent_px = axis.extent(preparation.scale.size((info.width, info.height)));
    settings.params_for(extent_px, geometry.as_ref()).map_err(|err| UsageError(err.to_string()).into())
}
