//! Images of numbers without a white level: floats, signed or of more than 16 bits, in TIFF, NPY and PFM. Both images of a pair get one range,
//! because matching compares their brightness.

use super::Turn;
use super::memory_limits::limits;
use crate::error::PictureError;
use image::{DynamicImage, ImageBuffer};
use std::io::Cursor;
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_base::process::memory;
use tiff::decoder::DecodingResult;

/// Magnitude from which on a number marks no data, such as -3.4e38 of GDAL.
const NO_NUMBER: f32 = 1e30;

/// Image of numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NumberImage {
    pub(crate) values: Image<f32>,
    /// Kind of the numbers, for people.
    pub(crate) kind: &'static str,
    pub(super) no_data: Option<f32>,
    pub(crate) turn: Turn,
}

/// Range of numbers that becomes black to white.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Range {
    /// Whole numbers from 0 to 255, which are brightness as they are.
    Bytes,
    /// Whole numbers from 0 to 65535, which are brightness as they are.
    Words,
    /// Numbers of black and of white.
    Between(f32, f32),
}

impl NumberImage {
    /// Returns the width and height of the upright image.
    pub(crate) fn size(&self) -> (usize, usize) {
        let (width, height) = self.values.size();
        if self.turn.is_quarter() { (height, width) } else { (width, height) }
    }

    /// Returns whether a number is one of the image, and not a mark of no data.
    fn is_number(&self, value: f32) -> bool {
        value.abs() < NO_NUMBER && self.no_data != Some(value)
    }

    /// Returns the upright image in a range; pixels without a number are black.
    pub(crate) fn picture(&self, range: Range) -> Picture {
        let (width, height) = self.values.size();
        let word = |&value: &f32| match range {
            _ if !self.is_number(value) => 0,
            Range::Bytes | Range::Words => value as u16,
            Range::Between(black, _) if value < black => 0,
            Range::Between(black, white) if value > white && white > black => 0,
            // 0 is for pixels without a number
            Range::Between(black, white) => {
                let share = f64::from(value - black) / f64::from(white - black).max(f64::MIN_POSITIVE);
                1 + (share * 65_534.0).round() as u16
            }
        };
        let words: Vec<u16> = self.values.pixels().iter().map(word).collect();
        let buffer = ImageBuffer::from_vec(width as u32, height as u32, words);
        let mut image = DynamicImage::ImageLuma16(buffer.unwrap_or_default());
        self.turn.apply(&mut image);
        let words = Image::new(image.width() as usize, image.height() as usize, image.into_luma16().into_raw());
        match range {
            Range::Bytes => Luma::U8(words.map(|&word| word as u8)).into(),
            Range::Words => Luma::of_words(words).into(),
            Range::Between(..) => Luma::U16 { image: words, bits: 16 }.into(),
        }
    }
}

/// Returns the range of all numbers of some images; a single value that is farther from all others than these are from each other marks no
/// data, such as -9999. `None` for images without a number.
pub(crate) fn range(images: &[&NumberImage]) -> Option<Range> {
    let numbers = |image: &&NumberImage| {
        image.values.pixels().iter().copied().filter(|&value| image.is_number(value)).collect::<Vec<_>>()
    };
    let values: Vec<f32> = images.iter().flat_map(numbers).collect();
    if values.is_empty() {
        return None;
    }
    let bounds = |(low, high): (f32, f32), value: &f32| (low.min(*value), high.max(*value));
    let (low, high) = values.iter().fold((f32::INFINITY, f32::NEG_INFINITY), bounds);
    let is_whole = values.iter().all(|value| value.fract() == 0.0);
    if is_whole && low >= 0.0 && high <= 65_535.0 {
        return Some(if high <= 255.0 { Range::Bytes } else { Range::Words });
    }
    let inside = |from: f32, to: f32| values.iter().copied().filter(move |value| *value > from && *value < to);
    let (next_low, next_high) =
        (inside(low, f32::INFINITY).fold(high, f32::min), inside(f32::NEG_INFINITY, high).fold(low, f32::max));
    let black = if next_low < high && next_low - low > high - next_low { next_low } else { low };
    let white = if next_high > black && high - next_high > next_high - black { next_high } else { high };
    Some(Range::Between(black, white))
}

/// Decodes the numbers of the first image of a TIFF.
///
/// # Errors
/// The image is damaged, or has several numbers for each pixel.
pub(super) fn of_tiff(bytes: &[u8], size: (u32, u32)) -> Result<Image<f32>, PictureError> {
    let pixels = u64::from(size.0) * u64::from(size.1);
    memory::check(12 * pixels).map_err(|free| PictureError::NumbersMemory { bytes: 12 * pixels, free })?;
    let mut room = tiff::decoder::Limits::default();
    room.decoding_buffer_size = usize::try_from(limits(pixels).max_alloc.unwrap_or_default()).unwrap_or(usize::MAX);
    let mut decoder = tiff::decoder::Decoder::new(Cursor::new(bytes))?.with_limits(room);
    let values = floats(decoder.read_image()?);
    if values.len() as u64 != pixels {
        return Err(PictureError::Count { numbers: values.len(), size });
    }
    Ok(Image::new(size.0 as usize, size.1 as usize, values))
}

/// Returns the numbers of a TIFF as floats.
pub(super) fn floats(numbers: DecodingResult) -> Vec<f32> {
    match numbers {
        DecodingResult::F16(values) => values.into_iter().map(f32::from).collect(),
        DecodingResult::F32(values) => values,
        DecodingResult::F64(values) => values.into_iter().map(|value| value as f32).collect(),
        DecodingResult::I8(values) => values.into_iter().map(f32::from).collect(),
        DecodingResult::I16(values) => values.into_iter().map(f32::from).collect(),
        DecodingResult::I32(values) => values.into_iter().map(|value| value as f32).collect(),
        DecodingResult::I64(values) => values.into_iter().map(|value| value as f32).collect(),
        DecodingResult::U8(values) => values.into_iter().map(f32::from).collect(),
        DecodingResult::U16(values) => values.into_iter().map(f32::from).collect(),
        DecodingResult::U32(values) => values.into_iter().map(|value| value as f32).collect(),
        DecodingResult::U64(values) => values.into_iter().map(|value| value as f32).collect(),
    }
}
