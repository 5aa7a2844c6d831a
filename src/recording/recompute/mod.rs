//! A recording matched again: every pair, in order, with other parameters or another calibration, into a new recording.
//!
//! ```text
//!  reader's thread: read, decode, rectify ─▶ this thread: match, as many at once as the engine takes ─▶ writer's thread: pack, write
//! ```
//!
//! Until the end the new recording has another name, [`part_name`]; what is complete in it is kept when the same is asked again.

mod flow;
mod matching;
mod output;
mod part;

use super::read::{ReadError, Recording};
use super::unpack::Unpacker;
use super::write::Compression;
use super::{About, Channel, Format, Recomputed, Stream, Streams, parameter_words, time};
use crate::capture::{Frame, MaxPixels, RawRule, SourceInfo};
use crate::engine::{EngineError, OpenOptions};
use crate::files::WriteError;
use crate::rig::Calibrated;
use crate::stereo::StereoParams;
use part::Manner;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

pub use part::part_name;

/// Why a recording was not computed again, or not to its end. What was written stays, and is taken up again.
#[derive(Debug, thiserror::Error)]
pub enum RecomputeError {
    /// The new recording cannot begin: a file is in the way, or something asked for is not there.
    #[error("{0}")]
    Refused(String),
    /// The recording cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The parameters do not fit these pictures.
    #[error("{0}")]
    Params(String),
    /// The engine cannot.
    #[error("{error}; what is complete is in {}: the same command goes on there", part.display())]
    Engine {
        /// Why.
        error: EngineError,
        /// Where the rest is.
        part: PathBuf,
    },
    /// A result cannot be stored as asked.
    #[error("{0}")]
    Pack(String),
    /// The streams that are asked for cannot be.
    #[error("{0}")]
    Streams(String),
    /// The new recording cannot be begun.
    #[error(transparent)]
    Begin(WriteError),
    /// The disk does not take more.
    #[error("{0}. What is complete is kept: the same command goes on there")]
    Write(WriteError),
}

/// What the new recording holds and how.
#[derive(Clone, Debug, PartialEq)]
pub struct RecomputeOptions {
    /// What is in it; `None` for the pictures that the old one has, with depth, or disparity without a calibration.
    pub streams: Option<Streams>,
    /// In which words; `None` for those of the old one.
    pub format: Option<Format>,
    /// How it is compressed.
    pub compression: Compression,
    /// Depth and disparity keep what was filled in.
    pub filled: bool,
}

/// What is computed again.
pub struct Input<'a> {
    /// Its file.
    pub path: &'a Path,
    /// The file.
    pub recording: Recording,
    /// What is known of it as a source.
    pub info: &'a SourceInfo,
    /// How its pairs become rectified and metric now.
    pub calibrated: &'a Calibrated,
    /// How much of the pictures rectification keeps.
    pub alpha: f64,
    /// Larger pictures are not read.
    pub max_pixels: MaxPixels,
}

/// Hears how far it is.
pub trait Progress: Sync {
    /// So many pairs there are, and so many of them are done already.
    fn begin(&self, pairs: u64, done: u64);
    /// One more is done.
    fn done(&self);
    /// Something that a person should know at once.
    fn note(&self, text: &str);
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Summary {
    /// Pairs in the new recording.
    pub pairs: u64,
    /// Results in it.
    pub results: u64,
    /// Pairs of these that a run before had finished.
    pub resumed: u64,
    /// Its size.
    pub bytes: u64,
    /// Pairs of the old one that could not be read and are not in it.
    pub left_out: u64,
    /// Those of them that this run met, by their place in the old one, each with why.
    pub damaged: Vec<(u64, String)>,
    /// What computed.
    pub engine: Option<String>,
}

/// How pairs are matched.
pub struct Method<'a> {
    /// The engine.
    pub engine: OpenOptions,
    /// The parameters for a frame, by its size and geometry; or why none fit, in words.
    pub params: &'a dyn Fn(&Frame) -> Result<StereoParams, String>,
}

