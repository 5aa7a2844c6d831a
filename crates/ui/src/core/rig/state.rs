//! Options of the source, its calibration, and the sides of its cameras.

use super::sides::SidesWatch;
use crate::core::options::WindowOptions;
use std::path::PathBuf;
use stereopsis_calibration::{FocalLength, LensGuess, StereoRig};
use stereopsis_capture::webcam::controls::OfferedControl;
use stereopsis_frame::{CaptureError, FramePreparation, SourceInfo, SourceOptions, SourceSpec};
use stereopsis_settings::rig::{ASSUMED_BASELINE_M, ASSUMED_FOCAL, CalibrationChoice, RectifyChoice, RigFile};

pub(crate) struct RigState {
    pub(crate) options: SourceOptions,
    pub(crate) choice: CalibrationChoice,
    /// Choice for the other kind of source, since cameras and other sources have a calibration each.
    pub(crate) other_choice: CalibrationChoice,
    /// Rig of the frames, loaded or estimated.
    pub(crate) rig: Option<StereoRig>,
    pub(crate) preparation: FramePreparation,
    /// Remark on the calibration that the user confirms.
    pub(crate) note: Option<String>,
    pub(crate) sides_watch: Option<SidesWatch>,
    /// Whether the sides of the open source were checked with a hand.
    pub(crate) sides_checked: bool,
    /// Search range that was fitted last, as first disparity and number.
    pub(crate) fitted_range: Option<(i32, u32)>,
    /// Controls that the cameras in use offer, by camera number.
    pub(crate) controls: Vec<(u32, Result<Vec<OfferedControl>, CaptureError>)>,
    /// Places at known distances, of which those with a disparity count.
    pub(crate) known: Vec<KnownDistance>,
    /// File that the rig was read from or written to, and its content.
    pub(crate) file: Option<(PathBuf, RigFile)>,
    pub(crate) save_as: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct KnownDistance {
    pub(crate) metres: f64,
    /// Disparity of the object at the source's size, px, once measured.
    pub(crate) disparity_px: Option<f64>,
}

impl KnownDistance {
    /// Returns a distance without a place, m.
    pub(crate) const fn at(metres: f64) -> Self {
        Self { metres, disparity_px: None }
    }
}

impl RigState {
    /// Returns the state with the rig of the command line; `source` is the first source.
    pub(crate) fn new(options: &WindowOptions, source: &SourceSpec) -> Self {
        let rig = RigFile::of(source, &options.source_options, &options.calibration);
        let save_as = options.rig_file.as_ref().map_or("rig.toml".to_owned(), |file| file.display().to_string());
        Self {
            options: options.source_options.clone(),
            choice: options.calibration.clone(),
            other_choice: options.calibration.clone(),
            rig: None,
            preparation: FramePreparation::default(),
            note: None,
            sides_watch: None,
            sides_checked: false,
            fitted_range: None,
            controls: Vec::new(),
            known: [0.5, 3.0].map(KnownDistance::at).into(),
            file: options.rig_file.clone().map(|path| (path, rig)),
            save_as,
        }
    }

    /// Returns the baseline in m if its unit is doubtful: named by no file, chosen by no user, and never plausible.
    pub(crate) fn doubted_baseline_m(&self) -> Option<f64> {
        let is_guessed = !self.choice.files.is_empty() && self.choice.unit.is_none() && self.choice.depth_fit.is_none();
        let rig = self.rig.as_ref().filter(|rig| is_guessed && !rig.has_plausible_baseline());
        rig.map(StereoRig::baseline_m)
    }

    /// Returns the estimate in use if `choice` can keep it, because only its baseline, crop or size changes.
    pub(crate) fn estimate_for(&self, choice: &CalibrationChoice) -> Option<&StereoRig> {
        let of_estimate =
            |choice: &CalibrationChoice| (choice.rectify(), choice.focal(), choice.vertical, choice.swap_pictures);
        let is_same = self.choice.rectify() == RectifyChoice::Auto && of_estimate(choice) == of_estimate(&self.choice);
        // the estimate ends with its fit when the user drops the fit
        let keeps = choice.depth_fit == self.choice.depth_fit || choice.baseline_m != self.choice.baseline_m;
        self.rig.as_ref().filter(|_| is_same && keeps && *choice != self.choice)
    }

    /// Describes the assumed numbers of the scale, or returns `None` where all are known.
    pub(crate) fn assumed(&self, source: &SourceInfo) -> Option<String> {
        let rig = self.rig.as_ref().filter(|rig| rig.estimated)?;
        let mut choice = self.choice.clone();
        // a rig other than assumed has the given baseline of an estimate
        let is_said = (rig.baseline_m() - ASSUMED_BASELINE_M).abs() > 1e-9;
        choice.baseline_m = choice.baseline_m.or(is_said.then(|| rig.baseline_m()));
        choice.assumed(source)
    }

    /// Returns the focal length of the rectified images at the source's size in px, without a fit to distances.
    pub(crate) fn rectified_px(&self) -> Option<f64> {
        self.preparation.rectifier.as_ref().map(|rectifier| rectifier.geometry().focal_px)
    }

    /// Returns the given, written or assumed lens of a source, corrected by two distances; `None` if a calibration or none defines it.
    pub(crate) fn lens(&self, source: &SourceInfo) -> Option<FocalLength> {
        let choice = &self.choice;
        let said = match choice.rectify() {
            RectifyChoice::Calibration => return choice.focal().filter(|_| choice.depth_fit.is_none()),
            RectifyChoice::Off if choice.depth_fit.is_none() => choice.focal()?,
            RectifyChoice::Auto | RectifyChoice::Off => {
                let written = source.lens.as_ref().map(|lens| LensGuess::written(lens.focal_px).focal);
                choice.focal().or(written).unwrap_or(ASSUMED_FOCAL)
            }
        };
        let before_px = self.rectified_px().unwrap_or_else(|| said.px(source.width));
        Some(choice.depth_fit.map_or(said, |fit| said.times(fit.focal_px / before_px)))
    }

    pub(crate) fn flags(&self, source: &SourceSpec) -> Vec<String> {
        let now = RigFile::of(source, &self.options, &self.choice);
        if let Some((path, _)) = self.file.as_ref().filter(|(_, saved)| *saved == now && now.source.is_some()) {
            return vec!["--rig".to_owned(), path.display().to_string()];
        }
        let mut flags = vec!["--source".to_owned(), source.to_string()];
        if source.is_camera() {
            if let Some((width, height)) = self.options.size {
                flags.extend(["--size".to_owned(), format!("{width}x{height}")]);
            }
            flags.extend(flags_of(self.options.cameras.options()));
        }
        flags.extend(flags_of(self.choice.options()));
        flags
    }
}

/// Returns options as words of the command line.
pub(crate) fn flags_of(options: Vec<(&'static str, Option<String>)>) -> Vec<String> {
    let flag = |(name, value)| [Some(format!("--{name}")), value].into_iter().flatten();
    options.into_iter().flat_map(flag).collect()
}
