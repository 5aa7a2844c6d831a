//! Decoder of JPEG files. Like the decoder of camera frames, it must reject truncated data: other decoders fill in the missing part and
//! report success.

use crate::error::PictureError;
use image::{ColorType, DynamicImage, GrayImage, RgbImage};
use std::borrow::Cow;
use stereopsis_frame::jpeg::{JpegError, frame, pixels as decoded, with_tables};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

fn options() -> DecoderOptions {
    DecoderOptions::default().set_strict_mode(true).set_max_width(usize::MAX).set_max_height(usize::MAX)
}

/// Returns width and height by the headers, px.
///
/// # Errors
/// The headers are damaged.
pub fn size(bytes: &[u8]) -> Result<(u32, u32), PictureError> {
    check_kind(bytes)?;
    // not strict here: later segments are checked when the image is decoded
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options().set_strict_mode(false));
    decoder.decode_headers().map_err(PictureError::JpegHeaders)?;
    let (width, height) = decoder.dimensions().ok_or(PictureError::NoSize)?;
    Ok((width as u32, height as u32))
}

/// Refuses kinds of JPEG that are not read, by the frame header: its marker, and its bits (ITU T.81, T.87).
fn check_kind(bytes: &[u8]) -> Result<(), PictureError> {
    let mut at = 2;
    while let Some(&[0xff, marker, high, low, bits]) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        match marker {
            0xff => at += 1,
            0xc3 | 0xc7 => return Err(PictureError::JpegKind("without loss")),
            0xf7 => return Err(PictureError::JpegKind("of the kind JPEG-LS")),
            0xc9..=0xcb | 0xcd..=0xcf => return Err(PictureError::JpegKind("with arithmetic coding")),
            0xc0..=0xc2 if bits != 8 => return Err(PictureError::JpegKind("of 12 bits")),
            0xc0..=0xc2 | 0xda => break,
            _ => at += 2 + usize::from(u16::from_be_bytes([high, low])),
        }
    }
    Ok(())
}

/// Returns the Exif data of a file, which begins with a TIFF header.
pub(super) fn exif(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options().set_strict_mode(false));
    decoder.decode_headers().ok()?;
    decoder.exif().cloned()
}

/// Returns the maximum memory for decoding an image of this number of pixels, bytes; 0 for a damaged one.
pub(super) fn taken(bytes: &[u8], pixels: u64) -> u64 {
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options());
    let (Some(frame), Ok(())) = (frame(bytes), decoder.decode_headers()) else { return 0 };
    let (color, components) = match decoder.input_colorspace() {
        Some(ColorSpace::Luma) => (ColorType::L8, 1),
        _ => (ColorType::Rgb8, 3),
    };
    // the decoder keeps an image of several scans as coefficients of two bytes
    let coefficients = if frame.is_plain { 0 } else { 2 * components };
    super::memory_limits::taken(color, pixels) + coefficients * pixels
}

/// Decodes the image to grey or RGB.
///
/// # Errors
/// The image is damaged or truncated.
pub(super) fn decode(bytes: &[u8]) -> Result<DynamicImage, PictureError> {
    let frame = frame(bytes).ok_or(PictureError::Truncated)?;
    // after an end marker the decoder fills in missing pixels, but it reports an early end of the data: pass no end marker
    let end = if frame.is_plain { frame.end } else { frame.end + 2 };
    let bytes = if frame.has_tables { Cow::from(&bytes[..end]) } else { with_tables(&bytes[..end]).into() };
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(&bytes[..]), options());
    decoder.decode_headers().map_err(JpegError::Damaged)?;
    let is_grey = decoder.input_colorspace() == Some(ColorSpace::Luma);
    let space = if is_grey { ColorSpace::Luma } else { ColorSpace::RGB };
    decoder.set_options(options().jpeg_set_out_colorspace(space));
    let mut pixels = vec![0; decoder.output_buffer_size().ok_or(PictureError::NoSize)?];
    decoded(&mut decoder, &mut pixels)?;
    let (width, height) = decoder.dimensions().unwrap_or_default();
    let (width, height) = (width as u32, height as u32);
    let image = if is_grey {
        GrayImage::from_raw(width, height, pixels).map(DynamicImage::from)
    } else {
        RgbImage::from_raw(width, height, pixels).map(DynamicImage::from)
    };
    image.ok_or(PictureError::Truncated)
}
