//! Reads the frames of one stream in order, from a program, a pipe or a file.

use crate::video::error::ReadError;
use crate::video::program::RunningProgram;
use crate::video::y4m::{Header, Layout};
use std::io::{BufRead as _, BufReader, Read};
use std::process::ChildStdout;
use std::time::Duration;
use stereopsis_base::image::Picture;
use stereopsis_frame::MaxPixels;

/// Format of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StreamFormat {
    /// YUV4MPEG2, which has its size in the header.
    Y4m,
    /// Planes of this layout without a header.
    Planes(Layout),
}

pub(crate) struct FrameReader {
    reader: BufReader<Box<dyn Read + Send>>,
    form: StreamFormat,
    /// Header; `None` before it was read.
    header: Option<Header>,
    max_pixels: MaxPixels,
    bytes: Vec<u8>,
    /// Program that writes the stream, with the time limit of a frame.
    program: Option<(RunningProgram, Duration)>,
}

impl FrameReader {
    /// Creates a reader of a stream. Nothing is read before the first frame is asked for.
    pub(crate) fn new(stream: Box<dyn Read + Send>, form: StreamFormat, max_pixels: MaxPixels) -> Self {
        let reader = BufReader::with_capacity(1 << 16, stream);
        let header = match form {
            StreamFormat::Y4m => None,
            StreamFormat::Planes(layout) => Some(Header { layout, rate_hz: None }),
        };
        Self { reader, form, header, max_pixels, bytes: Vec::new(), program: None }
    }

    /// Creates a reader of the output of a program, each frame of which has this time limit.
    pub(crate) fn of_program(
        (running, output): (RunningProgram, ChildStdout),
        form: StreamFormat,
        max_pixels: MaxPixels,
        limit: Duration,
    ) -> Self {
        Self { program: Some((running, limit)), ..Self::new(Box::new(output), form, max_pixels) }
    }

    /// Creates a reader of a file that is positioned at a frame, behind its header.
    pub(crate) fn after_header(stream: Box<dyn Read + Send>, header: Header, max_pixels: MaxPixels) -> Self {
        Self { header: Some(header), ..Self::new(stream, StreamFormat::Y4m, max_pixels) }
    }

    /// Returns the rate of the stream, frames/s, if it is known and has been read.
    pub(crate) fn rate_hz(&self) -> Option<f64> {
        self.header?.rate_hz
    }

    /// Sets the time limit of the next frames of a program.
    pub(crate) fn set_limit(&mut self, limit: Duration) {
        if let Some(program) = &mut self.program {
            program.1 = limit;
        }
    }

    /// Returns the last message of the program as the end of a sentence, or nothing.
    pub(crate) fn last_message(&self) -> String {
        self.program.as_ref().map(|(running, _)| running.last_message()).unwrap_or_default()
    }

    /// Returns whether the stream, which has ended, was written without an error.
    pub(crate) fn has_succeeded(&self) -> bool {
        self.program.as_ref().is_none_or(|(running, _)| running.has_succeeded())
    }

    /// Reads the next frame; `None` at the end of the stream. A truncated frame also ends it: the writing program has died.
    pub(crate) fn next(&mut self, keeps_rgb: bool) -> Result<Option<Picture>, ReadError> {
        let has_frame = self.skip()?;
        Ok(self.header.filter(|_| has_frame).and_then(|header| header.layout.picture(&self.bytes, keeps_rgb)))
    }

    /// Skips the next frame; returns `false` at the end of the stream.
    pub(crate) fn skip(&mut self) -> Result<bool, ReadError> {
        match self.program.clone() {
            Some((running, limit)) => running.within(limit, || self.read())?,
            None => self.read(),
        }
    }

    fn read(&mut self) -> Result<bool, ReadError> {
        let mut header = match self.header {
            Some(header) => header,
            None if self.reader.fill_buf()?.is_empty() => return Ok(false),
            None => Header::read(&mut self.reader, self.max_pixels)?,
        };
        if self.form == StreamFormat::Y4m {
            let Some(next) = header.before_frame(&mut self.reader, self.max_pixels)? else { return Ok(false) };
            header = next;
        }
        self.header = Some(header);
        let wanted = header.layout.frame_bytes();
        self.bytes.clear();
        // memory grows with the received data, because a header may claim any size
        let read = (&mut self.reader).take(wanted as u64).read_to_end(&mut self.bytes)?;
        Ok(read == wanted)
    }
}
