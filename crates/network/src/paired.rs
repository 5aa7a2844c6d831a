//! Source of two single-camera heads on two machines: receives both streams, converts capture times to this machine's clock by the
//! measured offsets ([`super::clock`]), and pairs the images.

use super::clock::{self, ClockOffset};
use super::head_error::{FIRST_PAIR_TIMEOUT, HeadCounts, HeadError};
use super::inlet::{Inlet, ReceivedMessage};
use super::rig::{self, SILENCE_TIMEOUT, access_of};
use super::session::Network;
use super::tracked_head::{DescriptionChange, TrackedHead};
use super::watch::HeadWatch;
use super::wire::Packets;
use crossbeam_channel::Select;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::console;
use stereopsis_base::rate::LatencySince;
use stereopsis_frame::pairing::{Paired, Pairing};
use stereopsis_frame::{
    CaptureError, Next, PairSource, RawPair, Side, SourceInfo, SourceOptions, SourceState, StereoLayout,
};
use stereopsis_recording::unpack::Unpacker;
use stereopsis_recording::{About, Packet, playback, topic};

const NOMINAL_HZ: f64 = 30.0;

/// Source that pairs the images of two heads.
pub struct PairedHeads {
    streams: [HeadStream; 2],
    network: Network,
    info: SourceInfo,
    options: SourceOptions,
    unpacker: Unpacker,
    pairing: Pairing<Vec<Packet>>,
    sequence: u64,
    first: Option<Box<RawPair>>,
    /// Capture time of the last pair, in this machine's time.
    taken: Option<SystemTime>,
}

struct HeadStream {
    name: String,
    side: Side,
    inlet: Inlet,
    tracked: TrackedHead,
    packets: Packets,
    watch: HeadWatch,
    last_picture: Instant,
}

impl PairedHeads {
    /// Connects to both heads, and waits for the first pair.
    ///
    /// # Errors
    /// There is no router or no such head, a head has both cameras or the wrong side, or no pair arrives.
    pub fn open(names: [&str; 2], router: Option<&str>, options: &SourceOptions) -> Result<Self, CaptureError> {
        let network = Network::open(&access_of(router, options)?)?;
        Self::on(network, names, options)
    }

    /// Connects to both heads over an open session.
    ///
    /// # Errors
    /// See [`PairedHeads::open`].
    pub fn on(network: Network, names: [&str; 2], options: &SourceOptions) -> Result<Self, CaptureError> {
        let [left, right] = names;
        let streams = [HeadStream::open(&network, left, Side::Left)?, HeadStream::open(&network, right, Side::Right)?];
        let mut source = Self {
            unpacker: unpacker(&streams, options),
            streams,
            network,
            info: SourceInfo::default(),
            options: options.clone(),
            pairing: Pairing::new(NOMINAL_HZ, NOMINAL_HZ),
            sequence: 0,
            first: None,
            taken: None,
        };
        let end = Instant::now() + FIRST_PAIR_TIMEOUT;
        let first = loop {
            if let Some(pair) = source.next_pair(Duration::from_millis(50))? {
                break pair;
            }
            if Instant::now() >= end {
                let [left, right] = source.streams.each_ref().map(HeadStream::counts);
                return Err(HeadError::NoPairOfTwo { left, right }.into());
            }
        };
        let rate_hz = source
            .streams
            .iter()
            .filter_map(|stream| stream.tracked.description().lock().about.rate_hz)
            .reduce(f64::min);
        let info = playback::info_of(format!("{left} and {right}"), &first, None);
        source.info = SourceInfo { is_camera: true, rate_hz, ..info };
        source.first = Some(first);
        Ok(source)
    }

    fn next_pair(&mut self, timeout: Duration) -> Result<Option<Box<RawPair>>, CaptureError> {
        let end = Instant::now() + timeout;
        for at in 0..self.streams.len() {
            if self.streams[at].tracked.follow() {
                self.unpacker = unpacker(&self.streams, &self.options);
            }
        }
        loop {
            self.drain();
            while let Some(paired) = self.pairing.pop() {
                if let Some(pair) = self.pair(paired) {
                    return Ok(Some(pair));
                }
            }
            if Instant::now() >= end {
                return Ok(None);
            }
            let mut either = Select::new();
            for stream in &self.streams {
                either.recv(stream.inlet.messages().channel());
            }
            let _ = either.ready_deadline(end);
        }
    }

    fn drain(&mut self) {
        for at in 0..self.streams.len() {
            while let Ok(arrived) = self.streams[at].inlet.messages().try_recv() {
                self.take(at, &arrived);
            }
        }
    }

    fn take(&mut self, at: usize, arrived: &ReceivedMessage) {
        let head = &arrived.head;
        match self.streams[at].tracked.accept(head) {
            Ok(DescriptionChange::Unchanged) => {}
            Ok(DescriptionChange::Renewed) => self.unpacker = unpacker(&self.streams, &self.options),
            Err(why) => return self.streams[at].inlet.refuse(why),
        }
        let stream = &mut self.streams[at];
        let packets = match stream.packets.of(&arrived.payload.to_bytes()) {
            Ok(packets) => packets,
            Err(why) => return stream.inlet.refuse(why),
        };
        if packets.iter().filter(|packet| topic::plain(&packet.channel.topic) != topic::PAIRS).count() != 1 {
            return stream.inlet.refuse("it does not have one image");
        }
        stream.last_picture = Instant::now();
        match stream.watch.clock().and_then(|clock| clock.here(head.taken_ns)) {
            Some(time) => self.pairing.push(stream.side, time, packets),
            None => self.pairing.skip_frame(),
        }
    }

