//! Pixels in messages: names of the encodings, and checks that an image has the bytes for its size.

use super::Format;
use crate::compressed_depth::is_compressed_depth;
use crate::error::MessageError;
use crate::message::{Bytes, Encoding, ImageBody, Mosaic};
use stereopsis_base::image::Image;

/// Names of each encoding: in ROS 2, in Foxglove's messages, and further names that are read.
const NAMES: [(Encoding, &str, &str, &[&str]); 19] = [
    (Encoding::Mono8, "mono8", "mono8", &["8UC1"]),
    (Encoding::Mono16, "mono16", "mono16", &[]),
    (Encoding::Rgb8, "rgb8", "rgb8", &[]),
    (Encoding::Bgr8, "bgr8", "bgr8", &["8UC3"]), // OpenCV's order; OpenCV writes images without naming it
    (Encoding::Rgba8, "rgba8", "rgba8", &[]),
    (Encoding::Bgra8, "bgra8", "bgra8", &["8UC4"]),
    (Encoding::Bayer8(Mosaic::Rggb), "bayer_rggb8", "bayer_rggb8", &[]),
    (Encoding::Bayer8(Mosaic::Bggr), "bayer_bggr8", "bayer_bggr8", &[]),
    (Encoding::Bayer8(Mosaic::Gbrg), "bayer_gbrg8", "bayer_gbrg8", &[]),
    (Encoding::Bayer8(Mosaic::Grbg), "bayer_grbg8", "bayer_grbg8", &[]),
    (Encoding::Bayer16(Mosaic::Rggb), "bayer_rggb16", "bayer_rggb16", &[]),
    (Encoding::Bayer16(Mosaic::Bggr), "bayer_bggr16", "bayer_bggr16", &[]),
    (Encoding::Bayer16(Mosaic::Gbrg), "bayer_gbrg16", "bayer_gbrg16", &[]),
    (Encoding::Bayer16(Mosaic::Grbg), "bayer_grbg16", "bayer_grbg16", &[]),
    (Encoding::Yuyv, "yuv422_yuy2", "yuyv", &[]),
    (Encoding::Uyvy, "yuv422", "uyvy", &[]),
    (Encoding::Nv12, "nv12", "nv12", &[]),
    (Encoding::DepthMm, "16UC1", "16UC1", &[]),
    (Encoding::Float32, "32FC1", "32FC1", &["32FC"]),
];

pub(super) fn name(encoding: Encoding, format: Format) -> &'static str {
    let (_, ros2, foxglove, _) = NAMES.into_iter().find(|(known, ..)| *known == encoding).unwrap_or(NAMES[0]);
    match format {
        Format::Ros2 => ros2,
        Format::Foxglove => foxglove,
    }
}

/// Returns the encoding with a name, in either format.
fn encoding(name: &str) -> Result<Encoding, MessageError> {
    let all = || {
        NAMES.iter().flat_map(|&(encoding, ros2, foxglove, others)| {
            [ros2, foxglove].into_iter().chain(others.iter().copied()).map(move |name| (name, encoding))
        })
    };
    all().find(|(known, _)| *known == name).map(|(_, encoding)| encoding).ok_or_else(|| {
        let mut known: Vec<_> = all().map(|(known, _)| known).collect();
        known.dedup();
        MessageError::Encoding { name: name.to_owned(), known }
    })
}

/// Returns the bytes of a row for each column, and the bytes of a word; the byte order matters for words of 2 bytes and more.
fn sizes(encoding: Encoding) -> (u32, usize) {
    match encoding {
        Encoding::Mono8 | Encoding::Nv12 | Encoding::Bayer8(_) => (1, 1),
        Encoding::Yuyv | Encoding::Uyvy => (2, 1),
        Encoding::Mono16 | Encoding::DepthMm | Encoding::Bayer16(_) => (2, 2),
        Encoding::Rgb8 | Encoding::Bgr8 => (3, 1),
        Encoding::Rgba8 | Encoding::Bgra8 => (4, 1),
        Encoding::Float32 => (4, 4),
    }
}

/// Fields of an image message.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedImage<'a> {
    pub width: u32,
    pub height: u32,
    pub encoding: &'a str,
    pub step: u32,
    pub is_bigendian: bool,
    pub data: &'a [u8],
}

impl PackedImage<'_> {
    /// Returns the image with little-endian words. Fails for an unknown encoding, no pixels, or fewer bytes than the size requires.
    pub(super) fn body(self) -> Result<ImageBody, MessageError> {
        let Self { width, height, encoding: name, step, is_bigendian, data } = self;
        let encoding = encoding(name)?;
        let (column_bytes, word_bytes) = sizes(encoding);
        if width == 0 || height == 0 {
            return Err(MessageError::NoPixels(width, height));
        }
        let row_bytes = u64::from(column_bytes) * u64::from(width);
        if u64::from(step) < row_bytes {
            return Err(MessageError::Step { width, bytes: row_bytes, step });
        }
        let plane = u64::from(step) * u64::from(height);
        let wanted = if encoding == Encoding::Nv12 { plane + plane / 2 } else { plane };
        let too_few = MessageError::ImageBytes { size: (width, height), step, wanted, found: data.len() };
        let bytes = usize::try_from(wanted).ok().and_then(|wanted| data.get(..wanted)).ok_or(too_few)?;
        let mut data = Bytes::from(bytes);
        if is_bigendian && word_bytes > 1 {
            for row in Bytes::make_mut(&mut data).chunks_exact_mut(step as usize) {
                row[..row_bytes as usize].chunks_exact_mut(word_bytes).for_each(<[u8]>::reverse);
            }
        }
        Ok(ImageBody { width, height, encoding, step, data })
    }

    pub(super) fn floats(self) -> Result<Image<f32>, MessageError> {
        self.body()?.floats().ok_or(MessageError::Content("its numbers are not 32-bit floats"))
    }
}

/// Converts pixels to little-endian bytes.
pub(super) fn float_bytes(image: &Image<f32>, convert: impl Fn(f32) -> f32) -> Vec<u8> {
    image.map(|&pixel| convert(pixel).to_le_bytes()).into_pixels().into_flattened()
}

/// Returns the file format of a compressed image from its bytes: `jpeg`, `png`, `webp`, `tiff`, `bmp` or `pnm`. The format field is
/// not used, because programs fill it differently: `jpeg`, `image/jpeg`, `bgr8; jpeg compressed bgr8`, nothing. Compressed depth, which has
/// a header of its own, keeps its field.
pub(super) fn compressed<'a>(format: &'a str, data: &[u8]) -> Result<&'a str, MessageError> {
    match data {
        _ if is_compressed_depth(format) => Ok(format),
        [0xFF, 0xD8, 0xFF, ..] => Ok("jpeg"),
        [0x89, b'P', b'N', b'G', ..] => Ok("png"),
        [b'I', b'I', 42, 0, ..] | [b'M', b'M', 0, 42, ..] => Ok("tiff"),
        [b'P', b'1'..=b'7', ..] => Ok("pnm"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Ok("webp"),
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Ok("bmp"),
        _ => Err(MessageError::Compression { format: format.to_owned(), is_empty: data.is_empty() }),
    }
}