/// Matches every pair of a recording again and writes a new one.
///
/// # Errors
/// [`RecomputeError`]
pub fn recompute(
    mut input: Input,
    output: &Path,
    method: &Method,
    options: &RecomputeOptions,
    progress: &dyn Progress,
) -> Result<Summary, RecomputeError> {
    part::check_names(input.path, output)?;
    let format = options.format.unwrap_or_else(|| format_of(&input.recording));
    let (raw, frame) = first_pair(&mut input)?;
    let params = (method.params)(&frame).map_err(RecomputeError::Params)?;
    let streams = streams(&input, frame.geometry.is_some(), options.streams)?;
    let about = About {
        streams,
        filled: options.filled,
        raw,
        calibration: input.calibrated.to_note(input.alpha, input.info),
        parameters: parameter_words(&params),
        ..about(&input, format)?
    };
    // without results nothing is remembered from pair to pair
    let remembers = streams.needs_results() && (params.temporal || params.starts_from_last());
    let manner = Manner { format, compression: options.compression, remembers };
    let taken = part::take_up(output, input.recording.pairs(), &about, manner, progress)?;
    progress.begin(input.recording.pairs().len() as u64, taken.next);
    flow::run(input, output, method, about, format, taken, progress)
}

/// How the pictures of the first pair that can be read were recorded, and what is matched of it.
fn first_pair(input: &mut Input) -> Result<(RawRule, Frame), RecomputeError> {
    let Input { recording, info, calibrated, max_pixels, .. } = input;
    let unpacker = Unpacker::of(recording.about(), false).with_max_pixels(*max_pixels);
    let told = recording.about().map(|about| about.raw.clone());
    let mut why = "it has no pairs".to_owned();
    for place in 0..recording.pairs().len() as u64 {
        let unpacked = recording.packets_of_pair(place).map_err(|err| err.to_string()).and_then(|packets| {
            let raw = Arc::new(unpacker.pair(&packets).map_err(|err| err.to_string())?);
            let frame = calibrated.recipe.make(&raw, info, Instant::now()).map_err(|err| err.to_string())?;
            let rule = told.clone().unwrap_or_else(|| RawRule::of(raw.original.as_ref()));
            Ok((rule, frame))
        });
        match unpacked {
            Ok(found) => return Ok(found),
            Err(text) => why = text,
        }
    }
    Err(RecomputeError::Refused(format!("{} has nothing to compute: {why}", input.path.display())))
}

/// What is in the new recording.
fn streams(input: &Input, is_metric: bool, wanted: Option<Streams>) -> Result<Streams, RecomputeError> {
    let shown = input.path.display();
    let old = input.recording.about().map(|about| about.streams);
    let has_raw = old.is_none_or(|old| old.has(Stream::Raw) || old.has(Stream::Eyes));
    let pictures = if has_raw { Stream::Raw } else { Stream::Rectified };
    let streams = wanted.unwrap_or_else(|| {
        Streams::default()
            .with(Stream::Raw, has_raw)
            .with(pictures, true)
            .with(Stream::Depth, is_metric)
            .with(Stream::Disparity, !is_metric)
    });
    if streams.has(Stream::Raw) && !has_raw {
        let text = format!("{shown} has rectified pictures and no raw ones: give --streams rectified,depth");
        return Err(RecomputeError::Streams(text));
    }
    if streams.has(Stream::Depth) && !is_metric {
        let text = format!(
            "{shown} has no calibration, which --streams depth needs: give --calibration, --rectify auto, or the lens \
             (--fov-deg) and --baseline-m; --streams raw,disparity needs none"
        );
        return Err(RecomputeError::Streams(text));
    }
    Ok(streams)
}

/// What the new recording says of itself, as far as the old one decides it.
fn about(input: &Input, format: Format) -> Result<About, RecomputeError> {
    let Input { path, recording, info, .. } = input;
    let cannot = |err: std::io::Error| RecomputeError::Refused(format!("cannot read {}: {err}", path.display()));
    let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let first_log_time_ns = recording.pairs().first().map_or(0, |pair| pair.log_time_ns);
    let old = recording.about().cloned();
    let old = old.unwrap_or_else(|| About::of_source(&file, info, time::from_ns(first_log_time_ns)));
    let recomputed = Recomputed {
        file,
        bytes: std::fs::metadata(path).map_err(cannot)?.len(),
        pairs: recording.pairs().len() as u64,
        first_log_time_ns,
        format,
    };
    Ok(About { stereopsis: env!("CARGO_PKG_VERSION").to_owned(), recomputed: Some(recomputed), ..old })
}

/// The format in which a recording is written.
fn format_of(recording: &Recording) -> Format {
    let is_protobuf = |channel: &Arc<Channel>| channel.message_encoding == "protobuf";
    if recording.channels().iter().any(is_protobuf) { Format::Foxglove } else { Format::Ros2 }
}
