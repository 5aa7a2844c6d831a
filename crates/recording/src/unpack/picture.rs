//! Decodes the image of one message.

use super::mosaic;
use crate::Body;
use crate::compressed_depth::is_compressed_depth;
use crate::error::MessageError;
use crate::message::{Encoding, ImageBody, Mosaic};
use std::sync::Arc;
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_frame::decode_camera::{Layout, PixelFormat, decode};
use stereopsis_frame::{Cause, EncodedImage, MaxPixels, Pixels};
use stereopsis_images::decode::{decode_picture, jpeg_size, picture_size};

/// Returns the image of a message. `bits` is the number of significant bits of a pixel, where it is known. `check` gets the columns
/// and rows of the header, before anything is decoded.
pub(super) fn of(
    body: &Body,
    bits: Option<u8>,
    pixels: Pixels,
    max_pixels: MaxPixels,
    check: impl Fn(u64, u64) -> Result<(), MessageError>,
) -> Result<Picture, MessageError> {
    let check = |width: u64, height: u64| {
        check(width, height)?;
        max_pixels.check(width, height).map_err(fault)
    };
    let picture = match body {
        Body::Image(image) => {
            check(image.width.into(), image.height.into())?;
            of_memory(image, bits, pixels)?
        }
        Body::Compressed { format, .. } if is_compressed_depth(format) => {
            return Err(MessageError::Content("it is compressed depth, and no image of a view"));
        }
        Body::Compressed { data, .. } => {
            if let Some(shot) = encoded(body, false) {
                check(shot.layout.width as u64, shot.layout.height as u64)?;
                decode(shot.layout, data, pixels).map_err(fault)?
            } else {
                let (width, height) = picture_size(data).map_err(fault)?;
                check(width.into(), height.into())?;
                let picture = decode_picture(data, pixels.keeps_rgb(), max_pixels);
                with_bits(picture.map_err(fault)?, bits)
            }
        }
        other => return Err(MessageError::NoImage(format!("{:?}", other.kind()))),
    };
    let (width, height) = picture.size();
    if width == 0 || height == 0 { Err(MessageError::EmptyImage(width, height)) } else { Ok(picture) }
}

/// Returns columns and rows of the image of a message, by its header.
pub(crate) fn size(body: &Body) -> Option<(usize, usize)> {
    let (width, height) = match body {
        Body::Image(image) => (image.width, image.height),
        Body::Compressed { data, .. } => picture_size(data).ok()?,
        _ => return None,
    };
    Some((width as usize, height as usize))
}

/// Returns the image as the camera encoded it, if the message contains that; with `plain` also if its bytes are the decoded pixels.
pub(super) fn encoded(body: &Body, plain: bool) -> Option<EncodedImage> {
    let (layout, data) = match body {
        Body::Image(image) => {
            let format = match image.encoding {
                Encoding::Yuyv => PixelFormat::Yuyv,
                Encoding::Nv12 => PixelFormat::Nv12,
                Encoding::Mono8 if plain => PixelFormat::Grey,
                Encoding::Mono16 if plain => PixelFormat::Y16,
                _ => return None,
            };
            (layout(image, format), &image.data)
        }
        Body::Compressed { format, data } if format.to_ascii_lowercase().contains("jp") => {
            let (width, height) = jpeg_size(data).ok()?;
            (Layout::tight(PixelFormat::Mjpeg, (width as usize, height as usize)), data)
        }
        _ => return None,
    };
    Some(EncodedImage { layout, bytes: Arc::clone(data) })
}

fn fault(err: impl Into<Cause>) -> MessageError {
    MessageError::Picture(err.into())
}

fn layout(image: &ImageBody, format: PixelFormat) -> Layout {
    Layout::tight(format, (image.width as usize, image.height as usize)).with_stride(image.step as usize)
}

fn of_memory(image: &ImageBody, bits: Option<u8>, pixels: Pixels) -> Result<Picture, MessageError> {
    let camera = |format, data: &[u8]| decode(layout(image, format), data, pixels).map_err(fault);
    let too_few = || MessageError::FewBytes(image.data.len(), image.width, image.height);
    let colored = |rgb: Option<Image<[u8; 3]>>| Ok(Picture::of_colors(rgb.ok_or_else(too_few)?, pixels.keeps_rgb()));
    let three = |order: fn([u8; 3]) -> [u8; 3]| colored(image.pixels().map(|all| all.map(|&pixel| order(pixel))));
    let four = |order: fn([u8; 4]) -> [u8; 3]| colored(image.pixels().map(|all| all.map(|&pixel| order(pixel))));
    let deep = |image| with_bits(Luma::of_words(image).into(), bits);
    let words = || image.pixels().ok_or_else(too_few).map(|all| all.map(|&bytes| u16::from_le_bytes(bytes)));
    match image.encoding {
        Encoding::Mono8 => camera(PixelFormat::Grey, &image.data),
        Encoding::Yuyv => camera(PixelFormat::Yuyv, &image.data),
        Encoding::Nv12 => camera(PixelFormat::Nv12, &image.data),
        Encoding::Uyvy => {
            let mut swapped = image.data.to_vec();
            swapped.as_chunks_mut::<2>().0.iter_mut().for_each(|two| two.reverse());
            camera(PixelFormat::Yuyv, &swapped)
        }
        Encoding::Rgb8 => three(|pixel| pixel),
        Encoding::Bgr8 => three(|[b, g, r]| [r, g, b]),
        Encoding::Rgba8 => four(|[r, g, b, _]| [r, g, b]),
        Encoding::Bgra8 => four(|[b, g, r, _]| [r, g, b]),
        Encoding::Bayer8(order) => {
            let mosaic = image.pixels().ok_or_else(too_few)?.map(|&[value]| u16::from(value));
            of_mosaic(&mosaic, order, pixels, |luma| Luma::U8(luma.map(|&value| value as u8)))
        }
        Encoding::Bayer16(order) => of_mosaic(&words()?, order, pixels, |luma| deep(luma).luma),
        Encoding::Mono16 | Encoding::DepthMm => Ok(deep(words()?)),
        Encoding::Float32 => Err(MessageError::Content("floats have no white level: publish it as mono8 or mono16")),
    }
}

/// Returns the image of a mosaic; `luma_of` sets the bit depth of the luma.
fn of_mosaic(
    mosaic: &Image<u16>,
    order: Mosaic,
    pixels: Pixels,
    luma_of: impl FnOnce(Image<u16>) -> Luma,
) -> Result<Picture, MessageError> {
    let (width, height) = mosaic.size();
    if width < 2 || height < 2 {
        return Err(MessageError::Mosaic(width, height));
    }
    let luma = luma_of(mosaic::luma(mosaic));
    let shift = luma.bits() - 8;
    let rgb = pixels.keeps_rgb().then(|| mosaic::colors(mosaic, order, shift));
    Ok(Picture { luma, rgb })
}

/// Sets the number of significant bits, where it is known and no pixel exceeds it.
fn with_bits(picture: Picture, bits: Option<u8>) -> Picture {
    let Luma::U16 { image, bits: stored } = picture.luma else { return picture };
    let fits = |bits: &u8| (9..=16).contains(bits) && image.pixels().iter().all(|&v| u32::from(v) >> bits == 0);
    let bits = bits.filter(fits).unwrap_or(stored);
    Picture { luma: Luma::U16 { image, bits }, rgb: picture.rgb }
}
