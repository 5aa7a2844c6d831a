//! ROS 2's messages: CDR with `ros2msg` schemas, as `ros2 bag` writes them into MCAP.

pub mod bag;
mod cdr;
mod definitions;
mod messages;

use super::pixels::{self, Described};
use super::{Kind, since_1970};
use crate::image::Image;
use crate::recording::message::{Body, Bytes, CameraBody, DisparityBody, Encoding, ImageBody, Message};
use crate::recording::{Channel, Schema};
use messages::{
    CameraInfo, CompressedImage, DisparityImage, Header, Octets, RegionOfInterest, Text, TfMessage, Time,
    TransformStamped,
};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The name of the messages that hold a body.
fn schema_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Image => "sensor_msgs/msg/Image",
        Kind::Compressed => "sensor_msgs/msg/CompressedImage",
        Kind::Camera => "sensor_msgs/msg/CameraInfo",
        Kind::Disparity => "stereo_msgs/msg/DisparityImage",
        Kind::Transform => "tf2_msgs/msg/TFMessage",
        Kind::Json => "std_msgs/msg/String",
    }
}

/// What the messages of a channel hold, if they are ROS 2's.
pub(super) fn kind(channel: &Channel) -> Option<Kind> {
    let schema = channel.schema.as_ref().filter(|_| channel.message_encoding == "cdr")?;
    let kinds = [Kind::Image, Kind::Compressed, Kind::Camera, Kind::Disparity, Kind::Transform, Kind::Json];
    kinds.into_iter().find(|kind| schema_name(*kind) == schema.name)
}

/// What a file knows of a topic.
pub(super) fn channel(topic: &str, kind: Kind) -> Channel {
    let name = schema_name(kind);
    let data = definitions::with_parts(name).into_bytes();
    Channel {
        topic: topic.to_owned(),
        message_encoding: "cdr".to_owned(),
        schema: Some(Arc::new(Schema { name: name.to_owned(), encoding: "ros2msg".to_owned(), data })),
        metadata: [(bag::QOS.to_owned(), bag::offered_qos(topic))].into(),
    }
}

/// ROS 2's word for a packing of pixels.
fn word(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Mono8 => "mono8",
        Encoding::Mono16 => "mono16",
        Encoding::Rgb8 => "rgb8",
        Encoding::Bgr8 => "bgr8",
        Encoding::Yuyv => "yuv422_yuy2",
        Encoding::Uyvy => "yuv422",
        Encoding::Nv12 => "nv12",
        Encoding::DepthMm => "16UC1",
        Encoding::Float32 => "32FC1",
    }
}

impl<'a> Header<'a> {
    fn of(message: &'a Message) -> Self {
        let since = since_1970(message.stamp);
        let stamp = Time { sec: i32::try_from(since.as_secs()).unwrap_or(i32::MAX), nanosec: since.subsec_nanos() };
        Self { stamp, frame_id: Cow::Borrowed(&message.frame_id) }
    }

    /// The time; 1970, which says nothing, for one before, and for the last second that a stamp can say: it stands for all later ones.
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

/// The bytes of a message.
pub(super) fn encode(message: &Message) -> Vec<u8> {
    let header = Header::of(message);
    match &message.body {
        Body::Image(image) => cdr::to_bytes(&image_message(header, image), image.data.len() + 256),
        Body::Compressed { format, data } => {
            cdr::to_bytes(&CompressedImage { header, format: format.into(), data: Octets(data) }, data.len() + 256)
        }
        Body::Camera(camera) => cdr::to_bytes(&camera_message(header, camera), 512),
        Body::Disparity(disparity) => encode_disparity(message, disparity),
        Body::Transform { child_frame_id, translation_m, rotation } => {
            let transform = TransformStamped {
                header,
                child_frame_id: child_frame_id.into(),
                translation: *translation_m,
                rotation: *rotation,
            };
            cdr::to_bytes(&TfMessage { transforms: vec![transform] }, 256)
        }
        Body::Json(value) => cdr::to_bytes(&Text { data: value.to_string().into() }, 256),
    }
}

/// The message of some kind that lies in these bytes.
pub(super) fn decode(kind: Kind, data: &[u8]) -> Result<Message, String> {
    match kind {
        Kind::Image => {
            let image: messages::Image = cdr::from_bytes(data)?;
            let body = described(&image)?.body()?;
            Ok(image.header.message(Body::Image(body)))
        }
        Kind::Compressed => {
            let image: CompressedImage = cdr::from_bytes(data)?;
            let body = Body::Compressed {
                format: pixels::compressed(&image.format)?.to_owned(),
                data: Bytes::from(image.data.0),
            };
            Ok(image.header.message(body))
        }
        Kind::Camera => decode_camera(cdr::from_bytes(data)?),
        Kind::Disparity => decode_disparity(cdr::from_bytes(data)?),
        Kind::Transform => decode_transform(cdr::from_bytes(data)?),
        Kind::Json => super::json(cdr::from_bytes::<Text>(data)?.data.as_bytes()),
    }
}

fn image_message<'a>(header: Header<'a>, image: &'a ImageBody) -> messages::Image<'a> {
    let ImageBody { width, height, encoding, step, data } = image;
    messages::Image {
        header,
        height: *height,
        width: *width,
        encoding: word(*encoding).into(),
        is_bigendian: 0,
        step: *step,
        data: Octets(data),
    }
}

fn described<'a>(image: &messages::Image<'a>) -> Result<Described<'a>, String> {
    Ok(Described {
        width: image.width,
        height: image.height,
        encoding: pixels::encoding(&image.encoding)?,
        step: image.step,
        is_bigendian: image.is_bigendian != 0,
        data: image.data.0,
    })
}

