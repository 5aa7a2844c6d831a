//! From images to messages: lossless, and readable by other programs.

use crate::error::PackError;
use crate::message::{Body, Bytes, Encoding, ImageBody};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder as _};
use std::sync::Arc;
use stereopsis_base::image::{Image, Luma, Picture, luma_of};
use stereopsis_frame::decode_camera::{PixelFormat, decode};
use stereopsis_frame::{EncodedImage, Pixels};

/// Format of images without colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GreyFormat {
    /// PNG encoding.
    Png,
    /// Uncompressed pixels.
    Plain,
}

/// Returns the message of an image as the camera encoded it.
pub(super) fn of_encoded(grey: GreyFormat, shot: &EncodedImage) -> Result<Body, PackError> {
    let encoding = match shot.layout.format {
        PixelFormat::Mjpeg => {
            return Ok(Body::Compressed { format: "jpeg".to_owned(), data: Arc::clone(&shot.bytes) });
        }
        PixelFormat::Yuyv => Encoding::Yuyv,
        PixelFormat::Nv12 => Encoding::Nv12,
        PixelFormat::Grey | PixelFormat::Y16 => {
            let picture = decode(shot.layout, &shot.bytes, Pixels::Luma)?;
            return of_luma(grey, &picture.luma);
        }
    };
    let (width, height) = (shot.layout.width, shot.layout.height);
    let rows = if encoding == Encoding::Nv12 { height + height / 2 } else { height };
    let data = resized(&shot.bytes, rows * shot.layout.stride);
    let step = shot.layout.stride as u32;
    Ok(Body::Image(ImageBody { width: width as u32, height: height as u32, encoding, step, data }))
}

/// Returns the messages of a decoded image: its luma, and its colours. If the luma can be computed from the colours, these are the
/// only message.
pub(super) fn of_picture(grey: GreyFormat, picture: &Picture) -> Result<(Body, Option<Body>), PackError> {
    let Some(rgb) = &picture.rgb else { return Ok((of_luma(grey, &picture.luma)?, None)) };
    let colors = Body::Image(image(rgb.size(), Encoding::Rgb8, 3, rgb.pixels().as_flattened().into()));
    let follows = |luma: &Image<u8>| luma.pixels().iter().zip(rgb.pixels()).all(|(&luma, &rgb)| luma == luma_of(rgb));
    match &picture.luma {
        Luma::U8(luma) if follows(luma) => Ok((colors, None)),
        luma => Ok((of_luma(grey, luma)?, Some(colors))),
    }
}

fn of_luma(grey: GreyFormat, luma: &Luma) -> Result<Body, PackError> {
    match (grey, luma) {
        (GreyFormat::Png, Luma::U8(grey)) => png(grey.size(), ExtendedColorType::L8, grey.pixels()),
        (GreyFormat::Png, Luma::U16 { image: grey, .. }) => {
            png(grey.size(), ExtendedColorType::L16, bytemuck::cast_slice(grey.pixels()))
        }
        (GreyFormat::Plain, Luma::U8(grey)) => {
            Ok(Body::Image(image(grey.size(), Encoding::Mono8, 1, grey.pixels().into())))
        }
        (GreyFormat::Plain, Luma::U16 { image: grey, .. }) => {
            let data = grey.pixels().iter().flat_map(|value| value.to_le_bytes()).collect();
            Ok(Body::Image(image(grey.size(), Encoding::Mono16, 2, data)))
        }
    }
}

/// Encodes a PNG with the fastest setting, because chunks are compressed too.
fn png((width, height): (usize, usize), color: ExtendedColorType, pixels: &[u8]) -> Result<Body, PackError> {
    let mut bytes = Vec::with_capacity(pixels.len() + 1024);
    let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Fast, FilterType::Up);
    encoder.write_image(pixels, width as u32, height as u32, color)?;
    Ok(Body::Compressed { format: "png".to_owned(), data: bytes.into() })
}

/// Returns an image without gaps between rows.
pub(super) fn image((width, height): (usize, usize), encoding: Encoding, pixel_bytes: usize, data: Bytes) -> ImageBody {
    ImageBody { width: width as u32, height: height as u32, encoding, step: (pixel_bytes * width) as u32, data }
}

/// Cuts or extends bytes to `wanted`: drivers return more (whole pages of memory), or fewer (no gap behind the last row).
fn resized(bytes: &Bytes, wanted: usize) -> Bytes {
    match bytes.get(..wanted) {
        Some(_) if bytes.len() == wanted => Arc::clone(bytes),
        Some(cut) => cut.into(),
        None => bytes.iter().copied().chain(std::iter::repeat(0)).take(wanted).collect(),
    }
}
