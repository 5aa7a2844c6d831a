//! Run as a publishing thread knows it: the newest input, the topics of its source, and their packer.

use super::inbox::{Input, WantedKinds};
use super::topics::StreamTopics;
use std::sync::Arc;
use std::time::SystemTime;
use stereopsis_frame::decode_camera::Layout;
use stereopsis_frame::engine::Output;
use stereopsis_frame::{Frame, SourceInfo, StereoLayout};
use stereopsis_recording::pack::Packer;
use stereopsis_recording::{About, Streams};

#[derive(Default)]
pub(super) struct Run {
    /// Newest frame and result, for later subscriptions while no new ones arrive.
    pub(super) frame: Option<(Arc<Frame>, SourceInfo)>,
    pub(super) output: Option<Arc<Output>>,
    /// Description of the source, if its opener has given one.
    about: Option<About>,
    /// Source whose topics are offered.
    source: Option<SourceKey>,
    /// Topics of its frames and of its results; `None` before the first frame or result.
    pub(super) frame_topics: Option<StreamTopics>,
    pub(super) result_topics: Option<StreamTopics>,
    pub(super) packer: Option<Packer>,
}

/// Properties of a source that determine its topics.
#[derive(Clone, Debug, PartialEq)]
struct SourceKey {
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
    fn of((frame, source): &(Arc<Frame>, SourceInfo)) -> Self {
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

impl Run {
    /// Takes new input; another source or description makes the topics unknown. Returns whether there is a new frame, and a new result.
    pub(super) fn take(&mut self, input: &mut Input) -> (bool, bool) {
        let (new_frame, new_output, new_about) = (input.frame.is_some(), input.output.is_some(), input.about.is_some());
        self.frame = input.frame.take().or(self.frame.take());
        self.output = input.output.take().or(self.output.take());
        self.about = input.about.take().or(self.about.take());
        let source = self.frame.as_ref().map(SourceKey::of);
        if new_about || self.source != source {
            self.source = source;
            (self.frame_topics, self.result_topics, self.packer) = (None, None, None);
        }
        (new_frame, new_output)
    }

    /// Returns the frame and the description of the source; `None` before the first frame.
    pub(super) fn described(&self) -> Option<(Arc<Frame>, About)> {
        let (frame, source) = self.frame.as_ref()?;
        let about = self.about.clone();
        Some((Arc::clone(frame), about.unwrap_or_else(|| About::of_source(&source.name, source, SystemTime::now()))))
    }

    /// Returns the result from which the topics of results become known now.
    pub(super) fn first_output(&self) -> Option<Arc<Output>> {
        let size = self.frame.as_ref()?.0.size();
        let is_first = |output: &&Arc<Output>| self.result_topics.is_none() && output.job.frame.size() == size;
        self.output.as_ref().filter(is_first).cloned()
    }

    /// Returns the streams that must be packed for the wanted topics.
    pub(super) fn streams(&self, is_wanted: impl Fn(&str) -> bool) -> Streams {
        let topics = [&self.frame_topics, &self.result_topics].into_iter().flatten();
        topics.map(|topics| topics.streams(&is_wanted)).fold(Streams::NONE, Streams::and)
    }

    /// Returns the kinds of wanted messages: all of a kind while its topics are unknown.
    pub(super) fn wanted_kinds(&self, is_wanted: impl Fn(&str) -> bool) -> WantedKinds {
        let wanted = |topics: &Option<StreamTopics>| topics.as_ref().is_none_or(|topics| topics.has_any(&is_wanted));
        WantedKinds { frames: wanted(&self.frame_topics), results: wanted(&self.result_topics) }
    }
}
