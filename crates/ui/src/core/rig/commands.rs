//! Calibration of the source, depth from two known distances, working size, and rig file.

use super::sides::{SidesWatch, TIMEOUT as SIDES_TIMEOUT};
use crate::core::{
    Action, Calibration, Core, Job, Level, Obstacle, Remedy, WindowOptions, dialog,
    error::FileError,
    jobs::JobError,
    recording,
    saved::SavedState,
    store::{estimated, is_estimate},
};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stereopsis_base::files;
use stereopsis_base::remedy::option;
use stereopsis_calibration::{CalibrationError, KnownDepth, is_verged, matches_for_range};
use stereopsis_capture::webcam;
use stereopsis_frame::{CameraOptions, FramePreparation, Scale, Side, SourceInfo, SourceOptions};
use stereopsis_settings::rig::{Calibrated, CalibrationChoice, FittedDepth, RectifyChoice, RigFile, SETUP_EXTENSIONS};
use stereopsis_stereo::StereoParams;

/// File of the saved rig, stored beside the saved core.
const SAVED_RIG: &str = "last-rig.toml";

/// Applies the saved rig unless the command line names a source, rig or calibration, and returns whether one was applied.
pub(crate) fn use_saved_rig(options: &mut WindowOptions, saved: &SavedState) -> bool {
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

/// Origin of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Initiator {
    User,
    /// Automatic change, which ends no recording and whose failure is reported as news.
    Window,
}

const RANGE_WORDS: [&str; 3] = ["num-disparities", "min-disparity", "near-m"];
pub(crate) const ESTIMATE: Job = Job::stoppable("estimating the rig");
pub(crate) const FIT_RANGE: Job = Job::stoppable("fitting the search range");

pub(crate) fn take_calibrated(core: &mut Core, calibrated: &Calibrated) {
    if let Some(text) = core.uncalibrated.take() {
        core.notices.retract(&text);
    }
    if let Some(note) = calibrated.note.clone().filter(|note| core.rig.note.as_ref() != Some(note)) {
        core.notices.confirm(note);
    }
    core.rig.note.clone_from(&calibrated.note);
    core.rig.rig.clone_from(&calibrated.rig);
    core.describe_source();
}

/// Calibrates the source in another way while it is read on; a failure leaves the calibration unchanged.
pub(crate) fn calibrate(core: &mut Core, choice: CalibrationChoice, wish: Initiator) {
    let source = core.status().source.clone();
    let (asked, info) = (choice.clone(), source.clone());
    if let Some(rig) = core.rig.estimate_for(&choice).cloned() {
        let note = core.rig.note.clone();
        let job = Job::stoppable("applying the calibration");
        calibrate_by(core, job, (choice, wish), source, move || asked.estimated_before(&rig, note, &info));
    } else if choice.rectify() == RectifyChoice::Auto {
        if core.jobs.is_running(ESTIMATE) {
            return;
        }
        let newest = core.output().filter(|output| output.job.frame.arrived >= core.source_since);
        let Some(first) = newest.map(|output| Arc::clone(&output.job.frame.raw)) else {
            return core.notices.news("there is no pair to estimate the rig from yet: wait for the first one");
        };
        let pairs = core.estimate_pairs.begin(first, core.live.is_paused());
        let estimate = move || asked.estimate(&pairs.collect(), &info);
        calibrate_by(core, ESTIMATE, (choice, wish), source, estimate);
    } else {
        let job = Job::stoppable("applying the calibration");
        calibrate_by(core, job, (choice, wish), source, move || asked.apply(&info));
    }
}