    /// Decodes a pair of two images; counts unusable ones and returns `None`.
    fn pair(&mut self, paired: Paired<Vec<Packet>>) -> Option<Box<RawPair>> {
        let Paired { left, right, time, skew_s } = paired;
        let is_picture = |packet: &Packet| topic::plain(&packet.channel.topic) != topic::PAIRS;
        let packets: Vec<_> = left.into_iter().chain(right.into_iter().filter(is_picture)).collect();
        match self.unpacker.pair(&packets) {
            Ok(pair) => {
                let sequence = self.sequence;
                self.sequence += 1;
                let name = format!("pair-{sequence:06}");
                self.taken = Some(time);
                Some(Box::new(RawPair { sequence, name, skew_s, capture_time: time, ..pair }))
            }
            Err(why) => {
                self.streams[0].inlet.refuse(why);
                None
            }
        }
    }

    /// Returns the offset of the right clock from the left one.
    fn clocks(&self) -> Option<ClockOffset> {
        let [left, right] = &self.streams;
        let (left, right) = (left.watch.clock()?, right.watch.clock()?);
        Some(ClockOffset {
            offset_s: right.offset_s - left.offset_s,
            uncertainty_s: right.uncertainty_s + left.uncertainty_s,
        })
    }

    fn clock_remark(&self) -> Option<String> {
        let clocks = self.clocks()?;
        let [left, right] = &self.streams;
        let interval_s = self.pairing.intervals_s().map_or(1.0 / NOMINAL_HZ, |[left_s, right_s]| left_s.min(right_s));
        let doubt = if clocks.uncertainty_s > interval_s / 4.0 {
            "; that is too much to pair their images surely: use a quicker link, or a lower rate"
        } else {
            ""
        };
        let is_worth_it = !doubt.is_empty() || clocks.offset_s.abs() > clocks.uncertainty_s.max(1e-3);
        is_worth_it.then(|| format!("{} and {}: {clocks}{doubt}", left.name, right.name))
    }
}

fn unpacker(streams: &[HeadStream; 2], options: &SourceOptions) -> Unpacker {
    let [left, right] = streams.each_ref().map(|stream| stream.tracked.description().lock().about.clone());
    let orientation = [left.raw.orientation[0], right.raw.orientation[1]];
    let raw = StereoLayout { orientation, ..StereoLayout::default() };
    rig::unpacker(&About { raw, ..left }, options)
}

impl HeadStream {
    fn open(network: &Network, name: &str, side: Side) -> Result<Self, CaptureError> {
        super::key::check_rig(name)?;
        let (tracked, inlet) = TrackedHead::open(network, name)?;
        let camera = tracked.description().lock().camera;
        match camera {
            Some(camera) if camera == side => {}
            Some(camera) => return Err(HeadError::OtherSide { head: name.to_owned(), side: camera }.into()),
            None => return Err(HeadError::BothCameras { head: name.to_owned(), side }.into()),
        }
        let watch = HeadWatch::start(network, name, Arc::default(), tracked.description())?;
        let (packets, last_picture) = (Packets::default(), Instant::now());
        Ok(Self { name: name.to_owned(), side, inlet, tracked, packets, watch, last_picture })
    }

    fn counts(&self) -> HeadCounts {
        let has_clock = self.watch.clock().is_some();
        HeadCounts { head: self.name.clone(), counts: self.inlet.counts(), has_clock }
    }

    fn silence(&self, network: &Network) -> Option<String> {
        let silent = self.last_picture.elapsed();
        if silent <= SILENCE_TIMEOUT {
            return None;
        }
        let cause = self.watch.news().why_silent(network);
        Some(format!("no image of camera '{}' for {} s: {cause}; waiting for it", self.name, silent.as_secs()))
    }
}

impl PairSource for PairedHeads {
    fn info(&self) -> SourceInfo {
        self.info.clone()
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        let pair = match self.first.take() {
            Some(first) => Some(first),
            None => self.next_pair(timeout)?,
        };
        let Some(pair) = pair else { return Ok(Next::Waiting) };
        (self.info.width, self.info.height) = pair.left.size();
        Ok(Next::Pair(pair))
    }

    fn state(&self) -> SourceState {
        let mut state = SourceState {
            unpaired: self.pairing.unpaired(),
            skew: self.pairing.skew(),
            unreadable: self.streams.iter().find_map(|stream| stream.silence(&self.network)),
            ..SourceState::default()
        };
        for stream in &self.streams {
            let counts = stream.inlet.counts();
            if counts.dropped_by_network > 0 {
                let count = console::counted(counts.dropped_by_network, "image");
                state.remarks.push(format!("the network dropped {count} of head '{}'", stream.name));
            }
            if counts.refused > 0 {
                let why = counts.refusal.unwrap_or_default();
                state
                    .remarks
                    .push(format!("{} messages of head '{}' were refused: {why}", counts.refused, stream.name));
            }
            if let Some(status) = stream.watch.news().status {
                state.cameras.extend(status.cameras);
                state.remarks.extend(status.remarks.iter().map(|remark| console::foreign(remark)));
            }
        }
        state.remarks.extend(self.clock_remark());
        state
    }

    fn latency_begin(&self, arrived: Instant) -> (Instant, LatencySince) {
        clock::latency_begin(self.taken, arrived)
    }
}
