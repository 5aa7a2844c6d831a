//! Readings of the pipeline, the source and the pointer, and what follows from them.

use super::{Action, CompareState, Core};
use crate::space::Scene;
use crate::view::Zoom;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use stereopsis_base::geometry::Geometry;
use stereopsis_capture::webcam::{DetectedCamera, Preview};
use stereopsis_frame::engine::{EngineKind, Output};
use stereopsis_frame::{Playing, SourceSpec};
use stereopsis_images::CloudShape;
use stereopsis_live::{Measurement, PixelExplanation, Remote, Status};
use stereopsis_recording::{Stream, Streams};

/// Readings of the pipeline, updated once per frame.
pub(crate) struct Pipeline {
    pub(crate) status: Status,
    pub(crate) output: Option<Arc<Output>>,
    /// Explanation of a pixel while its page is open.
    pub(crate) explained: Option<Arc<PixelExplanation>>,
    /// Numbers of the newest measured result while their page is open.
    pub(crate) measured: Option<Arc<Measurement>>,
    /// Rate of drawn results, Hz.
    pub(crate) shown_hz: f64,
    /// Playback of a recording; `None` for other sources.
    pub(crate) playback: Option<Playing>,
    pub(crate) remote: Option<Arc<dyn Remote>>,
}

impl Pipeline {
    /// Returns whether the source delivers further pairs.
    pub(crate) fn is_live(&self) -> bool {
        !(self.status.paused || self.status.source.is_still || self.status.capture.ended)
    }
}

pub(crate) struct Source {
    /// The user's source: the last one that was opened, or the first one to be opened.
    pub(crate) spec: SourceSpec,
    /// Source that is read: the user's, or the scene while that cannot be opened.
    pub(crate) running: Option<SourceSpec>,
    pub(crate) opening: Option<SourceSpec>,
    /// Recently opened sources, the newest first.
    pub(crate) recent: Vec<SourceSpec>,
    /// Cameras found, or `None` before the first search.
    pub(crate) cameras: Option<Vec<DetectedCamera>>,
    /// Time since which cameras in use are lost, by camera number.
    pub(crate) lost_since: BTreeMap<u32, Instant>,
    /// Images of unused cameras by number, while the page of cameras is open.
    pub(crate) previews: BTreeMap<u32, Preview>,
    /// Rigs of a router, while the page of cameras is open.
    #[cfg(feature = "zenoh")]
    pub(crate) rigs: Option<stereopsis_network::census::CensusWatch>,
}

const MAX_RECENT: usize = 8;

impl Source {
    /// Returns the state before the user's source is opened, with earlier sources.
    pub(crate) fn of(spec: SourceSpec, recent: Vec<SourceSpec>) -> Self {
        Self {
            spec,
            running: None,
            opening: None,
            recent,
            cameras: None,
            lost_since: BTreeMap::new(),
            previews: BTreeMap::new(),
            #[cfg(feature = "zenoh")]
            rigs: None,
        }
    }

    /// Returns whether the scene replaces the user's source, which cannot be opened.
    pub(crate) fn is_replaced(&self) -> bool {
        self.running.as_ref().is_some_and(|running| *running != self.spec)
    }

    /// Describes the camera that is lost longest, and since when; `None` while no camera is lost.
    pub(crate) fn lost_text(&self) -> Option<String> {
        let (camera, since) = self.lost_since.iter().min_by_key(|(_, since)| **since)?;
        Some(format!("camera {camera} lost {} s ago", since.elapsed().as_secs()))
    }

    /// Records an opened source, except the scene, which is always offered, and a pipe, which cannot be reopened.
    pub(crate) fn note_opened(&mut self, spec: &SourceSpec) {
        if !matches!(spec, SourceSpec::Scene | SourceSpec::Pipe) {
            // an address that was kept without its secrets is the same
            self.recent.retain(|recent| recent.to_string() != spec.to_string());
            self.recent.insert(0, spec.clone());
            self.recent.truncate(MAX_RECENT);
        }
    }
}

/// Content of a file of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PointsWish {
    pub(crate) shape: CloudShape,
    pub(crate) has_colours: bool,
}

/// Position of the pointer, and the visible part of the images.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pointer {
    pub(crate) hovered: Option<(usize, usize)>,
    /// Pixel held by a click.
    pub(crate) pinned: Option<(usize, usize)>,
    pub(crate) zoom: Zoom,
}

impl Pointer {
    /// Returns the pixel to read out.
    pub(crate) fn pixel(&self) -> Option<(usize, usize)> {
        self.hovered.or(self.pinned)
    }
}

impl Core {
    pub(crate) fn status(&self) -> &Status {
        &self.pipeline.status
    }

