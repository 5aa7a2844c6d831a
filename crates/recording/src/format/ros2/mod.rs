//! Encoding and decoding of ROS 2's messages: CDR with `ros2msg` schemas, as `ros2 bag` writes them into MCAP.

pub mod bag;
mod cdr;
mod messages;
pub(super) mod ros1;

use super::kind::{Format, Kind, json, since_1970};
use super::pixels::{self, PackedImage};
use super::points;
use crate::error::MessageError;
use crate::message::{Body, Bytes, CameraBody, DisparityBody, Encoding, ImageBody, Message};
use crate::{Channel, Schema};
use messages::{
    CameraInfo, CompressedImage, DisparityImage, Header, PointCloud2, PointField, RegionOfInterest, Text, TfMessage,
    Time, TransformStamped,
};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stereopsis_calibration::SensorPart;

/// Type code of a 32-bit float in `PointField`.
const FLOAT32: u8 = 7;

/// Returns name and definition of the messages of a kind. A definition contains those of all nested messages, as in `ros2 bag`.
fn schema(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Image => ("sensor_msgs/msg/Image", include_str!("definitions/Image.msg")),
        Kind::Compressed => ("sensor_msgs/msg/CompressedImage", include_str!("definitions/CompressedImage.msg")),
        Kind::Camera => ("sensor_msgs/msg/CameraInfo", include_str!("definitions/CameraInfo.msg")),
        Kind::Disparity => ("stereo_msgs/msg/DisparityImage", include_str!("definitions/DisparityImage.msg")),
        Kind::Points => ("sensor_msgs/msg/PointCloud2", include_str!("definitions/PointCloud2.msg")),
        Kind::Transform => ("tf2_msgs/msg/TFMessage", include_str!("definitions/TFMessage.msg")),
        Kind::Json => ("std_msgs/msg/String", include_str!("definitions/String.msg")),
    }
}

/// All kinds of messages.
const KINDS: [Kind; 7] =
    [Kind::Image, Kind::Compressed, Kind::Camera, Kind::Disparity, Kind::Points, Kind::Transform, Kind::Json];

/// Returns the definition of a type with this name; `None` of types that are not written.
#[cfg(feature = "db3")]
pub(crate) fn definition(name: &str) -> Option<&'static str> {
    KINDS.into_iter().map(schema).find(|(known, _)| *known == name).map(|(_, definition)| definition)
}

/// Returns the kind of a channel's messages; `None` where they are not ROS 2's.
pub(super) fn kind(channel: &Channel) -> Option<Kind> {
    let name = &channel.schema.as_ref().filter(|_| channel.message_encoding == "cdr")?.name;
    KINDS.into_iter().find(|kind| schema(*kind).0 == name)
}

pub(super) fn channel(topic: &str, kind: Kind) -> Channel {
    let (name, definition) = schema(kind);
    let schema = Schema { name: name.to_owned(), encoding: "ros2msg".to_owned(), data: definition.into() };
    Channel {
        topic: topic.to_owned(),
        message_encoding: "cdr".to_owned(),
        schema: Some(Arc::new(schema)),
        metadata: [(bag::QOS.to_owned(), bag::offered_qos(topic))].into(),
    }
}

impl<'a> Header<'a> {
    fn of(message: &'a Message) -> Self {
        let since = since_1970(message.stamp);
        let stamp = Time { sec: i32::try_from(since.as_secs()).unwrap_or(i32::MAX), nanosec: since.subsec_nanos() };
        Self { stamp, frame_id: Cow::Borrowed(&message.frame_id) }
    }

    /// Returns the stamp: 1970 for an earlier one, and for the largest one, which stands for all later times.
    fn time(&self) -> SystemTime {
        let sec = Some(self.stamp.sec).filter(|&sec| sec < i32::MAX).and_then(|sec| u64::try_from(sec).ok());
        sec.map_or(UNIX_EPOCH, |sec| {
            UNIX_EPOCH + Duration::from_secs(sec) + Duration::from_nanos(self.stamp.nanosec.into())
        })
    }

