//! The publishing thread: packs what somebody has subscribed to and hands it to the server.

use super::Shared;
use super::inbox::Mail;
use super::offer::{Menu, Offer};
use super::server::Server;
use crate::capture::decode_camera::Layout;
use crate::capture::{Frame, RawRule, SourceInfo};
use crate::engine::Output;
use crate::recording::pack::{PackError, Packer};
use crate::recording::topic::{COUNTERS, EVENTS, PARAMETERS};
use crate::recording::{About, Counters, Event, Format, Packet, Streams};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// How often counters are told.
const TICK: Duration = Duration::from_secs(1);
/// How often everything is packed anew for those who subscribe; a client that does so all the time keeps nobody busy.
const RENEW_EVERY: Duration = Duration::from_millis(100);

/// The thread's own state.
pub(super) struct Worker {
    shared: Arc<Shared>,
    server: Server,
    offer: Offer,
    /// What is known of the source, where somebody has said it.
    about: Option<About>,
    /// The source whose topics are offered.
    seen: Option<Seen>,
    /// What its frames and its results become; `None` until there was one.
    menus: (Option<Menu>, Option<Menu>),
    packer: Option<Packer>,
    /// When it was made for subscriptions that had changed, and whether they have changed since.
    renewed: Option<Instant>,
    is_stale: bool,
    /// The newest ones, for whoever comes while nothing new does.
    frame: Option<(Arc<Frame>, SourceInfo)>,
    output: Option<Arc<Output>>,
    counters: Counters,
    told_counters: Counters,
    /// The last thing that could not be packed.
    complaint: Option<String>,
}

/// What decides which topics there are.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    name: String,
    raw_size: (usize, usize),
    size: (usize, usize),
    rule: RawRule,
    /// How cameras' pictures lie in memory.
    layouts: Vec<Layout>,
    is_metric: bool,
    is_color: bool,
}

impl Seen {
    fn of(frame: &Frame, source: &SourceInfo) -> Self {
        let original = frame.raw.original.as_ref();
        Self {
            name: source.name.clone(),
            raw_size: frame.raw.left.size(),
            size: frame.size(),
            rule: RawRule::of(original),
            layouts: original.map_or(Vec::new(), |original| original.shots.iter().map(|shot| shot.layout).collect()),
            is_metric: frame.geometry.is_some(),
            is_color: frame.raw.left.rgb.is_some(),
        }
    }
}

impl Worker {
    pub(super) fn new(shared: Arc<Shared>, server: Server) -> Self {
        Self {
            offer: Offer::new(Arc::clone(&shared)),
            shared,
            server,
            about: None,
            seen: None,
            menus: (None, None),
            packer: None,
            renewed: None,
            is_stale: false,
            frame: None,
            output: None,
            counters: Counters::default(),
            told_counters: Counters::default(),
            complaint: None,
        }
    }

    /// Publishes until it shall stop, then says goodbye to the clients.
    pub(super) fn run(mut self) {
        let mut due = Instant::now() + TICK;
        loop {
            let renewal = self.renewed.filter(|_| self.is_stale).map(|renewed| renewed + RENEW_EVERY);
            let mail = self.shared.inbox.wait(renewal.map_or(due, |renewal| renewal.min(due)));
            if mail.stop {
                break;
            }
            self.take(mail);
            if Instant::now() >= due {
                due = Instant::now() + TICK;
                self.tell_counters();
            }
        }
        drop(self.server);
    }

    /// Sends what came, and what was there where somebody has come.
    fn take(&mut self, mail: Mail) {
        let Mail { frame, output, about, subscriptions, parameters, stop: _ } = mail;
        let (new_frame, new_output) = (frame.is_some(), output.is_some());
        self.frame = frame.or(self.frame.take());
        self.output = output.or(self.output.take());
        let known = about.is_some();
        self.about = about.or(self.about.take());
        self.look_at_source(known);
        // a new packer begins with what is told once
        self.is_stale |= subscriptions;
        let may_renew = self.renewed.is_none_or(|renewed| renewed.elapsed() >= RENEW_EVERY);
        let anew = (self.is_stale && may_renew) || self.packer.is_none();
        if anew {
            (self.renewed, self.is_stale) = (Some(Instant::now()), false);
            self.packer = None;
            self.begin();
        }
        if parameters {
            self.shared.hub.tell_parameters(&self.shared.panel.get(&[]));
        }
        if parameters || anew {
            self.tell_parameters();
        }
        if new_frame || anew {
            self.send_frame(new_frame);
        }
        if new_output || anew {
            self.send_output(new_output);
        }
        self.tell_events();
        self.say_what_is_wanted();
    }

