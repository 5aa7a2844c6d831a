//! Matches every pair of a recording again, with other parameters or another calibration, into a new recording.
//!
//! ```text
//!  reader thread: read, decode, rectify ─▶ this thread: match, with as many jobs as the engine takes ─▶ writer thread: pack, write
//! ```
//!
//! Until it is finished, the new recording has the name [`part_name`](part_file::part_name). The same command goes on behind the complete pairs in it.

mod matching;
mod output;
mod part_file;
mod pipeline;
mod resume;

use super::read::Recording;
use super::unpack::Unpacker;
use super::write::Compression;
use super::{About, Channel, Format, Packet, Progress, Recomputed, Stream, Streams, parameter_words, time};
use crate::calibration::Crop;
use crate::capture::{Frame, MaxPixels, Pixels, SourceInfo, StereoLayout};
use crate::engine::EngineInfo;
use crate::files::WriteError;
use crate::rig::Calibrated;
use crate::settings::Settings;
use crate::stereo::StereoParams;
use part_file::PartFile;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Why a recording was not recomputed, or not to its end. The part that was written stays for the next run.
#[derive(Debug, thiserror::Error)]
pub enum RecomputeError {
    /// The parameters do not fit these images, or the recording cannot give the wanted streams.
    #[error("{0}")]
    Usage(String),
    /// The new recording cannot be begun.
    #[error(transparent)]
    Begin(WriteError),
    /// Interruption; the text names the complete part.
    #[error("stopped after {done} of {pairs} pairs; what is complete is in {part}: the same command goes on there")]
    Stopped {
        /// Pairs in the new recording.
        done: u64,
        /// Pairs of the old one.
        pairs: u64,
        /// The unfinished recording.
        part: String,
    },
    /// A file is in the way, a recording cannot be read or continued, or the engine failed.
    #[error("{0}")]
    Failed(String),
}

/// Content and format of the new recording.
#[derive(Clone, Debug, PartialEq)]
pub struct RecomputeOptions {
    /// Its streams; `None` for the images of the old one, with depth, or disparity without a calibration.
    pub streams: Option<Streams>,
    /// Its format; `None` for that of the old one.
    pub format: Option<Format>,
    /// Its compression.
    pub compression: Compression,
    /// Depth and disparity keep filled pixels.
    pub filled: bool,
}

/// The recording that is recomputed.
pub struct Input<'a> {
    /// Its path.
    pub path: &'a Path,
    /// The file.
    pub recording: Recording,
    /// Its description as a source.
    pub info: &'a SourceInfo,
    /// The calibration to use.
    pub calibrated: &'a Calibrated,
    /// The part of the images that rectification shows.
    pub crop: Crop,
    /// Larger images are not read.
    pub max_pixels: MaxPixels,
}

impl Input<'_> {
    fn unpacker(&self, pixels: Pixels) -> Unpacker {
        Unpacker::of(self.recording.about(), pixels, self.max_pixels)
    }

    /// Packets and frame of pair `k`. Its sequence number is `k` in a recording of another program, which has none.
    fn frame(&mut self, unpacker: &Unpacker, k: u64) -> Result<(Vec<Packet>, Frame), String> {
        let (packets, mut raw) = unpacker.read(&mut self.recording, k).map_err(|err| err.to_string())?;
        if self.recording.about().is_none() {
            raw.sequence = k;
        }
        let frame = self.calibrated.preparation.prepare(&Arc::new(raw), self.info, Instant::now());
        Ok((packets, frame.map_err(|err| err.to_string())?))
    }
}

/// Outcome of [`recompute`].
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Summary {
    /// Pairs in the new recording.
    pub pairs: u64,
    /// Results in it.
    pub results: u64,
    /// Pairs that a run before had finished.
    pub resumed: u64,
    /// Its size.
    pub bytes: u64,
    /// Pairs of the old one that could not be read and are not in it.
    pub left_out: u64,
    /// Damaged pairs read by this run: number in the old recording, and reason.
    pub damaged: Vec<(u64, String)>,
    /// The engine.
    pub engine: Option<EngineInfo>,
}

