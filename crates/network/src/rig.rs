//! Source that reads a rig on the network: receives the newest pair of its head, and brings the engine of the rig.

use super::access::Access;
use super::clock;
use super::error::NetworkError;
use super::head::Description;
use super::head_error::{FIRST_PAIR_TIMEOUT, HeadError};
use super::inlet::{Inlet, InletCounts, MAX_GAP, ReceivedMessage};
use super::key::check_rig;
use super::parameters::RigParameters;
use super::rig_engine::RigEngine;
use super::session::Network;
use super::tracked_head::{DescriptionChange, TrackedHead};
use super::watch::{HeadNews, HeadWatch};
use super::wire::Packets;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::console;
use stereopsis_base::rate::LatencySince;
use stereopsis_calibration::CalibrationNote;
use stereopsis_frame::engine::SourceEngine;
use stereopsis_frame::{CaptureError, Cause, Next, PairSource, RawPair, SourceInfo, SourceOptions, SourceState};
use stereopsis_recording::unpack::{Sizes, Unpacker};
use stereopsis_recording::{About, playback};

/// Time without a pair after which the state reports a silent head.
pub(super) const SILENCE_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval of checks for a restarted head while no pair arrives.
pub(super) const FOLLOW_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum first number, which leaves room for the following ones.
const MAX_FIRST_NUMBER: u64 = 1 << 52;

/// Source of the pairs of a rig.
pub struct RigSource {
    rig: String,
    network: Network,
    info: SourceInfo,
    options: SourceOptions,
    inlet: Arc<Inlet>,
    tracked: TrackedHead,
    parameters: Arc<RigParameters>,
    /// Calibration of the rig when it was opened.
    calibration: CalibrationNote,
    unpacker: Unpacker,
    packets: Packets,
    first: Option<Box<RawPair>>,
    numbers: PairNumbers,
    last_pair: Instant,
    /// Capture time of the last pair, in this machine's time; `None` if the clocks cannot be compared.
    taken: Option<SystemTime>,
    watch: HeadWatch,
}

/// Renumbering of pairs: local numbers continue when the head restarts its numbers or skips more than [`MAX_GAP`].
#[derive(Debug, Default)]
struct PairNumbers {
    /// Head's number and local number of the last pair.
    last: Option<(u64, u64)>,
}

impl PairNumbers {
    /// Returns the local number of the next pair, which has number `sent` at its head.
    fn of(&mut self, sent: u64) -> u64 {
        let number = match self.last {
            None => sent.min(MAX_FIRST_NUMBER),
            Some((last, number)) if sent > last && sent - last <= MAX_GAP => number + (sent - last),
            Some((_, number)) => number + 1,
        };
        self.last = Some((sent, number));
        number
    }
}

/// View of a rig source's state for its observers.
#[derive(Clone)]
pub struct RigView {
    description: Arc<Mutex<Description>>,
    inlet: Arc<Inlet>,
}

impl RigView {
    /// Returns the version of the description, see [`Description::id`].
    pub fn described(&self) -> (u64, u32) {
        self.description.lock().id()
    }

    /// Returns the description; the head may change it.
    pub fn description(&self) -> Description {
        self.description.lock().clone()
    }

    /// Returns the receive counters.
    pub fn counts(&self) -> InletCounts {
        self.inlet.counts()
    }
}

impl RigSource {
    /// Connects to a rig and waits for its first pair.
    ///
    /// # Errors
    /// There is no router, no such rig, or no pair arrives.
    pub fn open(rig: &str, router: Option<&str>, options: &SourceOptions) -> Result<Self, CaptureError> {
        check_rig(rig)?; // before waiting for a router
        let network = Network::open(&access_of(router, options)?)?;
        Self::on(network, rig, options)
    }

