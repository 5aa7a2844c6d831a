//! What every format says of pictures: the words for packings of pixels, and how many bytes there must be.

use super::super::message::{Bytes, Encoding, ImageBody};
use crate::console::foreign;
use crate::image::Image;
use std::borrow::Cow;

/// Every word that is read, and what it means; the first of an encoding is the one that people are told.
const WORDS: [(&str, Encoding); 14] = [
    ("mono8", Encoding::Mono8),
    ("8UC1", Encoding::Mono8),
    ("mono16", Encoding::Mono16),
    ("rgb8", Encoding::Rgb8),
    ("bgr8", Encoding::Bgr8),
    ("8UC3", Encoding::Bgr8), // OpenCV's order, and without a word for it OpenCV made the picture
    ("yuyv", Encoding::Yuyv),
    ("yuv422_yuy2", Encoding::Yuyv),
    ("uyvy", Encoding::Uyvy),
    ("yuv422", Encoding::Uyvy),
    ("nv12", Encoding::Nv12),
    ("16UC1", Encoding::DepthMm),
    ("32FC1", Encoding::Float32),
    ("32FC", Encoding::Float32),
];

/// What a word for a packing of pixels means, in any format.
pub(super) fn encoding(word: &str) -> Result<Encoding, String> {
    WORDS.iter().find(|(known, _)| *known == word).map(|&(_, encoding)| encoding).ok_or_else(|| {
        let known: Vec<_> = WORDS.iter().map(|(known, _)| *known).collect();
        let known = known.join(", ");
        let word = foreign(word);
        format!(
            "its pixels are packed as '{word}', which is not read here; these are: {known}. Convert the topic first"
        )
    })
}

/// Bytes of one word of a pixel, which have an order where there are more than one.
fn word_bytes(encoding: Encoding) -> usize {
    match encoding {
        Encoding::Mono16 | Encoding::DepthMm => 2,
        Encoding::Float32 => 4,
        _ => 1,
    }
}

/// Bytes that the pixels of one row take.
fn row_bytes(encoding: Encoding, width: u32) -> u64 {
    let width = u64::from(width);
    match encoding {
        Encoding::Mono8 | Encoding::Nv12 => width,
        Encoding::Mono16 | Encoding::DepthMm | Encoding::Yuyv | Encoding::Uyvy => 2 * width,
        Encoding::Rgb8 | Encoding::Bgr8 => 3 * width,
        Encoding::Float32 => 4 * width,
    }
}

/// A picture as somebody else described it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Described<'a> {
    pub width: u32,
    pub height: u32,
    pub encoding: Encoding,
    pub step: u32,
    pub is_bigendian: bool,
    pub data: &'a [u8],
}

impl Described<'_> {
    /// The bytes that belong to the picture, little-endian, if there are enough.
    fn bytes(&self) -> Result<Cow<'_, [u8]>, String> {
        let Self { width, height, encoding, step, is_bigendian, data } = *self;
        let least = row_bytes(encoding, width);
        if least == 0 || height == 0 {
            return Err(format!("a picture of {width}x{height} px has no pixels"));
        }
        if u64::from(step) < least {
            return Err(format!("a row of {width} px takes {least} bytes, and its step says {step}"));
        }
        let planes = u64::from(step) * u64::from(height);
        let wanted = if encoding == Encoding::Nv12 { planes + planes / 2 } else { planes };
        let found = usize::try_from(wanted).ok().and_then(|wanted| data.get(..wanted)).ok_or_else(|| {
            format!(
                "a picture of {width}x{height} px with {step} bytes a row takes {wanted} bytes, and it has {}",
                data.len()
            )
        })?;
        let size = word_bytes(encoding);
        if !is_bigendian || size == 1 {
            return Ok(Cow::Borrowed(found));
        }
        let mut swapped = found.to_vec();
        for row in swapped.chunks_exact_mut(step as usize) {
            row[..least as usize].chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        Ok(Cow::Owned(swapped))
    }

    /// The picture with its bytes.
    pub(super) fn body(&self) -> Result<ImageBody, String> {
        let data = Bytes::from(self.bytes()?);
        let Self { width, height, encoding, step, .. } = *self;
        Ok(ImageBody { width, height, encoding, step, data })
    }

    /// The picture's numbers, if they are floats.
    pub(super) fn floats(&self) -> Result<Image<f32>, String> {
        if self.encoding != Encoding::Float32 {
            return Err("its numbers are not 32-bit floats".to_owned());
        }
        let bytes = self.bytes()?;
        let (width, height) = (self.width as usize, self.height as usize);
        let mut pixels = Vec::with_capacity(width * height);
        for row in bytes.chunks_exact(self.step as usize) {
            let (words, _) = row[..4 * width].as_chunks();
            pixels.extend(words.iter().map(|word| f32::from_le_bytes(*word)));
        }
        Ok(Image::new(width, height, pixels))
    }
}

/// Numbers as they lie in a file.
pub(super) fn float_bytes(image: &Image<f32>, convert: impl Fn(f32) -> f32) -> Vec<u8> {
    let mut bytes = vec![0; 4 * image.pixels().len()];
    let (words, _) = bytes.as_chunks_mut();
    for (word, pixel) in words.iter_mut().zip(image.pixels()) {
        *word = convert(*pixel).to_le_bytes();
    }
    bytes
}

/// The words for the file format of a compressed picture: `jpeg` or `png`, of what ROS's image transport makes of them.
pub(super) fn compressed(words: &str) -> Result<&'static str, String> {
    // The image transport writes "bgr8; jpeg compressed bgr8".
    let said = words.rsplit(';').next().unwrap_or(words).trim();
    match said.split(' ').next() {
        Some("jpeg" | "jpg") => Ok("jpeg"),
        Some("png") => Ok("png"),
        _ => Err(format!("a picture compressed as '{}' is not read here, only jpeg and png", foreign(words))),
    }
}
