//! Results as they arrive, and the work that waits for one.

use super::{Action, Command, Core, Fault, Job, Level, Remedy, rig};
use crate::space::NotOnHost;
use std::sync::Arc;
use std::time::Instant;
use stereopsis_frame::engine::Output;
use stereopsis_images::colormap::DisplayRange;

/// Largest number of outdated results before a fit of the depth range, because a geometry unknown before may come with each pair.
const MAX_OUTDATED: u32 = 6;

impl Core {
    pub(crate) fn take_output(&mut self, output: Arc<Output>, now: Instant) {
        let shown = self.pipeline.output.replace(Arc::clone(&output));
        if let Some(started) = self.started.take_if(|_| self.source.opening.is_none()) {
            log::info!(
                "the first images and their depth are there {:.0} ms after the start",
                1e3 * started.elapsed().as_secs_f64()
            );
        }
        if !shown.is_some_and(|shown| Arc::ptr_eq(&shown, &output)) {
            self.shown.record(now);
            self.matching.rates.record(&output);
            self.count_outdated(&output);
        }
        let frame = &output.job.frame;
        if frame.arrived >= self.source_since {
            self.estimate_pairs.offer(&frame.raw);
        }
        self.take_awaited(&output);
    }

    /// Counts a new result if it is outdated.
    pub(super) fn count_outdated(&mut self, output: &Output) {
        let is_outdated = !self.is_current(output);
        if let Some(outdated) = &mut self.awaited.outdated {
            *outdated += u32::from(is_outdated);
        }
    }

    /// Executes the work that waits for this result, and requests a map on the host with the next one where needed.
    pub(super) fn take_awaited(&mut self, output: &Arc<Output>) {
        let frame = &output.job.frame;
        if let Some(settings) = self.awaited.settings.take() {
            match settings.params_for(frame.extent_px(), frame.geometry.as_ref()) {
                Ok(params) if params != self.matching.params => self.set_params(params),
                Ok(_) => {}
                Err(why) => self.notices.error(why),
            }
        }
        if let Some(outdated) = self.awaited.outdated
            && (self.is_current(output) || outdated >= MAX_OUTDATED)
            && let (Some(map), Some(geometry)) = (&output.map, &frame.geometry)
            && let Some(range) = DisplayRange::fit(map, Some(geometry))
        {
            self.view.fit(range, geometry);
            if !self.awaited.is_asked {
                self.has_fitted_colours = true;
            }
            self.awaited.fits_depth(false);
        }
        if self.awaited.range && self.is_current(output) {
            self.awaited.range = false;
            rig::commands::fit_range(self, rig::commands::Initiator::Window);
        }
        if self.awaited.snapshot && output.map.is_some() {
            self.awaited.snapshot = false;
            let owner = Command::from(Action::Snapshot).owner();
            self.owned(Some(owner), |core| core.write_snapshot(Arc::clone(output)));
        }
        let reads_pixel = self.pointer.pixel().is_some();
        let measures = self.comparison.is_some() || self.is_open(Action::Measure);
        let waits = self.awaited.outdated.is_some() || self.awaited.snapshot || self.awaited.points;
        self.live.set_read_back(waits || reads_pixel || measures);
    }

    /// Returns whether a result has the present settings and geometry, since outdated ones still arrive after a change.
    pub(crate) fn is_current(&self, output: &Output) -> bool {
        let preparation = self.live.preparation();
        let scale = preparation.scale.factor();
        let geometry = preparation
            .geometry_of(&output.job.frame.raw, &self.status().source)
            .map(|geometry| geometry.scaled(scale));
        *output.job.params == *self.live.params() && output.job.frame.geometry == geometry
    }

    /// Writes a result with its map on the host into files.
    pub(crate) fn write_snapshot(&mut self, output: Arc<Output>) {
        let folder = self.recording_folder();
        let write = move || {
            let map = output.map.as_ref().ok_or(NotOnHost)?;
            let described = stereopsis_images::describe(&output);
            Ok::<_, Fault>(stereopsis_images::snapshot(&folder, &output.job.frame, map, &described)?)
        };
        self.start_job(Job::new("writing snapshot"), write, |core, snapshot| {
            let last = snapshot.paths.last().map_or(String::new(), |path| path.display().to_string());
            let text = format!("snapshot: {} files beside {last}", snapshot.paths.len());
            let remedies = snapshot.paths.last().cloned().map(Remedy::ShowInFolder).into_iter().collect();
            core.notices.add(Level::News, text, remedies);
            for warning in snapshot.warnings {
                core.notices.confirm(warning);
            }
        });
    }
}
