//! Decodes one MJPEG frame.

use super::{Damage, DecodeError};
use crate::Pixels;
use crate::image::{Image, Luma, Picture};
use crate::jpeg::{frame as jpeg_frame, pixels as jpeg_pixels};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

pub(super) fn decode(size: (usize, usize), bytes: &[u8], pixels: Pixels) -> Result<Picture, DecodeError> {
    let stream = prepare(bytes)?;
    if pixels == Pixels::Unread {
        return Ok(Picture { luma: Luma::U8(Image::filled(size.0, size.1, 0)), rgb: None });
    }
    let luma = decode_jpeg(size, &stream, ColorSpace::Luma)?;
    let rgb = if pixels.has_color() {
        let bytes = decode_jpeg(size, &stream, ColorSpace::RGB)?;
        Some(Image::new(size.0, size.1, bytes.as_chunks::<3>().0.to_vec()))
    } else {
        None
    };
    Ok(Picture { luma: Luma::U8(Image::new(size.0, size.1, luma)), rgb })
}

/// The frame as the decoder needs it: without end marker, and with the standard Huffman tables (K.3) where the camera omits
/// them, as many do.
///
/// The decoder adds the tables to a stream that is marked as an AVI frame; tables in the stream take precedence. Behind an early
/// end marker the decoder fills in pixels, but it reports an early end of the data.
fn prepare(frame: &[u8]) -> Result<Vec<u8>, DecodeError> {
    const START: [u8; 2] = [0xff, 0xd8];
    const AVI1: &[u8] = b"\xff\xe0\x00\x08AVI1\x00\x00";
    if !frame.starts_with(&START) {
        let damage = if frame.is_empty() { Damage::Short } else { Damage::Jpeg };
        let text = format!("MJPEG frame of {} bytes that does not start as a JPEG", frame.len());
        return Err(DecodeError::new(damage, text));
    }
    // behind the end marker the driver's buffer holds zeros or bytes of an older frame
    let parts = jpeg_frame(frame).ok_or_else(|| DecodeError::new(Damage::Jpeg, "MJPEG frame without its end"))?;
    if !parts.is_plain {
        // no camera sends such a frame, and damage of this form makes the decoder panic
        return Err(DecodeError::new(Damage::Jpeg, "MJPEG frame in several scans"));
    }
    Ok([&START, AVI1, &frame[START.len()..parts.end]].concat())
}

fn decode_jpeg((width, height): (usize, usize), stream: &[u8], space: ColorSpace) -> Result<Vec<u8>, DecodeError> {
    // strict mode: otherwise the decoder fills a truncated frame with grey and reports success
    let options = DecoderOptions::default().set_strict_mode(true).jpeg_set_out_colorspace(space);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(stream), options);
    let broken = |e| DecodeError::new(Damage::Jpeg, format!("damaged MJPEG frame: {e:?}"));
    decoder.decode_headers().map_err(broken)?;
    if decoder.dimensions() != Some((width, height)) {
        let (w, h) = decoder.dimensions().unwrap_or_default();
        let text = format!("MJPEG frame of {w}x{h}, {width}x{height} expected");
        return Err(DecodeError::new(Damage::Size, text));
    }
    let pixels = jpeg_pixels(&mut decoder)
        .map_err(|why| DecodeError::new(Damage::Jpeg, format!("damaged MJPEG frame: {why}")))?;
    if pixels.len() != width * height * space.num_components() {
        let text = format!("damaged MJPEG frame: {} bytes of pixels for {width}x{height}", pixels.len());
        return Err(DecodeError::new(Damage::Jpeg, text));
    }
    Ok(pixels)
}
