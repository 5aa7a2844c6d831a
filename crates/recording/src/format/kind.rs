//! Formats, kinds of messages, and what all formats share.

use crate::error::MessageError;
use crate::message::{Body, Message};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stereopsis_base::parameter::choices;

choices! {
    /// Format of the messages in a recording.
    pub enum Format {
        /// ROS 2's messages: opens in ROS 2, Foxglove, Python, and as depth in rerun.
        Ros2 = "ros2",
        /// Foxglove's messages.
        Foxglove = "foxglove",
    }
}

/// Kind of a message, one for each variant of [`Body`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Kind of [`Body::Image`].
    Image,
    /// Kind of [`Body::Compressed`].
    Compressed,
    /// Kind of [`Body::Camera`].
    Camera,
    /// Kind of [`Body::Disparity`].
    Disparity,
    /// Kind of [`Body::Points`].
    Points,
    /// Kind of [`Body::Transform`].
    Transform,
    /// Kind of [`Body::Json`].
    Json,
}

impl Body {
    /// Returns the kind.
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

/// Reads a JSON message.
pub(super) fn json(text: &[u8]) -> Result<Message, MessageError> {
    let value = serde_json::from_slice(text).map_err(MessageError::NoJson)?;
    Ok(Message { stamp: UNIX_EPOCH, frame_id: String::new(), body: Body::Json(value) })
}

/// Returns the time since 1970; 0 for an earlier time.
pub(super) fn since_1970(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}
