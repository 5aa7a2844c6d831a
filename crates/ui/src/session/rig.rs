//! The calibration of the source, depth from two known distances, the working size, and the rig file.

use super::Session;
use crate::calibration::{self, CalibrationError, FocalLength, KnownDepth, fit_depth};
use crate::capture::{CameraOptions, FramePreparation, Scale, SourceInfo, SourceOptions};
use crate::dialogs;
use crate::files;
use crate::geometry::Geometry;
use crate::jobs::Job;
use crate::notices::{Cure, Level};
use crate::options::WindowOptions;
use crate::rig::{Calibrated, CalibrationChoice, FittedDepth, RectifyChoice, RigFile, SETUP_EXTENSIONS};
use crate::saved::SavedState;
use crate::state::Obstacle;
use crate::stereo::StereoParams;
use crate::store::{estimated, is_estimate};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// File of the saved rig, beside that of the saved state, where an earlier version has saved both.
const SAVED_RIG: &str = "last-rig.toml";

/// Takes the saved rig, unless the command line names a source, rig or calibration. Returns whether there was one to take.
pub(super) fn use_saved_rig(options: &mut WindowOptions, saved: &SavedState) -> bool {
    let SourceOptions { size, cameras, .. } = &options.source_options;
    let has_source = options.source.is_some() || options.rig_file.is_some() || size.is_some();
    let has_calibration = options.calibration != CalibrationChoice::default();
    if has_source || has_calibration || *cameras != CameraOptions::default() {
        return false;
    }
    let Some(path) = options.saved_state.as_deref() else { return false };
    let saved = saved.rig(files::folder_of(path));
    let Some(rig) = saved.or_else(|| RigFile::read(&path.with_file_name(SAVED_RIG)).ok()) else { return false };
    rig.fill(&mut options.source_options);
    options.source = rig.source;
    options.calibration = rig.calibration;
    true
}

const ESTIMATE: Job = Job::stoppable("estimating the rig");

impl Session {
    /// Notes the calibration of the source.
    pub(super) fn take_calibrated(&mut self, calibrated: &Calibrated) {
        let state = &mut self.state;
        if let Some(text) = self.uncalibrated.take() {
            state.notices.retract(&text);
        }
        if let Some(note) = calibrated.note.clone().filter(|note| state.rig.note.as_ref() != Some(note)) {
            state.notices.confirm(note);
        }
        state.rig.note.clone_from(&calibrated.note);
        state.rig.rig.clone_from(&calibrated.rig);
        self.describe_source();
    }

    /// Calibrates the source in another way. It is read on, and if that fails it stays calibrated as it was.
    pub(super) fn calibrate(&mut self, choice: CalibrationChoice) {
        let source = self.state.status().source.clone();
        let (asked, info) = (choice.clone(), source.clone());
        if choice.rectify() == RectifyChoice::Auto {
            if self.jobs.is_running(ESTIMATE) {
                return;
            }
            let newest = self.state.output().filter(|output| output.job.frame.arrived >= self.source_since);
            let Some(first) = newest.map(|output| Arc::clone(&output.job.frame.raw)) else {
                return self
                    .state
                    .notices
                    .news("there is no pair to estimate the rig from yet: wait for the first one");
            };
            let pairs = self.estimate_pairs.begin(first, self.live.is_paused());
            let estimate = move || asked.estimate(&pairs.collect(), &info);
            self.calibrate_by(ESTIMATE, choice, source, estimate);
        } else {
            self.calibrate_by(Job::stoppable("applying the calibration"), choice, source, move || asked.apply(&info));
        }
    }

    /// Prepares the frames of `source` as `work` finds out, which is the way of `choice`.
    fn calibrate_by(
        &mut self,
        job: Job,
        choice: CalibrationChoice,
        source: SourceInfo,
        work: impl FnOnce() -> Result<Calibrated, CalibrationError> + Send + 'static,
    ) {
        self.jobs.start(
            job,
            move || Ok(work()),
            move |session: &mut Self, found| {
                let now = &session.state.status().source;
                if (&source.name, source.width, source.height) != (&now.name, now.width, now.height) {
                    return; // another source is read since
                }
                match found {
                    Ok(Ok(calibrated)) => session.unless_recording(Obstacle::Calibration, move |session| {
                        if session.use_recipe(calibrated.preparation.clone(), choice) {
                            session.take_calibrated(&calibrated);
                            session.fits_depth = true;
                            session.protect_calibration();
                            session.state.notices.cured(&Cure::SwapPictures);
                        }
                    }),
                    Ok(Err(why)) => {
                        let cures = if why.means_exchanged() { vec![Cure::SwapPictures] } else { Vec::new() };
                        session.state.notices.add(Level::Error, why.to_string(), cures);
                    }
                    Err(why) => session.state.notices.error(why),
                }
            },
        );
    }

