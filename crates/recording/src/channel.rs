//! Channel of an MCAP file, and packet: one encoded message.

use super::time;
use mcap::records::MessageHeader;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Channel: the messages of one topic and one schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Name of the topic.
    pub topic: String,
    /// Encoding of the messages: `cdr`, `ros1`, `protobuf` or `json`.
    pub message_encoding: String,
    /// Type of the messages, shared by channels of one type; `None` for messages without a type.
    pub schema: Option<Arc<Schema>>,
    /// Further properties, such as ROS 2's quality of service.
    pub metadata: BTreeMap<String, String>,
}

/// Type of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Name of the type: `sensor_msgs/msg/Image`, `foxglove.RawImage`, …
    pub name: String,
    /// Encoding of the definition: `ros2msg`, `ros1msg`, `protobuf` or `jsonschema`.
    pub encoding: String,
    /// Definition of the type.
    pub data: Vec<u8>,
}

/// One encoded message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Channel of the message.
    pub channel: Arc<Channel>,
    /// Low 32 bits of the pair's number, see [`stereopsis_frame::RawPair::sequence`].
    pub sequence: u32,
    /// Time of recording by the wall clock, ns since 1970; equal for all packets of a pair, so that the file's index assigns them.
    pub log_time_ns: u64,
    /// Capture time by the wall clock, ns since 1970.
    pub publish_time_ns: u64,
    /// Bytes of the message.
    pub data: Vec<u8>,
}

impl Packet {
    pub(super) fn new(channel: Arc<Channel>, header: &MessageHeader, data: Vec<u8>) -> Self {
        Self {
            channel,
            sequence: header.sequence,
            log_time_ns: header.log_time,
            publish_time_ns: header.publish_time,
            data,
        }
    }

    /// Returns the capture time of an image: `stamp` of the message, or the publish time where the stamp is 1970.
    pub(super) fn capture_time(&self, stamp: SystemTime) -> SystemTime {
        if stamp > UNIX_EPOCH { stamp } else { time::from_ns(self.publish_time_ns) }
    }
}
