//! State of the ROS 2 node that taps and its publishing thread share.

use super::super::inbox::Inbox;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64};
use stereopsis_frame::Wake;
use stereopsis_live::News;
use stereopsis_stereo::StereoParams;

pub(super) struct RosShared {
    pub(super) inbox: Inbox,
    pub(super) wake: Mutex<Option<Wake>>,
    pub(super) news: Mutex<Vec<News>>,
    pub(super) params: Mutex<Option<StereoParams>>,
    /// Whether a router answers.
    pub(super) is_connected: AtomicBool,
    /// Number of topics with subscriptions.
    pub(super) received: AtomicU64,
}

impl RosShared {
    pub(super) fn new(is_connected: bool) -> Self {
        Self {
            inbox: Inbox::new(),
            wake: Mutex::default(),
            news: Mutex::default(),
            params: Mutex::default(),
            is_connected: AtomicBool::new(is_connected),
            received: AtomicU64::new(0),
        }
    }

    /// Wakes the owner of the pipeline.
    pub(super) fn wake(&self) {
        let wake = self.wake.lock().clone();
        if let Some(wake) = wake {
            wake();
        }
    }

    pub(super) fn notify(&self, text: String, is_error: bool) {
        self.news.lock().push(News { text, is_error });
        self.wake();
    }
}
