//! Decoding of DepthAI's images, `dai.proto.img_frame.ImgFrame` in protobuf, as `RecordMessage` of DepthAI 3.12 writes them. The numbers
//! of fields and types are those of the definition in its files.

use super::Kind;
use super::pixels::{self, PackedImage};
use crate::Channel;
use crate::error::MessageError;
use crate::message::{Body, Bytes, Message};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const NAME: &str = "dai.proto.img_frame.ImgFrame";

/// Names of the types of pixels, by number.
const TYPES: [&str; 34] = [
    "YUV422i",
    "YUV444p",
    "YUV420p",
    "YUV422p",
    "YUV400p",
    "RGBA8888",
    "RGB161616",
    "RGB888p",
    "BGR888p",
    "RGB888i",
    "BGR888i",
    "LUT2",
    "LUT4",
    "LUT16",
    "RAW16",
    "RAW14",
    "RAW12",
    "RAW10",
    "RAW8",
    "PACK10",
    "PACK12",
    "YUV444i",
    "NV12",
    "NV21",
    "BITSTREAM",
    "HDR",
    "RGBF16F16F16p",
    "BGRF16F16F16p",
    "RGBF16F16F16i",
    "BGRF16F16F16i",
    "GRAY8",
    "GRAYF16",
    "RAW32",
    "NONE",
];
/// Types that are read.
const READ: &[&str] = &[
    "GRAY8",
    "RAW8",
    "YUV400p",
    "RAW16",
    "RGB888i",
    "BGR888i",
    "RGB888p",
    "BGR888p",
    "RGBA8888",
    "NV12",
    "YUV420p",
    "BITSTREAM",
];

/// Returns the kind of a channel's messages; `None` where they are not DepthAI's images.
pub(super) fn kind(channel: &Channel) -> Option<Kind> {
    let schema = channel.schema.as_ref().filter(|_| channel.message_encoding == "protobuf")?;
    (schema.name == NAME).then_some(Kind::Image)
}

/// Description of the pixels.
#[derive(Default)]
struct Specs {
    kind: u64,
    width: u32,
    height: u32,
    stride: u32,
    /// Offsets of the planes.
    planes: [usize; 3],
}

pub(super) fn decode(data: &[u8]) -> Result<Message, MessageError> {
    let (mut specs, mut pixels) = (Specs::default(), &[][..]);
    let [mut steady, mut system] = [None; 2];
    for field in fields(data) {
        match field? {
            (1, Value::Bytes(time)) => steady = Some(stamp(time)?),
            (12, Value::Bytes(time)) => system = Some(stamp(time)?),
            (4, Value::Bytes(bytes)) => specs = Specs::of(bytes)?,
            (11, Value::Bytes(bytes)) => pixels = bytes,
            _ => {}
        }
    }
    // the system's time where there is one, else the time since the start of the host, which all cameras share
    let stamp = system.filter(|&time| time > UNIX_EPOCH).or(steady).unwrap_or(UNIX_EPOCH);
    Ok(Message { stamp, frame_id: String::new(), body: specs.body(pixels)? })
}

impl Specs {
    fn of(bytes: &[u8]) -> Result<Self, MessageError> {
        let mut specs = Self::default();
        for field in fields(bytes) {
            let (number, Value::Number(value)) = field? else { continue };
            let small = u32::try_from(value).unwrap_or(u32::MAX);
            match number {
                1 => specs.kind = value,
                2 => specs.width = small,
                3 => specs.height = small,
                4 => specs.stride = small,
                6..=8 => specs.planes[number as usize - 6] = small as usize,
                _ => {}
            }
        }
        Ok(specs)
    }

    fn body(&self, data: &[u8]) -> Result<Body, MessageError> {
        let name = usize::try_from(self.kind).ok().and_then(|kind| TYPES.get(kind)).copied().unwrap_or("unknown");
        if data.is_empty() {
            return Err(MessageError::Content(
                "it has no pixels: DepthAI's RecordVideo writes them into a video beside the recording, which is opened instead",
            ));
        }
        let (width, height) = (self.width, self.height);
        let packed = |encoding, bytes: u32, data: &[u8]| {
            let step = if self.stride == 0 { bytes.saturating_mul(width) } else { self.stride };
            let image = PackedImage { width, height, encoding, step, is_bigendian: false, data };
            image.body().map(Body::Image)
        };
        match name {
            "GRAY8" | "RAW8" | "YUV400p" => packed("mono8", 1, data),
            "RAW16" => packed("mono16", 2, data),
            "RGB888i" => packed("rgb8", 3, data),
            "BGR888i" => packed("bgr8", 3, data),
            "RGBA8888" => packed("rgba8", 4, data),
            "RGB888p" => packed_tight("rgb8", self.interleaved(data)?, self),
            "BGR888p" => packed_tight("bgr8", self.interleaved(data)?, self),
            "NV12" => packed_tight("nv12", self.nv12(data)?, self),
            "YUV420p" => packed_tight("nv12", self.nv12_of_planes(data)?, self),
            "BITSTREAM" if pixels::compressed("", data).is_ok() => {
                Ok(Body::Compressed { format: pixels::compressed("", data)?.to_owned(), data: Bytes::from(data) })
            }
            "BITSTREAM" => Err(MessageError::Content(
                "it is a part of a video (H.264 or H.265), which is not read: encode MJPEG, or record raw images",
            )),
            other => Err(MessageError::Encoding { name: other.to_owned(), known: READ.to_vec() }),
        }
    }

