//! ROS 2 without a ROS installation: a node that is visible to programs with `rmw_zenoh_cpp` and exchanges messages with them.
//!
//! ```text
//!  messages in CDR (recording/format) ─▶ key of topic, type and hash ─▶ with an attachment ═▶ subscriptions of ROS
//!  publishers of ROS ═▶ key of topic and type ─▶ pictures, paired by their stamps ─▶ source (source)
//!  the graph: a liveliness token for the node and for each of its ends (token)
//! ```
//!
//! The protocol is that of `rmw_zenoh_cpp` from Humble on, with the attachment that Jazzy has since 0.2.4. DDS is not supported.

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
