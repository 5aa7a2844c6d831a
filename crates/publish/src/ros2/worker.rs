//! Publishing thread of the ROS 2 node: takes frames and results from the inbox, packs the topics with subscriptions, and sends them.

use super::super::inbox::{Input, WantedKinds};
use super::super::publication::Shared;
use super::super::topics::StreamTopics;
use super::super::worker::SourceKey;
use super::Ros2;
use super::publishers::TopicPublishers;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_frame::engine::Output;
use stereopsis_frame::{Frame, SourceInfo};
use stereopsis_network::ros2::Node;
use stereopsis_recording::pack::Packer;
use stereopsis_recording::{About, Format, Packet, Streams, topic};
use stereopsis_stereo::StereoParams;

/// Interval of checks whether a router answers.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

pub(super) struct RosWorker {
    shared: Arc<Shared<Ros2>>,
    publishers: TopicPublishers,
    node: Node,
    /// Name of the rig, a prefix of its frames of reference.
    rig: Option<String>,
    /// Description of the source, if its opener has given one.
    about: Option<About>,
    source: Option<SourceKey>,
    topics: Option<SourceTopics>,
    packer: Option<Packer>,
    streams: Streams,
    /// Topics that had subscriptions at the last input.
    received: BTreeSet<String>,
    /// Newest frame and result, for later subscriptions.
    frame: Option<(Arc<Frame>, SourceInfo)>,
    output: Option<Arc<Output>>,
    error: Option<String>,
}

struct SourceTopics {
    of_frames: StreamTopics,
    /// Topics of decoded images, if the cameras send compressed images.
    decoded: BTreeSet<String>,
    /// Topics of results; `None` before the first one.
    of_results: Option<StreamTopics>,
}

impl RosWorker {
    pub(super) fn new(shared: Arc<Shared<Ros2>>, node: Node, rig: Option<String>) -> Self {
        Self {
            shared,
            publishers: TopicPublishers::default(),
            node,
            rig,
            about: None,
            source: None,
            topics: None,
            packer: None,
            streams: Streams::NONE,
            received: BTreeSet::new(),
            frame: None,
            output: None,
            error: None,
        }
    }

    pub(super) fn run(mut self) {
        let mut look = Instant::now() + LOOK_INTERVAL;
        loop {
            let input = self.shared.inbox.wait(look);
            if input.stop {
                break;
            }
            self.publish(input);
            if Instant::now() >= look {
                look = Instant::now() + LOOK_INTERVAL;
                self.look_for_router();
            }
        }
    }

    fn look_for_router(&self) {
        let is_connected = self.node.is_connected();
        match (self.shared.link.is_connected.swap(is_connected, Ordering::AcqRel), is_connected) {
            (false, true) => {
                self.shared.panel.notify(format!("ros2: connected to {}", self.node.routers()));
                self.shared.wake();
            }
            (true, false) => self.shared.report(format!("ros2: {}; it is tried again", self.node.no_router())),
            _ => {}
        }
    }

    /// Sends new input; for new subscriptions also the newest existing input.
    fn publish(&mut self, input: Input) {
        let Input { frame, output, about, parameters, .. } = input;
        let (new_frame, new_output, new_about) = (frame.is_some(), output.is_some(), about.is_some());
        self.frame = frame.or(self.frame.take());
        self.output = output.or(self.output.take());
        self.about = about.or(self.about.take());
        let is_offered = self.offer_topics(new_about);
        let received = self.publishers.received();
        let came = &received - &self.received;
        self.shared.link.received.store(received.len() as u64, Ordering::Release);
        self.renew_packer(&received);
        if let Some(packer) = &mut self.packer
            && (parameters || is_offered)
        {
            let packet = packer.parameters(&self.shared.panel.shown(), SystemTime::now());
            self.send(vec![packet], |_| true);
        }
        if new_frame || !came.is_empty() {
            self.send_frame(&received, |topic| new_frame || came.contains(topic));
        }
        if new_output || !came.is_empty() {
            self.send_result(&received, |topic| new_output || came.contains(topic));
        }
        self.received = received;
        self.set_wanted();
    }

    /// Sends the messages of the newest frame whose topics are due.
    fn send_frame(&mut self, received: &BTreeSet<String>, is_due: impl Fn(&str) -> bool) {
        let (Some((frame, _)), Some(packer), Some(topics)) = (&self.frame, &mut self.packer, &self.topics) else {
            return;
        };
        let now = SystemTime::now();
        let mut packets = packer.frame(frame, now);
        if let Ok(packets) = &mut packets
            && !topics.decoded.is_disjoint(received)
        {
            let decoded = packer.decoded(frame, now).unwrap_or_default();
            packets.extend(decoded.into_iter().filter(|packet| topics.decoded.contains(&packet.channel.topic)));
        }
        self.send_packets(packets, is_due);
    }

