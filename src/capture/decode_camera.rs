//! Bytes of a camera to a picture: YUYV and MJPEG, luma straight from the data, RGB only if asked. Luma keeps the range that
//! the camera sends: YUYV usually 16 to 235 (BT.601, limited), MJPEG 0 to 255 (BT.601, full). A damaged frame is an error,
//! because half a picture would be matched too. What goes unseen: a cut in the last row of blocks, and a lost end whose
//! place an older frame's bytes take.

use crate::frame::{Luma, Picture};
use crate::image::Image;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// How a camera packs its pixels, as far as they can be read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PixelFormat {
    /// Y U Y V: two bytes per pixel, colour shared by two neighbours; nothing is lost in luma.
    Yuyv,
    /// A JPEG for each frame.
    Mjpeg,
}

impl PixelFormat {
    /// The name under which cameras list it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yuyv => "YUYV",
            Self::Mjpeg => "MJPEG",
        }
    }
}

/// A frame that cannot be decoded; it is dropped and counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(pub String);

/// Decodes one frame of `size` = `(width, height)`, with RGB if `color`.
///
/// # Errors
/// Too few bytes for the size, an odd width (YUYV), a damaged or cut JPEG, a JPEG of another size.
pub fn decode(format: PixelFormat, size: (usize, usize), bytes: &[u8], color: bool) -> Result<Picture, DecodeError> {
    match format {
        PixelFormat::Yuyv => decode_yuyv(size, bytes, color),
        PixelFormat::Mjpeg => decode_mjpeg(size, bytes, color),
    }
}

fn decode_yuyv((width, height): (usize, usize), bytes: &[u8], color: bool) -> Result<Picture, DecodeError> {
    let expected = 2 * width * height;
    if !width.is_multiple_of(2) {
        return Err(DecodeError(format!("YUYV frame of odd width {width}")));
    }
    // drivers may hand over more than the picture (whole memory pages)
    let Some(bytes) = bytes.get(..expected) else {
        let got = bytes.len();
        return Err(DecodeError(format!("YUYV frame of {got} bytes, {expected} expected for {width}x{height}")));
    };
    let luma = bytes.iter().step_by(2).copied().collect();
    let rgb = color.then(|| {
        let (fours, _) = bytes.as_chunks::<4>();
        let pixels = fours.iter().flat_map(|&[y0, u, y1, v]| [rgb_from_yuv(y0, u, v), rgb_from_yuv(y1, u, v)]);
        Image::new(width, height, pixels.collect())
    });
    Ok(Picture { luma: Luma::U8(Image::new(width, height, luma)), rgb })
}

/// BT.601, limited range, in 1/256.
fn rgb_from_yuv(y: u8, u: u8, v: u8) -> [u8; 3] {
    let y = 298 * (i32::from(y) - 16) + 128;
    let (u, v) = (i32::from(u) - 128, i32::from(v) - 128);
    [y + 409 * v, y - 100 * u - 208 * v, y + 516 * u].map(|c| (c >> 8).clamp(0, 255) as u8)
}