fn camera_message<'a>(header: Header<'a>, camera: &'a CameraBody) -> CameraInfo<'a> {
    let CameraBody { width, height, distortion_model, d, k, r, p } = camera;
    CameraInfo {
        header,
        height: *height,
        width: *width,
        distortion_model: distortion_model.into(),
        d: d.into(),
        k: *k,
        r: *r,
        p: *p,
        // 0 and 1 both mean that pixels are not summed up; an empty region means all of the picture.
        binning_x: 0,
        binning_y: 0,
        roi: RegionOfInterest::default(),
    }
}

fn decode_camera(camera: CameraInfo) -> Result<Message, String> {
    let CameraInfo { header, height, width, distortion_model, d, k, r, p, binning_x, binning_y, roi } = camera;
    let is_whole = (roi.width == 0 && roi.height == 0) || (roi.width == width && roi.height == height);
    if binning_x > 1 || binning_y > 1 || !is_whole {
        return Err(
            "it describes a part of the picture (roi) or summed pixels (binning), which is not read here".to_owned()
        );
    }
    let (distortion_model, d) = (distortion_model.into_owned(), d.into_owned());
    Ok(header.message(Body::Camera(Box::new(CameraBody { width, height, distortion_model, d, k, r, p }))))
}

fn encode_disparity(message: &Message, disparity: &DisparityBody) -> Vec<u8> {
    let DisparityBody { disparity_px, focal_px, baseline_m, min_disparity, max_disparity, delta_d } = disparity;
    let (width, height) = (disparity_px.width() as u32, disparity_px.height() as u32);
    // ROS has no word for "none" but a number below the smallest one that was searched.
    let none = min_disparity - 1.0;
    let data = pixels::float_bytes(disparity_px, |d| if d.is_nan() { none } else { d });
    let image = messages::Image {
        header: Header::of(message),
        height,
        width,
        encoding: word(Encoding::Float32).into(),
        is_bigendian: 0,
        step: 4 * width,
        data: Octets(&data),
    };
    let disparity = DisparityImage {
        header: Header::of(message),
        image,
        f: *focal_px,
        t: *baseline_m,
        valid_window: RegionOfInterest { height, width, ..RegionOfInterest::default() },
        min_disparity: *min_disparity,
        max_disparity: *max_disparity,
        delta_d: *delta_d,
    };
    cdr::to_bytes(&disparity, data.len() + 512)
}

fn decode_disparity(disparity: DisparityImage) -> Result<Message, String> {
    let DisparityImage { header, image, f, t, min_disparity, max_disparity, delta_d, .. } = disparity;
    let mut disparity_px: Image<f32> = described(&image)?.floats()?;
    for d in disparity_px.pixels_mut() {
        // NaN compares as neither, so it stays what it is.
        if *d < min_disparity {
            *d = f32::NAN;
        }
    }
    let body = DisparityBody { disparity_px, focal_px: f, baseline_m: t, min_disparity, max_disparity, delta_d };
    Ok(header.message(Body::Disparity(body)))
}

fn decode_transform(message: TfMessage) -> Result<Message, String> {
    let [transform] = <[TransformStamped; 1]>::try_from(message.transforms)
        .map_err(|all| format!("it holds {} transforms, and only messages of one are read here", all.len()))?;
    let TransformStamped { header, child_frame_id, translation, rotation } = transform;
    let child_frame_id = child_frame_id.into_owned();
    Ok(header.message(Body::Transform { child_frame_id, translation_m: translation, rotation }))
}
