//! Encoding and decoding of Foxglove's messages: protobuf with the schemas of its SDK, and JSON.

use super::kind::{Format, Kind, json, since_1970};
use super::pixels::{self, PackedImage};
use super::points;
use crate::error::MessageError;
use crate::message::{Body, Bytes, CameraBody, DisparityBody, Encoding, ImageBody, Message};
use crate::{Channel, Schema};
use ::foxglove::bytes::Bytes as Shared;
use ::foxglove::messages::{
    CameraCalibration, CompressedImage, CompressedVideo, FrameTransform, PackedElementField, PointCloud, Pose,
    Quaternion, RawImage, Timestamp, Vector3, packed_element_field::NumericType,
};
use ::foxglove::{Decode, Encode};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stereopsis_calibration::SensorPart;
use stereopsis_frame::Cause;

/// Key of a channel's metadata, with the value [`DISPARITY`] for a disparity image: Foxglove has no message for disparity, so it is
/// an image of floats.
const CONTENT_KEY: &str = "stereopsis.holds";
const DISPARITY: &str = "disparity";

/// Returns the kind of a channel's messages; `None` where they are neither Foxglove's nor JSON.
pub(super) fn kind(channel: &Channel) -> Option<Kind> {
    let name = channel.schema.as_ref().map_or("", |schema| schema.name.as_str());
    match (channel.message_encoding.as_str(), name) {
        ("protobuf", "foxglove.RawImage")
            if channel.metadata.get(CONTENT_KEY).is_some_and(|what| what == DISPARITY) =>
        {
            Some(Kind::Disparity)
        }
        ("protobuf", "foxglove.RawImage") => Some(Kind::Image),
        ("protobuf", "foxglove.CompressedImage") => Some(Kind::Compressed),
        ("protobuf", "foxglove.CameraCalibration") => Some(Kind::Camera),
        ("protobuf", "foxglove.PointCloud") => Some(Kind::Points),
        ("protobuf", "foxglove.FrameTransform") => Some(Kind::Transform),
        ("json", name) if !name.starts_with("foxglove.") => Some(Kind::Json),
        _ => None,
    }
}