    /// Returns the bytes of a plane of `rows` rows of `columns` bytes each, without the gaps behind rows.
    fn plane<'a>(
        &self,
        data: &'a [u8],
        (start, stride): (usize, usize),
        (columns, rows): (usize, usize),
    ) -> Result<impl Iterator<Item = &'a [u8]> + use<'a>, MessageError> {
        let wanted = rows.saturating_sub(1).saturating_mul(stride).saturating_add(columns).saturating_add(start);
        if columns == 0 || rows == 0 || stride < columns || wanted > data.len() {
            let (size, step) = ((self.width, self.height), stride as u32);
            return Err(MessageError::ImageBytes { size, step, wanted: wanted as u64, found: data.len() });
        }
        Ok((0..rows).map(move |row| &data[start + row * stride..][..columns]))
    }

    fn size(&self) -> (usize, usize) {
        (self.width as usize, self.height as usize)
    }

    fn stride(&self) -> usize {
        if self.stride == 0 { self.width as usize } else { self.stride as usize }
    }

    /// Returns three planes as pixels of three bytes.
    fn interleaved(&self, data: &[u8]) -> Result<Vec<u8>, MessageError> {
        let (size, stride) = (self.size(), self.stride());
        let plane = |k: usize| {
            let start =
                if self.planes[1] == 0 { k.saturating_mul(stride).saturating_mul(size.1) } else { self.planes[k] };
            self.plane(data, (start, stride), size)
        };
        let rows = plane(0)?.zip(plane(1)?).zip(plane(2)?);
        let pixels = |((a, b), c): ((&[u8], &[u8]), &[u8])| {
            a.iter().zip(b).zip(c).flat_map(|((a, b), c)| [*a, *b, *c]).collect::<Vec<u8>>()
        };
        Ok(rows.flat_map(pixels).collect())
    }

    fn nv12(&self, data: &[u8]) -> Result<Vec<u8>, MessageError> {
        let ((width, height), stride) = (self.size(), self.stride());
        let colors = if self.planes[1] == 0 { stride.saturating_mul(height) } else { self.planes[1] };
        let rows = self.plane(data, (0, stride), (width, height))?;
        let rows = rows.chain(self.plane(data, (colors, stride), (width, height / 2))?);
        Ok(rows.flatten().copied().collect())
    }

    fn nv12_of_planes(&self, data: &[u8]) -> Result<Vec<u8>, MessageError> {
        let ((width, height), stride) = (self.size(), self.stride());
        let half = (width / 2, height / 2);
        let luma = stride.saturating_mul(height);
        let [u, v] = match self.planes {
            [_, 0, _] => [luma, luma.saturating_add((stride / 2).saturating_mul(height / 2))],
            [_, u, v] => [u, v],
        };
        let mut bytes: Vec<u8> = self.plane(data, (0, stride), (width, height))?.flatten().copied().collect();
        let [u, v] = [self.plane(data, (u, stride / 2), half)?, self.plane(data, (v, stride / 2), half)?];
        for (u, v) in u.zip(v) {
            bytes.extend(u.iter().zip(v).flat_map(|(u, v)| [*u, *v]));
        }
        Ok(bytes)
    }
}

/// Returns the image of rows without gaps.
fn packed_tight(encoding: &str, data: Vec<u8>, specs: &Specs) -> Result<Body, MessageError> {
    let step = if encoding == "nv12" { specs.width } else { specs.width.saturating_mul(3) };
    let image =
        PackedImage { width: specs.width, height: specs.height, encoding, step, is_bigendian: false, data: &data };
    image.body().map(Body::Image)
}

fn stamp(bytes: &[u8]) -> Result<SystemTime, MessageError> {
    let mut since = Duration::ZERO;
    for field in fields(bytes) {
        match field? {
            (1, Value::Number(sec)) => since += Duration::from_secs(sec.min(u64::from(u32::MAX))),
            (2, Value::Number(nsec)) => since += Duration::from_nanos(nsec.min(1_000_000_000)),
            _ => {}
        }
    }
    Ok(UNIX_EPOCH + since)
}

/// Value of a field: of protobuf's kinds those that are read.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Other,
}