/// Prepares the frames of `source` by the result of `work`, which implements `choice`.
fn calibrate_by(
    core: &mut Core,
    job: Job,
    (choice, wish): (CalibrationChoice, Initiator),
    source: SourceInfo,
    work: impl FnOnce() -> Result<Calibrated, CalibrationError> + Send + 'static,
) {
    core.jobs.start(job, work, move |core: &mut Core, found| {
        let now = core.status().source.clone();
        if (&source.name, source.width, source.height) != (&now.name, now.width, now.height) {
            return; // another source has been opened meanwhile
        }
        let is_undisturbed = core.rig.choice.is_unset() && !core.recording.is_begun();
        if wish == Initiator::Window && !is_undisturbed {
            return; // the user has chosen another calibration meanwhile, or records
        }
        match found {
            Ok(calibrated) => {
                recording::commands::unless_recording(core, Obstacle::Calibration, move |core| {
                    let is_first = core.rig.choice.rectify() != RectifyChoice::Auto;
                    if use_recipe(core, calibrated.preparation.clone(), choice) {
                        core.awaited.range = is_first && job == ESTIMATE || needs_range(&calibrated.preparation, &now);
                        take_calibrated(core, &calibrated);
                        core.awaited.fit_depth();
                        super::controls::protect_calibration(core);
                        core.notices.remedied(&Remedy::Action(Action::SwapPictures));
                    }
                });
            }
            Err(JobError::Failed(why)) if wish == Initiator::Window => core.notices.news(why),
            Err(JobError::Failed(why)) => {
                let remedies = match choice.rectify() {
                    _ if why.remedies().contains(&option("swap-pictures")) => {
                        vec![Remedy::Action(Action::SwapPictures)]
                    }
                    RectifyChoice::Auto => vec![Remedy::Estimate(Box::new(choice))],
                    RectifyChoice::Calibration | RectifyChoice::Off => Vec::new(),
                };
                core.notices.add(Level::Error, why.to_string(), remedies);
            }
            Err(why) => core.notices.error(why),
        }
    });
}

pub(crate) fn confirm_baseline(core: &mut Core) {
    let Some(rig) = &core.rig.rig else { return };
    core.rig.choice.unit = Some(rig.unit);
}

/// Whether the calibrated cameras look towards each other, so that the usual search range begins far from what they look at.
pub(crate) fn needs_range(preparation: &FramePreparation, info: &SourceInfo) -> bool {
    let geometry = preparation.geometry(info);
    geometry.is_some_and(|geometry| is_verged(&geometry, geometry.axis.extent((info.width, info.height))))
}

/// Widens the search range to nearer objects.
pub(crate) fn widen_range(core: &mut Core) {
    let mut params = core.matching.params.clone();
    let wider = (params.num_disparities * 3 / 2).next_multiple_of(8);
    params.num_disparities = wider;
    core.set_params(params);
    core.awaited.fit_depth();
}

/// Returns whether the search range is the initial one or a fitted one, and so not the user's choice.
fn may_fit_range(core: &Core) -> bool {
    let StereoParams { min_disparity, num_disparities, .. } = core.matching.params;
    let now = (min_disparity, num_disparities);
    let at_start = StereoParams::default();
    let is_said = core.options.words.iter().any(|word| RANGE_WORDS.contains(&word.name.as_str()));
    let is_at_start = now == (at_start.min_disparity, at_start.num_disparities) && !is_said;
    is_at_start || core.rig.fitted_range == Some(now)
}

/// Fits the search range to the disparities of points visible in both images.
pub(crate) fn fit_range(core: &mut Core, wish: Initiator) {
    let Some(output) = core.output().cloned() else { return };
    let find = move || {
        let frame = &output.job.frame;
        let in_rows = frame.in_rows();
        let infinity_px = frame.geometry.map_or(0.0, |geometry| -geometry.doffs_px);
        let found = matches_for_range(&in_rows.left.luma, &in_rows.right.luma, infinity_px);
        Ok::<_, Infallible>((stereopsis_calibration::range_of(&found, infinity_px), found.len()))
    };
    core.start_job(FIT_RANGE, find, move |core, (range, points)| {
        if range.is_none() && wish == Initiator::User {
            let few = format!("the search range cannot be fitted: the images have only {points} points in common");
            return core.notices.error(few);
        }
        let may_fit = wish == Initiator::User || may_fit_range(core);
        let Some((first, count)) = range.filter(|_| may_fit) else { return };
        let before = core.matching.params.clone();
        let params = StereoParams { min_disparity: first, num_disparities: count, ..before };
        core.set_params(params.clone());
        if core.matching.params == params {
            core.rig.fitted_range = Some((first, count));
            core.awaited.fit_depth();
            let last = params.last_disparity();
            core.notices.news(format!("the search goes from {first} to {last} px now"));
        }
    });
}

pub(crate) fn take_back(core: &mut Core, calibration: Calibration) {
    let Calibration { choice, preparation, rig, note } = calibration;
    if (&choice, &rig) == (&core.rig.choice, &core.rig.rig) {
        return;
    }
    recording::commands::unless_recording(core, Obstacle::Calibration, move |core| {
        if use_recipe(core, preparation, choice) {
            (core.rig.rig, core.rig.note) = (rig, note);
            core.describe_source();
        }
    });
}