    fn send_result(&mut self, received: &BTreeSet<String>, is_due: impl Fn(&str) -> bool) {
        let (Some(output), Some(packer), Some(topics)) = (&self.output, &mut self.packer, &self.topics) else { return };
        let wants_points = received.contains(topic::POINTS);
        let is_received = |topics: &StreamTopics| !topics.all().is_disjoint(received);
        if !wants_points && !topics.of_results.as_ref().is_some_and(is_received) {
            return;
        }
        let now = SystemTime::now();
        let mut packets = packer.result(output, now);
        if let Ok(packets) = &mut packets
            && wants_points
        {
            packets.extend(packer.points(output, now));
        }
        self.send_packets(packets, is_due);
    }

    fn send_packets(&mut self, packets: Result<Vec<Packet>, impl Display>, is_due: impl Fn(&str) -> bool) {
        match packets {
            Ok(packets) => self.send(packets, is_due),
            Err(why) => self.report(format!("ros2: a pair cannot be published: {why}")),
        }
    }

    /// Sends due messages, and latched ones.
    fn send(&mut self, packets: Vec<Packet>, is_due: impl Fn(&str) -> bool) {
        for packet in packets {
            let name = &packet.channel.topic;
            if !self.publishers.is_latched(name) && !is_due(name) {
                continue;
            }
            match self.publishers.send(packet) {
                Ok(()) => self.error = None,
                Err(why) => self.report(format!("ros2: a message cannot be sent: {why}")),
            }
        }
    }

    /// Reports an error to the user unless it is the last one.
    fn report(&mut self, why: String) {
        if self.error.as_ref() != Some(&why) {
            self.shared.report(why.clone());
            self.error = Some(why);
        }
    }

    /// Offers the topics of a new or newly described source; returns whether it did.
    fn offer_topics(&mut self, new_about: bool) -> bool {
        let Some((frame, source)) = self.frame.clone() else { return false };
        let key = SourceKey::of(&frame, &source);
        if new_about || self.source.as_ref() != Some(&key) {
            self.source = Some(key);
            (self.topics, self.packer) = (None, None);
        }
        let output = self.output.clone().filter(|output| output.job.frame.size() == frame.size());
        let is_known = |topics: &SourceTopics| topics.of_results.is_some() || output.is_none();
        if self.topics.as_ref().is_some_and(is_known) {
            return false;
        }
        let about = self.about_of(&source);
        let now = SystemTime::now();
        let rig = self.rig.clone();
        let packer = |about: &About, streams| packer(about, streams, rig.as_deref());
        let mut packets = vec![packer(&about, Streams::NONE).parameters(&StereoParams::default(), now)];
        let mut kept = |made: Vec<Packet>| -> BTreeSet<String> {
            let names = made.iter().map(|packet| packet.channel.topic.clone()).collect();
            packets.extend(made);
            names
        };
        let of_frames =
            StreamTopics::of(|streams| kept(packer(&about, streams).frame(&frame, now).unwrap_or_default()));
        let decoded = packer(&about, Streams::NONE).decoded(&frame, now).unwrap_or_default();
        let decoded = &kept(decoded) - &of_frames.all();
        let of_results = output.map(|output| {
            kept(packer(&about, Streams::NONE).points(&output, now).into_iter().collect());
            StreamTopics::of(|streams| kept(packer(&about, streams).result(&output, now).unwrap_or_default()))
        });
        for packet in &packets {
            if let Err(why) = self.publishers.add(&self.node, &self.shared, &packet.channel) {
                self.report(why.to_string());
            }
        }
        if of_results.is_some() {
            self.publishers.keep(&packets.iter().map(|packet| packet.channel.topic.clone()).collect());
        }
        self.topics = Some(SourceTopics { of_frames, decoded, of_results });
        true
    }

    fn about_of(&self, source: &SourceInfo) -> About {
        self.about.clone().unwrap_or_else(|| About::of_source(&source.name, source, SystemTime::now()))
    }

    fn renew_packer(&mut self, received: &BTreeSet<String>) {
        let (Some(topics), Some((_, source))) = (&self.topics, &self.frame) else { return };
        let topics = [Some(&topics.of_frames), topics.of_results.as_ref()].into_iter().flatten();
        let streams = topics.map(|topics| topics.streams(|topic| received.contains(topic)));
        let streams = streams.fold(Streams::NONE, Streams::and);
        if self.packer.is_none() || streams != self.streams {
            self.streams = streams;
            self.packer = Some(packer(&self.about_of(source), streams, self.rig.as_deref()));
        }
    }

    /// Requests the subscribed data from capture and engine, and everything while the topics are unknown.
    fn set_wanted(&self) {
        let is_received = |topics: &StreamTopics| !topics.all().is_disjoint(&self.received);
        let (frames, results) = self.topics.as_ref().map_or((true, true), |topics| {
            let frames = is_received(&topics.of_frames) || !topics.decoded.is_disjoint(&self.received);
            let points = self.received.contains(topic::POINTS);
            (frames, points || topics.of_results.as_ref().is_none_or(is_received))
        });
        self.shared.set_wanted(WantedKinds { frames, results });
    }
}

/// Creates a packer of these streams only, with the rig's name if it is one of several.
fn packer(about: &About, streams: Streams, rig: Option<&str>) -> Packer {
    let packer = Packer::new(About { streams, ..about.clone() }, Format::Ros2).with_plain_pictures();
    match rig {
        Some(rig) => packer.with_frames_of(rig),
        None => packer,
    }
}
