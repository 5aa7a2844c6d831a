//! What follows from the readings of the pipeline, the source and the settings.

use super::{Action, Calibration, CompareState, Core, Setup, picture::Figure};
use crate::space::Scene;
use crate::view::ViewKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stereopsis_base::geometry::Geometry;
use stereopsis_frame::SourceSpec;
use stereopsis_frame::engine::{EngineKind, Output};
use stereopsis_live::Status;
use stereopsis_recording::{Stream, Streams};
use stereopsis_stereo::{Preset, StereoParams};

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
        Some(if self.rig.assumed(&self.status().source).is_some() { "estimated, scale assumed" } else { "estimated" })
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
    pub(crate) fn rate_text(&self, preset: Preset) -> String {
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

    /// Returns the figure of the open page, or else the large view.
    pub(crate) fn current_figure(&self) -> Option<Figure> {
        let of_page = match self.page {
            Some(Action::Explain) => Some(Figure::Costs),
            Some(Action::Sweep) => Some(Figure::Sweep),
            Some(Action::Suggest) => Some(Figure::Search),
            Some(Action::Reach) => Some(Figure::Reach),
            _ => None,
        };
        let views = self.view.shown();
        let large = self.view.large_among(views, self.geometry().is_some()).unwrap_or(0);
        let view = views.get(large).copied().map(Figure::View);
        [of_page, view].into_iter().flatten().find(|figure| self.has_figure(*figure))
    }

    /// Returns the figures that have something to draw.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let views = ViewKind::ALL.iter().copied().map(Figure::View);
        let figures = [Figure::Costs, Figure::Sweep, Figure::Search, Figure::Reach];
        views.chain(figures).filter(|figure| self.has_figure(*figure)).collect()
    }

    /// Returns whether the figure has something to draw.
    pub(crate) fn has_figure(&self, figure: Figure) -> bool {
        let Some(output) = self.output() else { return false };
        let frame = &output.job.frame;
        match figure {
            Figure::View(ViewKind::Depth | ViewKind::Space) | Figure::Reach => frame.geometry.is_some(),
            Figure::View(ViewKind::Confidence) => output.job.params.confidence,
            Figure::View(ViewKind::Recorded) => frame.raw.recorded.is_some(),
            Figure::View(ViewKind::Difference) => {
                self.comparison.is_some() || frame.raw.recorded.is_some() || frame.truth.is_some()
            }
            Figure::View(_) => true,
            Figure::Costs => self.pipeline.explained.as_ref().is_some_and(|explained| explained.found.is_ok()),
            Figure::Sweep => self.search.sweep.as_ref().is_some_and(|sweep| !sweep.cells.is_empty()),
            Figure::Search => self.search.search.as_ref().is_some_and(|search| !search.trials.is_empty()),
        }
    }

    /// Returns the present settings.
    pub(crate) fn setup(&self) -> Setup {
        let Self { matching, source, rig, view, .. } = self;
        Setup {
            params: StereoParams { confidence: false, ..matching.params.clone() },
            preset: matching.preset,
            own: matching.own.clone(),
            engine: matching.engine.settings.choice,
            source: source.spec.clone(),
            calibration: Calibration {
                choice: rig.choice.clone(),
                preparation: rig.preparation.clone(),
                rig: rig.rig.clone(),
                note: rig.note.clone(),
            },
            depth_range_m: view.depth_range_m,
        }
    }
}