/// Prepares frames by `preparation`, the result of `choice`; returns false after an error if the held pair does not fit.
pub(crate) fn use_recipe(core: &mut Core, preparation: FramePreparation, choice: CalibrationChoice) -> bool {
    match recording::commands::set_preparation(core, preparation.clone()) {
        Ok(()) => (core.rig.choice, core.rig.preparation) = (choice, preparation),
        Err(why) => {
            core.notices.error(why);
            return false;
        }
    }
    true
}

pub(crate) fn use_setup_files(core: &mut Core, files: Vec<PathBuf>) {
    if let [one] = &files[..]
        && let Ok(rig) = RigFile::read(one)
    {
        use_rig(core, one.clone(), rig);
    } else if !files.is_empty() {
        let CalibrationChoice { scale, mask, .. } = core.rig.choice.clone();
        calibrate(core, CalibrationChoice { files, scale, mask, ..CalibrationChoice::default() }, Initiator::User);
    }
}

/// Opens the cameras of a rig, or calibrates the present source if the rig has no cameras.
fn use_rig(core: &mut Core, path: PathBuf, rig: RigFile) {
    let source = rig.source.clone().unwrap_or_else(|| core.source.spec.clone());
    let mut wanted = core.request(source);
    rig.fill(&mut wanted.options);
    wanted.choice.clone_from(&rig.calibration);
    wanted.file = Some((path, rig));
    core.open_as(wanted);
}

pub(crate) fn choose_calibration(core: &mut Core) {
    let title = "A rig, or a stereo calibration: one file, or two that belong together";
    dialog::commands::ask_files(core, title, "Rigs and calibrations", SETUP_EXTENSIONS, use_setup_files);
}

/// Sets the working size; the search range follows to cover the same depths.
pub(crate) fn set_scale(core: &mut Core, scale: Scale) {
    recording::commands::unless_recording(core, Obstacle::Size, move |core| set_scale_now(core, scale));
}

fn set_scale_now(core: &mut Core, scale: Scale) {
    let preparation = core.live.preparation();
    let factor = scale.factor() / preparation.scale.factor();
    let choice = CalibrationChoice { scale, ..core.rig.choice.clone() };
    if use_recipe(core, FramePreparation { scale, ..preparation }, choice) {
        core.describe_source();
        core.set_params(core.matching.scaled_params(factor));
        core.pointer.pinned = None;
    }
}

/// Starts the check of the sides with the present images.
pub(crate) fn watch_sides(core: &mut Core) {
    let Some(output) = core.output().cloned() else { return };
    let raw = &output.job.frame.raw;
    core.rig.sides_checked = false;
    core.rig.sides_watch = Some(SidesWatch::begin(&raw.left.luma, &raw.right.luma));
}

/// Examines the newest pair of a running check, and swaps the images if the hand covers the other lens.
pub(crate) fn update_sides(core: &mut Core) {
    let Some(mut watch) = core.rig.sides_watch.take() else { return };
    if watch.since.elapsed() > SIDES_TIMEOUT {
        let text = "neither image has changed alone: cover one lens wholly with a hand, and keep it there for a second";
        return core.notices.news(text);
    }
    let newest = core.live.latest().filter(|output| output.job.frame.arrived >= watch.since);
    let newest = newest.filter(|output| watch.sequence != Some(output.job.frame.raw.sequence));
    let Some(output) = newest else {
        core.rig.sides_watch = Some(watch);
        return;
    };
    let raw = &output.job.frame.raw;
    watch.sequence = Some(raw.sequence);
    let found = watch.look(&raw.left.luma, &raw.right.luma);
    let is_swapped = core.live.preparation().swapped;
    match found {
        None => core.rig.sides_watch = Some(watch),
        Some(side) if (side == Side::Left) != is_swapped => {
            core.rig.sides_checked = true;
            core.notices.news("the left image has changed: left is left");
        }
        Some(_) => {
            core.notices.news("the right image has changed: left and right are swapped now");
            core.swap_pictures();
            core.rig.sides_checked = true;
        }
    }
}

