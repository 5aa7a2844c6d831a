//! Publishing thread of the WebSocket server: takes frames and results from the inbox, packs the topics that clients have subscribed
//! to, and passes them to the hub.

use super::foxglove::Foxglove;
use super::inbox::Input;
use super::publication::Shared;
use super::run::Run;
use super::server::ListenerThread;
use super::topics::StreamTopics;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_recording::pack::Packer;
use stereopsis_recording::topic::{COUNTERS, EVENTS, PARAMETERS};
use stereopsis_recording::{About, Counters, Event, Format, Packet, Streams};

const COUNTERS_INTERVAL: Duration = Duration::from_secs(1);
/// Shortest interval at which everything is packed again for new subscriptions. It bounds the cost of a client that keeps subscribing.
const RENEWAL_INTERVAL: Duration = Duration::from_millis(100);

pub(super) struct Worker {
    shared: Arc<Shared<Foxglove>>,
    server: ListenerThread,
    run: Run,
    /// Time at which the packer was created, and whether subscriptions have changed since.
    renewed: Option<Instant>,
    is_stale: bool,
    counters: Counters,
    sent_counters: Counters,
    error: Option<String>,
}

impl Worker {
    pub(super) fn new(shared: Arc<Shared<Foxglove>>, server: ListenerThread) -> Self {
        let (counters, sent_counters) = (Counters::default(), Counters::default());
        let run = Run::default();
        Self { shared, server, run, renewed: None, is_stale: false, counters, sent_counters, error: None }
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
    fn publish(&mut self, mut input: Input) {
        let (new_frame, new_output) = self.run.take(&mut input);
        let Input { subscriptions, parameters, refused, .. } = input;
        self.offer_topics();
        // a new packer begins with the messages that are sent only once
        self.is_stale |= subscriptions;
        let may_renew = self.renewed.is_none_or(|renewed| renewed.elapsed() >= RENEWAL_INTERVAL);
        let anew = (self.is_stale && may_renew) || self.run.packer.is_none();
        if anew {
            (self.renewed, self.is_stale) = (Some(Instant::now()), false);
            let streams = self.run.streams(self.is_wanted());
            self.run.packer = self.run.described().map(|(_, about)| packer(&about, streams));
        }
        if parameters {
            self.shared.link.hub.send_parameters(&self.shared.panel.get(&[]));
        }
        if parameters || anew {
            let shown = self.shared.panel.shown();
            self.send_note(|packer| packer.parameters(&shown, SystemTime::now()));
        }
        if (new_frame || anew)
            && self.has_subscribers(self.run.frame_topics.as_ref())
            && let (Some((frame, _)), Some(packer)) = (&self.run.frame, &mut self.run.packer)
        {
            self.counters.pairs += u64::from(new_frame);
            let packets = packer.frame(frame, SystemTime::now());
            self.send(packets);
        }
        if (new_output || anew)
            && self.has_subscribers(self.run.result_topics.as_ref())
            && let (Some(output), Some(packer)) = (&self.run.output, &mut self.run.packer)
        {
            self.counters.results += u64::from(new_output);
            let packets = packer.result(output, SystemTime::now());
            self.send(packets);
        }
        for text in refused {
            let event = Event { kind: "refused".to_owned(), text, sequence: None };
            self.send_note(|packer| packer.event(&event, SystemTime::now()));
        }
        self.shared.set_wanted(self.run.wanted_kinds(self.is_wanted()));
    }

    /// Offers the topics of a new or newly described source.
    fn offer_topics(&mut self) {
        let Some((frame, about)) = self.run.described() else { return };
        let now = SystemTime::now();
        if self.run.frame_topics.is_none() {
            let mut notes = packer(&about, Streams::NONE);
            let event = Event { kind: String::new(), text: String::new(), sequence: None };
            let parameters = notes.parameters(&self.shared.panel.shown(), now);
            for packet in [parameters, notes.counters(&Counters::default(), now), notes.event(&event, now)] {
                self.shared.link.hub.offer(&packet.channel);
            }
            let packets = |streams| packer(&about, streams).frame(&frame, now).unwrap_or_default();
            self.run.frame_topics = Some(self.offer_all(packets));
        }
        if let Some(output) = self.run.first_output() {
            let packets = |streams| packer(&about, streams).result(&output, now).unwrap_or_default();
            self.run.result_topics = Some(self.offer_all(packets));
        }
        if let (Some(frame_topics), Some(result_topics)) = (&self.run.frame_topics, &self.run.result_topics) {
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

    fn is_wanted(&self) -> impl Fn(&str) -> bool {
        |topic| self.shared.link.hub.is_wanted(topic)
    }

    fn has_subscribers(&self, topics: Option<&StreamTopics>) -> bool {
        topics.is_some_and(|topics| topics.has_any(self.is_wanted()))
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
            Err(why) => self.shared.report_new(format!("a pair cannot be published: {why}"), &mut self.error),
        }
    }

    /// Sends a message that does not belong to a pair.
    fn send_note(&mut self, make: impl FnOnce(&mut Packer) -> Packet) {
        if let Some(packer) = &mut self.run.packer {
            self.shared.link.hub.send(make(packer));
        }
    }

    /// Sends the counters if they have changed.
    fn send_counters(&mut self) {
        let Counters { pairs, results, .. } = self.counters;
        let counters = Counters { pairs, results, ..self.shared.inbox.dropped() };
        if counters != self.sent_counters && self.run.packer.is_some() {
            self.sent_counters = counters;
            self.send_note(|packer| packer.counters(&counters, SystemTime::now()));
        }
    }
}

/// Creates a packer of these streams only.
fn packer(about: &About, streams: Streams) -> Packer {
    Packer::new(About { streams, ..about.clone() }, Format::Foxglove)
}
