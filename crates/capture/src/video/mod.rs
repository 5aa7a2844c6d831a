//! Stereo pairs from video that another program decodes: files, network cameras, Raspberry Pi cameras, pipes.
//!
//! All inputs are raw frames through a pipe, as YUV4MPEG2 ([`y4m`]) or as plain planes of known size. `ffmpeg` and `rpicam-vid`
//! write them as child processes, which end with the source. One stream has both views side by side; of two the first is the left one.

mod error;
mod files;
mod program;
mod reader;
mod streams;
#[cfg(test)]
mod tests;
mod view_layout;
pub mod y4m;

use program::Programs;
use stereopsis_frame::{CaptureError, PairSource, SourceOptions, VideoInput};

/// Opens one video with both views side by side, or a left and a right one.
///
/// # Errors
/// A decoder is missing, a stream does not begin, or its content is no video of a supported size.
pub fn open(inputs: &[VideoInput], options: &SourceOptions) -> Result<Box<dyn PairSource>, CaptureError> {
    open_with(Programs::default(), inputs, options)
}

fn open_with(
    programs: Programs,
    inputs: &[VideoInput],
    options: &SourceOptions,
) -> Result<Box<dyn PairSource>, CaptureError> {
    if inputs.iter().all(VideoInput::has_length) {
        Ok(Box::new(files::VideoFiles::open(programs, inputs, options)?))
    } else {
        Ok(Box::new(streams::VideoStreams::open(&programs, inputs, options)?))
    }
}
