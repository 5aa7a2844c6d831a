//! Reads the frames of one stream in order, from any pipe or file.

use crate::capture::MaxPixels;
use crate::image::Picture;
use crate::y4m::{Header, Layout};
use std::io::{BufReader, Read};

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
    header: Header,
    max_pixels: MaxPixels,
    bytes: Vec<u8>,
}

impl FrameReader {
    /// Reads the header of a stream.
    pub(crate) fn new(stream: Box<dyn Read + Send>, form: StreamFormat, max_pixels: MaxPixels) -> Result<Self, String> {
        let mut reader = BufReader::with_capacity(1 << 16, stream);
        let header = match form {
            StreamFormat::Y4m => Header::read(&mut reader, max_pixels)?,
            StreamFormat::Planes(layout) => Header { layout, rate_hz: None },
        };
        Ok(Self { reader, form, header, max_pixels, bytes: Vec::new() })
    }

    /// Creates a reader of a file that is positioned at a frame, behind its header.
    pub(crate) fn after_header(stream: Box<dyn Read + Send>, header: Header, max_pixels: MaxPixels) -> Self {
        let reader = BufReader::with_capacity(1 << 16, stream);
        Self { reader, form: StreamFormat::Y4m, header, max_pixels, bytes: Vec::new() }
    }

    pub(crate) fn header(&self) -> Header {
        self.header
    }

    /// Reads the next frame; `None` at the end of the stream. A truncated frame also ends it: the writing program has died.
    pub(crate) fn next(&mut self, keeps_rgb: bool) -> Result<Option<Picture>, String> {
        Ok(if self.skip()? { self.header.layout.picture(&self.bytes, keeps_rgb) } else { None })
    }

    /// Skips the next frame; returns `false` at the end of the stream.
    pub(crate) fn skip(&mut self) -> Result<bool, String> {
        if self.form == StreamFormat::Y4m {
            let Some(header) = self.header.before_frame(&mut self.reader, self.max_pixels)? else { return Ok(false) };
            self.header = header;
        }
        let wanted = self.header.layout.frame_bytes();
        self.bytes.clear();
        // memory grows with the received data, because a header may claim any size
        let read =
            (&mut self.reader).take(wanted as u64).read_to_end(&mut self.bytes).map_err(|err| err.to_string())?;
        Ok(read == wanted)
    }
}
