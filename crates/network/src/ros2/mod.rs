//! ROS 2 without a ROS installation: a node that is visible to programs with `rmw_zenoh_cpp` and exchanges messages with them.
//!
//! ```text
//!  messages in CDR (recording/format) ─▶ key of topic, type and hash ─▶ with an attachment ═▶ subscriptions of ROS
//!  publishers of ROS ═▶ key of topic and type ─▶ images, paired by their stamps ─▶ source (source)
//!  the graph: a liveliness token for the node and for each of its ends (token)
//! ```
//!
//! The protocol is that of `rmw_zenoh_cpp` from Humble on, with the attachment that Jazzy has since 0.2.4. DDS is not supported.
//!
//! # Design: a node without ROS
//!
//! ```text
//!  taps ─▶ newest pair, newest result ─▶ packer: what has a subscription ─▶ a publisher for each topic ═▶ Zenoh ═▶ RViz, ros2 bag, nodes
//!  drivers ═▶ Zenoh ═▶ stamps of messages ─▶ pairing ─▶ newest pair ─▶ unpacker ─▶ raw pair, as of any source
//! ```
//!
//! - `network/ros2` has what makes a node of `rmw_zenoh_cpp`: keys, liveliness tokens, quality of service, hashes of types, attachments. All of it are functions of plain values, tested
//!   against literal ones; `tools/ros2_peer.sh` has a program of others check them.
//! - The bytes of messages are those of recordings in ROS 2's format (`recording/format/ros2`). `Packer` writes images without colours as plain pixels for it, and points
//!   and decoded images, which no recording has, on request.
//! - `publish/ros2` is a `live::Remote` like that of Foxglove, with an inbox of its own; several of them are one (`live::Remotes`). Zenoh says which topics have a subscription, and only
//!   those are packed. What is sent once (`/tf_static`) is kept for late subscriptions by `zenoh-ext`.
//! - A source (`network/ros2/source`) declares its tokens before its subscriptions, because publishers of later releases send only to those that they know by a token. A
//!   message that makes no sense is refused and counted.

mod attachment;
mod graph;
mod node;
mod pairs;
mod qos;
mod source;
mod surroundings;
mod token;
mod types;

pub use node::{Node, Outgoing};
pub use qos::Qos;
pub use source::RosSource;
pub use surroundings::RosEnvironment;

/// Default namespace of the program's nodes.
const NAMESPACE: &str = "/stereo";
