//! Depth images for a link: `compressedDepth` of ROS's image transport, as compressed_depth_image_transport 2.5 (Humble) and later write it.
//!
//! A header of twelve bytes, then a PNG of 16 bits, or columns, rows and RVL (Wilson 2017, Fast Lossless Depth Image Compression). Floats,
//! which are only read, are quantised by inverse depth: `z = a / (value - b)`, with a and b in the header.

use crate::error::MessageError;
use crate::message::Bytes;
use crate::unpack::Depth;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder as _};
use stereopsis_base::image::{Image, Luma};
use stereopsis_base::parameter::choices;
use stereopsis_frame::{Cause, MaxPixels};
use stereopsis_images::decode::{decode_picture, picture_size};

choices! {
    /// Format of depth images in a recording, and for subscribers.
    pub enum DepthFormat, default Mm {
        /// Whole millimetres, 16 bits, up to 65.535 m.
        Mm = "16UC1",
        /// Metres as 32-bit floats: any range, twice the bytes.
        Metres = "32FC1",
        /// Millimetres as PNG, for a link (ROS's compressedDepth).
        Png = "png",
        /// Millimetres as RVL, for a link: larger than PNG, made to be quick (ROS's compressedDepth).
        Rvl = "rvl",
    }
}

impl DepthFormat {
    /// Returns whether depth is compressed image by image.
    pub fn is_compressed(self) -> bool {
        matches!(self, Self::Png | Self::Rvl)
    }

    /// Returns the unit of the numbers, and what means none, in words.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Metres => "m, 32-bit floats, NaN where there is none",
            _ => "mm, 16 bits, 0 where there is none",
        }
    }

    /// Returns the `format` of a compressed message.
    fn message_format(self) -> &'static str {
        match self {
            Self::Rvl => "16UC1; compressedDepth rvl",
            _ => "16UC1; compressedDepth png",
        }
    }
}

/// Bytes of the header: a code (0 for inverse depth), a and b.
const HEADER: usize = 12;
/// Bytes of a word of RVL: eight nibbles, the first one highest.
const WORD: usize = 4;

/// Returns whether a message with this `format` is a compressed depth image.
pub(crate) fn is_compressed_depth(format: &str) -> bool {
    format.contains("compressedDepth")
}

/// Compresses depth in mm. Returns `format` and bytes of the message.
pub(crate) fn encode(mm: &Image<u16>, format: DepthFormat) -> Result<(String, Bytes), image::ImageError> {
    let mut bytes = vec![0; HEADER];
    let (width, height) = (mm.width() as u32, mm.height() as u32);
    if format == DepthFormat::Rvl {
        bytes.extend(width.to_le_bytes());
        bytes.extend(height.to_le_bytes());
        bytes.extend(rvl(mm.pixels()));
    } else {
        let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Fast, FilterType::Up);
        encoder.write_image(bytemuck::cast_slice(mm.pixels()), width, height, ExtendedColorType::L16)?;
    }
    Ok((format.message_format().to_owned(), bytes.into()))
}

/// Decompresses depth.
pub(crate) fn decode(format: &str, data: &[u8], max_pixels: MaxPixels) -> Result<Depth, MessageError> {
    let (header, data) = data.split_at_checked(HEADER).ok_or(MessageError::Cut { left: data.len(), wanted: HEADER })?;
    let words = if format.trim_end().ends_with("rvl") {
        let ([width, height], data) = size(data)?;
        max_pixels.check(width.into(), height.into()).map_err(fault)?;
        let pixels = of_rvl(data, width as usize * height as usize)?;
        Image::new(width as usize, height as usize, pixels)
    } else {
        let (width, height) = picture_size(data).map_err(fault)?;
        max_pixels.check(width.into(), height.into()).map_err(fault)?;
        match decode_picture(data, false, max_pixels).map_err(fault)?.luma {
            Luma::U16 { image, .. } => image,
            Luma::U8(_) => return Err(MessageError::Content("its depth has 8 bits instead of 16")),
        }
    };
    if !format.trim_start().starts_with("32FC1") {
        return Ok(Depth::Millimetres(words));
    }
    let float = |at: usize| header[at..].first_chunk().map_or(0.0, |&bytes| f32::from_le_bytes(bytes));
    let (a, b) = (float(4), float(8));
    Ok(Depth::Metres(words.map(|&value| if value == 0 { f32::NAN } else { a / (f32::from(value) - b) })))
}

fn fault(err: impl Into<Cause>) -> MessageError {
    MessageError::Picture(err.into())
}

fn size(data: &[u8]) -> Result<([u32; 2], &[u8]), MessageError> {
    let cut = MessageError::Cut { left: data.len(), wanted: 8 };
    let (size, data) = data.split_first_chunk::<8>().ok_or(cut)?;
    let [width, height] = [0, 4].map(|at| u32::from_le_bytes([size[at], size[at + 1], size[at + 2], size[at + 3]]));
    if width == 0 || height == 0 { Err(MessageError::NoPixels(width, height)) } else { Ok(([width, height], data)) }
}