    /// Takes the unit of the calibration's lengths as it was read.
    pub(super) fn confirm_baseline(&mut self) {
        let Some(rig) = &self.state.rig.rig else { return };
        self.state.rig.choice.unit = Some(rig.unit);
    }

    /// Searches for nearer things.
    pub(super) fn widen_range(&mut self) {
        let mut params = self.state.matching.params.clone();
        let wider = (params.num_disparities * 3 / 2).next_multiple_of(8);
        params.num_disparities = wider;
        self.set_params(params);
        self.fits_depth = true;
    }

    /// Sets the search range to the disparities of points that both pictures show.
    pub(super) fn fit_range(&mut self) {
        let Some(output) = self.state.output().cloned() else { return };
        let find = move || {
            let frame = &output.job.frame;
            let in_rows = frame.in_rows();
            let found = calibration::matches(&in_rows.left.luma, &in_rows.right.luma);
            let infinity_px = frame.geometry.map_or(0.0, |geometry| -geometry.doffs_px);
            let few =
                format!("the search range cannot be fitted: the pictures have only {} points in common", found.len());
            calibration::range_of(&found, infinity_px).ok_or(few)
        };
        self.start_job(Job::stoppable("fitting the search range"), find, |session, (first, count)| {
            let before = session.state.matching.params.clone();
            let params = StereoParams { min_disparity: first, num_disparities: count, ..before };
            session.set_params(params.clone());
            if session.state.matching.params == params {
                session.fits_depth = true;
                let last = params.last_disparity();
                session.state.notices.news(format!("the search goes from {first} to {last} px now"));
            }
        });
    }

    /// Prepares frames in this way, which is that of `choice`; false if the held pair does not fit, which is shown.
    pub(super) fn use_recipe(&mut self, preparation: FramePreparation, choice: CalibrationChoice) -> bool {
        match self.set_preparation(preparation) {
            Ok(()) => self.state.rig.choice = choice,
            Err(why) => {
                self.state.notices.error(why.to_string());
                return false;
            }
        }
        true
    }

    /// Takes a rig file, or calibration files.
    pub(super) fn use_setup_files(&mut self, files: Vec<PathBuf>) {
        if let [one] = &files[..]
            && let Ok(rig) = RigFile::read(one)
        {
            self.use_rig(one.clone(), rig);
        } else if !files.is_empty() {
            let scale = self.state.rig.choice.scale;
            self.calibrate(CalibrationChoice { files, scale, ..CalibrationChoice::default() });
        }
    }

    /// Opens the cameras of a rig; a rig without cameras calibrates the present source.
    fn use_rig(&mut self, path: PathBuf, rig: RigFile) {
        let source = rig.source.clone().unwrap_or_else(|| self.state.source.spec.clone());
        let mut wanted = self.request(source);
        rig.fill(&mut wanted.options);
        wanted.choice.clone_from(&rig.calibration);
        wanted.file = Some((path, rig));
        self.open_as(wanted);
    }

    /// Lets the user choose calibration files.
    pub(super) fn choose_calibration(&mut self) {
        const CHOOSE: Job = Job::stoppable("choosing a calibration");
        if !self.jobs.is_running(CHOOSE) {
            let title = "A rig, or a stereo calibration: one file, or two that belong together";
            let chosen = dialogs::choose_files(title, "Rigs and calibrations", SETUP_EXTENSIONS);
            self.start_job(CHOOSE, chosen, Self::use_setup_files);
        }
    }

    /// Sets the working size; the search range follows, so that the same depths are seen.
    pub(super) fn set_scale(&mut self, scale: Scale) {
        self.unless_recording(Obstacle::Size, move |session| session.set_scale_now(scale));
    }

    fn set_scale_now(&mut self, scale: Scale) {
        let preparation = self.live.preparation();
        let factor = scale.factor() / preparation.scale.factor();
        let choice = CalibrationChoice { scale, ..self.state.rig.choice.clone() };
        if self.use_recipe(FramePreparation { scale, ..preparation }, choice) {
            self.describe_source();
            self.set_params(self.state.matching.scaled_params(factor));
            self.state.pointer.pinned = None;
        }
    }

    /// Takes the disparity at the held pixel for the near (0) or the far (1) object of known distance.
    pub(super) fn take_known_disparity(&mut self, which: usize) {
        let state = &mut self.state;
        let Some(output) = &state.pipeline.output else { return };
        let Some(pixel) = state.pointer.pinned else {
            state.notices.news("click the thing in the left picture first: a click holds the place");
            return;
        };
        let around = output.map.as_ref().and_then(|map| map.median_around_px(pixel, 2));
        let Some(disparity_px) = around else {
            state.notices.news("there is no disparity at that place; click where the depth picture has colour");
            return;
        };
        state.rig.known[which].disparity_px = Some(f64::from(disparity_px) / state.rig.choice.scale.factor());
    }

