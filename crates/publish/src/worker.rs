//! Publishing thread of the WebSocket server: takes frames and results from the inbox, packs the topics that clients have subscribed
//! to, and passes them to the hub.

use super::foxglove::Foxglove;
use super::inbox::{Input, WantedKinds};
use super::publication::Shared;
use super::server::ListenerThread;
use super::topics::StreamTopics;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_frame::decode_camera::Layout;
use stereopsis_frame::engine::Output;
use stereopsis_frame::{Frame, SourceInfo, StereoLayout};
use stereopsis_recording::pack::Packer;
use stereopsis_recording::topic::{COUNTERS, EVENTS, PARAMETERS};
use stereopsis_recording::{About, Counters, Event, Format, Packet, Streams};

const COUNTERS_INTERVAL: Duration = Duration::from_secs(1);
/// Shortest interval at which everything is packed again for new subscriptions. It bounds the cost of a client that keeps subscribing.
const RENEWAL_INTERVAL: Duration = Duration::from_millis(100);

pub(super) struct Worker {
    shared: Arc<Shared<Foxglove>>,
    server: ListenerThread,
    /// Description of the source, if its opener has given one.
    about: Option<About>,
    /// Source whose topics are offered.
    source: Option<SourceKey>,
    /// Topics of its frames and of its results; `None` before the first frame or result.
    frame_topics: Option<StreamTopics>,
    result_topics: Option<StreamTopics>,
    packer: Option<Packer>,
    /// Time at which the packer was created, and whether subscriptions have changed since.
    renewed: Option<Instant>,
    is_stale: bool,
    /// Newest frame and result, for later subscriptions while no new ones arrive.
    frame: Option<(Arc<Frame>, SourceInfo)>,
    output: Option<Arc<Output>>,
    counters: Counters,
    sent_counters: Counters,
    error: Option<String>,
}

/// Properties of a source that determine its topics.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SourceKey {
    name: String,
    raw_size: (usize, usize),
    size: (usize, usize),
    layout: StereoLayout,
    /// Memory layouts of the cameras' images.
    layouts: Vec<Layout>,
    is_metric: bool,
    is_color: bool,
}

impl SourceKey {
    pub(super) fn of(frame: &Frame, source: &SourceInfo) -> Self {
        let original = frame.raw.original.as_ref();
        Self {
            name: source.name.clone(),
            raw_size: frame.raw.left.size(),
            size: frame.size(),
            layout: StereoLayout::of(original),
            layouts: original.map_or(Vec::new(), |original| original.images.iter().map(|shot| shot.layout).collect()),
            is_metric: frame.geometry.is_some(),
            is_color: frame.raw.left.rgb.is_some(),
        }
    }
}

impl Worker {
    pub(super) fn new(shared: Arc<Shared<Foxglove>>, server: ListenerThread) -> Self {
        Self {
            shared,
            server,
            about: None,
            source: None,
            frame_topics: None,
            result_topics: None,
            packer: None,
            renewed: None,
            is_stale: false,
            frame: None,
            output: None,
            counters: Counters::default(),
            sent_counters: Counters::default(),
            error: None,
        }
    }

    /// Publishes until the program ends, then ends the connections.
    pub(super) fn run(mut self) {
        let mut counters_due = Instant::now() + COUNTERS_INTERVAL;
        loop {
            let renewal = self.renewed.filter(|_| self.is_stale).map(|renewed| renewed + RENEWAL_INTERVAL);
            let input = self.shared.inbox.wait(renewal.map_or(counters_due, |renewal| renewal.min(counters_due)));
            if input.stop {
                break;
            }
            self.publish(input);
            if Instant::now() >= counters_due {
                counters_due = Instant::now() + COUNTERS_INTERVAL;
                self.send_counters();
            }
        }
        drop(self.server);
    }

    /// Sends new input; after a change of subscriptions also the newest existing frame and result.
    fn publish(&mut self, input: Input) {
        let Input { frame, output, about, subscriptions, parameters, refused, stop: _ } = input;
        let (new_frame, new_output, new_about) = (frame.is_some(), output.is_some(), about.is_some());
        self.frame = frame.or(self.frame.take());
        self.output = output.or(self.output.take());
        self.about = about.or(self.about.take());
        self.offer_topics(new_about);
        // a new packer begins with the messages that are sent only once
        self.is_stale |= subscriptions;
        let may_renew = self.renewed.is_none_or(|renewed| renewed.elapsed() >= RENEWAL_INTERVAL);
        let anew = (self.is_stale && may_renew) || self.packer.is_none();
        if anew {
            (self.renewed, self.is_stale) = (Some(Instant::now()), false);
            self.renew_packer();
        }
        if parameters {
            self.shared.link.hub.send_parameters(&self.shared.panel.get(&[]));
        }
        if parameters || anew {
            let shown = self.shared.panel.shown();
            self.send_note(|packer| packer.parameters(&shown, SystemTime::now()));
        }
        if (new_frame || anew)
            && self.has_subscribers(self.frame_topics.as_ref())
            && let (Some((frame, _)), Some(packer)) = (&self.frame, &mut self.packer)
        {
            self.counters.pairs += u64::from(new_frame);
            let packets = packer.frame(frame, SystemTime::now());
            self.send(packets);
        }
        if (new_output || anew)
            && self.has_subscribers(self.result_topics.as_ref())
            && let (Some(output), Some(packer)) = (&self.output, &mut self.packer)
        {
            self.counters.results += u64::from(new_output);
            let packets = packer.result(output, SystemTime::now());
            self.send(packets);
        }
        for text in refused {
            let event = Event { kind: "refused".to_owned(), text, sequence: None };
            self.send_note(|packer| packer.event(&event, SystemTime::now()));
        }
        // topics are known only after a frame or a result
        let wanted = |topics: &Option<StreamTopics>| topics.is_none() || self.has_subscribers(topics.as_ref());
        self.shared
            .set_wanted(WantedKinds { frames: wanted(&self.frame_topics), results: wanted(&self.result_topics) });
    }

