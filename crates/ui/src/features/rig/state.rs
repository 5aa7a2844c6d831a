//! Options of the source, and its calibration.

use crate::calibration::StereoRig;
use crate::capture::webcam::controls::OfferedControl;
use crate::capture::{SourceOptions, SourceSpec};
use crate::options::WindowOptions;
use crate::rig::{CalibrationChoice, RigFile};
use std::path::PathBuf;

/// How the source is opened and calibrated.
pub(crate) struct RigState {
    pub(crate) options: SourceOptions,
    pub(crate) choice: CalibrationChoice,
    /// The choice for the other kind of source, cameras or not; each kind has its own calibration.
    pub(crate) other_choice: CalibrationChoice,
    /// The rig behind the frames, loaded or estimated.
    pub(crate) rig: Option<StereoRig>,
    /// Remark on the calibration, to confirm.
    pub(crate) note: Option<String>,
    /// Controls that the cameras in use offer, by number.
    pub(crate) controls: Vec<(u32, Result<Vec<OfferedControl>, String>)>,
    /// A near and a far object at known distances.
    pub(crate) known: [KnownDistance; 2],
    /// The file that the rig was read from or written to, and its content.
    pub(crate) file: Option<(PathBuf, RigFile)>,
    /// Name of the file to write.
    pub(crate) save_as: String,
}

/// An object at a known distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct KnownDistance {
    pub(crate) metres: f64,
    /// Its disparity at the source's size, once it was taken.
    pub(crate) disparity_px: Option<f64>,
}

impl RigState {
    /// The rig of the command line; `source` is the first one to be opened.
    pub(crate) fn new(options: &WindowOptions, source: &SourceSpec) -> Self {
        let rig = RigFile::of(source, &options.source_options, &options.calibration);
        let save_as = options.rig_file.as_ref().map_or("rig.toml".to_owned(), |file| file.display().to_string());
        let known = |metres| KnownDistance { metres, disparity_px: None };
        Self {
            options: options.source_options.clone(),
            choice: options.calibration.clone(),
            other_choice: options.calibration.clone(),
            rig: None,
            note: None,
            controls: Vec::new(),
            known: [known(0.5), known(3.0)],
            file: options.rig_file.clone().map(|path| (path, rig)),
            save_as,
        }
    }

    /// The baseline, m, where the calibration files do not say their unit of length, none makes a plausible baseline of them,
    /// and the user has not chosen one.
    pub(crate) fn doubted_baseline_m(&self) -> Option<f64> {
        let is_guessed = !self.choice.files.is_empty() && self.choice.unit.is_none() && self.choice.depth_fit.is_none();
        let rig = self.rig.as_ref().filter(|rig| is_guessed && !rig.has_plausible_baseline());
        rig.map(StereoRig::baseline_m)
    }

    /// The flags that open the source in this way.
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
            flags.extend(self.options.cameras.words());
        }
        flags.extend(self.choice.words());
        flags
    }
}