    /// Finds out which topics there are, where the source is another one or is told of for the first time.
    fn look_at_source(&mut self, told: bool) {
        let Some((frame, source)) = self.frame.clone() else { return };
        let seen = Seen::of(&frame, &source);
        if told || self.seen.as_ref() != Some(&seen) {
            self.seen = Some(seen);
            self.menus = (None, None);
            self.packer = None;
        }
        let about = self.about_of(&source);
        let now = SystemTime::now();
        if self.menus.0.is_none() {
            let mut notes = packer(&about, Streams::NONE);
            let event = Event { kind: String::new(), text: String::new(), sequence: None };
            for packet in [
                notes.parameters(&self.shared.panel.shown(), now),
                notes.counters(&Counters::default(), now),
                notes.event(&event, now),
            ] {
                self.offer.put(&packet.channel);
            }
            let packets = |streams| packer(&about, streams).frame(&frame, now).unwrap_or_default();
            self.menus.0 = Some(self.offer_all(packets));
        }
        if self.menus.1.is_none()
            && let Some(output) = self.output.clone().filter(|output| output.job.frame.size() == frame.size())
        {
            let packets = |streams| packer(&about, streams).result(&output, now).unwrap_or_default();
            self.menus.1 = Some(self.offer_all(packets));
        }
        let fixed = [PARAMETERS, COUNTERS, EVENTS].map(str::to_owned);
        let menus = [&self.menus.0, &self.menus.1].into_iter().flatten().flat_map(Menu::topics);
        let topics: BTreeSet<_> = menus.chain(fixed).collect();
        if self.menus.1.is_some() {
            self.offer.keep(&topics);
        }
    }

    /// Offers the topics of all packets, and tells which streams they need.
    fn offer_all(&mut self, mut packets: impl FnMut(Streams) -> Vec<Packet>) -> Menu {
        Menu::of(|streams| {
            let packets = packets(streams);
            for packet in &packets {
                self.offer.put(&packet.channel);
            }
            packets.into_iter().map(|packet| packet.channel.topic.clone()).collect()
        })
    }

    fn about_of(&self, source: &SourceInfo) -> About {
        self.about.clone().unwrap_or_else(|| About::of_source(&source.name, source, SystemTime::now()))
    }

    /// A packer for what is wanted now.
    fn begin(&mut self) {
        let Some((_, source)) = &self.frame else { return };
        let wanted = |menu: &Option<Menu>| {
            menu.as_ref().map_or(Streams::NONE, |menu| menu.streams(|topic| self.offer.is_wanted(topic)))
        };
        let streams = wanted(&self.menus.0).and(wanted(&self.menus.1));
        self.packer = Some(packer(&self.about_of(source), streams));
    }

    fn send_frame(&mut self, is_new: bool) {
        let (Some((frame, _)), Some(menu)) = (&self.frame, &self.menus.0) else { return };
        let Some(packer) = self.packer.as_mut().filter(|_| menu.is_wanted(|topic| self.offer.is_wanted(topic))) else {
            return;
        };
        let packets = packer.frame(frame, SystemTime::now());
        self.counters.pairs += u64::from(is_new);
        self.send(packets);
    }

    fn send_output(&mut self, is_new: bool) {
        let (Some(output), Some(menu)) = (&self.output, &self.menus.1) else { return };
        let Some(packer) = self.packer.as_mut().filter(|_| menu.is_wanted(|topic| self.offer.is_wanted(topic))) else {
            return;
        };
        let packets = packer.result(output, SystemTime::now());
        self.counters.results += u64::from(is_new);
        self.send(packets);
    }

    /// Sends packets, or says once why there are none.
    fn send(&mut self, packets: Result<Vec<Packet>, PackError>) {
        match packets {
            Ok(packets) => {
                self.complaint = None;
                for packet in packets {
                    self.offer.send(packet);
                }
            }
            Err(why) => {
                let why = format!("a pair cannot be published: {why}");
                if self.complaint.as_ref() != Some(&why) {
                    self.shared.tell(why.clone());
                    self.complaint = Some(why);
                }
            }
        }
    }

    fn tell_parameters(&mut self) {
        let params = self.shared.panel.shown();
        if let Some(packer) = &mut self.packer {
            let packet = packer.parameters(&params, SystemTime::now());
            self.offer.send(packet);
        }
    }

    /// Once a second, where they have changed.
    fn tell_counters(&mut self) {
        let dropped = self.shared.inbox.dropped();
        let counters =
            Counters { dropped_by_disk: dropped.pairs, results_dropped_by_disk: dropped.results, ..self.counters };
        if counters != self.told_counters
            && let Some(packer) = &mut self.packer
        {
            self.told_counters = counters;
            let packet = packer.counters(&counters, SystemTime::now());
            self.offer.send(packet);
        }
    }

    /// What was refused, for those who read along.
    fn tell_events(&mut self) {
        let Some(packer) = &mut self.packer else { return };
        for text in self.shared.events() {
            let event = Event { kind: "refused".to_owned(), text, sequence: None };
            let packet = packer.event(&event, SystemTime::now());
            self.offer.send(packet);
        }
    }

    /// Lets capture and engine know whether anybody listens.
    fn say_what_is_wanted(&self) {
        let wanted =
            |menu: &Option<Menu>| menu.as_ref().is_none_or(|menu| menu.is_wanted(|topic| self.offer.is_wanted(topic)));
        self.shared.set_wanted(wanted(&self.menus.0), wanted(&self.menus.1));
    }
}

/// A packer that packs these streams alone.
fn packer(about: &About, streams: Streams) -> Packer {
    Packer::new(About { streams, ..about.clone() }, Format::Foxglove)
}
