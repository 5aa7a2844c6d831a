//! Matches every pair of a recording again, with other parameters or another calibration, into a new recording.
//!
//! ```text
//!  reader thread: read, decode, rectify ─▶ this thread: match, with as many jobs as the engine takes ─▶ writer thread: pack, write
//! ```
//!
//! Until it is finished, the new recording has the name [`part_name`](part_file::part_name). The same command continues after its last
//! complete pair.

mod error;
mod input;
mod matching;
mod output;
mod part_file;
mod pipeline;
mod resume;
mod summary;

pub use error::RecomputeError;
pub use summary::Summary;

use input::{params_for, read, unpacker};
use part_file::PartFile;
use std::path::Path;
use std::sync::Arc;
use stereopsis_frame::{Frame, Pixels, StereoLayout};
use stereopsis_recording::read::Recording;
use stereopsis_recording::write::Compression;
use stereopsis_recording::{
    About, CalibratedRecording, Channel, DepthFormat, Format, Progress, Recomputed, Stream, Streams, time,
};
use stereopsis_settings::settings::{Settings, parameter_words};

/// Content and format of the new recording.
#[derive(Clone, Debug, PartialEq)]
pub struct RecomputeOptions {
    /// Streams; `None` for the images of the old recording, with depth, or with disparity where it has no calibration.
    pub streams: Option<Streams>,
    /// Format of the messages; `None` for that of the old recording.
    pub format: Option<Format>,
    /// Compression of chunks.
    pub compression: Compression,
    /// Whether depth and disparity keep filled pixels.
    pub filled: bool,
    /// Format of depth images; `None` for that of the old recording.
    pub depth_format: Option<DepthFormat>,
}

/// Matches every pair of a recording again and writes a new one.
///
/// # Errors
/// [`RecomputeError`]
pub fn recompute(
    mut input: CalibratedRecording,
    output: &Path,
    settings: &Settings,
    options: &RecomputeOptions,
    progress: &Progress,
) -> Result<Summary, RecomputeError> {
    part_file::check_names(&input.path, output)?;
    let format = options.format.unwrap_or_else(|| format_of(&input.recording));
    let (raw, frame) = first_pair(&mut input)?;
    let params = params_for(settings, &frame)?;
    let streams = streams(&input, frame.geometry.is_some(), options.streams)?;
    let old = about(&input, format);
    let about = About {
        streams,
        depth_format: options.depth_format.unwrap_or(old.depth_format),
        filled: options.filled,
        raw,
        calibration: input.calibrated.to_note(input.crop, &input.info),
        parameters: parameter_words(&params),
        ..old
    };
    // without results nothing passes from pair to pair
    let remembers = streams.needs_results() && params.remembers();
    let begin_part = |part| PartFile::begin(part, output, format, options.compression);
    let begun = resume::begin(output, input.recording.pairs(), &about, begin_part, remembers, progress)?;
    progress.begin(input.recording.pairs().len() as u64, begun.next);
    pipeline::run(input, output, settings, about, format, begun, progress)
}

/// Returns raw layout and frame of the first pair that can be read.
fn first_pair(input: &mut CalibratedRecording) -> Result<(StereoLayout, Frame), RecomputeError> {
    let unpacker = unpacker(input, Pixels::Luma);
    let recorded = input.recording.about().map(|about| about.raw.clone());
    let mut why = None;
    for k in 0..input.recording.pairs().len() as u64 {
        match read(input, &unpacker, k) {
            Ok((_, frame)) => {
                let layout = recorded.unwrap_or_else(|| StereoLayout::of(frame.raw.original.as_ref()));
                return Ok((layout, frame));
            }
            Err(fault) => why = Some(fault),
        }
    }
    Err(RecomputeError::Nothing { path: input.path.clone(), why })
}

fn streams(input: &CalibratedRecording, is_metric: bool, wanted: Option<Streams>) -> Result<Streams, RecomputeError> {
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
        return Err(RecomputeError::NoRaw(input.path.clone()));
    }
    if streams.has(Stream::Depth) && !is_metric {
        return Err(RecomputeError::NoCalibration(input.path.clone()));
    }
    Ok(streams)
}

/// Returns the description of the new recording, as far as it comes from the old one.
fn about(input: &CalibratedRecording, format: Format) -> About {
    let CalibratedRecording { path, recording, info, .. } = input;
    let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let first_log_time_ns = recording.pairs().first().map_or(0, |pair| pair.log_time_ns);
    let old = recording.about().cloned();
    let old = old.unwrap_or_else(|| About::of_source(&file, info, time::from_ns(first_log_time_ns)));
    let recomputed =
        Recomputed { file, bytes: recording.bytes(), pairs: recording.pairs().len() as u64, first_log_time_ns, format };
    About { stereopsis: env!("CARGO_PKG_VERSION").to_owned(), recomputed: Some(recomputed), ..old }
}

fn format_of(recording: &Recording) -> Format {
    let is_protobuf = |channel: &Arc<Channel>| channel.message_encoding == "protobuf";
    if recording.channels().iter().any(is_protobuf) { Format::Foxglove } else { Format::Ros2 }
}
