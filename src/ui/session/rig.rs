//! How the source is opened and calibrated, changed while it runs: calibration, depth from two known distances, working
//! size, controls, and the file that keeps it all.

use super::Session;
use crate::calibration::{self, KnownDepth, StereoRig, fit_depth};
use crate::capture::webcam::controls::{self, OfferedControl};
use crate::capture::{
    CameraOptions, CameraState, ControlWishes, Recipe, Scale, SourceInfo, SourceOptions, SourceSpec, SourceState,
};
use crate::files;
use crate::geometry::Geometry;
use crate::rig::{Calibrated, CalibrationChoice, FittedDepth, RectifyChoice, RigFile};
use crate::ui::dialogs::{self, SETUP_EXTENSIONS};
use crate::ui::jobs::Job;
use crate::ui::options::WindowOptions;
use std::path::{Path, PathBuf};

/// What decides how the source is opened.
pub(crate) struct RigState {
    /// How sources are opened.
    pub(crate) options: SourceOptions,
    /// How their pairs become metric.
    pub(crate) choice: CalibrationChoice,
    /// The same for the other kind of source, cameras or not: what is right for one is wrong for the other.
    other_choice: CalibrationChoice,
    /// The rig behind the present recipe, loaded or estimated.
    pub(crate) rig: Option<StereoRig>,
    /// The sentence to confirm, or what was assumed.
    pub(crate) note: Option<String>,
    /// The window of the rig is open.
    pub(crate) open: bool,
    /// What the cameras in use offer.
    pub(crate) controls: Vec<(u32, Result<Vec<OfferedControl>, String>)>,
    /// A near and a far thing whose distances are known.
    pub(crate) known: [Distance; 2],
    /// The file that the rig was read from or written to, and what it says.
    pub(crate) file: Option<(PathBuf, RigFile)>,
    /// Name under which it shall be saved.
    pub(crate) save_as: String,
}

/// A thing at a known distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Distance {
    /// As a ruler says it.
    pub(crate) metres: f64,
    /// Its disparity at the source's size, once it was clicked.
    pub(crate) disparity_px: Option<f64>,
}

const SET_CONTROLS: Job = Job::new("setting controls");

/// Where the rig of last time is, beside what else the window remembers.
fn kept_rig(kept: &Path) -> PathBuf {
    kept.with_file_name("last-rig.toml")
}

/// Takes the rig of last time, where the command line says nothing of source, rig or calibration.
pub(super) fn take_kept(options: &mut WindowOptions) {
    let SourceOptions { size, cameras, .. } = &options.source_options;
    let said = options.source.is_some()
        || options.rig_file.is_some()
        || size.is_some()
        || *cameras != CameraOptions::default();
    if said || options.calibration != CalibrationChoice::default() {
        return;
    }
    let Some(rig) = options.kept.as_deref().and_then(|kept| RigFile::read(&kept_rig(kept)).ok()) else { return };
    rig.fill(&mut options.source_options);
    options.source = rig.source;
    options.calibration = rig.calibration;
}

impl RigState {
    /// As the command line says; `source` is what is opened first.
    pub(super) fn new(options: &WindowOptions, source: &SourceSpec) -> Self {
        let rig = RigFile::of(source, &options.source_options, &options.calibration);
        let save_as = options.rig_file.as_ref().map_or("rig.toml".to_owned(), |file| file.display().to_string());
        Self {
            options: options.source_options.clone(),
            choice: options.calibration.clone(),
            other_choice: options.calibration.clone(),
            rig: None,
            note: None,
            open: false,
            controls: Vec::new(),
            known: [Distance { metres: 0.5, disparity_px: None }, Distance { metres: 3.0, disparity_px: None }],
            file: options.rig_file.clone().map(|path| (path, rig)),
            save_as,
        }
    }
}

impl RigState {
    /// The words of the command line that open the same again.
    pub(super) fn words(&self, source: &SourceSpec) -> Vec<String> {
        let now = RigFile::of(source, &self.options, &self.choice);
        if let Some((path, _)) = self.file.as_ref().filter(|(_, saved)| *saved == now && now.source.is_some()) {
            return vec!["--rig".to_owned(), path.display().to_string()];
        }
        let mut words = vec!["--source".to_owned(), source.to_string()];
        if source.is_camera() {
            if let Some((width, height)) = self.options.size {
                words.extend(["--size".to_owned(), format!("{width}x{height}")]);
            }
            words.extend(self.options.cameras.words());
        }
        words.extend(self.choice.words());
        words
    }
}

impl Session {
    /// Notes what a newly opened source is calibrated with.
    pub(super) fn take_calibrated(&mut self, calibrated: &Calibrated) {
        if let Some(note) = calibrated.note.clone().filter(|note| self.rig.note.as_ref() != Some(note)) {
            self.notices.confirm(note);
        }
        self.rig.note.clone_from(&calibrated.note);
        self.rig.rig.clone_from(&calibrated.rig);
        self.tell_about();
    }

