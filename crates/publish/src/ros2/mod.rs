//! Publishes the topics of a recording live to ROS 2 nodes (RViz, `ros2 bag`, other programs), over Zenoh.
//!
//! ```text
//!  capture, engine ─▶ newest frame, newest result ─▶ messages that have a subscription ─▶ a publisher for each topic ─▶ Zenoh
//!  (taps)             (inbox)                        (worker)                              (publishers)
//! ```
//!
//! Capture and engine never wait: messages that the network does not take in time are dropped, by Zenoh or before packing.
//! Nodes cannot set parameters.

mod link;
mod publishers;
mod worker;

pub use link::Ros2;

use super::error::PublishError;
use super::publication::{Publication, Shared};
use std::sync::Arc;
use stereopsis_network::ros2::{Node, RosEnvironment};

const NODE: &str = "stereopsis";

impl Publication<Ros2> {
    /// Joins the ROS graph; topics appear with the first pair. Retries while no router answers.
    ///
    /// # Errors
    /// The configuration is invalid, or the system provides no thread.
    pub fn start(environment: &RosEnvironment) -> Result<Arc<Self>, PublishError> {
        Self::of(Node::open(environment, NODE)?, None)
    }

    /// Joins the ROS graph for one of several rigs: topics are in the rig's namespace, and frames of reference begin with its name.
    /// Characters other than letters, digits and `_` become `_`, as ROS requires.
    ///
    /// # Errors
    /// See [`Publication::<Ros2>::start`].
    pub fn of_rig(environment: &RosEnvironment, rig: &str) -> Result<Arc<Self>, PublishError> {
        let plain: String = rig.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let begins_well = plain.starts_with(|c: char| c.is_ascii_alphabetic());
        let name = if begins_well { plain } else { format!("rig_{plain}") };
        Self::of(Node::open_in(environment, format!("/{name}"), NODE)?, Some(name))
    }

    fn of(node: Node, rig: Option<String>) -> Result<Arc<Self>, PublishError> {
        let is_connected = node.is_connected();
        let mut invitation = format!("ros2: node {} in domain {}, by {}", node.name(), node.domain(), node.routers());
        if !is_connected {
            invitation = format!("{invitation}\nros2: {}; it is tried again", node.no_router());
        }
        let shared = Arc::new(Shared::new(Ros2::new(is_connected)));
        let worker = worker::RosWorker::new(Arc::clone(&shared), node, rig);
        Self::with_thread(shared, invitation, move || worker.run()).map_err(PublishError::Ros2Thread)
    }
}
