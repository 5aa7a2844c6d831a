//! The formats of messages: from a message to bytes and back.
//!
//! ```text
//!  Message ─▶ ros2 or foxglove ─▶ bytes, and a Channel that names type and encoding ─▶ ros2 or foxglove ─▶ Message
//! ```

mod foxglove;
mod pixels;
mod points;
pub mod ros2;
#[cfg(test)]
mod tests;

use super::message::{Body, Message};
use super::{Channel, Packet, ReadError};
use crate::choices;
use crate::console::foreign;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

choices! {
    /// Format of the messages in a recording.
    pub enum Format {
        /// ROS 2's messages: opens in ROS 2, Foxglove, Python, and as depth in rerun.
        Ros2 = "ros2",
        /// Foxglove's messages.
        Foxglove = "foxglove",
    }
}

/// Kind of a message, see [`Body`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// [`Body::Image`].
    Image,
    /// [`Body::Compressed`].
    Compressed,
    /// [`Body::Camera`].
    Camera,
    /// [`Body::Disparity`].
    Disparity,
    /// [`Body::Points`].
    Points,
    /// [`Body::Transform`].
    Transform,
    /// [`Body::Json`].
    Json,
}

impl Body {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Image(_) => Kind::Image,
            Self::Compressed { .. } => Kind::Compressed,
            Self::Camera(_) => Kind::Camera,
            Self::Disparity(_) => Kind::Disparity,
            Self::Points(_) => Kind::Points,
            Self::Transform { .. } => Kind::Transform,
            Self::Json(_) => Kind::Json,
        }
    }
}

impl Format {
    /// The channel of a topic with messages like this one.
    pub fn channel(self, topic: &str, body: &Body) -> Channel {
        self.channel_of(topic, body.kind())
    }

    /// The channel of a topic with messages of this kind.
    pub fn channel_of(self, topic: &str, kind: Kind) -> Channel {
        match self {
            Self::Ros2 => ros2::channel(topic, kind),
            Self::Foxglove => foxglove::channel(topic, kind),
        }
    }

    /// The bytes of a message.
    pub fn encode(self, message: &Message) -> Vec<u8> {
        match self {
            Self::Ros2 => ros2::encode(message),
            Self::Foxglove => foxglove::encode(message),
        }
    }

    /// Profile in the header of an MCAP file.
    pub fn profile(self) -> &'static str {
        match self {
            Self::Ros2 => "ros2",
            Self::Foxglove => "",
        }
    }
}

/// Kind of the messages of a channel; `None` for types that are not read.
pub fn kind(channel: &Channel) -> Option<Kind> {
    ros2::kind(channel).or_else(|| ros2::ros1::kind(channel)).or_else(|| foxglove::kind(channel))
}

/// Decodes a message of this or another program, by type and encoding of its channel.
///
/// JSON has neither a stamp nor a frame of reference: [`Message::stamp`] is 1970, and the packet's times hold.
///
/// # Errors
/// Its type is not read, see [`kind`]; or its bytes do not match the type, or have content that is not read.
pub fn decode(channel: &Channel, data: &[u8]) -> Result<Message, ReadError> {
    let damaged = |what: String| ReadError::Damaged(format!("{}: {what}", foreign(&channel.topic)));
    let has_pixels = matches!(kind(channel), Some(Kind::Image | Kind::Compressed | Kind::Disparity | Kind::Points));
    if !has_pixels && data.len() > MAX_TEXT_BYTES {
        return Err(damaged(format!(
            "a message of {} bytes, and of those without pixels none of more than {MAX_TEXT_BYTES} is read",
            data.len()
        )));
    }
    let message = if let Some(kind) = ros2::kind(channel) {
        ros2::decode(kind, data)
    } else if let Some(kind) = ros2::ros1::kind(channel) {
        ros2::ros1::decode(kind, data)
    } else if let Some(kind) = foxglove::kind(channel) {
        foxglove::decode(kind, data)
    } else {
        let schema = channel.schema.as_ref().map(|schema| foreign(&schema.name)).unwrap_or_default();
        let encoding = foreign(&channel.message_encoding);
        Err(format!("messages of type '{schema}', written as '{encoding}', are not read here"))
    };
    message.map_err(damaged)
}

/// The value of a JSON message.
///
/// # Errors
/// As [`decode`]; or it is no JSON, or not of this type.
pub fn decode_json<T: serde::de::DeserializeOwned>(packet: &Packet) -> Result<T, String> {
    match decode(&packet.channel, &packet.data).map_err(|err| err.to_string())?.body {
        Body::Json(value) => serde_json::from_value(value).map_err(|err| err.to_string()),
        _ => Err("it is no JSON".to_owned()),
    }
}

/// Coding of the video in a message of `foxglove.CompressedVideo`, such as `h264`; `None` for other messages.
pub(crate) fn coding_of_video(channel: &Channel, data: &[u8]) -> Option<String> {
    let name = channel.schema.as_ref()?.name.as_str();
    match (channel.message_encoding.as_str(), name) {
        ("cdr", "foxglove_msgs/msg/CompressedVideo") => ros2::coding_of_video(data),
        ("protobuf", "foxglove.CompressedVideo") => foxglove::coding_of_video(data),
        _ => None,
    }
}

/// Limit of messages without pixels: JSON takes a multiple of its bytes in memory.
const MAX_TEXT_BYTES: usize = 4 << 20;

/// JSON as a message.
fn json(text: &[u8]) -> Result<Message, String> {
    let value = serde_json::from_slice(text).map_err(|error| format!("no JSON: {error}"))?;
    Ok(Message { stamp: UNIX_EPOCH, frame_id: String::new(), body: Body::Json(value) })
}

/// Time since 1970; 0 for an earlier time.
fn since_1970(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}
