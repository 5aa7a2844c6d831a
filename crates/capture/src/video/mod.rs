//! Stereo pairs from video that another program decodes: files, network cameras, Raspberry Pi cameras, pipes.
//!
//! All inputs are raw frames through a pipe, as YUV4MPEG2 ([`y4m`]) or as plain planes of known size. `ffmpeg` and `rpicam-vid`
//! write them as child processes, which end with the source. One stream has both views side by side; of two the first is the left one.

mod files;
mod program;
mod reader;
mod streams;
#[cfg(test)]
mod tests;
pub mod y4m;

use program::Programs;
use stereopsis_base::image::Picture;
use stereopsis_frame::{Arrangement, CaptureError, PairSource, SourceOptions, VideoInput, split};

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

#[derive(Clone, Copy)]
struct ViewLayout {
    arrangement: Arrangement,
    /// Whether the left view is in the second half.
    swapped: bool,
}

impl ViewLayout {
    fn of(options: &SourceOptions) -> Self {
        let arrangement = options.both_views.unwrap_or(Arrangement::SideBySide);
        Self { arrangement, swapped: options.cameras.swapped_halves }
    }
}

/// Splits the image of one stream, or takes the images of two, into left and right.
fn views(mut pictures: Vec<Picture>, views: ViewLayout) -> Result<(Picture, Picture), String> {
    let size = |picture: &Picture| {
        let (width, height) = picture.size();
        format!("{width}x{height}")
    };
    match (pictures.pop(), pictures.pop()) {
        (Some(right), Some(left)) if left.size() == right.size() => Ok((left, right)),
        (Some(right), Some(left)) => Err(format!(
            "the left video has {} and the right one {} pixels: scale one of them",
            size(&left),
            size(&right)
        )),
        (Some(both), None) => {
            let (width, height) = both.size();
            let length = if views.arrangement == Arrangement::SideBySide { width } else { height };
            if length % 2 != 0 {
                let size = size(&both);
                return Err(format!(
                    "a video of {size} pixels cannot be halved into two views ({})",
                    views.arrangement
                ));
            }
            let (first, second) = split(&both, views.arrangement);
            Ok(if views.swapped { (second, first) } else { (first, second) })
        }
        (None, _) => Err("no video".to_owned()),
    }
}
