//! Packets to messages, messages to pairs.
//!
//! So far pictures of two eyes as they lie in memory; not yet JPEG and PNG, pictures of both eyes, and turned ones.

use super::message::{Encoding, ImageBody};
use super::{Body, Packet, PairNote, format, time};
use crate::capture::decode::luma_of;
use crate::capture::decode_camera::{Layout, PixelFormat, decode};
use crate::frame::{Luma, Picture, RawPair};
use crate::image::Image;

/// Why a pair of a recording cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnpackError(pub String);

/// Makes raw pairs of packets.
#[derive(Clone, Debug)]
pub struct Unpacker {
    color: bool,
}

impl Unpacker {
    /// With RGB if `color` and the pictures have it.
    pub fn new(color: bool) -> Self {
        Self { color }
    }

    /// The pair of a left and a right picture, in this order, with its note where there is one; see
    /// [`super::Recording::packets_of_pair`].
    ///
    /// # Errors
    /// The pictures are damaged, or of a kind that is not read here.
    pub fn pair(&self, packets: &[Packet]) -> Result<RawPair, UnpackError> {
        let mut note: Option<PairNote> = None;
        let mut pictures = Vec::new();
        for packet in packets {
            let wrong = |why: &str| UnpackError(format!("{}: {why}", packet.channel.topic));
            let message = format::decode(&packet.channel, &packet.data).map_err(|err| UnpackError(err.to_string()))?;
            match message.body {
                Body::Json(value) => {
                    note = Some(serde_json::from_value(value).map_err(|err| wrong(&err.to_string()))?);
                }
                Body::Image(image) => {
                    let bits = note.as_ref().map(|note| note.bits);
                    pictures.push((packet, picture(&image, bits, self.color).map_err(|why| wrong(&why))?));
                }
                body => return Err(wrong(&format!("{:?} is no picture that is read here", body.kind()))),
            }
        }
        let [(first, left), (second, right)]: [_; 2] = pictures.try_into().map_err(|pictures: Vec<_>| {
            UnpackError(format!("a pair of {} pictures is not read here", pictures.len()))
        })?;
        if left.size() != right.size() {
            return Err(UnpackError(format!("left is {:?} px, right {:?}", left.size(), right.size())));
        }
        let later_s = (second.publish_time_ns as f64 - first.publish_time_ns as f64) / 1e9;
        let sequence = u64::from(first.sequence);
        Ok(RawPair {
            left,
            right,
            sequence: note.as_ref().map_or(sequence, |note| note.sequence),
            capture_time: time::from_ns(first.publish_time_ns),
            skew_s: note.as_ref().map_or(later_s, |note| note.skew_s),
            name: note.map_or_else(|| format!("{sequence:06}"), |note| note.name),
            original: None,
            recorded: None,
            truth: None,
        })
    }
}

/// The picture of a message; `bits` of each pixel carry light, where somebody knows it.
fn picture(image: &ImageBody, bits: Option<u8>, color: bool) -> Result<Picture, String> {
    let size = (image.width as usize, image.height as usize);
    let camera = |format| {
        let layout = Layout::tight(format, size).with_stride(image.step as usize);
        decode(layout, &image.data, color).map_err(|err| err.to_string())
    };
    let colored = |order: fn([u8; 3]) -> [u8; 3]| {
        let rgb = pixels::<3>(image)?.map(|&pixel| order(pixel));
        Ok(Picture { luma: Luma::U8(rgb.map(|&pixel| luma_of(pixel))), rgb: color.then_some(rgb) })
    };
    match image.encoding {
        Encoding::Mono8 => camera(PixelFormat::Grey),
        Encoding::Yuyv => camera(PixelFormat::Yuyv),
        Encoding::Nv12 => camera(PixelFormat::Nv12),
        Encoding::Rgb8 => colored(|pixel| pixel),
        Encoding::Bgr8 => colored(|[b, g, r]| [r, g, b]),
        Encoding::Mono16 => {
            let words = pixels::<2>(image)?.map(|&bytes| u16::from_le_bytes(bytes));
            let bits = bits.filter(|bits| (9..=16).contains(bits)).unwrap_or(16);
            Ok(Picture { luma: Luma::U16 { image: words, bits }, rgb: None })
        }
        other => Err(format!("{other:?} is no packing of an eye's picture that is read here")),
    }
}

/// The pixels of rows that may have a gap behind them.
fn pixels<const N: usize>(image: &ImageBody) -> Result<Image<[u8; N]>, String> {
    let (width, height, step) = (image.width as usize, image.height as usize, image.step as usize);
    let missing = || format!("{} bytes are too few for {width}x{height} pixels", image.data.len());
    let mut pixels = Vec::new();
    for y in 0..height {
        let row = image.data.get(y * step..y * step + N * width).ok_or_else(missing)?;
        pixels.extend_from_slice(row.as_chunks::<N>().0);
    }
    Ok(Image::new(width, height, pixels))
}
