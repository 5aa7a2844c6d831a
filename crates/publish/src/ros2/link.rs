//! State of the ROS 2 node that its threads share.

use super::super::publication::Link;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stereopsis_base::console::counted;

/// Node of ROS 2.
pub struct Ros2 {
    /// Whether a router answers.
    pub(super) is_connected: AtomicBool,
    /// Number of topics with subscriptions.
    pub(super) received: AtomicU64,
}

impl Ros2 {
    pub(super) fn new(is_connected: bool) -> Self {
        Self { is_connected: AtomicBool::new(is_connected), received: AtomicU64::new(0) }
    }
}

impl Link for Ros2 {
    const THREAD: &'static str = "publish ros2";

    fn standing(&self, dropped: u64) -> String {
        if !self.is_connected.load(Ordering::Acquire) {
            return "ros2 no router".to_owned();
        }
        let received = counted(self.received.load(Ordering::Acquire), "topic");
        let dropped = if dropped > 0 { format!(", {dropped} not sent") } else { String::new() };
        format!("ros2 {received} received{dropped}")
    }
}
