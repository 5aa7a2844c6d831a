//! Decoding of ROS 1's messages in recordings converted from bags: the fields of ROS 2, little-endian and without padding, and a
//! sequence number in each header.

use super::messages::{
    CameraInfo, CompressedImage, DisparityImage, Header, Image, RegionOfInterest, Time, TransformStamped,
};
use crate::error::MessageError;
use crate::format::Kind;
use crate::format::kind::json;
use crate::{Channel, Message};
use std::borrow::Cow;

/// Returns the kind of a channel's messages; `None` where they are not ROS 1's.
pub(in crate::format) fn kind(channel: &Channel) -> Option<Kind> {
    let schema = channel.schema.as_ref().filter(|_| channel.message_encoding == "ros1")?;
    match schema.name.as_str() {
        "sensor_msgs/Image" => Some(Kind::Image),
        "sensor_msgs/CompressedImage" => Some(Kind::Compressed),
        "sensor_msgs/CameraInfo" => Some(Kind::Camera),
        "stereo_msgs/DisparityImage" => Some(Kind::Disparity),
        "tf2_msgs/TFMessage" | "tf/tfMessage" => Some(Kind::Transform),
        "std_msgs/String" => Some(Kind::Json),
        _ => None,
    }
}

pub(in crate::format) fn decode(kind: Kind, data: &[u8]) -> Result<Message, MessageError> {
    let fields = &mut FieldReader(data);
    match kind {
        Kind::Image => super::image(fields.image()?),
        Kind::Compressed => super::compressed(CompressedImage {
            header: fields.header()?,
            format: fields.text()?,
            data: fields.bytes()?,
        }),
        Kind::Camera => super::camera(CameraInfo {
            header: fields.header()?,
            height: fields.u32()?,
            width: fields.u32()?,
            distortion_model: fields.text()?,
            d: fields.numbers()?.into(),
            k: fields.matrix()?,
            r: fields.matrix()?,
            p: fields.matrix()?,
            binning_x: fields.u32()?,
            binning_y: fields.u32()?,
            roi: fields.region()?,
        }),
        Kind::Disparity => super::disparity(DisparityImage {
            header: fields.header()?,
            image: fields.image()?,
            f: fields.f32()?,
            t: fields.f32()?,
            valid_window: fields.region()?,
            min_disparity: fields.f32()?,
            max_disparity: fields.f32()?,
            delta_d: fields.f32()?,
        }),
        Kind::Transform => {
            let [transform] =
                <[Message; 1]>::try_from(transforms(data)?).map_err(|all| MessageError::Transforms(all.len()))?;
            Ok(transform)
        }
        Kind::Json => json(fields.bytes()?),
        Kind::Points => Err(MessageError::Content("messages of this kind of ROS 1 are not read here")),
    }
}

/// Decodes the transforms of a message, each as a message of its own.
pub(in crate::format) fn transforms(data: &[u8]) -> Result<Vec<Message>, MessageError> {
    let fields = &mut FieldReader(data);
    let count = fields.u32()?;
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(super::transform(TransformStamped {
            header: fields.header()?,
            child_frame_id: fields.text()?,
            translation: fields.matrix()?,
            rotation: fields.matrix()?,
        }));
    }
    Ok(all)
}

/// Reader of the fields in the bytes that are left of a message.
struct FieldReader<'a>(&'a [u8]);

