//! The state that panels show and commands change, in groups of what changes together.

mod matching;
mod recording;
mod rig;
mod view_settings;

pub(crate) use matching::{Load, Matching, MeasuredRates};
pub(crate) use recording::{Phase, RecordingChoices, RecordingState};
pub(crate) use rig::RigState;
pub(crate) use view_settings::{ERRORS_PX, ViewSettings};

use super::action::Action;
use super::jobs::Job;
use super::notices::Notices;
use super::view::Zoom;
use crate::capture::webcam::{CameraInfo, Preview};
use crate::capture::{Playing, SourceSpec};
use crate::engine::Output;
use crate::geometry::Geometry;
use crate::live::{Remote, Status};
use crate::recording::{Stream, Streams};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The window's state. Panels read it; `session` changes it.
pub(crate) struct State {
    pub(crate) pipeline: Pipeline,
    pub(crate) source: Source,
    pub(crate) matching: Matching,
    pub(crate) view: ViewSettings,
    pub(crate) pointer: Pointer,
    pub(crate) rig: RigState,
    pub(crate) recording: RecordingState,
    pub(crate) notices: Notices,
    /// The windows over the pictures that are open, by the actions that open and close them.
    pub(crate) windows: Vec<Action>,
    /// The background jobs to show.
    pub(crate) jobs: Vec<Job>,
}

/// Readings of the pipeline, taken once per frame.
pub(crate) struct Pipeline {
    pub(crate) status: Status,
    /// The newest result.
    pub(crate) output: Option<Arc<Output>>,
    /// Results drawn per second.
    pub(crate) shown_hz: f64,
    /// Playback of a recording; `None` for other sources.
    pub(crate) playback: Option<Playing>,
    /// Remote clients; `None` where none can connect.
    pub(crate) remote: Option<Arc<dyn Remote>>,
}

/// The chosen source, and the cameras that could be chosen.
pub(crate) struct Source {
    /// The source that is read or being opened.
    pub(crate) spec: SourceSpec,
    /// The source that is read, also while another one is being opened.
    pub(crate) running: Option<SourceSpec>,
    /// The sources that were opened last, the newest first.
    pub(crate) recent: Vec<SourceSpec>,
    /// The cameras found; `None` before the first search.
    pub(crate) cameras: Option<Vec<CameraInfo>>,
    /// Pictures of cameras that are not in use, by number, while the window of cameras is open.
    pub(crate) previews: BTreeMap<u32, Preview>,
}

/// Number of recent sources that are kept.
const MAX_RECENT: usize = 8;

impl Source {
    /// Notes that a source was opened. The scene is always offered, and a pipe comes only once.
    pub(crate) fn note_opened(&mut self, spec: &SourceSpec) {
        if !matches!(spec, SourceSpec::Scene | SourceSpec::Pipe) {
            self.recent.retain(|recent| recent != spec);
            self.recent.insert(0, spec.clone());
            self.recent.truncate(MAX_RECENT);
        }
    }

    /// Whether left and right can be exchanged.
    pub(crate) fn can_swap(&self) -> bool {
        matches!(self.spec, SourceSpec::WebcamPair(..) | SourceSpec::WebcamSideBySide(_) | SourceSpec::Files { .. })
    }
}

/// The pointer, and the part of the pictures that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pointer {
    /// The pixel under the pointer.
    pub(crate) hovered: Option<(usize, usize)>,
    /// The pixel that a click holds.
    pub(crate) pinned: Option<(usize, usize)>,
    pub(crate) zoom: Zoom,
}

impl Pointer {
    /// The pixel to read out.
    pub(crate) fn pixel(&self) -> Option<(usize, usize)> {
        self.hovered.or(self.pinned)
    }
}

impl State {
    pub(crate) fn status(&self) -> &Status {
        &self.pipeline.status
    }

    pub(crate) fn output(&self) -> Option<&Arc<Output>> {
        self.pipeline.output.as_ref()
    }

    /// Geometry of the newest result.
    pub(crate) fn geometry(&self) -> Option<&Geometry> {
        self.output()?.job.frame.geometry.as_ref()
    }

    /// Whether disparities become metres; assumed before the first result.
    pub(crate) fn has_depth(&self) -> bool {
        self.output().is_none() || self.geometry().is_some()
    }

    /// Whether a window over the pictures is open.
    pub(crate) fn is_open(&self, window: Action) -> bool {
        self.windows.contains(&window)
    }

    /// The streams to record: disparity instead of depth without a calibration.
    pub(crate) fn streams(&self) -> Streams {
        let chosen = self.recording.choices.streams;
        if chosen.has(Stream::Depth) && !self.has_depth() {
            return chosen.with(Stream::Depth, false).with(Stream::Disparity, true);
        }
        chosen
    }

    /// The folder of recordings.
    pub(crate) fn recording_folder(&self) -> PathBuf {
        self.recording.choices.folder.clone().unwrap_or_else(|| self.recording.default_folder.clone())
    }

    /// The rate of a preset, measured at the present size, search range and engine: `31 frames/s here`.
    pub(crate) fn rate_text(&self, preset: crate::stereo::Preset) -> String {
        let rate = self.output().and_then(|output| {
            let mut params = self.matching.params.clone();
            preset.apply(&mut params);
            self.matching.rates.per_second(&params, output.job.frame.size(), output.engine.kind)
        });
        match rate {
            Some(rate) if rate < 10.0 => format!("{rate:.1} frames/s here"),
            Some(rate) => format!("{rate:.0} frames/s here"),
            None => "not run yet here".to_owned(),
        }
    }
}
