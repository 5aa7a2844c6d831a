//! Foxglove's messages: protobuf with the schemas of its SDK, and JSON.

use super::pixels::{self, Described};
use super::{Kind, matrix, since_1970};
use crate::recording::message::{Body, Bytes, CameraBody, DisparityBody, Encoding, ImageBody, Message};
use crate::recording::{Channel, Schema};
use ::foxglove::bytes::Bytes as Shared;
use ::foxglove::messages::{
    CameraCalibration, CompressedImage, FrameTransform, Quaternion, RawImage, Timestamp, Vector3,
};
use ::foxglove::{Decode, Encode};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Foxglove has no message for disparity; a channel of floats that are disparity says so under this name.
const HOLDS: &str = "stereopsis.holds";
const DISPARITY: &str = "disparity";

/// What the messages of a channel hold, if they are Foxglove's or JSON.
pub(super) fn kind(channel: &Channel) -> Option<Kind> {
    let name = channel.schema.as_ref().map_or("", |schema| schema.name.as_str());
    match (channel.message_encoding.as_str(), name) {
        ("protobuf", "foxglove.RawImage") if channel.metadata.get(HOLDS).is_some_and(|what| what == DISPARITY) => {
            Some(Kind::Disparity)
        }
        ("protobuf", "foxglove.RawImage") => Some(Kind::Image),
        ("protobuf", "foxglove.CompressedImage") => Some(Kind::Compressed),
        ("protobuf", "foxglove.CameraCalibration") => Some(Kind::Camera),
        ("protobuf", "foxglove.FrameTransform") => Some(Kind::Transform),
        ("json", name) if !name.starts_with("foxglove.") => Some(Kind::Json),
        _ => None,
    }
}

