//! Source that reads a rig on the network: receives the newest pair of its head, and while they are shown also the results of the rig's
//! engine.

use super::access::{Access, Endpoint};
use super::error::NetworkError;
use super::head::Description;
use super::inlet::{Inlet, InletCounts, MAX_GAP, ReceivedMessage, Verdict};
use super::key::{RigTopic, Role, check_rig};
use super::result;
use super::session::Network;
use super::tracked_head::{DescriptionChange, TrackedHead};
use super::watch::{HeadNews, HeadWatch};
use super::wire::{Content, Head, Packets};
use crossbeam_channel::select;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::console;
use stereopsis_calibration::CalibrationNote;
use stereopsis_frame::{
    CaptureError, Next, PairSource, RawPair, RemoteRig, SourceInfo, SourceOptions, SourceState, TakenOn,
};
use stereopsis_recording::unpack::{Sizes, Unpacker};
use stereopsis_recording::{About, playback};

pub(super) const FIRST_PAIR_TIMEOUT: Duration = Duration::from_secs(10);
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
    remote: Arc<RemoteRig>,
    results: ResultStream,
    /// Calibration of the rig when it was opened.
    calibration: CalibrationNote,
    unpacker: Unpacker,
    packets: Packets,
    first: Option<Box<RawPair>>,
    numbers: PairNumbers,
    last_pair: Instant,
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

/// Results of the rig's engine, and the pairs that wait for them.
#[derive(Default)]
struct ResultStream {
    inlet: Option<Inlet>,
    /// Pairs that wait for their results: capture time, ns since 1970, arrival, pair.
    held: VecDeque<(u64, Instant, Box<RawPair>)>,
}