    fn message(self, body: Body) -> Message {
        Message { stamp: self.time(), frame_id: self.frame_id.into_owned(), body }
    }
}

pub(super) fn encode(message: &Message) -> Vec<u8> {
    let header = Header::of(message);
    match &message.body {
        Body::Image(ImageBody { width, height, encoding, step, data }) => {
            let size = (*width, *height);
            cdr::to_bytes(&image_message(header, size, *encoding, *step, data), data.len() + 256)
        }
        Body::Compressed { format, data } => {
            cdr::to_bytes(&CompressedImage { header, format: format.into(), data }, data.len() + 256)
        }
        Body::Camera(camera) => {
            let CameraBody { width, height, distortion_model, d, k, r, p, part } = camera.as_ref();
            let SensorPart { offset: [x_offset, y_offset], size, binning: [binning_x, binning_y] } = *part;
            let camera = CameraInfo {
                header,
                height: *height,
                width: *width,
                distortion_model: distortion_model.into(),
                d: d.into(),
                k: *k,
                r: *r,
                p: *p,
                binning_x,
                binning_y,
                roi: RegionOfInterest { x_offset, y_offset, height: size[1], width: size[0], do_rectify: false },
            };
            cdr::to_bytes(&camera, 512)
        }
        Body::Disparity(disparity) => {
            let DisparityBody { disparity_px, focal_px, baseline_m, min_disparity, max_disparity, delta_d } = disparity;
            let (width, height) = (disparity_px.width() as u32, disparity_px.height() as u32);
            // in ROS a value below the smallest searched disparity is invalid
            let invalid = min_disparity - 1.0;
            let data = pixels::float_bytes(disparity_px, |d| if d.is_nan() { invalid } else { d });
            let disparity = DisparityImage {
                header: Header::of(message),
                image: image_message(header, (width, height), Encoding::Float32, 4 * width, &data),
                f: *focal_px,
                t: *baseline_m,
                valid_window: RegionOfInterest { height, width, ..RegionOfInterest::default() },
                min_disparity: *min_disparity,
                max_disparity: *max_disparity,
                delta_d: *delta_d,
            };
            cdr::to_bytes(&disparity, data.len() + 512)
        }
        Body::Points(all) => {
            let data = points::bytes(all);
            let field = |(name, offset): (&'static str, u32)| PointField {
                name: name.into(),
                offset,
                datatype: FLOAT32,
                count: 1,
            };
            let width = all.len() as u32;
            let cloud = PointCloud2 {
                header,
                height: 1,
                width,
                fields: [("x", 0), ("y", 4), ("z", 8), ("rgb", points::COLOR)].map(field).into(),
                is_bigendian: false,
                point_step: points::STEP,
                row_step: points::STEP * width,
                data: &data,
                is_dense: true,
            };
            cdr::to_bytes(&cloud, data.len() + 512)
        }
        Body::Transform { child_frame_id, translation_m, rotation } => {
            let (translation, rotation) = (*translation_m, *rotation);
            let transform = TransformStamped { header, child_frame_id: child_frame_id.into(), translation, rotation };
            cdr::to_bytes(&TfMessage { transforms: vec![transform] }, 256)
        }
        Body::Json(value) => cdr::to_bytes(&Text { data: value.to_string().into() }, 256),
    }
}

fn image_message<'a>(
    header: Header<'a>,
    (width, height): (u32, u32),
    encoding: Encoding,
    step: u32,
    data: &'a [u8],
) -> messages::Image<'a> {
    let encoding = pixels::name(encoding, Format::Ros2).into();
    messages::Image { header, height, width, encoding, is_bigendian: 0, step, data }
}