/// What a file knows of a topic.
pub(super) fn channel(topic: &str, kind: Kind) -> Channel {
    let schema = match kind {
        Kind::Image | Kind::Disparity => RawImage::get_schema(),
        Kind::Compressed => CompressedImage::get_schema(),
        Kind::Camera => CameraCalibration::get_schema(),
        Kind::Transform => FrameTransform::get_schema(),
        Kind::Json => {
            let name = topic.trim_start_matches('/').replace('/', ".");
            Some(::foxglove::Schema::new(name, "jsonschema", br#"{"type":"object"}"#))
        }
    };
    let message_encoding = if kind == Kind::Json { "json" } else { "protobuf" };
    let holds = (kind == Kind::Disparity).then(|| (HOLDS.to_owned(), DISPARITY.to_owned()));
    Channel {
        topic: topic.to_owned(),
        message_encoding: message_encoding.to_owned(),
        schema: schema.map(|schema| {
            Arc::new(Schema { name: schema.name, encoding: schema.encoding, data: schema.data.into_owned() })
        }),
        metadata: holds.into_iter().collect(),
    }
}

/// Foxglove's word for a packing of pixels.
fn word(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Mono8 => "mono8",
        Encoding::Mono16 => "mono16",
        Encoding::Rgb8 => "rgb8",
        Encoding::Bgr8 => "bgr8",
        Encoding::Yuyv => "yuyv",
        Encoding::Uyvy => "uyvy",
        Encoding::Nv12 => "nv12",
        Encoding::DepthMm => "16UC1",
        Encoding::Float32 => "32FC1",
    }
}

fn timestamp(time: SystemTime) -> Timestamp {
    let since = since_1970(time);
    u32::try_from(since.as_secs()).map_or(Timestamp::MAX, |sec| Timestamp::new(sec, since.subsec_nanos()))
}

/// The time; 1970, which says nothing, where there is none, and for the last second that a stamp can say.
fn time(timestamp: Option<Timestamp>) -> SystemTime {
    let told = timestamp.filter(|timestamp| timestamp.sec() < u32::MAX);
    UNIX_EPOCH + Duration::from_nanos(told.unwrap_or(Timestamp::MIN).total_nanos())
}

/// The bytes of a message.
pub(super) fn encode(message: &Message) -> Vec<u8> {
    let Message { stamp, frame_id, body } = message;
    let (timestamp, frame_id) = (Some(timestamp(*stamp)), frame_id.clone());
    match body {
        Body::Image(image) => {
            let ImageBody { width, height, encoding, step, data } = image;
            let (encoding, data) = (word(*encoding).to_owned(), Shared::from_owner(data.clone()));
            to_bytes(&RawImage { timestamp, frame_id, width: *width, height: *height, encoding, step: *step, data })
        }
        Body::Compressed { format, data } => {
            let (format, data) = (format.clone(), Shared::from_owner(data.clone()));
            to_bytes(&CompressedImage { timestamp, frame_id, data, format })
        }
        Body::Camera(camera) => {
            let CameraBody { width, height, distortion_model, d, k, r, p } = camera.as_ref();
            to_bytes(&CameraCalibration {
                timestamp,
                frame_id,
                width: *width,
                height: *height,
                distortion_model: if distortion_model == "equidistant" { "kannala_brandt" } else { distortion_model }
                    .to_owned(),
                d: d.clone(),
                k: k.to_vec(),
                r: r.to_vec(),
                p: p.to_vec(),
            })
        }
        Body::Disparity(DisparityBody { disparity_px, .. }) => {
            let (width, height) = (disparity_px.width() as u32, disparity_px.height() as u32);
            let data = pixels::float_bytes(disparity_px, |d| d).into();
            let encoding = word(Encoding::Float32).to_owned();
            to_bytes(&RawImage { timestamp, frame_id, width, height, encoding, step: 4 * width, data })
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

fn to_bytes(message: &impl Encode) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(message.encoded_len().unwrap_or_default());
    message.encode(&mut bytes).expect("memory takes every message");
    bytes
}

fn from_bytes<T: Decode>(data: &[u8]) -> Result<T, String> {
    T::decode(data).map_err(|error| format!("damaged, or not what its schema says: {error}"))
}

/// The message of some kind that lies in these bytes.
pub(super) fn decode(kind: Kind, data: &[u8]) -> Result<Message, String> {
    match kind {
        Kind::Image => {
            let image = from_bytes::<RawImage>(data)?;
            let body = Body::Image(described(&image)?.body()?);
            Ok(Message { stamp: time(image.timestamp), frame_id: image.frame_id, body })
        }
        Kind::Disparity => {
            let image = from_bytes::<RawImage>(data)?;
            let body = Body::Disparity(DisparityBody {
                disparity_px: described(&image)?.floats()?,
                focal_px: 0.0,
                baseline_m: 0.0,
                min_disparity: 0.0,
                max_disparity: 0.0,
                delta_d: 0.0,
            });
            Ok(Message { stamp: time(image.timestamp), frame_id: image.frame_id, body })
        }
        Kind::Compressed => {
            let CompressedImage { timestamp, frame_id, data, format } = from_bytes(data)?;
            let body =
                Body::Compressed { format: pixels::compressed(&format)?.to_owned(), data: Bytes::from(&data[..]) };
            Ok(Message { stamp: time(timestamp), frame_id, body })
        }
        Kind::Camera => decode_camera(from_bytes(data)?),
        Kind::Transform => {
            let FrameTransform { timestamp, parent_frame_id, child_frame_id, translation, rotation } =
                from_bytes(data)?;
            let (Some(t), Some(r)) = (translation, rotation) else {
                return Err("it has no translation, or no rotation".to_owned());
            };
            let body =
                Body::Transform { child_frame_id, translation_m: [t.x, t.y, t.z], rotation: [r.x, r.y, r.z, r.w] };
            Ok(Message { stamp: time(timestamp), frame_id: parent_frame_id, body })
        }
        Kind::Json => super::json(data),
    }
}

fn described(image: &RawImage) -> Result<Described<'_>, String> {
    let RawImage { width, height, encoding, step, data, .. } = image;
    let encoding = pixels::encoding(encoding)?;
    Ok(Described { width: *width, height: *height, encoding, step: *step, is_bigendian: false, data })
}

fn decode_camera(camera: CameraCalibration) -> Result<Message, String> {
    let CameraCalibration { timestamp, frame_id, width, height, distortion_model, d, k, r, p } = camera;
    // Protobuf leaves out what is empty: an uncalibrated camera, or one that is not turned.
    let no_turn = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let body = CameraBody {
        width,
        height,
        distortion_model: if distortion_model == "kannala_brandt" {
            "equidistant".to_owned()
        } else {
            distortion_model
        },
        d,
        k: if k.is_empty() { [0.0; 9] } else { matrix("K", &k)? },
        r: if r.is_empty() { no_turn } else { matrix("R", &r)? },
        p: if p.is_empty() { [0.0; 12] } else { matrix("P", &p)? },
    };
    Ok(Message { stamp: time(timestamp), frame_id, body: Body::Camera(Box::new(body)) })
}
