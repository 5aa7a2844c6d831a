//! What a file knows of a topic, and one message as it lies in the file.

use std::collections::BTreeMap;
use std::sync::Arc;

/// What a file knows of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// The topic.
    pub topic: String,
    /// How messages are written: `cdr`, `protobuf` or `json`.
    pub message_encoding: String,
    /// What they mean; `None` where they speak for themselves. Topics of one kind share it.
    pub schema: Option<Arc<Schema>>,
    /// More about the topic, such as what ROS 2 wants to know of its quality of service.
    pub metadata: BTreeMap<String, String>,
}

/// What messages of a topic mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// `sensor_msgs/msg/Image`, `foxglove.RawImage`, …
    pub name: String,
    /// `ros2msg`, `protobuf` or `jsonschema`.
    pub encoding: String,
    /// The definition.
    pub data: Vec<u8>,
}

/// One message as it lies in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its topic.
    pub channel: Arc<Channel>,
    /// Number of its pair, see [`crate::capture::RawPair::sequence`]; the low 32 bits.
    pub sequence: u32,
    /// When it was recorded: the wall clock, ns since 1970. Packets of one pair have the same: by it a reader finds them in the
    /// file's index, without decompressing everything.
    pub log_time_ns: u64,
    /// When what it shows was taken: the wall clock, ns since 1970.
    pub publish_time_ns: u64,
    /// The message.
    pub data: Vec<u8>,
}