pub(super) fn decode(kind: Kind, data: &[u8]) -> Result<Message, MessageError> {
    match kind {
        Kind::Image => image(cdr::from_bytes(data)?),
        Kind::Compressed => compressed(cdr::from_bytes(data)?),
        Kind::Camera => camera(cdr::from_bytes(data)?),
        Kind::Disparity => disparity(cdr::from_bytes(data)?),
        Kind::Points => {
            let PointCloud2 { header, height, width, fields, is_bigendian, point_step, row_step, data, .. } =
                cdr::from_bytes(data)?;
            if is_bigendian || height > 1 && u64::from(row_step) != u64::from(point_step) * u64::from(width) {
                let why = "its points are big-endian or have gaps between rows, which is not read here";
                return Err(MessageError::Content(why));
            }
            let named = |name: &str| {
                let fields = fields.iter().map(|field| (&*field.name, field.offset, field.datatype == FLOAT32));
                points::offset(fields, name)
            };
            let count = Some(u64::from(width) * u64::from(height));
            let xyz = [named("x")?, named("y")?, named("z")?];
            let described = points::PackedPoints { xyz, color: named("rgb")?, step: point_step, count, data };
            let all = described.points()?;
            Ok(header.message(Body::Points(all)))
        }
        Kind::Transform => {
            let all = transforms(data)?;
            let [transform] = <[Message; 1]>::try_from(all).map_err(|all| MessageError::Transforms(all.len()))?;
            Ok(transform)
        }
        Kind::Json => json(cdr::from_bytes::<Text>(data)?.data.as_bytes()),
    }
}

/// Decodes the transforms of a message, each as a message of its own.
pub(super) fn transforms(data: &[u8]) -> Result<Vec<Message>, MessageError> {
    Ok(cdr::from_bytes::<TfMessage>(data)?.transforms.into_iter().map(transform).collect())
}

fn transform(transform: TransformStamped) -> Message {
    let TransformStamped { header, child_frame_id, translation: translation_m, rotation } = transform;
    let child_frame_id = child_frame_id.into_owned();
    header.message(Body::Transform { child_frame_id, translation_m, rotation })
}

/// Returns the disparities of an image, of which values below the smallest searched one mean none.
fn disparity(message: DisparityImage) -> Result<Message, MessageError> {
    let DisparityImage { header, image, f, t, min_disparity, max_disparity, delta_d, .. } = message;
    // false for NaN, which stays NaN
    let is_invalid = |d: f32| d < min_disparity;
    let disparity_px = described(&image).floats()?.map(|&d| if is_invalid(d) { f32::NAN } else { d });
    let (focal_px, baseline_m) = (f, t);
    let body = DisparityBody { disparity_px, focal_px, baseline_m, min_disparity, max_disparity, delta_d };
    Ok(header.message(Body::Disparity(body)))
}

fn image(image: messages::Image) -> Result<Message, MessageError> {
    let body = described(&image).body()?;
    Ok(image.header.message(Body::Image(body)))
}

fn compressed(image: CompressedImage) -> Result<Message, MessageError> {
    let CompressedImage { header, format, data } = image;
    let format = pixels::compressed(&format, data)?.to_owned();
    Ok(header.message(Body::Compressed { format, data: Bytes::from(data) }))
}

fn camera(camera: CameraInfo) -> Result<Message, MessageError> {
    let CameraInfo { header, height, width, distortion_model, d, k, r, p, binning_x, binning_y, roi } = camera;
    let (distortion_model, d) = (distortion_model.into_owned(), d.into_owned());
    let part = SensorPart {
        offset: [roi.x_offset, roi.y_offset],
        size: [roi.width, roi.height],
        binning: [binning_x, binning_y],
    };
    Ok(header.message(Body::Camera(Box::new(CameraBody { width, height, distortion_model, d, k, r, p, part }))))
}

/// Returns the coding of the video in a message of Foxglove, such as `h264`.
pub(super) fn coding_of_video(data: &[u8]) -> Option<String> {
    let (_stamp, _frame_id, _data, coding) = cdr::from_bytes::<(Time, String, &[u8], String)>(data).ok()?;
    Some(coding)
}

fn described<'a>(image: &'a messages::Image<'_>) -> PackedImage<'a> {
    let messages::Image { width, height, encoding, is_bigendian, step, data, .. } = image;
    let is_bigendian = *is_bigendian != 0;
    PackedImage { width: *width, height: *height, encoding, step: *step, is_bigendian, data }
}
