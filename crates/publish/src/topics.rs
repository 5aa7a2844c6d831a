//! Finds the streams that must be packed for the subscribed topics of frames or results.

use std::collections::BTreeSet;
use stereopsis_recording::{Stream, Streams};

/// Topics by the stream whose packets contain them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StreamTopics {
    always: BTreeSet<String>,
    by_stream: Vec<(Stream, BTreeSet<String>)>,
}

impl StreamTopics {
    /// Creates the table; `topics` returns the topics that are packed with these streams.
    pub(super) fn of(mut topics: impl FnMut(Streams) -> BTreeSet<String>) -> Self {
        let always = topics(Streams::NONE);
        let one = |stream: &Stream| (*stream, &topics(Streams::NONE.with(*stream, true)) - &always);
        let by_stream = Stream::ALL.iter().map(one).collect();
        Self { always, by_stream }
    }

    /// Adds topics that no stream brings.
    #[cfg(feature = "zenoh")]
    pub(super) fn with(mut self, topics: BTreeSet<String>) -> Self {
        self.always.extend(topics);
        self
    }

    /// Returns whether a topic is wanted.
    pub(super) fn has_any(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        self.all().iter().any(|topic| is_wanted(topic))
    }

    pub(super) fn all(&self) -> BTreeSet<String> {
        self.by_stream.iter().map(|(_, topics)| topics).chain([&self.always]).flatten().cloned().collect()
    }

    /// Returns the streams that must be packed for the wanted topics. If several streams contain a topic, one that is packed anyway is
    /// chosen, otherwise the first.
    pub(super) fn streams(&self, is_wanted: impl Fn(&str) -> bool) -> Streams {
        let bringing = |topic: &str| -> Vec<Stream> {
            self.by_stream.iter().filter(|(_, topics)| topics.contains(topic)).map(|(stream, _)| *stream).collect()
        };
        let wanted = self.all().into_iter().filter(|topic| !self.always.contains(topic) && is_wanted(topic));
        let mut choices: Vec<_> = wanted.map(|topic| bringing(&topic)).collect();
        choices.sort_by_key(Vec::len);
        choices.iter().fold(Streams::NONE, |streams, choice| match choice.first() {
            Some(&first) if !choice.iter().any(|&stream| streams.has(stream)) => streams.with(first, true),
            _ => streams,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_recording::topic::{ABOUT, DEPTH, DEPTH_CAMERA, DISPARITY, LEFT_RAW, LEFT_RECTIFIED, PAIRS};

    fn set(topics: &[&str]) -> BTreeSet<String> {
        topics.iter().map(|&topic| topic.to_owned()).collect()
    }

    #[test]
    fn only_wanted_topics_are_packed() {
        let topics = StreamTopics::of(|streams| {
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
        let packed = |wanted: &[&str]| topics.streams(|topic| wanted.contains(&topic)).to_string();
        assert_eq!(packed(&[ABOUT, PAIRS]), "");
        assert_eq!(packed(&[DEPTH_CAMERA, DEPTH]), "depth");
        assert_eq!(packed(&[DEPTH_CAMERA]), "rectified");
        assert_eq!(packed(&[LEFT_RAW, DISPARITY]), "raw,disparity");
        assert_eq!(topics.all().len(), 7);
    }
}
