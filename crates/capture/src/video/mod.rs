//! Stereo pairs from video that another program decodes: files, network cameras, Raspberry Pi cameras, pipes.
//!
//! All inputs are raw frames through a pipe, as YUV4MPEG2 ([`y4m`]) or as plain planes of known size. `ffmpeg` and `rpicam-vid`
//! write them as child processes, which end with the source. One stream has both views side by side; of two the first is the left one.

mod begun_apart;
mod error;
mod files;
mod film;
mod pair_times;
mod probe;
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
    let of_stream = inputs.iter().find(|input| !input.has_length());
    if let Some(stream) = of_stream.filter(|_| options.right_shift_s != 0.0) {
        return Err(error::VideoError::ShiftOfStream { input: stream.clone() }.into());
    }
    if of_stream.is_none() {
        Ok(Box::new(files::VideoFiles::open(programs, inputs, options)?))
    } else {
        Ok(Box::new(streams::VideoStreams::open(&programs, inputs, options)?))
    }
}
