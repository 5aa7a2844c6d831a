//! ROS 2 without ROS: a node that programs with `rmw_zenoh_cpp` see, hear and talk to.
//!
//! ```text
//!  messages in CDR (recording/format) ─▶ key of topic, type and hash ─▶ with an attachment ═▶ subscriptions of ROS
//!  publishers of ROS ═▶ key of topic and type ─▶ pictures, paired by their stamps ─▶ source (source)
//!  the graph: a liveliness token for the node and for each of its ends (token)
//! ```
//!
//! Everything follows the design of `rmw_zenoh_cpp` from Humble on, with the attachment that Jazzy has since 0.2.4. DDS is not spoken.

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
pub use surroundings::Surroundings;

/// Namespace of the program's nodes.
const NAMESPACE: &str = "/stereo";