    /// Connects to a rig over an open session and waits for its first pair.
    ///
    /// # Errors
    /// See [`RigSource::open`].
    pub fn on(network: Network, rig: &str, options: &SourceOptions) -> Result<Self, CaptureError> {
        check_rig(rig)?;
        let (tracked, inlet) = TrackedHead::open(&network, rig)?;
        let inlet = Arc::new(inlet);
        let description = tracked.description().lock().clone();
        if let Some(camera) = description.camera {
            return Err(HeadError::Alone { head: rig.to_owned(), side: camera }.into());
        }
        let unpacker = unpacker(&description.about, options);
        let (width, height) = (description.about.width as u64, description.about.height as u64);
        let checked = options.max_pixels.check(width, height); // before waiting for pairs
        checked.map_err(|cause| HeadError::TooLarge { rig: rig.to_owned(), cause: cause.into() })?;
        let parameters = Arc::<RigParameters>::default();
        let watch = HeadWatch::start(&network, rig, Arc::clone(&parameters), tracked.description())?;
        let mut source = Self {
            rig: rig.to_owned(),
            network,
            info: SourceInfo::default(),
            options: options.clone(),
            inlet,
            calibration: description.about.calibration,
            tracked,
            parameters,
            unpacker,
            packets: Packets::default(),
            first: None,
            numbers: PairNumbers::default(),
            last_pair: Instant::now(),
            taken: None,
            watch,
        };
        source.note_parameters();
        let pair = source.first_pair()?;
        let info = playback::info_of(rig.to_owned(), &pair, Some(&source.view().description().about));
        source.info = SourceInfo { is_camera: true, ..info };
        source.first = Some(pair);
        Ok(source)
    }

    fn first_pair(&mut self) -> Result<Box<RawPair>, HeadError> {
        let end = Instant::now() + FIRST_PAIR_TIMEOUT;
        // a limit of the whole wait, because invalid messages may come without end
        while Instant::now() < end {
            if let Some(pair) = self.next_pair(FOLLOW_INTERVAL) {
                return Ok(pair);
            }
        }
        let error = self.watch.news().status.and_then(|status| status.error);
        Err(HeadError::NoPair { rig: self.rig.clone(), counts: self.inlet.counts(), error })
    }

    fn next_pair(&mut self, timeout: Duration) -> Option<Box<RawPair>> {
        if self.tracked.follow() {
            self.renew();
        }
        let arrived = self.inlet.messages().recv_timeout(timeout).ok()?;
        self.take(&arrived)
    }

    /// Decodes the pair of a message; counts an invalid one and returns `None`.
    fn take(&mut self, arrived: &ReceivedMessage) -> Option<Box<RawPair>> {
        match self.tracked.accept(&arrived.head) {
            Ok(DescriptionChange::Unchanged) => {}
            Ok(DescriptionChange::Renewed) => self.renew(),
            Err(why) => {
                self.inlet.refuse(why);
                return None;
            }
        }
        let bytes = arrived.payload.to_bytes();
        let packets = self.packets.of(&bytes).map_err(Cause::from);
        match packets.and_then(|packets| Ok(self.unpacker.pair(&packets)?)) {
            Ok(pair) => {
                self.last_pair = Instant::now();
                let sequence = self.numbers.of(pair.sequence);
                let name = playback::numbered(&pair);
                self.taken = self.watch.clock().and_then(|clock| clock.here(arrived.head.taken_ns));
                Some(Box::new(RawPair { sequence, name, ..pair }))
            }
            Err(why) => {
                self.inlet.refuse(why);
                None
            }
        }
    }

    fn renew(&mut self) {
        let about = self.tracked.description().lock().about.clone();
        self.unpacker = unpacker(&about, &self.options);
        self.note_parameters();
    }

    /// Shares the rig's parameters with the observers of its results.
    fn note_parameters(&self) {
        let params = self.tracked.description().lock().params();
        match params {
            Ok(params) => self.parameters.set_there(params),
            Err(err) => log::warn!("rig '{}': {err}", self.rig),
        }
    }

