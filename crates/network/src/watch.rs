//! Watches a head in the background: queries its state and clock once a second, and sends it changed parameters.

use super::clock::{ClockEstimate, ClockOffset};
use super::error::NetworkError;
use super::head::Description;
use super::key::RigTopic;
use super::parameters::RigParameters;
use super::replies::ANSWER_TIMEOUT;
use super::session::{AnswerError, Network};
use super::status::{HeadStatus, Status};
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use parking_lot::Mutex;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use stereopsis_base::console;
use stereopsis_base::threads::join_or_detach;
use stereopsis_frame::Cause;
use stereopsis_settings::settings::parameter_words;
use stereopsis_stereo::StereoParams;

const WATCH_INTERVAL: Duration = Duration::from_secs(1);
/// Interval at which changed parameters are sent.
const REQUEST_INTERVAL: Duration = Duration::from_millis(50);

/// Latest answers of a head.
#[derive(Clone, Debug, Default)]
pub struct HeadNews {
    /// State; `None` without an answer.
    pub status: Option<HeadStatus>,
    /// Offset of its clock.
    pub clock: Option<ClockOffset>,
    /// Reason for refusing the last parameters.
    pub refusal: Option<String>,
}

impl HeadNews {
    /// Explains why a head has stopped sending.
    pub(super) fn why_silent(&self, network: &Network) -> String {
        match &self.status {
            None if network.is_connected() => "its head is gone".to_owned(),
            None => "the router is gone".to_owned(),
            Some(HeadStatus { error: Some(error), .. }) => console::foreign(error),
            Some(_) => "its head is there".to_owned(),
        }
    }
}

/// Thread that queries the head's state and clock.
pub(super) struct HeadWatch {
    news: Arc<Mutex<HeadNews>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl HeadWatch {
    /// Starts to watch the head of a rig with this description; sends it the parameters that are requested.
    ///
    /// # Errors
    /// The system provides no thread.
    pub(super) fn start(
        network: &Network,
        rig: &str,
        parameters: Arc<RigParameters>,
        description: &Arc<Mutex<Description>>,
    ) -> Result<Self, NetworkError> {
        let news = Arc::<Mutex<HeadNews>>::default();
        let description = Arc::clone(description);
        let (stop, stopped) = bounded::<()>(0);
        let (shared, network, rig) = (Arc::clone(&news), network.clone(), rig.to_owned());
        let work = move || {
            let mut estimate = ClockEstimate::default();
            let mut refusal = None;
            let mut due = Instant::now();
            loop {
                if let Some(params) = parameters.take_request() {
                    refusal = request(&network, &rig, &params).err().map(|why| why.to_string());
                }
                if Instant::now() >= due {
                    due = Instant::now() + WATCH_INTERVAL;
                    let boot = description.lock().boot;
                    let (status, clock) = ask(&network, &rig, boot, &mut estimate);
                    *shared.lock() = HeadNews { status, clock, refusal: refusal.clone() };
                }
                if !matches!(stopped.recv_timeout(REQUEST_INTERVAL), Err(RecvTimeoutError::Timeout)) {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("rig watch".into()).spawn(work);
        let thread = thread.map_err(|cause| NetworkError::Thread { purpose: "watch a rig", cause })?;
        Ok(Self { news, stop: Some(stop), thread: Some(thread) })
    }

    pub(super) fn news(&self) -> HeadNews {
        self.news.lock().clone()
    }

    /// Returns only the head's clock offset, which every image needs.
    pub(super) fn clock(&self) -> Option<ClockOffset> {
        self.news.lock().clock
    }
}

impl Drop for HeadWatch {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            join_or_detach(thread, "the thread that watches a rig");
        }
    }
}

fn request(network: &Network, rig: &str, params: &StereoParams) -> Result<(), Cause> {
    let sent = serde_json::to_vec(&parameter_words(params))?;
    let answers = network.ask(&RigTopic::Parameters.rig(rig), Some(sent), ANSWER_TIMEOUT)?;
    answers.into_iter().next().unwrap_or(Err(AnswerError::Silent))?;
    Ok(())
}

fn ask(
    network: &Network,
    rig: &str,
    boot: u64,
    estimate: &mut ClockEstimate,
) -> (Option<HeadStatus>, Option<ClockOffset>) {
    if let Err(err) = estimate.ask(network, rig, Some(boot), WATCH_INTERVAL) {
        log::warn!("{err}");
    }
    let status = network.ask(&super::key::status_of_head(rig, boot), None, WATCH_INTERVAL).unwrap_or_default();
    let read = |(_, bytes): (String, Vec<u8>)| serde_json::from_slice::<Status>(&bytes).ok()?.head;
    (status.into_iter().flatten().find_map(read), estimate.offset(Instant::now()))
}
