//! Decoder of JPEG files, as strict as the decoder of camera frames: other decoders fill in a missing end and report success.

use image::{ColorType, DynamicImage, GrayImage, RgbImage};
use std::panic::{AssertUnwindSafe, catch_unwind};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// Structure of a JPEG file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::capture) struct Frame {
    /// Offset of the end marker. Any bytes may follow it.
    pub(in crate::capture) end: usize,
    /// The picture is one sequential scan with all its components.
    pub(in crate::capture) is_plain: bool,
}

/// Parses the segments of a JPEG up to its end marker; `None` where it has none.
pub(in crate::capture) fn frame(bytes: &[u8]) -> Option<Frame> {
    let mut at = 2;
    let (mut scans, mut is_sequential) = (0, true);
    let (mut components, mut scanned) = (None, None);
    loop {
        let &[0xff, marker] = bytes.get(at..)?.first_chunk()? else { return None };
        match marker {
            0xff => at += 1, // a fill byte
            0xd9 => {
                return Some(Frame { end: at, is_plain: is_sequential && scans == 1 && components == scanned });
            }
            0x01 | 0xd0..=0xd8 => at += 2,
            _ => {
                is_sequential &= !matches!(marker, 0xc2 | 0xc6 | 0xca | 0xce);
                match marker {
                    0xc0..=0xc3 => components = bytes.get(at + 9),
                    0xda => scanned = bytes.get(at + 4),
                    _ => {}
                }
                at += 2 + usize::from(u16::from_be_bytes(*bytes.get(at + 2..)?.first_chunk()?));
                if marker == 0xda {
                    scans += 1;
                    at = end_of_scan(bytes, at)?;
                }
            }
        }
    }
}

/// Offset of the first marker behind the data of a scan.
fn end_of_scan(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += bytes.get(at..)?.iter().position(|&byte| byte == 0xff)?;
        match bytes.get(at + 1)? {
            // a byte of data, or a restart
            0x00 | 0xd0..=0xd7 => at += 2,
            _ => return Some(at),
        }
    }
}

fn options() -> DecoderOptions {
    DecoderOptions::default().set_strict_mode(true).set_max_width(usize::MAX).set_max_height(usize::MAX)
}

/// Pixels of a picture whose headers are decoded. zune-jpeg 0.5.15 panics on some damaged pictures; the panic is caught here.
///
/// # Errors
/// The picture is damaged; the text gives the reason.
pub(in crate::capture) fn pixels(decoder: &mut JpegDecoder<ZCursor<&[u8]>>) -> Result<Vec<u8>, String> {
    let decoded = catch_unwind(AssertUnwindSafe(|| decoder.decode()));
    decoded.map_err(|_| "the decoder gave up")?.map_err(|err| format!("{err:?}"))
}

/// Width and height.
///
/// # Errors
/// The headers are damaged; the text gives the reason.
pub(crate) fn size(bytes: &[u8]) -> Result<(u32, u32), String> {
    // segments behind the headers are checked when the picture is decoded
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options().set_strict_mode(false));
    decoder.decode_headers().map_err(|err| format!("its headers are damaged: {err:?}"))?;
    let (width, height) = decoder.dimensions().ok_or("it does not say its size")?;
    Ok((width as u32, height as u32))
}

/// Bytes that a picture of so many pixels takes at most while it is decoded; 0 for one that is damaged.
pub(super) fn taken(bytes: &[u8], pixels: u64) -> u64 {
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options());
    let (Some(frame), Ok(())) = (frame(bytes), decoder.decode_headers()) else { return 0 };
    let (color, components) = match decoder.input_colorspace() {
        Some(ColorSpace::Luma) => (ColorType::L8, 1),
        _ => (ColorType::Rgb8, 3),
    };
    // one in several scans is kept as coefficients of two bytes
    let coefficients = if frame.is_plain { 0 } else { 2 * components };
    super::taken(color, pixels) + coefficients * pixels
}

/// Decodes the picture, grey or RGB.
///
/// # Errors
/// It is damaged or truncated; the text gives the reason.
pub(super) fn decode(bytes: &[u8]) -> Result<DynamicImage, String> {
    let frame = frame(bytes).ok_or("it ends before its picture does")?;
    // the decoder fills in pixels behind an early end marker, but reports an early end of the data
    let end = if frame.is_plain { frame.end } else { frame.end + 2 };
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(&bytes[..end]), options());
    let damaged = |err| format!("damaged: {err:?}");
    decoder.decode_headers().map_err(damaged)?;
    let is_grey = decoder.input_colorspace() == Some(ColorSpace::Luma);
    let space = if is_grey { ColorSpace::Luma } else { ColorSpace::RGB };
    decoder.set_options(options().jpeg_set_out_colorspace(space));
    let pixels = pixels(&mut decoder).map_err(|why| format!("damaged: {why}"))?;
    let (width, height) = decoder.dimensions().unwrap_or_default();
    let (width, height) = (width as u32, height as u32);
    let image = if is_grey {
        GrayImage::from_raw(width, height, pixels).map(DynamicImage::from)
    } else {
        RgbImage::from_raw(width, height, pixels).map(DynamicImage::from)
    };
    image.ok_or_else(|| format!("damaged: it has too few pixels for {width}x{height}"))
}