/// Compresses words: runs of zeros and of others in turn, each with its length; of others the differences, zigzag, three bits a nibble.
fn rvl(words: &[u16]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(words.len());
    let (mut word, mut nibbles) = (0_u32, 0);
    let mut put = |mut value: u32| loop {
        let nibble = (value & 7) | if value > 7 { 8 } else { 0 };
        value >>= 3;
        word = word << 4 | nibble;
        nibbles += 1;
        if nibbles % 8 == 0 {
            bytes.extend(word.to_le_bytes());
        }
        if value == 0 {
            break;
        }
    };
    let (mut rest, mut last) = (words, 0);
    while !rest.is_empty() {
        let zeros = rest.iter().take_while(|&&value| value == 0).count();
        let others = rest[zeros..].iter().take_while(|&&value| value != 0).count();
        put(zeros as u32);
        put(others as u32);
        for &value in &rest[zeros..zeros + others] {
            let difference = i32::from(value) - last;
            last = i32::from(value);
            put(((difference << 1) ^ (difference >> 31)) as u32);
        }
        rest = &rest[zeros + others..];
    }
    let left = nibbles % 8;
    if left > 0 {
        bytes.extend((word << (4 * (8 - left))).to_le_bytes());
    }
    bytes
}

fn of_rvl(data: &[u8], count: usize) -> Result<Vec<u16>, MessageError> {
    let mut at = 0;
    let mut next = || {
        let mut value = 0_u32;
        for shift in (0..32).step_by(3) {
            let word = data.get(at / 8 * WORD..)?.first_chunk()?;
            let nibble = u32::from_le_bytes(*word) >> (28 - 4 * (at % 8)) & 15;
            at += 1;
            value |= (nibble & 7) << shift;
            if nibble & 8 == 0 {
                return Some(value);
            }
        }
        None
    };
    let cut = || MessageError::Content("its depth is damaged: RVL of fewer pixels than its size");
    let (mut words, mut last) = (Vec::new(), 0_i32);
    while words.len() < count {
        let zeros = next().ok_or_else(cut)? as usize;
        let others = next().ok_or_else(cut)? as usize;
        if zeros + others == 0 || zeros + others > count - words.len() {
            return Err(cut());
        }
        words.resize(words.len() + zeros, 0);
        for _ in 0..others {
            let zigzag = next().ok_or_else(cut)?;
            last = last.wrapping_add((zigzag >> 1) as i32 ^ -((zigzag & 1) as i32));
            words.push(last as u16);
        }
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MM: [u16; 12] = [0, 0, 0, 1500, 1501, 1499, 65_535, 1, 0, 0, 7, 0];
    /// `MM` by an encoder in Python that was written from Wilson's paper.
    const RVL: &str = "23e58f35bff39a89c121f3ff00000010";

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }

    #[test]
    fn rvl_is_that_of_others() {
        assert_eq!(rvl(&MM), bytes(RVL));
        assert_eq!(of_rvl(&bytes(RVL), MM.len()).unwrap(), MM);
        for (words, count) in [(&[][..], 1), (&bytes(RVL)[..8], 12), (&bytes(RVL), 5), (&[0; 8], 3), (&[0xFF; 8], 3)] {
            assert!(of_rvl(words, count).is_err(), "{words:?}");
        }
    }

    #[test]
    fn compressed_depth_comes_back_unchanged() {
        let mm = Image::new(4, 3, MM.to_vec());
        let noise =
            Image::from_fn(61, 47, |x, y| if (x / 7 + y / 5) % 3 == 0 { 0 } else { (x * 977 + y * 3701) as u16 });
        for image in [mm, noise, Image::filled(5, 5, 0), Image::filled(5, 5, 65_535)] {
            for format in [DepthFormat::Png, DepthFormat::Rvl] {
                let (name, data) = encode(&image, format).unwrap();
                assert_eq!(name, format!("16UC1; compressedDepth {format}"));
                assert_eq!(decode(&name, &data, MaxPixels::default()).unwrap(), Depth::Millimetres(image.clone()));
                for length in 0..data.len().min(40) {
                    assert!(
                        decode(&name, &data[..length], MaxPixels::default()).is_err(),
                        "{format} of {length} bytes"
                    );
                }
                assert!(decode(&name, &data, MaxPixels(8)).is_err(), "too many pixels");
            }
        }
    }

    #[test]
    fn reads_quantised_floats() {
        // a = 100 * 101, b = 1 - a / 10: the transport's defaults for depth up to 10 m
        let (a, b) = (10_100.0_f32, -1009.0_f32);
        let quantised =
            Image::new(3, 1, [2.0_f32, 9.5, f32::NAN].map(|z| if z < 10.0 { (a / z + b) as u16 } else { 0 }).to_vec());
        let (_, mut data) = encode(&quantised, DepthFormat::Png).map(|(name, data)| (name, data.to_vec())).unwrap();
        data[4..8].copy_from_slice(&a.to_le_bytes());
        data[8..12].copy_from_slice(&b.to_le_bytes());
        // an older name without "png"
        let Depth::Metres(z) = decode("32FC1; compressedDepth", &data, MaxPixels::default()).unwrap() else {
            unreachable!()
        };
        assert!((z.at(0, 0) - 2.0).abs() < 0.001 && (z.at(1, 0) - 9.5).abs() < 0.01 && z.at(2, 0).is_nan(), "{z:?}");
    }
}