    /// Calibrates the source that is read in another way; an estimate opens it again, because it needs its pictures.
    pub(crate) fn calibrate(&mut self, choice: CalibrationChoice) {
        if choice.rectify() == RectifyChoice::Auto {
            self.rig.choice = choice;
            self.open(self.source.clone());
        } else {
            let source = self.status.source.clone();
            let (asked, info) = (choice.clone(), source.clone());
            let apply = move || asked.apply(&info).map_err(|err| err.to_string());
            self.start_job(Job::stoppable("applying the calibration"), apply, move |session, calibrated| {
                session.calibrated(choice, &source, &calibrated);
            });
        }
    }

    fn calibrated(&mut self, choice: CalibrationChoice, source: &SourceInfo, calibrated: &Calibrated) {
        let now = &self.status.source;
        if (&source.name, source.width, source.height) != (&now.name, now.width, now.height) {
            return; // another source is read since
        }
        match self.set_recipe(calibrated.recipe.clone()) {
            Ok(()) => {
                self.rig.choice = choice;
                self.take_calibrated(calibrated);
                self.fit_wanted = true;
                self.protect_calibration();
            }
            Err(why) => self.notices.error(why.to_string()),
        }
    }

    /// Takes a rig file, or calibration files.
    pub(super) fn use_setup_files(&mut self, files: Vec<PathBuf>) {
        if let [one] = &files[..]
            && let Ok(rig) = RigFile::read(one)
        {
            self.use_rig(one.clone(), rig);
        } else if !files.is_empty() {
            let scale = self.rig.choice.scale;
            self.calibrate(CalibrationChoice { files, scale, ..CalibrationChoice::default() });
        }
    }

    /// Opens the cameras of a rig as it says; a rig without cameras calibrates the present source.
    fn use_rig(&mut self, path: PathBuf, rig: RigFile) {
        let source = rig.source.clone().unwrap_or_else(|| self.source.clone());
        self.turn_to(&source);
        rig.fill(&mut self.rig.options);
        self.rig.choice.clone_from(&rig.calibration);
        self.rig.save_as = path.display().to_string();
        self.rig.file = Some((path, rig));
        self.open(source);
    }

    /// The next source is this one.
    pub(super) fn turn_to(&mut self, source: &SourceSpec) {
        if source.is_camera() != self.source.is_camera() {
            let scale = self.rig.choice.scale;
            std::mem::swap(&mut self.rig.choice, &mut self.rig.other_choice);
            self.rig.choice.scale = scale;
        }
        self.source = source.clone();
    }

    /// What is chosen of calibration.
    pub fn calibration(&self) -> &CalibrationChoice {
        &self.rig.choice
    }

    /// Says how far the near (0) or the far (1) thing is, in metres.
    pub fn set_known_distance(&mut self, which: usize, metres: f64) {
        self.rig.known[which].metres = metres;
    }

    /// Asks for calibration files.
    pub(crate) fn choose_calibration(&mut self) {
        const CHOOSE: Job = Job::stoppable("choosing a calibration");
        if !self.jobs.is_running(CHOOSE) {
            let title = "A rig, or a stereo calibration: one file, or two that belong together";
            let chosen = dialogs::choose_files(title, "Rigs and calibrations", SETUP_EXTENSIONS);
            self.start_job(CHOOSE, chosen, Self::use_setup_files);
        }
    }

    /// Works at another size; the search range follows, so that the same depths are seen.
    pub(crate) fn set_scale(&mut self, scale: Scale) {
        let recipe = self.live.recipe();
        let factor = scale.factor() / recipe.scale.factor();
        if let Err(why) = self.set_recipe(Recipe { scale, ..recipe }) {
            self.notices.error(why.to_string());
            return;
        }
        self.rig.choice.scale = scale;
        self.tell_about();
        let mut params = self.params.clone();
        params.num_disparities = ((f64::from(params.num_disparities) * factor).round() as u32).max(1);
        params.min_disparity = (f64::from(params.min_disparity) * factor).round() as _;
        self.set_params(params);
        self.pinned = None;
    }

    /// Takes the disparity at the pinned pixel for the near (0) or the far (1) thing of known distance.
    pub(crate) fn click_known(&mut self, which: usize) {
        let Some(output) = self.output.clone() else { return };
        let Some((x, y)) = self.pinned else {
            self.notices.error("click the thing in the left picture first: a click holds the place");
            return;
        };
        let around = output.map.as_ref().and_then(|map| map.median_around_px((x, y), 2));
        let Some(disparity_px) = around else {
            self.notices.error("there is no disparity at that place; click where the depth picture has colour");
            return;
        };
        self.rig.known[which].disparity_px = Some(f64::from(disparity_px) / self.rig.choice.scale.factor());
    }

