//! Publishing thread of the ROS 2 node: takes frames and results from the inbox, packs the topics with subscriptions, and sends them.

use super::super::inbox::Input;
use super::super::publication::Shared;
use super::super::run::Run;
use super::super::topics::StreamTopics;
use super::link::Ros2;
use super::publishers::TopicPublishers;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};
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
    run: Run,
    /// Topics of decoded images, if the cameras send compressed images.
    decoded: BTreeSet<String>,
    /// Streams of the packer.
    streams: Streams,
    /// Topics that had subscriptions at the last input.
    received: BTreeSet<String>,
    error: Option<String>,
}

impl RosWorker {
    pub(super) fn new(shared: Arc<Shared<Ros2>>, node: Node, rig: Option<String>) -> Self {
        Self {
            shared,
            publishers: TopicPublishers::default(),
            node,
            rig,
            run: Run::default(),
            decoded: BTreeSet::new(),
            streams: Streams::NONE,
            received: BTreeSet::new(),
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
    fn publish(&mut self, mut input: Input) {
        let (new_frame, new_output) = self.run.take(&mut input);
        let is_offered = self.offer_topics();
        let received = self.publishers.received();
        let came = &received - &self.received;
        self.received = received;
        self.shared.link.received.store(self.received.len() as u64, Ordering::Release);
        self.renew_packer();
        if let Some(packer) = &mut self.run.packer
            && (input.parameters || is_offered)
        {
            let packet = packer.parameters(&self.shared.panel.shown(), SystemTime::now());
            self.send(vec![packet], |_| true);
        }
        if new_frame || !came.is_empty() {
            self.send_frame(|topic| new_frame || came.contains(topic));
        }
        if new_output || !came.is_empty() {
            self.send_result(|topic| new_output || came.contains(topic));
        }
        self.shared.set_wanted(self.run.wanted_kinds(|topic| self.received.contains(topic)));
    }

    /// Sends the messages of the newest frame whose topics are due.
    fn send_frame(&mut self, is_due: impl Fn(&str) -> bool) {
        let (Some((frame, _)), Some(packer)) = (&self.run.frame, &mut self.run.packer) else { return };
        let now = SystemTime::now();
        let mut packets = packer.frame(frame, now);
        if let Ok(packets) = &mut packets
            && !self.decoded.is_disjoint(&self.received)
        {
            let decoded = packer.decoded(frame, now).unwrap_or_default();
            packets.extend(decoded.into_iter().filter(|packet| self.decoded.contains(&packet.channel.topic)));
        }
        self.send_packets(packets, is_due);
    }

    fn send_result(&mut self, is_due: impl Fn(&str) -> bool) {
        let (Some(output), Some(packer)) = (&self.run.output, &mut self.run.packer) else { return };
        let received = |topic: &str| self.received.contains(topic);
        if !self.run.result_topics.as_ref().is_some_and(|topics| topics.has_any(received)) {
            return;
        }
        let now = SystemTime::now();
        let mut packets = packer.result(output, now);
        if let Ok(packets) = &mut packets
            && received(topic::POINTS)
        {
            packets.extend(packer.points(output, now));
        }
        if let Ok(packets) = &mut packets
            && received(topic::COMPRESSED_DEPTH)
        {
            packets.extend(packer.compressed_depth(output, now));
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
        self.shared.report_new(why, &mut self.error);
    }

    /// Offers the topics of a new or newly described source; returns whether it did.
    fn offer_topics(&mut self) -> bool {
        let Some((frame, about)) = self.run.described() else { return false };
        let first = self.run.first_output();
        if self.run.frame_topics.is_some() && first.is_none() {
            return false;
        }
        let now = SystemTime::now();
        let rig = self.rig.clone();
        let packer = |streams| packer(&about, streams, rig.as_deref());
        let mut packets = vec![packer(Streams::NONE).parameters(&StereoParams::default(), now)];
        let mut kept = |made: Vec<Packet>| -> BTreeSet<String> {
            let names = made.iter().map(|packet| packet.channel.topic.clone()).collect();
            packets.extend(made);
            names
        };
        if self.run.frame_topics.is_none() {
            let topics = StreamTopics::of(|streams| kept(packer(streams).frame(&frame, now).unwrap_or_default()));
            let decoded = packer(Streams::NONE).decoded(&frame, now).unwrap_or_default();
            self.decoded = &kept(decoded) - &topics.all();
            self.run.frame_topics = Some(topics.with(self.decoded.clone()));
        }
        if let Some(output) = first {
            let mut extra = packer(Streams::NONE);
            let extra = [extra.points(&output, now), extra.compressed_depth(&output, now)];
            let extra = kept(extra.into_iter().flatten().collect());
            let topics = StreamTopics::of(|streams| kept(packer(streams).result(&output, now).unwrap_or_default()));
            self.run.result_topics = Some(topics.with(extra));
        }
        for packet in &packets {
            if let Err(why) = self.publishers.add(&self.node, &self.shared, &packet.channel) {
                self.report(why.to_string());
            }
        }
        if let (Some(of_frames), Some(of_results)) = (&self.run.frame_topics, &self.run.result_topics) {
            let topics = of_frames.all().into_iter().chain(of_results.all()).chain([topic::PARAMETERS.to_owned()]);
            self.publishers.keep(&topics.collect());
        }
        true
    }

    fn renew_packer(&mut self) {
        let streams = self.run.streams(|topic| self.received.contains(topic));
        if self.run.packer.is_none() || streams != self.streams {
            self.streams = streams;
            self.run.packer = self.run.described().map(|(_, about)| packer(&about, streams, self.rig.as_deref()));
        }
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
