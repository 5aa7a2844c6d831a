//! One MJPEG frame to a picture.

use super::DecodeError;
use crate::frame::{Luma, Picture};
use crate::image::Image;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

pub(super) fn decode(size: (usize, usize), bytes: &[u8], color: bool) -> Result<Picture, DecodeError> {
    let stream = prepare(bytes)?;
    let luma = decode_jpeg(size, &stream, ColorSpace::Luma)?;
    let rgb = if color {
        let bytes = decode_jpeg(size, &stream, ColorSpace::RGB)?;
        Some(Image::new(size.0, size.1, bytes.as_chunks::<3>().0.to_vec()))
    } else {
        None
    };
    Ok(Picture { luma: Luma::U8(Image::new(size.0, size.1, luma)), rgb })
}

/// The frame as the decoder needs it: standard Huffman tables (K.3) where the camera leaves them out, which many do, and no
/// end marker.
///
/// The decoder fills the tables in for a stream that calls itself an AVI frame; tables in the stream still count. Where it
/// meets the end marker too early it makes up the rest; where the data just end, it says so.
fn prepare(frame: &[u8]) -> Result<Vec<u8>, DecodeError> {
    const START: [u8; 2] = [0xff, 0xd8];
    const AVI1: &[u8] = b"\xff\xe0\x00\x08AVI1\x00\x00";
    if !frame.starts_with(&START) {
        return Err(DecodeError(format!("MJPEG frame of {} bytes that does not start as a JPEG", frame.len())));
    }
    let end = end_of_picture(frame).ok_or_else(|| DecodeError("MJPEG frame without its end".into()))?;
    Ok([&START, AVI1, &frame[START.len()..end]].concat())
}

/// Where the end marker stands. Behind it the driver's buffer goes on, with zeros or an older frame.
fn end_of_picture(frame: &[u8]) -> Option<usize> {
    let mut at = 2;
    loop {
        let &[0xff, marker, high, low] = frame.get(at..)?.first_chunk()? else { return None };
        if marker == 0xff {
            at += 1; // fill byte
            continue;
        }
        at += 2 + usize::from(u16::from_be_bytes([high, low]));
        if marker == 0xda {
            break;
        }
    }
    let length = frame.get(at..)?.windows(2).position(|marker| marker == [0xff, 0xd9])?;
    Some(at + length)
}

fn decode_jpeg((width, height): (usize, usize), stream: &[u8], space: ColorSpace) -> Result<Vec<u8>, DecodeError> {
    // strict: else a cut frame is filled with grey and called good
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .set_max_width(width)
        .set_max_height(height)
        .jpeg_set_out_colorspace(space);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(stream), options);
    let pixels = decoder.decode().map_err(|e| DecodeError(format!("damaged MJPEG frame: {e:?}")))?;
    if decoder.dimensions() != Some((width, height)) || pixels.len() != width * height * space.num_components() {
        let (w, h) = decoder.dimensions().unwrap_or_default();
        return Err(DecodeError(format!("MJPEG frame of {w}x{h}, {width}x{height} expected")));
    }
    Ok(pixels)
}