    /// Fits depth to the two objects of known distance.
    pub(super) fn fit_depth(&mut self) {
        let [near, far] = self.state.rig.known;
        let (Some(near_px), Some(far_px)) = (near.disparity_px, far.disparity_px) else { return };
        let info = self.state.status().source.clone();
        let preparation = FramePreparation { geometry: None, ..self.live.preparation() };
        let geometry = preparation.geometry(&info).unwrap_or_else(|| FittedDepth::unknown(&info, preparation.axis));
        let known = |disparity_px, depth_m| KnownDepth { disparity_px, depth_m };
        let fitted = match fit_depth(&geometry, known(near_px, near.metres), known(far_px, far.metres)) {
            Ok(fitted) => FittedDepth::of(&fitted),
            Err(why) => return self.state.notices.error(why.to_string()),
        };
        if let Some(why) = contradiction(&self.state.rig.choice, geometry, fitted, info.width) {
            return self.state.notices.error(why);
        }
        let choice = CalibrationChoice { depth_fit: Some(fitted), ..self.state.rig.choice.clone() };
        let geometry = Some(fitted.applied(geometry));
        let preparation = FramePreparation { geometry, ..preparation };
        self.unless_recording(Obstacle::Calibration, move |session| session.use_fitted(preparation, choice));
    }

    fn use_fitted(&mut self, preparation: FramePreparation, choice: CalibrationChoice) {
        if self.use_recipe(preparation, choice) {
            self.describe_source();
            self.fits_depth = true;
            self.state.notices.news("depth follows the two distances now, and is labelled estimated");
        }
    }

    /// Writes the rig file; replaces only the file that was read or written before.
    pub(super) fn save_rig(&mut self) {
        let path = self.options.folder.join(self.state.rig.save_as.trim());
        let path = if path.extension().is_none() { path.with_extension("toml") } else { path };
        let before = self.state.rig.file.as_ref().filter(|(own, _)| *own == path).map(|(_, rig)| rig);
        let owns_calibration = before.is_some_and(|rig| rig.calibration.files == [calibration_beside(&path)]);
        let own = before.is_some();
        let written = if !own && path.symlink_metadata().is_ok() {
            Err(format!("{} exists and is not replaced; choose another name", path.display()))
        } else {
            self.write_rig(&path, own, owns_calibration)
        };
        match written {
            Ok((choice, rig)) => {
                self.state.rig.choice = choice;
                self.state.notices.news(format!("rig written: stereopsis --rig {}", path.display()));
                self.state.rig.file = Some((path, rig));
            }
            Err(why) => self.state.notices.error(why),
        }
    }

    /// Writes the rig file, after the calibration file of an estimate; the flags allow to replace each of them.
    fn write_rig(
        &self,
        path: &Path,
        own: bool,
        owns_calibration: bool,
    ) -> Result<(CalibrationChoice, RigFile), String> {
        let choice = self.write_estimate(path, owns_calibration)?;
        let rig = RigFile::of(&self.state.source.spec, &self.state.rig.options, &choice);
        rig.write(path, own).map_err(|err| err.to_string())?;
        Ok((choice, rig))
    }

    /// Writes an estimate as a calibration file beside the rig, also one of the last run, whose file is the window's own. `replaces` allows
    /// to replace a file.
    fn write_estimate(&self, rig_file: &Path, replaces: bool) -> Result<CalibrationChoice, String> {
        let choice = self.state.rig.choice.clone();
        let Some(rig) = self.state.rig.rig.as_ref().filter(|_| is_estimate(&choice, self.state_folder())) else {
            return Ok(choice);
        };
        let path = calibration_beside(rig_file);
        let written =
            calibration::write(rig, calibration::Output::Toml, choice.crop()).map_err(|err| err.to_string())?;
        for (_, bytes) in written {
            let write = if replaces { files::write } else { files::write_new };
            write(&path, &bytes).map_err(|err| err.to_string())?;
        }
        Ok(estimated(&choice, path))
    }
}

/// Largest factor between what was said of the lens and what two distances imply.
const MAX_CONTRADICTION: f64 = 1.3;

/// What the two distances imply, where it contradicts the lens that the user has named.
fn contradiction(choice: &CalibrationChoice, known: Geometry, fitted: FittedDepth, width: usize) -> Option<String> {
    let said = choice.focal()?.px(width);
    let factor = fitted.focal_px / said;
    if (1.0 / MAX_CONTRADICTION..MAX_CONTRADICTION).contains(&factor) {
        return None;
    }
    let fov_deg = |focal_px| FocalLength::Px(focal_px).fov_deg(width);
    Some(format!(
        "these two distances imply a field of view of {:.0}°; you said {:.0}°: measure both distances again, and check that \
         the baseline is {} m",
        fov_deg(fitted.focal_px),
        fov_deg(said),
        known.baseline_m
    ))
}

/// The calibration file of a rig whose calibration is an estimate.
fn calibration_beside(rig_file: &Path) -> PathBuf {
    let stem = rig_file.file_stem().unwrap_or_default().to_string_lossy();
    rig_file.with_file_name(format!("{stem}-calibration.toml"))
}