    /// Offers the topics of a new or newly described source.
    fn offer_topics(&mut self, new_about: bool) {
        let Some((frame, source)) = self.frame.clone() else { return };
        let key = SourceKey::of(&frame, &source);
        if new_about || self.source.as_ref() != Some(&key) {
            self.source = Some(key);
            (self.frame_topics, self.result_topics, self.packer) = (None, None, None);
        }
        let about = self.about_of(&source);
        let now = SystemTime::now();
        if self.frame_topics.is_none() {
            let mut notes = packer(&about, Streams::NONE);
            let event = Event { kind: String::new(), text: String::new(), sequence: None };
            let parameters = notes.parameters(&self.shared.panel.shown(), now);
            for packet in [parameters, notes.counters(&Counters::default(), now), notes.event(&event, now)] {
                self.shared.link.hub.offer(&packet.channel);
            }
            let packets = |streams| packer(&about, streams).frame(&frame, now).unwrap_or_default();
            self.frame_topics = Some(self.offer_all(packets));
        }
        if self.result_topics.is_none()
            && let Some(output) = self.output.clone().filter(|output| output.job.frame.size() == frame.size())
        {
            let packets = |streams| packer(&about, streams).result(&output, now).unwrap_or_default();
            self.result_topics = Some(self.offer_all(packets));
        }
        if let (Some(frame_topics), Some(result_topics)) = (&self.frame_topics, &self.result_topics) {
            let notes = [PARAMETERS, COUNTERS, EVENTS].map(str::to_owned);
            let topics = frame_topics.all().into_iter().chain(result_topics.all()).chain(notes);
            self.shared.link.hub.keep(&topics.collect());
        }
    }

    /// Offers the topics of all packets.
    fn offer_all(&self, packets: impl Fn(Streams) -> Vec<Packet>) -> StreamTopics {
        let offer = |packet: Packet| {
            self.shared.link.hub.offer(&packet.channel);
            packet.channel.topic.clone()
        };
        StreamTopics::of(|streams| packets(streams).into_iter().map(offer).collect::<BTreeSet<_>>())
    }

    fn about_of(&self, source: &SourceInfo) -> About {
        self.about.clone().unwrap_or_else(|| About::of_source(&source.name, source, SystemTime::now()))
    }

    fn renew_packer(&mut self) {
        let topics = [&self.frame_topics, &self.result_topics].into_iter().flatten();
        let streams = topics.map(|topics| topics.streams(|topic| self.shared.link.hub.is_wanted(topic)));
        let streams = streams.fold(Streams::NONE, Streams::and);
        self.packer = self.frame.as_ref().map(|(_, source)| packer(&self.about_of(source), streams));
    }

    fn has_subscribers(&self, topics: Option<&StreamTopics>) -> bool {
        topics.is_some_and(|topics| topics.all().iter().any(|topic| self.shared.link.hub.is_wanted(topic)))
    }

    /// Sends packets, or reports the error once.
    fn send(&mut self, packets: Result<Vec<Packet>, impl Display>) {
        match packets {
            Ok(packets) => {
                self.error = None;
                for packet in packets {
                    self.shared.link.hub.send(packet);
                }
            }
            Err(why) => {
                let why = format!("a pair cannot be published: {why}");
                if self.error.as_ref() != Some(&why) {
                    self.shared.report(why.clone());
                    self.error = Some(why);
                }
            }
        }
    }

    /// Sends a message that does not belong to a pair.
    fn send_note(&mut self, make: impl FnOnce(&mut Packer) -> Packet) {
        if let Some(packer) = &mut self.packer {
            self.shared.link.hub.send(make(packer));
        }
    }

    /// Sends the counters if they have changed.
    fn send_counters(&mut self) {
        let Counters { pairs, results, .. } = self.counters;
        let counters = Counters { pairs, results, ..self.shared.inbox.dropped() };
        if counters != self.sent_counters && self.packer.is_some() {
            self.sent_counters = counters;
            self.send_note(|packer| packer.counters(&counters, SystemTime::now()));
        }
    }
}

/// Creates a packer of these streams only.
fn packer(about: &About, streams: Streams) -> Packer {
    Packer::new(About { streams, ..about.clone() }, Format::Foxglove)
}
