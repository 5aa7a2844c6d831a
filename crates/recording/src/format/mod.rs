//! Formats of messages: encode a message to bytes, and decode it.
//!
//! ```text
//!  Message ─▶ ros2 or foxglove ─▶ bytes, and a Channel that names type and encoding ─▶ ros2 or foxglove ─▶ Message
//! ```

mod depthai;
mod foxglove;
mod kind;
mod pixels;
mod points;
pub mod ros2;
#[cfg(test)]
mod tests;

pub use kind::{Format, Kind};

use super::error::{Damage, MessageError};
use super::message::{Body, Message};
use super::{Channel, Packet};

impl Format {
    /// Returns the channel of a topic for messages like this one.
    pub fn channel(self, topic: &str, body: &Body) -> Channel {
        self.channel_of(topic, body.kind())
    }

    /// Returns the channel of a topic for messages of a kind.
    pub fn channel_of(self, topic: &str, kind: Kind) -> Channel {
        match self {
            Self::Ros2 => ros2::channel(topic, kind),
            Self::Foxglove => foxglove::channel(topic, kind),
        }
    }

    /// Encodes a message.
    pub fn encode(self, message: &Message) -> Vec<u8> {
        match self {
            Self::Ros2 => ros2::encode(message),
            Self::Foxglove => foxglove::encode(message),
        }
    }

    /// Returns the profile in the header of an MCAP file.
    pub fn profile(self) -> &'static str {
        match self {
            Self::Ros2 => "ros2",
            Self::Foxglove => "",
        }
    }
}

/// Returns the kind of a channel's messages; `None` for types that are not read.
pub fn kind(channel: &Channel) -> Option<Kind> {
    ros2::kind(channel)
        .or_else(|| ros2::ros1::kind(channel))
        .or_else(|| foxglove::kind(channel))
        .or_else(|| depthai::kind(channel))
}

/// Decodes a message of this or another program, by the type and encoding of its channel.
///
/// JSON has neither a stamp nor a frame of reference: [`Message::stamp`] is then 1970, and the packet's times are used.
///
/// # Errors
/// The type is not read, see [`kind()`]; or the bytes do not match the type, or have content that is not read.
pub fn decode(channel: &Channel, data: &[u8]) -> Result<Message, Damage> {
    let has_pixels = matches!(kind(channel), Some(Kind::Image | Kind::Compressed | Kind::Disparity | Kind::Points));
    if !has_pixels && data.len() > MAX_TEXT_BYTES {
        return Err(MessageError::Long { bytes: data.len(), limit: MAX_TEXT_BYTES }.of(&channel.topic));
    }
    let message = if let Some(kind) = ros2::kind(channel) {
        ros2::decode(kind, data)
    } else if let Some(kind) = ros2::ros1::kind(channel) {
        ros2::ros1::decode(kind, data)
    } else if let Some(kind) = foxglove::kind(channel) {
        foxglove::decode(kind, data)
    } else if depthai::kind(channel).is_some() {
        depthai::decode(data)
    } else {
        let schema = channel.schema.as_ref().map(|schema| schema.name.clone()).unwrap_or_default();
        Err(MessageError::Type { schema, encoding: channel.message_encoding.clone() })
    };
    message.map_err(|why| why.of(&channel.topic))
}

/// Decodes the transforms of a message, of which ROS's may have several.
pub(crate) fn transforms(channel: &Channel, data: &[u8]) -> Result<Vec<Message>, Damage> {
    let of_ros = |transforms: Result<Vec<Message>, MessageError>| transforms.map_err(|why| why.of(&channel.topic));
    match data.len() {
        bytes if bytes > MAX_TEXT_BYTES => Err(MessageError::Long { bytes, limit: MAX_TEXT_BYTES }.of(&channel.topic)),
        _ if ros2::kind(channel) == Some(Kind::Transform) => of_ros(ros2::transforms(data)),
        _ if ros2::ros1::kind(channel) == Some(Kind::Transform) => of_ros(ros2::ros1::transforms(data)),
        _ => decode(channel, data).map(|message| vec![message]),
    }
}

/// Decodes the value of a JSON message.
///
/// # Errors
/// Errors of [`decode`]; or the message is no JSON, or of another type.
pub fn decode_json<T: serde::de::DeserializeOwned>(packet: &Packet) -> Result<T, Damage> {
    match decode(&packet.channel, &packet.data)?.body {
        Body::Json(value) => Ok(serde_json::from_value(value).map_err(MessageError::Json)?),
        _ => Err(MessageError::OtherThanJson.into()),
    }
}

/// Returns the coding of the video in a message of `foxglove.CompressedVideo`, such as `h264`; `None` for other messages.
pub(crate) fn coding_of_video(channel: &Channel, data: &[u8]) -> Option<String> {
    let name = channel.schema.as_ref()?.name.as_str();
    match (channel.message_encoding.as_str(), name) {
        ("cdr", "foxglove_msgs/msg/CompressedVideo") => ros2::coding_of_video(data),
        ("protobuf", "foxglove.CompressedVideo") => foxglove::coding_of_video(data),
        _ => None,
    }
}

/// Limit of messages without pixels, bytes: parsed JSON takes a multiple of that in memory.
const MAX_TEXT_BYTES: usize = 4 << 20;
