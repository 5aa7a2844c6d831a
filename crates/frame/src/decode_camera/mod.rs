//! Decoder of camera frames: luma directly from the data, RGB on request. Luma keeps the camera's range: YUYV and NV12 usually 16 to 235
//! (BT.601, limited), MJPEG 0 to 255 (BT.601, full). A damaged frame is an error, because a partial image would be matched. Two kinds of
//! damage are undetected: a cut in the last row of blocks, and a lost end replaced by bytes of an older frame.

mod damage;
mod format;
mod mjpeg;
#[cfg(test)]
mod tests;

pub use damage::{Damage, Damaged, DecodeError};
pub use format::PixelFormat;

use crate::Pixels;
use stereopsis_base::image::{Image, Luma, Picture};

/// Memory layout of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Pixel format.
    pub format: PixelFormat,
    /// Width, px.
    pub width: usize,
    /// Height, px.
    pub height: usize,
    /// Stride from one row to the next, bytes; at least the row's length.
    pub stride: usize,
}

impl Layout {
    /// Creates a layout without gaps between rows.
    pub fn tight(format: PixelFormat, (width, height): (usize, usize)) -> Self {
        Self { format, width, height, stride: width.saturating_mul(format.bytes_per_pixel().unwrap_or(0)) }
    }

    /// Raises the stride; drivers without a stride report 0 or a wrong number.
    #[must_use]
    pub fn with_stride(self, stride: usize) -> Self {
        Self { stride: self.stride.max(stride), ..self }
    }

    /// Cuts the image's bytes out of a frame's bytes, which may be longer (whole memory pages).
    pub fn cut<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let rows = match self.format {
            PixelFormat::Mjpeg => return bytes,
            PixelFormat::Nv12 => self.height.saturating_add(self.height / 2),
            _ => self.height,
        };
        &bytes[..bytes.len().min(rows.saturating_mul(self.stride))]
    }

    fn rows<'a>(&self, bytes: &'a [u8], rows: usize) -> Result<impl Iterator<Item = &'a [u8]>, DecodeError> {
        let row = self.width.saturating_mul(self.format.bytes_per_pixel().unwrap_or(0));
        let stride = self.stride.max(row);
        let needed = rows.checked_sub(1).map_or(0, |gaps| gaps.saturating_mul(stride).saturating_add(row));
        let Some(bytes) = bytes.get(..needed) else {
            let (format, size) = (self.format, (self.width, self.height));
            return Err(DecodeError::Short { format, bytes: bytes.len(), expected: needed, size });
        };
        Ok(bytes.chunks(stride.max(1)).map(move |line| &line[..row]))
    }
}

/// Decodes one frame, with RGB if `pixels` includes colours and the format has chroma.
///
/// Drivers do not report the number of used bits of Y16: the smallest of 10, 12, 14 and 16 that holds the brightest pixel is taken. The
/// reader of a stream never lowers it again.
///
/// Every input has a defined result: the length is checked before memory is allocated.
///
/// # Errors
/// Too few bytes for the size, no rows or columns, an odd width (YUYV) or size (NV12), a damaged JPEG or one of another size.
pub fn decode(layout: Layout, bytes: &[u8], pixels: Pixels) -> Result<Picture, DecodeError> {
    let Layout { width, height, .. } = layout;
    if width == 0 || height == 0 {
        return Err(DecodeError::Empty(width, height));
    }
    let color = pixels.has_color();
    match layout.format {
        PixelFormat::Yuyv => decode_yuyv(layout, bytes, color),
        PixelFormat::Nv12 => decode_nv12(layout, bytes, color),
        PixelFormat::Grey => Ok(Picture { luma: Luma::U8(plane(layout, bytes)?), rgb: None }),
        PixelFormat::Mjpeg => mjpeg::decode((layout.width, layout.height), bytes, pixels),
        PixelFormat::Y16 => decode_y16(layout, bytes),
    }
}

fn decode_yuyv(layout: Layout, bytes: &[u8], color: bool) -> Result<Picture, DecodeError> {
    let Layout { width, height, .. } = layout;
    if !width.is_multiple_of(2) {
        return Err(DecodeError::OddSize { format: layout.format, size: (width, height) });
    }
    // before the allocation, because the size may be nonsense
    let rows = layout.rows(bytes, height)?;
    let mut luma = Vec::with_capacity(width * height);
    let mut rgb = Vec::with_capacity(if color { width * height } else { 0 });
    for row in rows {
        luma.extend(row.iter().step_by(2));
        if color {
            let (fours, _) = row.as_chunks::<4>();
            rgb.extend(fours.iter().flat_map(|&[y0, u, y1, v]| [rgb_from_yuv(y0, u, v), rgb_from_yuv(y1, u, v)]));
        }
    }
    let rgb = color.then(|| Image::new(width, height, rgb));
    Ok(Picture { luma: Luma::U8(Image::new(width, height, luma)), rgb })
}

fn decode_nv12(layout: Layout, bytes: &[u8], color: bool) -> Result<Picture, DecodeError> {
    let Layout { width, height, .. } = layout;
    let stride = layout.stride.max(width);
    if !width.is_multiple_of(2) || !height.is_multiple_of(2) {
        return Err(DecodeError::OddSize { format: layout.format, size: (width, height) });
    }
    let luma = plane(layout, bytes)?;
    // a partial image is an error, even if colour is not requested
    let colours: Vec<&[u8]> =
        layout.rows(bytes.get(stride.saturating_mul(height)..).unwrap_or_default(), height / 2)?.collect();
    let rgb = color.then(|| {
        Image::from_fn(width, height, |x, y| {
            let uv = &colours[y / 2][x & !1..];
            rgb_from_yuv(luma.at(x, y), uv[0], uv[1])
        })
    });
    Ok(Picture { luma: Luma::U8(luma), rgb })
}

fn decode_y16(layout: Layout, bytes: &[u8]) -> Result<Picture, DecodeError> {
    let rows = layout.rows(bytes, layout.height)?;
    let mut pixels = Vec::with_capacity(layout.width * layout.height);
    for row in rows {
        pixels.extend(row.as_chunks::<2>().0.iter().map(|&word| u16::from_le_bytes(word)));
    }
    Ok(Luma::of_words(Image::new(layout.width, layout.height, pixels)).into())
}

fn plane(layout: Layout, bytes: &[u8]) -> Result<Image<u8>, DecodeError> {
    let rows = layout.rows(bytes, layout.height)?;
    let mut pixels = Vec::with_capacity(layout.width * layout.height);
    rows.for_each(|row| pixels.extend(row));
    Ok(Image::new(layout.width, layout.height, pixels))
}

/// Converts YUV to RGB: BT.601, limited range, in 1/256.
pub fn rgb_from_yuv(y: u8, u: u8, v: u8) -> [u8; 3] {
    let y = 298 * (i32::from(y) - 16) + 128;
    let (u, v) = (i32::from(u) - 128, i32::from(v) - 128);
    [y + 409 * v, y - 100 * u - 208 * v, y + 516 * u].map(|c| (c >> 8).clamp(0, 255) as u8)
}