    /// Fits depth to the two things of known distance.
    pub(crate) fn fit_depth(&mut self) {
        let [near, far] = self.rig.known;
        let (Some(near_px), Some(far_px)) = (near.disparity_px, far.disparity_px) else { return };
        let recipe = self.live.recipe();
        let info = self.status.source.clone();
        let known = Recipe { geometry: None, ..recipe }.geometry(&info);
        let geometry: Geometry = known.unwrap_or_else(|| FittedDepth::unknown(&info));
        let known = |disparity_px, depth_m| KnownDepth { disparity_px, depth_m };
        match fit_depth(&geometry, known(near_px, near.metres), known(far_px, far.metres)) {
            Ok(fitted) => {
                let fit = FittedDepth::of(&fitted);
                let choice = CalibrationChoice { depth_fit: Some(fit), ..self.rig.choice.clone() };
                self.calibrate_recipe(choice, fit.applied(Some(geometry), &info));
            }
            Err(why) => self.notices.error(why.to_string()),
        }
    }

    fn calibrate_recipe(&mut self, choice: CalibrationChoice, geometry: Geometry) {
        let recipe = Recipe { geometry: Some(geometry), ..self.live.recipe() };
        match self.set_recipe(recipe) {
            Ok(()) => {
                self.rig.choice = choice;
                self.tell_about();
                self.fit_wanted = true;
                self.notices.news("depth follows the two distances now, and is labelled estimated");
            }
            Err(why) => self.notices.error(why.to_string()),
        }
    }

    /// Reads what the cameras in use offer, in the background.
    pub(crate) fn read_controls(&mut self) {
        let cameras: Vec<u32> = self.live.status().cameras.cameras.iter().map(|camera| camera.index).collect();
        // what was read before stays until then: nothing jumps
        self.rig.controls.retain(|(camera, _)| cameras.contains(camera));
        if !cameras.is_empty() {
            let read = |number: u32| (number, controls::offered(number).map_err(|err| err.to_string()));
            let read_all = move || Ok(cameras.into_iter().map(read).collect());
            self.start_job(Job::stoppable("reading controls"), read_all, |session, controls| {
                session.rig.controls = controls;
            });
        }
    }

    /// Sets a control of one eye's camera, now and whenever it is opened.
    pub(crate) fn set_controls(&mut self, eye: usize, wishes: ControlWishes) {
        let cameras = &mut self.rig.options.cameras;
        cameras.eyes[eye].controls = wishes.or(&cameras.eyes[eye].controls);
        let ControlWishes { exposure_ms, gain, white_balance_k, .. } = wishes;
        cameras.equal_exposure &= exposure_ms.is_none() && gain.is_none() && white_balance_k.is_none();
        if let Some(camera) = self.status.cameras.cameras.get(eye) {
            self.set_controls_of(camera.index, wishes);
        }
    }

    /// A camera that is back knows what was wished when it was opened first; what was set since follows.
    pub(super) fn set_up_returned(&mut self, before: &SourceState) {
        let pairs = before.cameras.iter().zip(&self.status.cameras.cameras);
        let is_back =
            |(_, (old, new)): &(usize, (&CameraState, &CameraState))| old.lost.is_some() && new.lost.is_none();
        let back: Vec<_> = pairs.enumerate().filter(is_back).map(|(eye, (_, camera))| (eye, camera.index)).collect();
        for (eye, camera) in back {
            let wishes = self.rig.options.cameras.eyes[eye].controls;
            if wishes != ControlWishes::default() {
                self.set_controls_of(camera, wishes);
            }
        }
    }

    /// Locks both cameras to what the left one's automatic has settled at.
    pub(crate) fn equal_exposure(&mut self) {
        if let [left, right] = &self.status.cameras.cameras[..] {
            self.rig.options.cameras.equal_exposure = true;
            let (left, right) = (left.index, right.index);
            let equalise = move || Ok(vec![controls::equalise(left, right).map_err(|err| err.to_string())?]);
            self.change_controls(Job::new("equalising exposure"), equalise);
        }
    }

    /// Another focus would void a calibration that has come since the cameras were opened.
    fn protect_calibration(&mut self) {
        let eyes = &self.rig.options.cameras.eyes;
        let cameras = self.status.cameras.cameras.iter().zip(eyes).map(|(camera, eye)| (camera.index, eye.controls));
        let cameras: Vec<_> = cameras.collect();
        if self.rig.choice.rectify() != RectifyChoice::Off && !cameras.is_empty() {
            let protect = |(number, settings): &(u32, ControlWishes)| controls::protect_calibration(*number, settings);
            self.change_controls(SET_CONTROLS, move || Ok(cameras.iter().flat_map(protect).collect()));
        }
    }