/// Maximum number of pairs that wait for results. A slower engine shows only some of them.
const MAX_HELD: usize = 16;
/// Time after which a pair is delivered without a result.
const RESULT_TIMEOUT: Duration = Duration::from_secs(1);

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
        check_rig(rig).map_err(CaptureError::Grammar)?; // before waiting for a router
        let network = Network::open(&access_of(router, options)?)?;
        Self::on(network, rig, options)
    }

    /// Connects to a rig over an open session and waits for its first pair.
    ///
    /// # Errors
    /// See [`RigSource::open`].
    pub fn on(network: Network, rig: &str, options: &SourceOptions) -> Result<Self, CaptureError> {
        check_rig(rig).map_err(CaptureError::Grammar)?;
        let (tracked, inlet) = TrackedHead::open(&network, rig)?;
        let inlet = Arc::new(inlet);
        let description = tracked.description().lock().clone();
        if let Some(camera) = description.camera {
            return Err(CaptureError::Camera(format!(
                "head '{rig}' has the {} camera alone: open both as zenoh:LEFT,RIGHT, by the names of their heads",
                camera.word()
            )));
        }
        let unpacker = unpacker(&description.about, options);
        let (width, height) = (description.about.width as u64, description.about.height as u64);
        let too_large = |why| CaptureError::Camera(format!("rig '{rig}': {why}"));
        options.max_pixels.check(width, height).map_err(too_large)?; // before waiting for pairs
        let remote = Arc::new(RemoteRig::of(rig));
        let watch = HeadWatch::start(&network, &remote, tracked.description())?;
        let mut source = Self {
            rig: rig.to_owned(),
            network,
            info: SourceInfo::default(),
            options: options.clone(),
            inlet,
            calibration: description.about.calibration,
            tracked,
            remote,
            results: ResultStream::default(),
            unpacker,
            packets: Packets::default(),
            first: None,
            numbers: PairNumbers::default(),
            last_pair: Instant::now(),
            watch,
        };
        source.note_parameters();
        let pair = source.first_pair()?;
        let info = playback::info_of(rig.to_owned(), &pair, Some(&source.view().description().about));
        source.info = SourceInfo { is_camera: true, ..info };
        source.first = Some(pair);
        Ok(source)
    }

    fn first_pair(&mut self) -> Result<Box<RawPair>, CaptureError> {
        let end = Instant::now() + FIRST_PAIR_TIMEOUT;
        // a limit of the whole wait, because invalid messages may come without end
        while Instant::now() < end {
            if let Some(pair) = self.next_raw(FOLLOW_INTERVAL) {
                return Ok(pair);
            }
        }
        let counts = self.inlet.counts();
        let why = match (counts.refusal, self.watch.news().status.and_then(|status| status.error)) {
            (Some(refusal), _) => format!("{} messages came, and none can be used: {refusal}", counts.refused),
            (None, Some(error)) => format!("its head says: {}", console::foreign(&error)),
            (None, None) => "its head is there and sends none: see `stereopsis net`".to_owned(),
        };
        let seconds = FIRST_PAIR_TIMEOUT.as_secs();
        Err(CaptureError::Camera(format!("no pair of rig '{}' came within {seconds} s: {why}", self.rig)))
    }

    /// Waits for the next pair; does not wait for its result.
    fn next_raw(&mut self, timeout: Duration) -> Option<Box<RawPair>> {
        self.follow();
        let arrived = self.inlet.messages().recv_timeout(timeout).ok()?;
        self.take(&arrived)
    }

    fn follow(&mut self) {
        if self.tracked.follow() {
            self.renew();
        }
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
        let pair = self.packets.of(&bytes).map_err(|why| why.to_string());
        let pair = pair.and_then(|packets| self.unpacker.pair(&packets).map_err(|why| why.to_string()));
        match pair {
            Ok(pair) => {
                self.last_pair = Instant::now();
                let sequence = self.numbers.of(pair.sequence);
                let name = playback::numbered(&pair);
                let rig = Some(Arc::clone(&self.remote.name));
                let taken = self.watch.clock().and_then(|clock| clock.here(arrived.head.taken_ns));
                let taken_on = taken.map_or(TakenOn::Another(None), TakenOn::another_at);
                Some(Box::new(RawPair { sequence, name, rig, taken_on, ..pair }))
            }
            Err(why) => {
                self.inlet.refuse(&why);
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
            Ok(params) => self.remote.set_there(params),
            Err(err) => log::warn!("rig '{}': {err}", self.rig),
        }
    }

    /// Returns the state shared with observers.
    pub fn view(&self) -> RigView {
        RigView { description: Arc::clone(self.tracked.description()), inlet: Arc::clone(&self.inlet) }
    }

    fn results_of_engines(&self) -> Result<Inlet, NetworkError> {
        let presence = self.network.presence()?;
        let is_engine = move |head: &Head| {
            let is_there = presence.look(|present| present.of(Role::Engine).any(|engine| engine.boot == head.boot));
            if is_there { Verdict::Take } else { Verdict::Refuse("no engine that is there has sent it") }
        };
        Inlet::start(&self.network, &RigTopic::Result.rig(&self.rig), Content::Result, is_engine)
    }

    /// Waits for the next pair that has its result or whose result is overdue.
    fn next_matched(&mut self, timeout: Duration) -> Result<Option<Box<RawPair>>, CaptureError> {
        if self.results.inlet.is_none() {
            self.results.inlet = Some(self.results_of_engines()?);
        }
        let end = Instant::now() + timeout;
        self.follow();
        loop {
            let held = &mut self.results.held;
            if held.len() > MAX_HELD || held.front().is_some_and(|(_, since, _)| since.elapsed() > RESULT_TIMEOUT) {
                return Ok(held.pop_front().map(|(_, _, pair)| pair));
            }
            let left = end.saturating_duration_since(Instant::now());
            let Some(results) = &self.results.inlet else { return Ok(None) };
            let (pairs, matched) = (self.inlet.messages().channel().clone(), results.messages().channel().clone());
            select! {
                recv(pairs) -> arrived => {
                    let Ok(arrived) = arrived else { return Ok(None) };
                    if let Some(pair) = self.take(&arrived) {
                        self.results.held.push_back((arrived.head.taken_ns, Instant::now(), pair));
                    }
                }
                recv(matched) -> arrived => {
                    let Ok(arrived) = arrived else { return Ok(None) };
                    if let Some(pair) = self.take_result(&arrived) {
                        return Ok(Some(pair));
                    }
                }
                default(left) => return Ok(None),
            }
        }
    }

    /// Returns the pair of a result, and drops earlier pairs. Later results of the same pair are ignored.
    fn take_result(&mut self, arrived: &ReceivedMessage) -> Option<Box<RawPair>> {
        let at = self.results.held.iter().position(|(taken_ns, ..)| *taken_ns == arrived.head.taken_ns)?;
        let (_, _, mut pair) = self.results.held.drain(..=at).next_back()?;
        let (width, height) = pair.left.size();
        match result::unpack(&arrived.payload.to_bytes(), width * height) {
            Ok(matched) => pair.matched = Some(Arc::new(matched)),
            Err(why) => {
                if let Some(inlet) = &self.results.inlet {
                    inlet.refuse(&why);
                }
            }
        }
        Some(pair)
    }
}

/// Returns the access to a router; `None` is the one on this machine.
pub(super) fn access_of(router: Option<&str>, options: &SourceOptions) -> Result<Access, CaptureError> {
    let access = match router {
        Some(words) => Access::to(words.parse::<Endpoint>().map_err(CaptureError::Grammar)?),
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
    fn remote_rig(&self) -> Option<Arc<RemoteRig>> {
        Some(Arc::clone(&self.remote))
    }

    fn info(&self) -> SourceInfo {
        self.info.clone()
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        if let Some(first) = self.first.take() {
            return Ok(Next::Pair(first));
        }
        let pair = if self.remote.is_wanted() {
            self.next_matched(timeout)?
        } else {
            self.results.inlet = None;
            self.results.held.clear();
            self.next_raw(timeout)
        };
        let Some(pair) = pair else { return Ok(Next::Waiting) };
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
