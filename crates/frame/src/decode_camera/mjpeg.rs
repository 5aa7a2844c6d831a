//! Decoder of one MJPEG frame of a camera: bytes in, luma and optionally RGB out. Damaged frames are errors and never a partial image.

#![allow(
    clippy::inline_always,
    reason = "what is not inlined is not compiled for the vector instructions that are there"
)]

use super::DecodeError;
use crate::Pixels;
use crate::jpeg::{JpegError, frame as jpeg_frame, pixels as jpeg_pixels, with_tables};
use fearless_simd::{Level, dispatch};
use stereopsis_base::image::{Image, Luma, Picture};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// Number of pixels whose colours are computed together.
const BLOCK: usize = 64;

pub(super) fn decode((width, height): (usize, usize), bytes: &[u8], pixels: Pixels) -> Result<Picture, DecodeError> {
    let stream = prepare(bytes)?;
    if pixels == Pixels::Unread {
        return Ok(Picture { luma: Luma::U8(Image::filled(width, height, 0)), rgb: None });
    }
    // strict mode, because the decoder otherwise fills a truncated frame with grey and reports success
    let options = DecoderOptions::default().set_strict_mode(true);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(&stream[..]), options);
    decoder.decode_headers().map_err(JpegError::Damaged)?;
    if decoder.dimensions() != Some((width, height)) {
        let got = decoder.dimensions().unwrap_or_default();
        return Err(DecodeError::OtherSize { got, expected: (width, height) });
    }
    let mut luma = vec![0; width * height];
    let rgb = if pixels.has_color() && decoder.input_colorspace() == Some(ColorSpace::YCbCr) {
        decoder.set_options(options.jpeg_set_out_colorspace(ColorSpace::YCbCr));
        let mut colors = vec![[0; 3]; width * height];
        jpeg_pixels(&mut decoder, colors.as_flattened_mut())?;
        dispatch!(Level::new(), _ => separate(&mut colors, &mut luma));
        Some(Image::new(width, height, colors))
    } else {
        decoder.set_options(options.jpeg_set_out_colorspace(ColorSpace::Luma));
        jpeg_pixels(&mut decoder, &mut luma)?;
        pixels.has_color().then(|| Image::new(width, height, luma.iter().map(|&grey| [grey; 3]).collect()))
    };
    Ok(Picture { luma: Luma::U8(Image::new(width, height, luma)), rgb })
}

/// Separates luma from YCbCr pixels and converts these to RGB in place, in plain loops that become vector instructions.
#[inline(always)]
fn separate(pixels: &mut [[u8; 3]], luma: &mut [u8]) {
    let (blocks, rest) = pixels.as_chunks_mut::<BLOCK>();
    let (luma_blocks, luma_rest) = luma.as_chunks_mut::<BLOCK>();
    for (block, luma) in blocks.iter_mut().zip(luma_blocks) {
        let [mut blue, mut red, mut green] = [[0; BLOCK]; 3];
        for i in 0..BLOCK {
            [luma[i], blue[i], red[i]] = block[i];
        }
        for i in 0..BLOCK {
            [red[i], green[i], blue[i]] = rgb_of([luma[i], blue[i], red[i]]);
        }
        for i in 0..BLOCK {
            block[i] = [red[i], green[i], blue[i]];
        }
    }
    for (pixel, luma) in rest.iter_mut().zip(luma_rest) {
        (*luma, *pixel) = (pixel[0], rgb_of(*pixel));
    }
}

/// Converts YCbCr to RGB: BT.601, full range, in 1/2^14, rounded as in zune-jpeg.
#[inline(always)]
fn rgb_of([y, cb, cr]: [u8; 3]) -> [u8; 3] {
    let (y, cb, cr) = (i32::from(y) << 14 | 0x1fff, i32::from(cb) - 128, i32::from(cr) - 128);
    let channel = |v: i32| (v >> 14).clamp(0, 255) as u8;
    [channel(y + 22970 * cr), channel(y - 11700 * cr - 5638 * cb), channel(y + 29032 * cb)]
}

/// Prepares the frame for the decoder: without end marker, and with the standard Huffman tables (K.3), which many cameras omit.
///
/// After an early end marker the decoder fills in pixels, whereas it reports an early end of the data.
fn prepare(frame: &[u8]) -> Result<Vec<u8>, DecodeError> {
    const START: [u8; 2] = [0xff, 0xd8];
    if !frame.starts_with(&START) {
        return Err(DecodeError::NoJpeg(frame.len()));
    }
    // after the end marker the driver's buffer contains zeros or bytes of an older frame
    let parts = jpeg_frame(frame).ok_or(DecodeError::NoEnd)?;
    if !parts.is_plain {
        // no camera sends such a frame, and the decoder panics on damage of this form
        return Err(DecodeError::Scans);
    }
    if !parts.is_luma_finest {
        // no camera sends it, and zune-jpeg 0.5.15 decodes another brightness with the colours than without
        return Err(DecodeError::CoarseLuma);
    }
    Ok(with_tables(&frame[..parts.end]))
}