    fn set_controls_of(&mut self, camera: u32, wishes: ControlWishes) {
        self.change_controls(SET_CONTROLS, move || Ok(controls::apply(camera, &wishes)));
    }

    /// Changes controls of cameras in the background, shows the remarks, and reads the controls again.
    fn change_controls(&mut self, job: Job, change: impl FnOnce() -> Result<Vec<String>, String> + Send + 'static) {
        self.jobs.start(job, change, |session: &mut Self, changed| {
            match changed {
                Ok(remarks) => remarks.into_iter().for_each(|remark| session.notices.news(remark)),
                Err(why) => session.notices.error(why),
            }
            session.read_controls();
        });
    }

    /// Writes the rig; over a file only if it is the one that was read or written before.
    pub(crate) fn save_rig(&mut self) {
        let path = self.options.folder.join(self.rig.save_as.trim());
        let path = if path.extension().is_none() { path.with_extension("toml") } else { path };
        let before = self.rig.file.as_ref().filter(|(own, _)| *own == path).map(|(_, rig)| rig);
        let owns_calibration = before.is_some_and(|rig| rig.calibration.files == [calibration_beside(&path)]);
        let own = before.is_some();
        let written = if !own && path.symlink_metadata().is_ok() {
            Err(format!("{} exists and is not replaced; choose another name", path.display()))
        } else {
            self.write_estimate(&path, owns_calibration).and_then(|choice| {
                let rig = RigFile::of(&self.source, &self.rig.options, &choice);
                rig.write(&path, own).map_err(|err| err.to_string())?;
                Ok((choice, rig))
            })
        };
        match written {
            Ok((choice, rig)) => {
                self.rig.choice = choice;
                self.notices.news(format!("rig written: stereopsis --rig {}", path.display()));
                self.rig.file = Some((path, rig));
            }
            Err(why) => self.notices.error(why),
        }
    }

    /// Writes down the rig for the next start.
    pub(super) fn keep_rig(&self, kept: &Path) {
        let path = kept_rig(kept);
        let written = self.write_estimate(&path, true).and_then(|choice| {
            let rig = RigFile::of(&self.source, &self.rig.options, &choice);
            rig.write(&path, true).map_err(|err| err.to_string())
        });
        if let Err(why) = written {
            log::warn!("{why}");
        }
    }

    /// An estimate becomes a calibration file beside the rig, so that it is the same at the next start; over another file only
    /// where `replaces` says that it is ours.
    fn write_estimate(&self, rig_file: &Path, replaces: bool) -> Result<CalibrationChoice, String> {
        let choice = self.rig.choice.clone();
        let (RectifyChoice::Auto, Some(rig)) = (choice.rectify(), &self.rig.rig) else { return Ok(choice) };
        let path = calibration_beside(rig_file);
        let written =
            calibration::write(rig, calibration::Output::Toml, choice.alpha).map_err(|err| err.to_string())?;
        for (_, bytes) in written {
            let write = if replaces { files::write } else { files::write_new };
            write(&path, &bytes).map_err(|err| err.to_string())?;
        }
        let CalibrationChoice { alpha, depth_fit, scale, .. } = choice;
        Ok(CalibrationChoice { files: vec![path], alpha, depth_fit, scale, ..CalibrationChoice::default() })
    }

    /// Opens the source with other wishes of its cameras.
    pub(crate) fn reopen(&mut self, options: SourceOptions) {
        self.rig.options = options;
        self.open(self.source.clone());
    }

    /// Whether the source has eyes to exchange.
    pub(crate) fn can_swap(&self) -> bool {
        !matches!(self.source, SourceSpec::Scene | SourceSpec::Folder(_) | SourceSpec::Recording(_) | SourceSpec::Pipe)
    }

    /// Exchanges left and right.
    pub(crate) fn swap_eyes(&mut self) {
        self.rig.options.cameras.eyes.swap(0, 1);
        match self.source.clone() {
            SourceSpec::WebcamPair(left, right) => self.open(SourceSpec::WebcamPair(right, left)),
            SourceSpec::Files { left, right } => self.open(SourceSpec::Files { left: right, right: left }),
            source @ SourceSpec::WebcamSideBySide(_) => {
                self.rig.options.cameras.eyes.swap(0, 1);
                self.rig.options.cameras.swapped_halves ^= true;
                self.open(source);
            }
            SourceSpec::Scene | SourceSpec::Folder(_) | SourceSpec::Recording(_) | SourceSpec::Pipe => {}
        }
    }
}

/// The calibration file of a rig whose calibration is an estimate.
fn calibration_beside(rig_file: &Path) -> PathBuf {
    let stem = rig_file.file_stem().unwrap_or_default().to_string_lossy();
    rig_file.with_file_name(format!("{stem}-calibration.toml"))
}
