//! The topics that clients can subscribe to, and which streams must be packed for those that they have.

use super::Shared;
use crate::recording::{Channel, Packet, Stream, Streams};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The topics that are offered.
pub(super) struct Offer {
    shared: Arc<Shared>,
    /// Each with its number.
    topics: BTreeMap<String, (Arc<Channel>, u64)>,
}

impl Offer {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, topics: BTreeMap::new() }
    }

    /// Offers a topic, and gives its number. One of this name whose messages were of another kind goes.
    pub(super) fn put(&mut self, channel: &Arc<Channel>) -> u64 {
        if let Some((known, id)) = self.topics.get(&channel.topic) {
            if known == channel {
                return *id;
            }
            self.shared.hub.take_back(*id);
        }
        let id = self.shared.hub.offer(Arc::clone(channel));
        self.topics.insert(channel.topic.clone(), (Arc::clone(channel), id));
        id
    }

    /// Takes back what is none of these.
    pub(super) fn keep(&mut self, topics: &BTreeSet<String>) {
        self.topics.retain(|topic, (_, id)| {
            let stays = topics.contains(topic);
            if !stays {
                self.shared.hub.take_back(*id);
            }
            stays
        });
    }

    /// Whether somebody has subscribed to this topic.
    pub(super) fn is_wanted(&self, topic: &str) -> bool {
        self.topics.get(topic).is_some_and(|(_, id)| self.shared.hub.is_wanted(*id))
    }

    /// Hands a message to whoever has subscribed to its topic.
    pub(super) fn send(&mut self, packet: Packet) {
        let id = self.put(&packet.channel);
        self.shared.hub.send(id, packet.log_time_ns, &Arc::new(packet.data));
    }
}

/// Which topics a frame or a result becomes with which stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Menu {
    /// Without any stream.
    always: BTreeSet<String>,
    by_stream: Vec<(Stream, BTreeSet<String>)>,
}

impl Menu {
    /// `topics` of nothing but one stream, or of none.
    pub(super) fn of(mut topics: impl FnMut(Streams) -> BTreeSet<String>) -> Self {
        let always = topics(Streams::NONE);
        let one = |stream: &Stream| (*stream, &topics(Streams::NONE.with(*stream, true)) - &always);
        let by_stream = Stream::ALL.iter().map(one).collect();
        Self { always, by_stream }
    }

    /// All of them.
    pub(super) fn topics(&self) -> BTreeSet<String> {
        self.by_stream.iter().map(|(_, topics)| topics).chain([&self.always]).flatten().cloned().collect()
    }

    /// Whether one of them is wanted.
    pub(super) fn is_wanted(&self, wanted: impl Fn(&str) -> bool) -> bool {
        self.topics().iter().any(|topic| wanted(topic))
    }

    /// The streams that have to be packed for the topics that are wanted: of several that bring one, the last that is wanted
    /// anyway, or else the first.
    pub(super) fn streams(&self, wanted: impl Fn(&str) -> bool) -> Streams {
        let mut streams = Streams::NONE;
        let mut asked: Vec<_> =
            self.topics().into_iter().filter(|topic| !self.always.contains(topic) && wanted(topic)).collect();
        let bringing = |topic: &str| -> Vec<Stream> {
            self.by_stream.iter().filter(|(_, topics)| topics.contains(topic)).map(|(stream, _)| *stream).collect()
        };
        asked.sort_by_key(|topic| bringing(topic).len());
        for topic in asked {
            let bringing = bringing(&topic);
            if !bringing.iter().any(|&stream| streams.has(stream))
                && let Some(&stream) = bringing.first()
            {
                streams = streams.with(stream, true);
            }
        }
        streams
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::topic::{ABOUT, DEPTH, DEPTH_CAMERA, DISPARITY, LEFT_RAW, LEFT_RECTIFIED, PAIRS};

    fn set(topics: &[&str]) -> BTreeSet<String> {
        topics.iter().map(|&topic| topic.to_owned()).collect()
    }

    #[test]
    fn only_what_somebody_wants_is_packed() {
        let menu = Menu::of(|streams| {
            let mut topics = set(&[ABOUT, PAIRS]);
            for (stream, more) in [
                (Stream::Raw, set(&[LEFT_RAW])),
                (Stream::Rectified, set(&[LEFT_RECTIFIED, DEPTH_CAMERA])),
                (Stream::Depth, set(&[DEPTH, DEPTH_CAMERA])),
                (Stream::Disparity, set(&[DISPARITY])),
            ] {
                topics.extend(if streams.has(stream) { more } else { BTreeSet::new() });
            }
            topics
        });
        let packed = |wanted: &[&str]| menu.streams(|topic| wanted.contains(&topic)).to_string();
        assert_eq!(packed(&[ABOUT, PAIRS]), "");
        assert_eq!(packed(&[DEPTH_CAMERA, DEPTH]), "depth");
        assert_eq!(packed(&[DEPTH_CAMERA]), "rectified");
        assert_eq!(packed(&[LEFT_RAW, DISPARITY]), "raw,disparity");
        assert!(menu.is_wanted(|topic| topic == PAIRS) && !menu.is_wanted(|topic| topic == "/tf"));
        assert_eq!(menu.topics().len(), 7);
    }
}
