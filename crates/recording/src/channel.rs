//! A channel of a file, and a packet: one message in its bytes.

use super::time;
use mcap::records::MessageHeader;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A channel: the messages of one topic and one schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// The topic.
    pub topic: String,
    /// Encoding of its messages: `cdr`, `ros1`, `protobuf` or `json`.
    pub message_encoding: String,
    /// Type of its messages; `None` for messages without one. Channels of one type share it.
    pub schema: Option<Arc<Schema>>,
    /// Further properties, such as ROS 2's quality of service.
    pub metadata: BTreeMap<String, String>,
}

/// A type of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// `sensor_msgs/msg/Image`, `foxglove.RawImage`, …
    pub name: String,
    /// `ros2msg`, `ros1msg`, `protobuf` or `jsonschema`.
    pub encoding: String,
    /// The definition.
    pub data: Vec<u8>,
}

/// One message in the bytes of its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its channel.
    pub channel: Arc<Channel>,
    /// Number of its pair, see [`crate::capture::RawPair::sequence`]; the low 32 bits.
    pub sequence: u32,
    /// Time of recording by the wall clock, ns since 1970. All packets of a pair have the same log time, so that the file's index
    /// alone assigns them to pairs.
    pub log_time_ns: u64,
    /// Time of capture by the wall clock, ns since 1970.
    pub publish_time_ns: u64,
    /// The message.
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

    /// Time of capture of an image: its message's `stamp`, or the publish time where the stamp is 1970.
    pub(super) fn capture_time(&self, stamp: SystemTime) -> SystemTime {
        if stamp > UNIX_EPOCH { stamp } else { time::from_ns(self.publish_time_ns) }
    }
}
