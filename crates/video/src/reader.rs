//! Frames of one stream, one after the other, on whatever pipe or file they come.

use crate::capture::MaxPixels;
use crate::image::Picture;
use crate::y4m::{Header, Layout};
use std::io::{BufReader, Read};

/// Form of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    /// YUV4MPEG2, which says its size.
    Y4m,
    /// Planes of this layout without any header.
    Planes(Layout),
}

/// Frames of a stream.
pub(crate) struct FrameReader {
    reader: BufReader<Box<dyn Read + Send>>,
    form: Form,
    header: Header,
    max_pixels: MaxPixels,
    bytes: Vec<u8>,
}

impl FrameReader {
    /// Reads the header of a stream.
    ///
    /// # Errors
    /// As [`Header::read`].
    pub(crate) fn new(stream: Box<dyn Read + Send>, form: Form, max_pixels: MaxPixels) -> Result<Self, String> {
        let mut reader = BufReader::with_capacity(1 << 16, stream);
        let header = match form {
            Form::Y4m => Header::read(&mut reader, max_pixels)?,
            Form::Planes(layout) => Header { layout, rate_hz: None },
        };
        Ok(Self { reader, form, header, max_pixels, bytes: Vec::new() })
    }

    /// Frames of a file that has been sought, behind its header.
    pub(crate) fn behind(stream: Box<dyn Read + Send>, header: Header, max_pixels: MaxPixels) -> Self {
        let reader = BufReader::with_capacity(1 << 16, stream);
        Self { reader, form: Form::Y4m, header, max_pixels, bytes: Vec::new() }
    }

    pub(crate) fn header(&self) -> Header {
        self.header
    }

    /// The next frame; `None` at the end of the stream. A frame that is cut off ends it too: the program that wrote it has died.
    ///
    /// # Errors
    /// The stream is damaged, or cannot be read.
    pub(crate) fn next(&mut self, keeps_rgb: bool) -> Result<Option<Picture>, String> {
        Ok(if self.skip()? { self.header.layout.picture(&self.bytes, keeps_rgb) } else { None })
    }

    /// Reads the next frame without making a picture of it; `false` at the end of the stream.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub(crate) fn skip(&mut self) -> Result<bool, String> {
        if self.form == Form::Y4m {
            let Some(header) = self.header.before_frame(&mut self.reader, self.max_pixels)? else { return Ok(false) };
            self.header = header;
        }
        let wanted = self.header.layout.frame_bytes();
        self.bytes.clear();
        // the memory grows with what comes: a header may claim anything
        let read =
            (&mut self.reader).take(wanted as u64).read_to_end(&mut self.bytes).map_err(|err| err.to_string())?;
        Ok(read == wanted)
    }
}