impl<'a> FieldReader<'a> {
    fn take(&mut self, wanted: usize) -> Result<&'a [u8], MessageError> {
        let left = self.0.len();
        self.0.split_off(..wanted).ok_or(MessageError::Cut { left, wanted })
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], MessageError> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(MessageError::Cut { left: self.0.len(), wanted: N })?;
        self.0 = rest;
        Ok(*bytes)
    }

    fn u8(&mut self) -> Result<u8, MessageError> {
        self.array().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, MessageError> {
        self.array().map(u32::from_le_bytes)
    }

    fn f32(&mut self) -> Result<f32, MessageError> {
        self.array().map(f32::from_le_bytes)
    }

    fn bytes(&mut self) -> Result<&'a [u8], MessageError> {
        let count = self.u32()?;
        self.take(count as usize)
    }

    /// Reads a text; bytes that are no UTF-8 are replaced.
    fn text(&mut self) -> Result<Cow<'a, str>, MessageError> {
        self.bytes().map(String::from_utf8_lossy)
    }

    fn numbers(&mut self) -> Result<Vec<f64>, MessageError> {
        let count = self.u32()?;
        let bytes = self.take((count as usize).saturating_mul(8))?;
        Ok(bytes.as_chunks().0.iter().map(|&number| f64::from_le_bytes(number)).collect())
    }

    fn matrix<const N: usize>(&mut self) -> Result<[f64; N], MessageError> {
        let mut matrix = [0.0; N];
        for number in &mut matrix {
            *number = f64::from_le_bytes(self.array()?);
        }
        Ok(matrix)
    }

    fn image(&mut self) -> Result<Image<'a>, MessageError> {
        Ok(Image {
            header: self.header()?,
            height: self.u32()?,
            width: self.u32()?,
            encoding: self.text()?,
            is_bigendian: self.u8()?,
            step: self.u32()?,
            data: self.bytes()?,
        })
    }

    fn region(&mut self) -> Result<RegionOfInterest, MessageError> {
        Ok(RegionOfInterest {
            x_offset: self.u32()?,
            y_offset: self.u32()?,
            height: self.u32()?,
            width: self.u32()?,
            do_rectify: self.u8()? != 0,
        })
    }

    fn header(&mut self) -> Result<Header<'a>, MessageError> {
        let _number = self.u32()?;
        let sec = i32::try_from(self.u32()?).unwrap_or(i32::MAX);
        Ok(Header { stamp: Time { sec, nanosec: self.u32()? }, frame_id: self.text()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Body, Encoding};
    use std::time::{Duration, UNIX_EPOCH};

    fn text(text: &str) -> Vec<u8> {
        [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
    }

    fn header() -> Vec<u8> {
        [&[9_u32, 1_600_000_000, 250].map(u32::to_le_bytes).concat()[..], &text("left_camera")].concat()
    }

    #[test]
    fn reads_ros1_images_and_cameras_and_rejects_damaged_ones() {
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let image = [&header()[..], &words(&[2, 3]), &text("mono8"), &[0], &words(&[4, 8]), &[1, 2, 3, 0, 4, 5, 6, 0]];
        let image = image.concat();
        let message = decode(Kind::Image, &image).unwrap();
        let stamp = UNIX_EPOCH + Duration::new(1_600_000_000, 250);
        assert_eq!((message.stamp, message.frame_id.as_str()), (stamp, "left_camera"));
        let Body::Image(body) = message.body else { unreachable!() };
        assert_eq!((body.width, body.height, body.step, body.encoding), (3, 2, 4, Encoding::Mono8));
        assert_eq!(body.pixels::<1>().unwrap().pixels().as_flattened(), [1, 2, 3, 4, 5, 6]);

        let jpeg = [&header()[..], &text("jpeg"), &words(&[4]), &[0xFF, 0xD8, 0xFF, 0xE0]].concat();
        assert!(matches!(decode(Kind::Compressed, &jpeg).unwrap().body, Body::Compressed { .. }));

        let numbers: Vec<u8> = (0..5 + 9 + 9 + 12).flat_map(|k| f64::from(k).to_le_bytes()).collect();
        let camera = [&header()[..], &words(&[48, 64]), &text("plumb_bob"), &words(&[5]), &numbers, &[0; 25]].concat();
        let Body::Camera(body) = decode(Kind::Camera, &camera).unwrap().body else { unreachable!() };
        assert_eq!((body.width, body.height, &body.d[..]), (64, 48, &[0.0, 1.0, 2.0, 3.0, 4.0][..]));
        assert_eq!((body.k[0], body.r[0], body.p[11]), (5.0, 14.0, 34.0));

        let zeros = [0; 17];
        let depth =
            [&header()[..], &words(&[1, 2]), &text("32FC1"), &[0], &words(&[8, 8]), &[0, 0, 0, 64, 0, 0, 128, 191]];
        let lengths = [500.0_f32, 0.1].map(f32::to_le_bytes).concat();
        let range = [0.0_f32, 63.0, 0.0625].map(f32::to_le_bytes).concat();
        let disparity = [&header()[..], &depth.concat(), &lengths, &zeros, &range].concat();
        let Body::Disparity(body) = decode(Kind::Disparity, &disparity).unwrap().body else { unreachable!() };
        assert_eq!((body.disparity_px.at(0, 0), body.focal_px, body.max_disparity), (2.0, 500.0, 63.0));
        assert!(body.disparity_px.at(1, 0).is_nan(), "below the smallest one");

        let pose: Vec<u8> = [0.05, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0_f64].map(f64::to_le_bytes).concat();
        let transform = |child: &str| [&header()[..], &text(child), &pose].concat();
        let frames = [&words(&[2])[..], &transform("left"), &transform("right")].concat();
        let all = transforms(&frames).unwrap();
        assert!(
            matches!(&all[1].body, Body::Transform { child_frame_id, translation_m: [0.05, 0.0, 0.0], .. } if child_frame_id == "right")
        );
        assert!(transforms(&words(&[u32::MAX])).is_err() && decode(Kind::Transform, &frames).is_err());
        assert!(matches!(decode(Kind::Json, &text("{\"k\": 1}")).unwrap().body, Body::Json(_)));

        for (kind, whole) in
            [(Kind::Image, &image), (Kind::Compressed, &jpeg), (Kind::Camera, &camera), (Kind::Disparity, &disparity)]
        {
            for length in 0..whole.len() {
                assert!(decode(kind, &whole[..length]).is_err(), "{kind:?} of {length} bytes");
            }
        }
        let huge = [&header()[..], &words(&[48, 64]), &text("plumb_bob"), &words(&[u32::MAX])].concat();
        assert!(decode(Kind::Camera, &huge).unwrap_err().to_string().contains("0 bytes are left"));
    }
}