/// Matches every pair of a recording again and writes a new one.
///
/// # Errors
/// [`RecomputeError`]
pub fn recompute(
    mut input: Input,
    output: &Path,
    settings: &Settings,
    options: &RecomputeOptions,
    progress: &Progress,
) -> Result<Summary, RecomputeError> {
    part_file::check_names(input.path, output)?;
    let format = options.format.unwrap_or_else(|| format_of(&input.recording));
    let (raw, frame) = first_pair(&mut input)?;
    let params = params_for(settings, &frame)?;
    let streams = streams(&input, frame.geometry.is_some(), options.streams)?;
    let about = About {
        streams,
        filled: options.filled,
        raw,
        calibration: input.calibrated.to_note(input.crop, input.info),
        parameters: parameter_words(&params),
        ..about(&input, format)
    };
    // without results nothing is remembered from pair to pair
    let remembers = streams.needs_results() && params.remembers();
    let begin_part = |part| PartFile::begin(part, output, format, options.compression);
    let begun = resume::begin(output, input.recording.pairs(), &about, begin_part, remembers, progress)?;
    progress.begin(input.recording.pairs().len() as u64, begun.next);
    pipeline::run(input, output, settings, about, format, begun, progress)
}

/// The parameters for a frame, by its size and geometry.
fn params_for(settings: &Settings, frame: &Frame) -> Result<StereoParams, RecomputeError> {
    let params = settings.params_for(frame.extent_px(), frame.geometry.as_ref());
    params.map_err(|err| RecomputeError::Usage(err.to_string()))
}

/// Raw layout and frame of the first pair that can be read.
fn first_pair(input: &mut Input) -> Result<(StereoLayout, Frame), RecomputeError> {
    let unpacker = input.unpacker(Pixels::Luma);
    let recorded = input.recording.about().map(|about| about.raw.clone());
    let mut why = "it has no pairs".to_owned();
    for k in 0..input.recording.pairs().len() as u64 {
        match input.frame(&unpacker, k) {
            Ok((_, frame)) => {
                let layout = recorded.unwrap_or_else(|| StereoLayout::of(frame.raw.original.as_ref()));
                return Ok((layout, frame));
            }
            Err(text) => why = text,
        }
    }
    Err(RecomputeError::Failed(format!("{} has nothing to compute: {why}", input.path.display())))
}

/// Streams of the new recording.
fn streams(input: &Input, is_metric: bool, wanted: Option<Streams>) -> Result<Streams, RecomputeError> {
    let shown = input.path.display();
    let old = input.recording.about().map(|about| about.streams);
    let has_raw = old.is_none_or(Streams::has_unrectified);
    let pictures = if has_raw { Stream::Raw } else { Stream::Rectified };
    let streams = wanted.unwrap_or_else(|| {
        Streams::default()
            .with(Stream::Raw, has_raw)
            .with(pictures, true)
            .with(Stream::Depth, is_metric)
            .with(Stream::Disparity, !is_metric)
    });
    if streams.has(Stream::Raw) && !has_raw {
        let text = format!("{shown} has rectified images and no raw ones: give --streams rectified,depth");
        return Err(RecomputeError::Usage(text));
    }
    if streams.has(Stream::Depth) && !is_metric {
        let text = format!(
            "{shown} has no calibration, which --streams depth needs: give --calibration, --rectify auto, or the lens \
             (--fov-deg) and --baseline-m; --streams raw,disparity needs none"
        );
        return Err(RecomputeError::Usage(text));
    }
    Ok(streams)
}

/// The description of the new recording, as far as it comes from the old one.
fn about(input: &Input, format: Format) -> About {
    let Input { path, recording, info, .. } = input;
    let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let first_log_time_ns = recording.pairs().first().map_or(0, |pair| pair.log_time_ns);
    let old = recording.about().cloned();
    let old = old.unwrap_or_else(|| About::of_source(&file, info, time::from_ns(first_log_time_ns)));
    let recomputed =
        Recomputed { file, bytes: recording.bytes(), pairs: recording.pairs().len() as u64, first_log_time_ns, format };
    About { stereopsis: env!("CARGO_PKG_VERSION").to_owned(), recomputed: Some(recomputed), ..old }
}

/// Format of the messages of a recording.
fn format_of(recording: &Recording) -> Format {
    let is_protobuf = |channel: &Arc<Channel>| channel.message_encoding == "protobuf";
    if recording.channels().iter().any(is_protobuf) { Format::Foxglove } else { Format::Ros2 }
}