/// Stores the disparity at the held pixel for one of the known distances.
pub(crate) fn take_known_disparity(core: &mut Core, which: usize) {
    let Some(output) = &core.pipeline.output else { return };
    let Some(pixel) = core.pointer.pinned else {
        core.notices.news("click the thing in the left image first: a click holds the place");
        return;
    };
    let around = output.map.as_ref().and_then(|map| map.median_around_px(pixel, 2));
    let Some(disparity_px) = around else {
        core.notices.news("there is no disparity at that place; click where the depth image has colour");
        return;
    };
    core.rig.known[which].disparity_px = Some(f64::from(disparity_px) / core.rig.choice.scale.factor());
}

pub(crate) fn fit_depth(core: &mut Core) {
    let taken = core.rig.known.iter().filter_map(|known| Some((known.disparity_px?, known.metres)));
    let known: Vec<_> = taken.map(|(disparity_px, depth_m)| KnownDepth { disparity_px, depth_m }).collect();
    let info = core.status().source.clone();
    let preparation = FramePreparation { geometry: None, follows: false, ..core.live.preparation() };
    let fitted = match core.rig.choice.fit_depth(&preparation, &info, &known) {
        Ok(fitted) => fitted,
        Err(why) => return core.notices.error(why),
    };
    let choice = CalibrationChoice { depth_fit: Some(FittedDepth::of(&fitted)), ..core.rig.choice.clone() };
    let preparation = FramePreparation { geometry: Some(fitted), ..preparation };
    recording::commands::unless_recording(core, Obstacle::Calibration, move |core| {
        use_fitted(core, preparation, choice);
    });
}

fn use_fitted(core: &mut Core, preparation: FramePreparation, choice: CalibrationChoice) {
    if use_recipe(core, preparation, choice) {
        core.describe_source();
        core.awaited.fit_depth();
        core.notices.news("depth follows the known distances now, and is labelled estimated");
    }
}

/// Writes the rig file, in place of a file only if it was read or written before.
pub(crate) fn save_rig(core: &mut Core) {
    let path = core.options.folder.join(core.rig.save_as.trim());
    let path = if path.extension().is_none() { path.with_extension("toml") } else { path };
    let before = core.rig.file.as_ref().filter(|(own, _)| *own == path).map(|(_, rig)| rig);
    let owns_calibration = before.is_some_and(|rig| rig.calibration.files == [calibration_beside(&path)]);
    let own = before.is_some();
    let written = if !own && path.symlink_metadata().is_ok() {
        Err(FileError::Exists(path.clone()))
    } else {
        write_rig(core, &path, own, owns_calibration)
    };
    match written {
        Ok((choice, rig)) => {
            core.rig.choice = choice;
            core.notices.news(format!("rig written: stereopsis --rig {}", path.display()));
            core.rig.file = Some((path, rig));
        }
        Err(why) => core.notices.error(why),
    }
}

/// Writes the rig file after the calibration file of an estimate; the flags permit the replacement of each.
fn write_rig(
    core: &Core,
    path: &Path,
    own: bool,
    owns_calibration: bool,
) -> Result<(CalibrationChoice, RigFile), FileError> {
    let choice = write_estimate(core, path, owns_calibration)?;
    let rig = RigFile::of(&core.source.spec, &core.rig.options, &choice);
    let lasting = RigFile { source: rig.source.as_ref().map(webcam::lasting), ..rig.clone() };
    lasting.write(path, own)?;
    Ok((choice, rig))
}

/// Writes an estimate of this or the last run as a calibration file beside the rig; `replaces` permits a replacement.
fn write_estimate(core: &Core, rig_file: &Path, replaces: bool) -> Result<CalibrationChoice, FileError> {
    let choice = core.rig.choice.clone();
    let Some(rig) = core.rig.rig.as_ref().filter(|_| is_estimate(&choice, core.state_folder())) else {
        return Ok(choice);
    };
    let path = calibration_beside(rig_file);
    for (_, bytes) in stereopsis_calibration::write(rig, stereopsis_calibration::Output::Toml, choice.crop())? {
        files::write_or_keep(&path, &bytes, replaces)?;
    }
    Ok(estimated(&choice, path))
}

/// Returns the calibration file of a rig whose calibration is an estimate.
fn calibration_beside(rig_file: &Path) -> PathBuf {
    let stem = rig_file.file_stem().unwrap_or_default().to_string_lossy();
    rig_file.with_file_name(format!("{stem}-calibration.toml"))
}
