//! Publication of a run: the taps of the pipeline fill the inbox of a thread, which sends over a link what its receivers have subscribed to.

use super::inbox::{Inbox, WantedKinds};
use super::panel::Panel;
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use stereopsis_base::threads::join_or_detach;
use stereopsis_frame::engine::Output;
use stereopsis_frame::{Frame, FrameTap, ResultTap, SourceInfo, Wake};
use stereopsis_live::{News, Remote};
use stereopsis_recording::{About, DepthFormat};
use stereopsis_stereo::StereoParams;

/// Link over which a run is published: what its threads share beside inbox and panel.
pub trait Link: Send + Sync + 'static {
    /// Name of the publishing thread.
    const THREAD: &'static str;

    /// Returns the state in a few words for a status line; `dropped` messages were replaced by newer ones before they were packed.
    fn standing(&self, dropped: u64) -> String;
}

/// State that taps and the threads of a link share.
pub(super) struct Shared<L> {
    pub(super) inbox: Inbox,
    pub(super) panel: Panel,
    pub(super) link: L,
    wake: Mutex<Option<Wake>>,
    depth_format: Mutex<DepthFormat>,
}

impl<L> Shared<L> {
    pub(super) fn new(link: L) -> Self {
        Self {
            inbox: Inbox::new(),
            panel: Panel::default(),
            link,
            wake: Mutex::default(),
            depth_format: Mutex::default(),
        }
    }

    /// Wakes the owner of the pipeline.
    pub(super) fn wake(&self) {
        let wake = self.wake.lock().clone();
        if let Some(wake) = wake {
            wake();
        }
    }

    /// Reports an error to the user.
    pub(super) fn report(&self, text: String) {
        self.panel.report(text);
        self.wake();
    }

    /// Reports an error to the user unless it is the last one.
    pub(super) fn report_new(&self, text: String, last: &mut Option<String>) {
        if last.as_ref() != Some(&text) {
            self.report(text.clone());
            *last = Some(text);
        }
    }

    /// Replaces the subscribed kinds; wakes the engine if it must now copy results to the host.
    pub(super) fn set_wanted(&self, wanted: WantedKinds) {
        if !self.inbox.set_wanted(wanted).results && wanted.results {
            self.wake();
        }
    }
}

/// Publication over a link, with its thread. [`Remote::stop`] ends it, and so does dropping it.
pub struct Publication<L: Link> {
    pub(super) shared: Arc<Shared<L>>,
    invitation: String,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl<L: Link> Publication<L> {
    /// Starts the thread, which does `work` until its input says stop.
    pub(super) fn with_thread(
        shared: Arc<Shared<L>>,
        invitation: String,
        work: impl FnOnce() + Send + 'static,
    ) -> io::Result<Arc<Self>> {
        let thread = std::thread::Builder::new().name(L::THREAD.into()).spawn(work)?;
        Ok(Arc::new(Self { shared, invitation, thread: Mutex::new(Some(thread)) }))
    }
}

impl<L: Link> Publication<L> {
    /// Sets the format of depth images for the descriptions that follow.
    pub fn set_depth_format(&self, depth_format: DepthFormat) {
        *self.shared.depth_format.lock() = depth_format;
    }
}

impl<L: Link> Drop for Publication<L> {
    fn drop(&mut self) {
        self.stop();
    }
}

impl<L: Link> FrameTap for Publication<L> {
    fn frame(&self, frame: &Arc<Frame>, source: &SourceInfo) {
        self.shared.inbox.put_frame(frame, source);
    }
}

impl<L: Link> ResultTap for Publication<L> {
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

impl<L: Link> Remote for Publication<L> {
    fn exchange(&self, in_force: &StereoParams) -> Option<StereoParams> {
        let (requested, changed) = self.shared.panel.exchange(in_force);
        if changed {
            self.shared.inbox.put_other(|input| input.parameters = true);
        }
        requested
    }

    fn news(&self) -> Vec<News> {
        self.shared.panel.news()
    }

    fn standing(&self) -> String {
        self.shared.link.standing(self.shared.inbox.total_dropped())
    }

    fn invitation(&self) -> String {
        self.invitation.clone()
    }

    fn set_about(&self, about: About) {
        let about = About { depth_format: *self.shared.depth_format.lock(), ..about };
        self.shared.inbox.put_other(|input| input.about = Some(about));
    }

    /// Ends the connections; waits at most half a second.
    fn stop(&self) {
        self.shared.inbox.put_other(|input| input.stop = true);
        if let Some(thread) = self.thread.lock().take() {
            join_or_detach(thread, "the publishing thread");
        }
    }

    fn set_wake(&self, wake: Wake) {
        *self.shared.wake.lock() = Some(wake);
    }
}
