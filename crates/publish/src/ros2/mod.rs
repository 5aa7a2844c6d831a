//! Publishes the topics of a recording live to ROS 2 nodes (RViz, `ros2 bag`, other programs), over Zenoh.
//!
//! ```text
//!  capture, engine ─▶ newest frame, newest result ─▶ messages that have a subscription ─▶ a publisher for each topic ─▶ Zenoh
//!  (taps)             (inbox)                        (worker)                              (publishers)
//! ```
//!
//! Capture and engine never wait: messages that the network does not take in time are dropped, by Zenoh or before packing.
//! Nodes cannot set parameters.

mod publishers;
mod shared;
mod worker;

use parking_lot::Mutex;
use shared::RosShared;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use stereopsis_base::console::counted;
use stereopsis_base::files;
use stereopsis_frame::engine::Output;
use stereopsis_frame::{Frame, FrameTap, ResultTap, SourceInfo, Wake};
use stereopsis_live::{News, Remote};
use stereopsis_network::ros2::{Node, RosEnvironment};
use stereopsis_recording::About;
use stereopsis_stereo::StereoParams;

const NODE: &str = "stereopsis";

/// ROS 2 node that publishes a run, with its thread. [`Remote::stop`] ends both, and so does dropping it.
pub struct RosPublisher {
    shared: Arc<RosShared>,
    invitation: String,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl RosPublisher {
    /// Joins the ROS graph; topics appear with the first pair. Retries while no router answers.
    ///
    /// # Errors
    /// The configuration is invalid, or the system provides no thread.
    pub fn start(environment: &RosEnvironment) -> anyhow::Result<Arc<Self>> {
        Self::of(Node::open(environment, NODE)?, None)
    }

    /// Joins the ROS graph for one of several rigs: topics are in the rig's namespace, and frames of reference begin with its name.
    /// Characters other than letters, digits and `_` become `_`, as ROS requires.
    ///
    /// # Errors
    /// See [`RosPublisher::start`].
    pub fn of_rig(environment: &RosEnvironment, rig: &str) -> anyhow::Result<Arc<Self>> {
        let plain: String = rig.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let begins_well = plain.starts_with(|c: char| c.is_ascii_alphabetic());
        let name = if begins_well { plain } else { format!("rig_{plain}") };
        Self::of(Node::open_in(environment, format!("/{name}"), NODE)?, Some(name))
    }

    fn of(node: Node, rig: Option<String>) -> anyhow::Result<Arc<Self>> {
        let is_connected = node.is_connected();
        let mut invitation = format!("ros2: node {} in domain {}, by {}", node.name(), node.domain(), node.routers());
        if !is_connected {
            invitation = format!("{invitation}\nros2: {}; it is tried again", node.no_router());
        }
        let shared = Arc::new(RosShared::new(is_connected));
        let worker = worker::RosWorker::new(Arc::clone(&shared), node, rig);
        let thread = std::thread::Builder::new().name("publish ros2".into()).spawn(move || worker.run());
        let thread = thread.map_err(|err| anyhow::anyhow!("cannot publish to ROS 2: {}", files::cause(&err)))?;
        Ok(Arc::new(Self { shared, invitation, thread: Mutex::new(Some(thread)) }))
    }
}

impl Drop for RosPublisher {
    fn drop(&mut self) {
        self.stop();
    }
}

impl FrameTap for RosPublisher {
    fn frame(&self, frame: &Arc<Frame>, source: &SourceInfo) {
        self.shared.inbox.put_frame(frame, source);
    }
}

impl ResultTap for RosPublisher {
    fn result(&self, output: &Arc<Output>) {
        self.shared.inbox.put_output(output);
    }

    fn result_again(&self, output: &Arc<Output>) {
        self.result(output);
    }

    fn wants_results(&self) -> bool {
        self.shared.inbox.wanted().results
    }
}

impl Remote for RosPublisher {
    fn exchange(&self, in_force: &StereoParams) -> Option<StereoParams> {
        let mut params = self.shared.params.lock();
        if params.as_ref() != Some(in_force) {
            *params = Some(in_force.clone());
            drop(params);
            self.shared.inbox.put_other(|input| input.parameters = true);
        }
        None
    }

    fn news(&self) -> Vec<News> {
        std::mem::take(&mut *self.shared.news.lock())
    }

    fn standing(&self) -> String {
        if !self.shared.is_connected.load(Ordering::Acquire) {
            return "ros2 no router".to_owned();
        }
        let received = counted(self.shared.received.load(Ordering::Acquire), "topic");
        let dropped = Some(self.shared.inbox.total_dropped()).filter(|dropped| *dropped > 0);
        format!("ros2 {received} received{}", dropped.map_or_else(String::new, |n| format!(", {n} not sent")))
    }

    fn invitation(&self) -> String {
        self.invitation.clone()
    }

    fn set_about(&self, about: About) {
        self.shared.inbox.put_other(|input| input.about = Some(about));
    }

    /// Leaves the graph; waits at most half a second.
    fn stop(&self) {
        self.shared.inbox.put_other(|input| input.stop = true);
        if let Some(thread) = self.thread.lock().take() {
            stereopsis_base::threads::join_or_detach(thread, "the thread that publishes to ROS 2");
        }
    }

    fn set_wake(&self, wake: Wake) {
        *self.shared.wake.lock() = Some(wake);
    }
}