/// Iterates over the fields of a message; ends behind the first error.
fn fields(mut data: &[u8]) -> impl Iterator<Item = Result<(u64, Value<'_>), MessageError>> {
    std::iter::from_fn(move || {
        if data.is_empty() {
            return None;
        }
        let left = data.len();
        let field = field(&mut data).ok_or(MessageError::Cut { left, wanted: left.saturating_add(1) });
        if field.is_err() {
            data = &[];
        }
        Some(field)
    })
}

fn field<'a>(data: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let key = number(data)?;
    let value = match key & 7 {
        0 => Value::Number(number(data)?),
        1 => data.split_off(..8).map(|_| Value::Other)?,
        2 => {
            let length = usize::try_from(number(data)?).ok()?;
            Value::Bytes(data.split_off(..length)?)
        }
        5 => data.split_off(..4).map(|_| Value::Other)?,
        _ => return None,
    };
    Some((key >> 3, value))
}

/// Reads a number of seven bits a byte, the lowest ones first.
fn number(data: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *data.split_off_first()?;
        value |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Encoding;

    fn varint(mut value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value > 0x7F {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    }

    fn number_field(number: u64, value: u64) -> Vec<u8> {
        [varint(number << 3), varint(value)].concat()
    }

    fn bytes_field(number: u64, bytes: &[u8]) -> Vec<u8> {
        [varint(number << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
    }

    /// Returns a message like those of DepthAI 3.12: time, type, size, stride, a float, and the pixels.
    fn frame(kind: &str, size: (u64, u64), stride: u64, data: &[u8]) -> Vec<u8> {
        let kind = TYPES.iter().position(|name| *name == kind).unwrap() as u64;
        let time = [number_field(1, 2428), number_field(2, 243_497_967)].concat();
        let specs =
            [(1, kind), (2, size.0), (3, size.1), (4, stride)].map(|(number, value)| number_field(number, value));
        let degrees = [varint(7 << 3 | 5), 71.5_f32.to_le_bytes().to_vec()].concat();
        [bytes_field(1, &time), bytes_field(4, &specs.concat()), degrees, bytes_field(11, data)].concat()
    }

    #[test]
    fn reads_depthai_images_of_plain_types() {
        let read = |kind, size, stride, data: &[u8]| {
            let message = decode(&frame(kind, size, stride, data)).unwrap();
            assert_eq!(message.stamp, UNIX_EPOCH + Duration::new(2428, 243_497_967));
            let Body::Image(image) = message.body else { unreachable!() };
            (image.encoding, image.step, image.data.to_vec())
        };
        assert_eq!(read("GRAY8", (2, 2), 3, &[1, 2, 0, 3, 4, 0]), (Encoding::Mono8, 3, vec![1, 2, 0, 3, 4, 0]));
        assert_eq!(read("RAW8", (2, 1), 0, &[1, 2]), (Encoding::Mono8, 2, vec![1, 2]));
        assert_eq!(read("BGR888i", (1, 1), 3, &[1, 2, 3]), (Encoding::Bgr8, 3, vec![1, 2, 3]));
        let planes = [1, 2, 11, 12, 21, 22];
        assert_eq!(read("RGB888p", (2, 1), 2, &planes), (Encoding::Rgb8, 6, vec![1, 11, 21, 2, 12, 22]));
        let yuv = [1, 2, 3, 4, 5, 6, 7, 8, 20, 21, 30, 31];
        let nv12 = (Encoding::Nv12, 4, vec![1, 2, 3, 4, 5, 6, 7, 8, 20, 30, 21, 31]);
        assert_eq!(read("YUV420p", (4, 2), 4, &yuv), nv12);
        assert_eq!(read("NV12", (4, 2), 4, &nv12.2.clone()), nv12);
        let jpeg = decode(&frame("BITSTREAM", (4, 2), 0, &[0xFF, 0xD8, 0xFF, 0xE0])).unwrap();
        assert!(matches!(jpeg.body, Body::Compressed { format, .. } if format == "jpeg"));
    }

    #[test]
    fn says_why_other_depthai_images_are_not_read() {
        for (kind, data, says) in [
            ("BITSTREAM", &[0, 0, 0, 1, 0x67][..], "part of a video"),
            ("RAW10", &[1; 16], "packed as 'RAW10'"),
            ("GRAY8", &[], "RecordVideo"),
            ("GRAY8", &[1; 3], "takes 4 bytes, and it has 3"),
            ("YUV420p", &[1; 5], "it has 5"),
        ] {
            let text = decode(&frame(kind, (2, 2), 0, data)).unwrap_err().to_string();
            assert!(text.contains(says), "{kind}: {text}");
        }
        let whole = frame("RGB888p", (2, 2), 2, &[0; 12]);
        for length in 0..whole.len() {
            assert!(decode(&whole[..length]).is_err(), "{length}");
        }
        let huge = [
            bytes_field(4, &[number_field(1, 7), number_field(2, u64::MAX), number_field(3, u64::MAX)].concat()),
            bytes_field(11, &[1]),
        ];
        assert!(decode(&huge.concat()).is_err());
    }
}