    /// Returns the state shared with observers.
    pub fn view(&self) -> RigView {
        RigView { description: Arc::clone(self.tracked.description()), inlet: Arc::clone(&self.inlet) }
    }
}

/// Returns the access to a router; `None` is the one on this machine.
pub(super) fn access_of(router: Option<&str>, options: &SourceOptions) -> Result<Access, NetworkError> {
    let access = match router {
        Some(words) => Access::to(words.parse()?),
        None => Access::local(),
    };
    Ok(Access { config: options.zenoh_config.clone(), ..access })
}

/// Creates the unpacker of a head's pairs, which accepts only the described size.
pub(super) fn unpacker(about: &About, options: &SourceOptions) -> Unpacker {
    let unpacker = Unpacker::of(Some(about), options.pixels, options.max_pixels);
    unpacker.with_sizes(Sizes::Only((about.width, about.height)))
}

impl PairSource for RigSource {
    fn info(&self) -> SourceInfo {
        self.info.clone()
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        if let Some(first) = self.first.take() {
            return Ok(Next::Pair(first));
        }
        let Some(pair) = self.next_pair(timeout) else { return Ok(Next::Waiting) };
        (self.info.width, self.info.height) = pair.left.size();
        Ok(Next::Pair(pair))
    }

    fn state(&self) -> SourceState {
        let news = self.watch.news();
        let InletCounts { dropped_by_network, refused, refusal, .. } = self.inlet.counts();
        let mut state = SourceState::default();
        let silent_s = self.last_pair.elapsed().as_secs();
        if self.last_pair.elapsed() > SILENCE_TIMEOUT {
            let cause = news.why_silent(&self.network);
            state.unreadable = Some(format!("no pair of rig '{}' for {silent_s} s: {cause}; waiting for it", self.rig));
        }
        let HeadNews { status, clock, refusal: refused_parameters } = news;
        if let Some(why) = refused_parameters {
            state.remarks.push(format!("rig '{}' did not take the parameters: {why}", self.rig));
        }
        if let Some(status) = status {
            state.unpaired = status.unpaired;
            state.cameras = status.cameras;
            state.remarks.extend(status.remarks.iter().map(|remark| console::foreign(remark)));
            if status.sent.dropped > 0 {
                state
                    .remarks
                    .push(format!("the head dropped {} pairs that its network was too slow for", status.sent.dropped));
            }
        }
        if dropped_by_network > 0 {
            state.remarks.push(format!("the network dropped {dropped_by_network} pairs"));
        }
        if refused > 0 {
            state.remarks.push(format!("{refused} messages were refused: {}", refusal.unwrap_or_default()));
        }
        if let Some(clock) = clock.filter(|clock| clock.offset_s.abs() > clock.uncertainty_s.max(1e-3)) {
            state.remarks.push(clock.to_string());
        }
        state
    }

    fn calibration(&self) -> Option<&CalibrationNote> {
        Some(&self.calibration)
    }

    fn engine(&self) -> Option<Arc<dyn SourceEngine>> {
        let (network, rig, parameters) = (self.network.clone(), self.rig.clone(), Arc::clone(&self.parameters));
        Some(Arc::new(RigEngine { network, rig, parameters }))
    }

    fn latency_begin(&self, arrived: Instant) -> (Instant, LatencySince) {
        clock::latency_begin(self.taken, arrived)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_continue_after_restarts_and_false_numbers() {
        let mut numbers = PairNumbers::default();
        let mut of = |sent: &[u64]| sent.iter().map(|&sent| numbers.of(sent)).collect::<Vec<_>>();
        assert_eq!(of(&[40, 41, 44]), [40, 41, 44], "gaps are pairs that were missed");
        assert_eq!(of(&[0, 1, 3]), [45, 46, 48]);
        assert_eq!(of(&[u64::MAX, 4, 5]), [49, 50, 51], "no number is millions of drops");
        assert_eq!(PairNumbers::default().of(u64::MAX), MAX_FIRST_NUMBER);
    }
}