fn decode_mjpeg(size: (usize, usize), bytes: &[u8], color: bool) -> Result<Picture, DecodeError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use ::image::codecs::jpeg::JpegEncoder;

    /// A smooth picture, as JPEG keeps them well.
    fn ramp(width: usize, height: usize) -> Image<u8> {
        Image::from_fn(width, height, |x, y| (40 + 3 * x + 2 * y).min(255) as u8)
    }

    fn jpeg(picture: &Image<u8>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let rgb: Vec<u8> = picture.pixels().iter().flat_map(|&v| [v, v, v]).collect();
        let (width, height) = picture.size();
        let mut encoder = JpegEncoder::new_with_quality(&mut bytes, 95);
        encoder.encode(&rgb, width as u32, height as u32, ::image::ExtendedColorType::Rgb8).expect("encodes");
        bytes
    }

    fn luma(picture: &Picture) -> Image<u8> {
        picture.luma.to_u8()
    }

    /// The stream without its Huffman tables, as many cameras send it.
    fn without_tables(jpeg: &[u8]) -> Vec<u8> {
        let mut kept = jpeg[..2].to_vec();
        let mut at = 2;
        while jpeg[at + 1] != 0xda {
            let length = 2 + usize::from(u16::from_be_bytes([jpeg[at + 2], jpeg[at + 3]]));
            if jpeg[at + 1] != 0xc4 {
                kept.extend(&jpeg[at..at + length]);
            }
            at += length;
        }
        kept.extend(&jpeg[at..]);
        kept
    }

    fn differ_by_at_most(a: &Image<u8>, b: &Image<u8>, most: u8) {
        assert_eq!(a.size(), b.size());
        let worst = a.pixels().iter().zip(b.pixels()).map(|(&a, &b)| a.abs_diff(b)).max();
        assert!(worst <= Some(most), "{worst:?}");
    }

    #[test]
    fn yuyv_luma_is_the_y_bytes() {
        let bytes = [1, 200, 2, 50, 3, 128, 4, 128, 99, 99];
        let picture = decode(PixelFormat::Yuyv, (2, 2), &bytes, false).expect("decodes");
        assert_eq!(luma(&picture), Image::new(2, 2, vec![1, 2, 3, 4]));
        assert_eq!(picture.rgb, None);
    }

    #[test]
    fn yuyv_colours_are_those_of_bt601() {
        // red, green, blue and the two ends, as BT.601 has them in limited range
        let cases = [([81, 90, 240], [255, 0, 0]), ([145, 54, 34], [0, 255, 0]), ([41, 240, 110], [0, 0, 255])];
        let ends = [([16, 128, 128], [0, 0, 0]), ([235, 128, 128], [255, 255, 255])];
        for ([y, u, v], rgb) in cases.into_iter().chain(ends) {
            let picture = decode(PixelFormat::Yuyv, (2, 1), &[y, u, y, v], true).expect("decodes");
            let got = picture.rgb.expect("asked for").at(1, 0);
            assert!((0..3).all(|c| u8::abs_diff(got[c], rgb[c]) <= 1), "{got:?} {rgb:?}");
        }
    }

    #[test]
    fn yuyv_of_wrong_length_is_refused() {
        let error = decode(PixelFormat::Yuyv, (4, 2), &[0; 15], false).expect_err("too short");
        assert_eq!(error.0, "YUYV frame of 15 bytes, 16 expected for 4x2");
        assert!(decode(PixelFormat::Yuyv, (3, 2), &[0; 12], false).is_err());
    }

    #[test]
    fn mjpeg_comes_back_nearly_as_it_was() {
        let picture = ramp(46, 30);
        for stream in [jpeg(&picture), without_tables(&jpeg(&picture))] {
            let decoded = decode(PixelFormat::Mjpeg, (46, 30), &stream, true).expect("decodes");
            differ_by_at_most(&luma(&decoded), &picture, 4);
            let green = decoded.rgb.expect("asked for").map(|c| c[1]);
            differ_by_at_most(&green, &picture, 6);
        }
    }

    /// A real camera's frame without Huffman tables, beside its right decoding.
    #[test]
    fn a_real_cameras_frame_is_decoded() {
        let Some(data) = std::env::var_os("STEREOPSIS_DATA") else {
            eprintln!("skipped: STEREOPSIS_DATA is not set");
            return;
        };
        let folder = std::path::Path::new(&data).join("uvc/mjpeg_no_dht");
        let frame = std::fs::read(folder.join("mjpeg.jpg")).expect("is there");
        let truth = ::image::open(folder.join("mjpeg.png")).expect("is there").to_rgb8();
        let size = (truth.width() as usize, truth.height() as usize);
        let decoded = decode(PixelFormat::Mjpeg, size, &frame, true).expect("decodes").rgb.expect("asked for");
        let truth = truth.into_raw();
        let off: u64 = decoded.pixels().as_flattened().iter().zip(&truth).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
        assert!((off as f64) < 2.0 * truth.len() as f64, "{off}");
    }

    #[test]
    fn bytes_behind_the_end_are_no_harm() {
        let mut stream = jpeg(&ramp(32, 32));
        stream.extend([0; 1000]);
        assert!(decode(PixelFormat::Mjpeg, (32, 32), &stream, false).is_ok());
    }

    #[test]
    fn damaged_mjpeg_is_refused_and_never_a_panic() {
        let whole = jpeg(&ramp(64, 48));
        let header = whole.windows(2).position(|m| m == [0xff, 0xda]).expect("has a scan");
        let most = header + (whole.len() - header) * 3 / 4;
        for length in 0..most {
            let cut = &whole[..length];
            // as a driver's buffer goes on: not at all, or with zeros; or as some cameras end it all the same
            for behind in [&[], &[0; 2000][..], &[0xff, 0xd9]] {
                let stream = [cut, behind].concat();
                let decoded = decode(PixelFormat::Mjpeg, (64, 48), &stream, true);
                assert!(decoded.is_err(), "{length} bytes and {} behind", behind.len());
            }
        }
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..500 {
            let mut broken = whole.clone();
            for _ in 0..8 {
                let at = random.usize(..broken.len());
                broken[at] = random.u8(..);
            }
            let _ = decode(PixelFormat::Mjpeg, (64, 48), &broken, true);
        }
    }

    #[test]
    fn mjpeg_of_another_size_is_refused() {
        let stream = jpeg(&ramp(32, 16));
        let error = decode(PixelFormat::Mjpeg, (32, 32), &stream, false).expect_err("32x16");
        assert_eq!(error.0, "MJPEG frame of 32x16, 32x32 expected");
        assert!(decode(PixelFormat::Mjpeg, (16, 16), &stream, false).is_err());
    }
}