pub(super) fn channel(topic: &str, kind: Kind) -> Channel {
    let schema = match kind {
        Kind::Image | Kind::Disparity => RawImage::get_schema(),
        Kind::Compressed => CompressedImage::get_schema(),
        Kind::Camera => CameraCalibration::get_schema(),
        Kind::Points => PointCloud::get_schema(),
        Kind::Transform => FrameTransform::get_schema(),
        Kind::Json => {
            let name = topic.trim_start_matches('/').replace('/', ".");
            Some(::foxglove::Schema::new(name, "jsonschema", br#"{"type":"object"}"#))
        }
    };
    let message_encoding = if kind == Kind::Json { "json" } else { "protobuf" };
    let holds = (kind == Kind::Disparity).then(|| (CONTENT_KEY.to_owned(), DISPARITY.to_owned()));
    Channel {
        topic: topic.to_owned(),
        message_encoding: message_encoding.to_owned(),
        schema: schema.map(|schema| {
            Arc::new(Schema { name: schema.name, encoding: schema.encoding, data: schema.data.into_owned() })
        }),
        metadata: holds.into_iter().collect(),
    }
}

fn timestamp(time: SystemTime) -> Timestamp {
    let since = since_1970(time);
    u32::try_from(since.as_secs()).map_or(Timestamp::MAX, |sec| Timestamp::new(sec, since.subsec_nanos()))
}

/// Builds a message with a stamp: 1970 for none, and for the largest one, which stands for all later times.
fn message(timestamp: Option<Timestamp>, frame_id: String, body: Body) -> Message {
    let timestamp = timestamp.filter(|timestamp| timestamp.sec() < u32::MAX).unwrap_or(Timestamp::MIN);
    Message { stamp: UNIX_EPOCH + Duration::from_nanos(timestamp.total_nanos()), frame_id, body }
}

pub(super) fn encode(message: &Message) -> Vec<u8> {
    let Message { stamp, frame_id, body } = message;
    let (timestamp, frame_id) = (Some(timestamp(*stamp)), frame_id.clone());
    match body {
        Body::Image(image) => {
            let ImageBody { width, height, encoding, step, data } = image;
            let (encoding, data) = (encoding_name(*encoding), Shared::from_owner(data.clone()));
            to_bytes(&RawImage { timestamp, frame_id, width: *width, height: *height, encoding, step: *step, data })
        }
        Body::Compressed { format, data } => {
            let (format, data) = (format.clone(), Shared::from_owner(data.clone()));
            to_bytes(&CompressedImage { timestamp, frame_id, data, format })
        }
        Body::Camera(camera) => {
            let CameraBody { width, height, distortion_model, d, k, r, p, part: _ } = camera.as_ref();
            to_bytes(&CameraCalibration {
                timestamp,
                frame_id,
                width: *width,
                height: *height,
                distortion_model: renamed(distortion_model, [EQUIDISTANT, KANNALA_BRANDT]),
                d: d.clone(),
                k: k.to_vec(),
                r: r.to_vec(),
                p: p.to_vec(),
            })
        }
        Body::Disparity(DisparityBody { disparity_px, .. }) => {
            let (width, height) = (disparity_px.width() as u32, disparity_px.height() as u32);
            let data = pixels::float_bytes(disparity_px, |d| d).into();
            let encoding = encoding_name(Encoding::Float32);
            to_bytes(&RawImage { timestamp, frame_id, width, height, encoding, step: 4 * width, data })
        }
        Body::Points(all) => {
            let field = |(name, offset, kind): (&str, u32, NumericType)| PackedElementField {
                name: name.to_owned(),
                offset,
                r#type: kind as i32,
            };
            let [float, byte] = [NumericType::Float32, NumericType::Uint8];
            let at = points::COLOR;
            let fields = [("x", 0, float), ("y", 4, float), ("z", 8, float)];
            let colors = [("blue", at, byte), ("green", at + 1, byte), ("red", at + 2, byte)];
            let (zero, none) = (Vector3::default(), Quaternion { w: 1.0, ..Quaternion::default() });
            to_bytes(&PointCloud {
                timestamp,
                frame_id,
                pose: Some(Pose { position: Some(zero), orientation: Some(none) }),
                point_stride: points::STEP,
                fields: fields.into_iter().chain(colors).map(field).collect(),
                data: points::bytes(all).into(),
            })
        }
        Body::Transform { child_frame_id, translation_m: [x, y, z], rotation: [i, j, k, w] } => {
            to_bytes(&FrameTransform {
                timestamp,
                parent_frame_id: frame_id,
                child_frame_id: child_frame_id.clone(),
                translation: Some(Vector3 { x: *x, y: *y, z: *z }),
                rotation: Some(Quaternion { x: *i, y: *j, z: *k, w: *w }),
            })
        }
        Body::Json(value) => value.to_string().into_bytes(),
    }
}

fn encoding_name(encoding: Encoding) -> String {
    pixels::name(encoding, Format::Foxglove).to_owned()
}

fn to_bytes(message: &impl Encode) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(message.encoded_len().unwrap_or_default());
    message.encode(&mut bytes).expect("memory takes every message");
    bytes
}

fn from_bytes<T: Decode<Error: Into<Cause>>>(data: &[u8]) -> Result<T, MessageError> {
    T::decode(data).map_err(|error| MessageError::Schema(error.into()))
}

pub(super) fn decode(kind: Kind, data: &[u8]) -> Result<Message, MessageError> {
    match kind {
        Kind::Image | Kind::Disparity => {
            let RawImage { timestamp, frame_id, width, height, encoding, step, data } = from_bytes(data)?;
            let image = PackedImage { width, height, encoding: &encoding, step, is_bigendian: false, data: &data };
            let body = if kind == Kind::Image {
                Body::Image(image.body()?)
            } else {
                Body::Disparity(DisparityBody {
                    disparity_px: image.floats()?,
                    focal_px: 0.0,
                    baseline_m: 0.0,
                    min_disparity: 0.0,
                    max_disparity: 0.0,
                    delta_d: 0.0,
                })
            };
            Ok(message(timestamp, frame_id, body))
        }
        Kind::Compressed => {
            let CompressedImage { timestamp, frame_id, data, format } = from_bytes(data)?;
            let format = pixels::compressed(&format, &data)?.to_owned();
            Ok(message(timestamp, frame_id, Body::Compressed { format, data: Bytes::from(&data[..]) }))
        }
        Kind::Camera => {
            let CameraCalibration { timestamp, frame_id, width, height, distortion_model, d, k, r, p } =
                from_bytes(data)?;
            // protobuf leaves out empty arrays: those of an uncalibrated camera, and the rotation of a camera that is not rotated
            let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
            let camera = CameraBody {
                width,
                height,
                distortion_model: renamed(&distortion_model, [KANNALA_BRANDT, EQUIDISTANT]),
                d,
                k: if k.is_empty() { [0.0; 9] } else { matrix("K", &k)? },
                r: if r.is_empty() { identity } else { matrix("R", &r)? },
                p: if p.is_empty() { [0.0; 12] } else { matrix("P", &p)? },
                part: SensorPart::default(),
            };
            Ok(message(timestamp, frame_id, Body::Camera(Box::new(camera))))
        }
        Kind::Points => {
            let PointCloud { timestamp, frame_id, point_stride, fields, data, .. } = from_bytes(data)?;
            let named = |name: &str, kind: NumericType| {
                let fields = fields.iter().map(|field| (&*field.name, field.offset, field.r#type == kind as i32));
                points::offset(fields, name)
            };
            let xyz = [
                named("x", NumericType::Float32)?,
                named("y", NumericType::Float32)?,
                named("z", NumericType::Float32)?,
            ];
            let color = named("blue", NumericType::Uint8)?;
            let all = points::PackedPoints { xyz, color, step: point_stride, count: None, data: &data }.points()?;
            Ok(message(timestamp, frame_id, Body::Points(all)))
        }
        Kind::Transform => {
            let FrameTransform { timestamp, parent_frame_id, child_frame_id, translation, rotation } =
                from_bytes(data)?;
            let (Some(t), Some(r)) = (translation, rotation) else {
                return Err(MessageError::Content("it has no translation, or no rotation"));
            };
            let (translation_m, rotation) = ([t.x, t.y, t.z], [r.x, r.y, r.z, r.w]);
            Ok(message(timestamp, parent_frame_id, Body::Transform { child_frame_id, translation_m, rotation }))
        }
        Kind::Json => json(data),
    }
}

pub(super) fn coding_of_video(data: &[u8]) -> Option<String> {
    from_bytes::<CompressedVideo>(data).ok().map(|video| video.format)
}

/// Names of one distortion model, in ROS and in Foxglove's messages.
const EQUIDISTANT: &str = "equidistant";
const KANNALA_BRANDT: &str = "kannala_brandt";

fn renamed(model: &str, [from, to]: [&str; 2]) -> String {
    if model == from { to } else { model }.to_owned()
}

fn matrix<const N: usize>(name: &'static str, numbers: &[f64]) -> Result<[f64; N], MessageError> {
    numbers.try_into().map_err(|_| MessageError::Matrix { name, found: numbers.len(), wanted: N })
}