    /// Whether a model matches, which has no costs and sums of semi-global matching.
    pub(crate) fn has_model(&self) -> bool {
        self.status().engine.engine.as_ref().is_some_and(|engine| engine.kind == EngineKind::Model)
    }

    /// Returns the reason why the held pair cannot be read.
    pub(crate) fn unreadable(&self) -> Option<String> {
        let why = self.status().cameras.unreadable.as_deref()?;
        let playing = self.pipeline.playback.as_ref().filter(|playing| !playing.playing)?;
        let at = playing.position?;
        // numbers as on the time line, where pairs with names begin with 1
        let number = at + u64::from(playing.name(at).is_some());
        Some(format!("pair {number} cannot be read: {why}"))
    }

    /// Returns the shown result: the newest one, in a comparison the newest with both results, and none for an unreadable pair.
    pub(crate) fn output(&self) -> Option<&Arc<Output>> {
        if self.unreadable().is_some() {
            return None;
        }
        let compared = self.comparison.as_ref().and_then(CompareState::output);
        compared.or(self.pipeline.output.as_ref())
    }

    pub(crate) fn geometry(&self) -> Option<&Geometry> {
        self.output()?.job.frame.geometry.as_ref()
    }

    /// Returns the scene of the 3-D view for a result, or `None` without geometry.
    pub(crate) fn space_scene(&self, output: &Output, is_coarse: bool) -> Option<Scene> {
        let frame = &output.job.frame;
        Some(Scene {
            geometry: frame.geometry?,
            size: frame.size(),
            range_m: self.view.range_m(),
            has_confidence: output.job.params.confidence,
            is_coarse,
        })
    }

    /// Returns whether disparities are converted to metres, as assumed before the first result.
    pub(crate) fn has_depth(&self) -> bool {
        self.output().is_none() || self.geometry().is_some()
    }

    pub(crate) fn is_open(&self, page: Action) -> bool {
        self.page == Some(page)
    }

    /// Returns whether the images of all cameras are shown for a choice of two.
    pub(crate) fn chooses_cameras(&self) -> bool {
        self.is_open(Action::Cameras) || self.is_open(Action::Rig) && self.source.running == Some(SourceSpec::Scene)
    }

    pub(crate) fn is_looking(&self) -> bool {
        self.guide.running.as_ref().is_some_and(|running| running.is_looking)
    }

    /// Returns whether the images of the live calibration replace the views.
    pub(crate) fn shows_guide(&self) -> bool {
        self.is_open(Action::Calibrate) && self.is_looking()
    }

    /// Returns the mark of a depth that may be wrong by a factor, with the reason.
    pub(crate) fn depth_mark(&self) -> Option<&'static str> {
        if self.rig.doubted_baseline_m().is_some() {
            return Some("baseline doubtful");
        }
        self.geometry().filter(|geometry| geometry.estimated)?;
        Some(if self.rig.assumed().is_some() { "estimated, scale assumed" } else { "estimated" })
    }

    pub(crate) fn title(&self) -> String {
        let mark = self.depth_mark().map_or(String::new(), |mark| format!(" · depth: {mark}"));
        format!("{}{mark} – Stereopsis", self.status().source.name)
    }

    /// Returns the streams to record, with disparity in place of depth if there is no calibration.
    pub(crate) fn streams(&self) -> Streams {
        let chosen = self.recording.choices.streams;
        if chosen.has(Stream::Depth) && !self.has_depth() {
            return chosen.with(Stream::Depth, false).with(Stream::Disparity, true);
        }
        chosen
    }

    /// Returns the path of the open recording.
    pub(crate) fn open_recording(&self) -> Option<&Path> {
        match &self.source.running {
            Some(SourceSpec::Recording(path)) => Some(path),
            _ => None,
        }
    }

    pub(crate) fn picture_folder(&self) -> PathBuf {
        self.picture.choices.folder.clone().unwrap_or_else(|| self.recording.default_folder.clone())
    }

    pub(crate) fn recording_folder(&self) -> PathBuf {
        self.recording.choices.folder.clone().unwrap_or_else(|| self.recording.default_folder.clone())
    }

    /// Formats the rate of a preset measured at the present size, search range and engine, as `31 pairs/s here`.
    pub(crate) fn rate_text(&self, preset: stereopsis_stereo::Preset) -> String {
        let rate = self.output().and_then(|output| {
            let mut params = self.matching.params.clone();
            preset.apply(&mut params);
            self.matching.rates.per_second(&params, output.job.frame.size(), output.engine.kind)
        });
        match rate {
            Some(rate) if rate < 10.0 => format!("{rate:.1} pairs/s here"),
            Some(rate) => format!("{rate:.0} pairs/s here"),
            None => "not run yet here".to_owned(),
        }
    }
}
