//! ROS 2 without a ROS installation: nodes that are visible to programs with `rmw_zenoh_cpp` and exchange messages with them.
//!
//! ```text
//!  messages in CDR (recording/format) ─▶ key of topic, type and hash ─▶ with an attachment ═▶ subscriptions of ROS
//!  publishers of ROS ═▶ key of topic and type ─▶ images, paired by their stamps ─▶ source (source)
//!  the graph: a liveliness token for the node and for each of its ends (token)
//! ```
//!
//! The protocol is that of `rmw_zenoh_cpp` from Humble on, with the attachment of Jazzy from 0.2.4 on. DDS is not supported.
//!
//! # Design: a node without ROS
//!
//! ```text
//!  taps ─▶ newest pair, newest result ─▶ packer of subscribed topics ─▶ a publisher for each topic ═▶ Zenoh ═▶ RViz, ros2 bag, nodes
//!  drivers ═▶ Zenoh ═▶ stamps of messages ─▶ pairing ─▶ newest pair ─▶ unpacker ─▶ raw pair, as from any source
//! ```
//!
//! - Keys, liveliness tokens, quality of service, hashes of types and attachments are pure functions, tested against literal values;
//!   `tools/ros2_peer.sh` tests them with a third-party node.
//! - Messages have the bytes of recordings in ROS 2's format (`recording/format/ros2`). For ROS 2, `Packer` also writes plain grey images,
//!   points and decoded images, which recordings do not contain.
//! - `publish/ros2` packs only topics with subscriptions, which Zenoh reports. `zenoh-ext` keeps messages that are sent once
//!   (`/tf_static`) for late subscriptions.
//! - A source declares its tokens before its subscriptions, because publishers of later releases send only to subscriptions with a known
//!   token. Invalid messages are refused and counted.

mod attachment;
mod error;
mod node;
mod pairs;
mod qos;
mod source;
mod environment;
mod token;
mod types;

pub use environment::RosEnvironment;
pub use error::RosError;
pub use node::{Node, NodePublisher};
pub use qos::Qos;
pub use source::RosSource;

const NAMESPACE: &str = "/stereo";
