//! The formats in which messages lie in a file: message to bytes and back.
//!
//! ```text
//!  Message ─▶ ros2, foxglove ─▶ bytes, and a Channel that says how to read them ─▶ whichever it names ─▶ Message
//! ```

mod foxglove;
mod pixels;
pub mod ros2;
#[cfg(test)]
mod tests;

use super::message::{Body, Message};
use super::{Channel, Packet};
use crate::choices;
use crate::console::foreign;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

choices! {
    /// In which words a recording is written.
    pub enum Format {
        /// ROS 2's messages: opens in ROS 2, Foxglove, Python, and as depth in rerun.
        Ros2 = "ros2",
        /// Foxglove's messages.
        Foxglove = "foxglove",
    }
}

/// What the messages of a topic hold, see [`Body`].
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
    /// [`Body::Transform`].
    Transform,
    /// [`Body::Json`].
    Json,
}

/// Why a message cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A kind of message that is not read at all, see [`kind`].
    #[error("{topic}: messages of type '{schema}', written as '{encoding}', are not read here")]
    Unknown {
        /// The topic.
        topic: String,
        /// The name of their schema.
        schema: String,
        /// How they are written.
        encoding: String,
    },
    /// The bytes are not what the schema says, or say what is not read here.
    #[error("{topic}: {what}")]
    Message {
        /// The topic.
        topic: String,
        /// What is wrong, in words.
        what: String,
    },
}

impl Body {
    /// Which kind it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Image(_) => Kind::Image,
            Self::Compressed { .. } => Kind::Compressed,
            Self::Camera(_) => Kind::Camera,
            Self::Disparity(_) => Kind::Disparity,
            Self::Transform { .. } => Kind::Transform,
            Self::Json(_) => Kind::Json,
        }
    }
}

impl Format {
    /// What a file knows of this topic when it holds bodies of this kind.
    pub fn channel(self, topic: &str, body: &Body) -> Channel {
        match self {
            Self::Ros2 => ros2::channel(topic, body.kind()),
            Self::Foxglove => foxglove::channel(topic, body.kind()),
        }
    }

    /// The bytes of a message; [`Self::channel`] says how to read them.
    pub fn encode(self, message: &Message) -> Vec<u8> {
        match self {
            Self::Ros2 => ros2::encode(message),
            Self::Foxglove => foxglove::encode(message),
        }
    }

    /// The profile that an MCAP file names in its header.
    pub fn profile(self) -> &'static str {
        match self {
            Self::Ros2 => "ros2",
            Self::Foxglove => "",
        }
    }
}

/// What the messages of this channel hold; `None` for what is not read here.
pub fn kind(channel: &Channel) -> Option<Kind> {
    ros2::kind(channel).or_else(|| foxglove::kind(channel))
}

/// A message by its schema's name and encoding, whoever wrote it.
///
/// JSON carries neither a time nor a frame of reference: [`Message::stamp`] is 1970 then, and its packet's times hold.
///
/// # Errors
/// If it is of a kind, or has pixels, that are not read here, or if its bytes are not what the schema says.
pub fn decode(channel: &Channel, data: &[u8]) -> Result<Message, DecodeError> {
    let topic = || foreign(&channel.topic);
    let has_pixels = matches!(kind(channel), Some(Kind::Image | Kind::Compressed | Kind::Disparity));
    if !has_pixels && data.len() > MAX_WORDS_BYTES {
        let what = format!(
            "a message of {} bytes, and of those without pixels none of more than {MAX_WORDS_BYTES} is read",
            data.len()
        );
        return Err(DecodeError::Message { topic: topic(), what });
    }
    let message = if let Some(kind) = ros2::kind(channel) {
        ros2::decode(kind, data)
    } else if let Some(kind) = foxglove::kind(channel) {
        foxglove::decode(kind, data)
    } else {
        let schema = channel.schema.as_ref().map(|schema| foreign(&schema.name)).unwrap_or_default();
        return Err(DecodeError::Unknown { topic: topic(), schema, encoding: foreign(&channel.message_encoding) });
    };
    message.map_err(|what| DecodeError::Message { topic: topic(), what })
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

/// Messages without pixels are not longer: JSON takes a multiple of its bytes in memory.
const MAX_WORDS_BYTES: usize = 4 << 20;

/// JSON as a message.
fn json(text: &[u8]) -> Result<Message, String> {
    let value = serde_json::from_slice(text).map_err(|error| format!("no JSON: {error}"))?;
    Ok(Message { stamp: UNIX_EPOCH, frame_id: String::new(), body: Body::Json(value) })
}

/// Seconds and nanoseconds since 1970; 0 for a time before.
fn since_1970(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// As many numbers as a matrix has, whose name the error says.
fn matrix<const N: usize>(name: &str, numbers: &[f64]) -> Result<[f64; N], String> {
    numbers.try_into().map_err(|_| format!("{name} has {} numbers instead of {N}", numbers.len()))
}
