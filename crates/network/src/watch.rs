//! Watches a head in the background: queries its state and clock once a second, and sends it changed parameters.

use super::clock::{ClockEstimate, ClockOffset};
use super::error::NetworkError;
use super::head::Description;
use super::key::RigTopic;
use super::parameters::RigParameters;
use super::repeated::Repeated;
use super::replies::ANSWER_TIMEOUT;
use super::session::{AnswerError, Network};
use super::status::{HeadStatus, Status};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::console;
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
    _thread: Repeated,
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
        let (shared, network, rig) = (Arc::clone(&news), network.clone(), rig.to_owned());
        let (mut estimate, mut refusal, mut due) = (ClockEstimate::default(), None, Instant::now());
        let work = move || {
            if let Some(params) = parameters.take_request() {
                refusal = request(&network, &rig, &params).err().map(|why| why.to_string());
            }
            if Instant::now() >= due {
                due = Instant::now() + WATCH_INTERVAL;
                let boot = description.lock().boot;
                let (status, clock) = ask(&network, &rig, boot, &mut estimate);
                *shared.lock() = HeadNews { status, clock, refusal: refusal.clone() };
            }
        };
        let thread = Repeated::start("rig watch", "watch a rig", REQUEST_INTERVAL, work)?;
        Ok(Self { news, _thread: thread })
    }

    pub(super) fn news(&self) -> HeadNews {
        self.news.lock().clone()
    }

    /// Returns only the head's clock offset, which every image needs.
    pub(super) fn clock(&self) -> Option<ClockOffset> {
        self.news.lock().clock
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
    let status = network.ask_json::<Status>(&super::key::status_of_head(rig, boot), WATCH_INTERVAL).unwrap_or_default();
    (status.into_iter().find_map(|(_, status)| status.head), estimate.offset(Instant::now()))
}
