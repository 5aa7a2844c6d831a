//! Calibration options of the user, and the frame preparation computed from them.

use super::known::KnownPlace;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use stereopsis_base::console::counted;
use stereopsis_base::geometry::{Axis, DepthSpread, Geometry};
use stereopsis_base::parameter::{choices, is_default, set_options};
use stereopsis_base::remedy::{Remedy, option};
use stereopsis_calibration::{
    CalibrationError, CalibrationNote, Cameras, Correction, Crop, Curve, CurvedImages, DriftGatherer, Estimate,
    FocalLength, LengthUnit, LensGuess, LoadOptions, ModeCrop, RowField, RowsChoice, StereoRig, doubts_of_typed,
    estimate_rig, load, matches, toml_of,
};
use stereopsis_frame::{FramePreparation, NamedLens, RawPair, RowCorrection, Scale, SourceInfo};

choices! {
    /// How pairs are rectified.
    pub enum RectifyChoice {
        /// With the calibration file.
        Calibration = "calibration",
        /// With a rig estimated from the images; depth is then an estimate.
        Auto = "auto",
        /// Not at all: the source's pairs are already rectified.
        Off = "off",
    }
}

/// Calibration options of the user.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CalibrationChoice {
    /// Calibration files: one, or two that belong together.
    #[serde(skip_serializing_if = "is_default")]
    pub files: Vec<PathBuf>,
    /// Unit of the files' lengths; `None` for the files' own unit, or one with a plausible baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<LengthUnit>,
    /// Whether the files have left and right exchanged.
    #[serde(skip_serializing_if = "is_default")]
    pub swapped: bool,
    /// Left and right camera of files with several; `None` for the cameras of the images' folders, or the usual ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cameras: Option<Cameras>,
    /// Crop of the camera mode: where the images lie in those of the files; `None` for images of the files' shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode_crop: Option<ModeCrop>,
    /// Whether the images have left and right exchanged; independent of the files.
    #[serde(skip_serializing_if = "is_default")]
    pub swap_pictures: bool,
    /// Whether the cameras stand one above the other, with the left image from the upper one. Calibration files contain this.
    #[serde(skip_serializing_if = "is_default")]
    pub vertical: bool,
    /// Crop of the rectification, `alpha`: 0 without black border, 1 with every pixel.
    #[serde(skip_serializing_if = "is_default")]
    pub alpha: f64,
    /// Field of view of the rectified images along a row, degrees, in place of `alpha`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rectified_fov_deg: Option<f64>,
    /// Kind of rectification; `None` for that by the files, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rectify: Option<RectifyChoice>,
    /// Horizontal field of view of rectified images without files, or for an estimate, degrees; see [`CalibrationChoice::focal`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fov_deg: Option<f64>,
    /// Focal length, px.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focal_px: Option<f64>,
    /// Focal length, mm; requires `sensor_width_mm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focal_mm: Option<f64>,
    /// Width of the used part of the sensor, mm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensor_width_mm: Option<f64>,
    /// Baseline without files, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_m: Option<f64>,
    /// Difference of the principal points of rectified images without files, right minus left, px.
    #[serde(skip_serializing_if = "is_default")]
    pub doffs_px: f64,
    /// Depth fitted to objects at known distances; takes precedence over all other options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth_fit: Option<FittedDepth>,
    /// Places at known distances to which depth is fitted when a source is opened; the fit then replaces them.
    #[serde(skip)]
    pub known: Vec<KnownPlace>,
    /// Correction of remaining row errors; `None` for that of a recording, or the one estimated from images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowsChoice>,
    /// Field of row errors for [`RowsChoice::Field`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_field: Option<RowField>,
    /// Working size.
    #[serde(skip_serializing_if = "is_default")]
    pub scale: Scale,
    /// Masks of the views, whose black is left out: one for both, or left and right.
    #[serde(skip_serializing_if = "is_default")]
    pub mask: Vec<PathBuf>,
    /// Whether a change of the calibrated rig is corrected as soon as enough views show it.
    #[serde(skip_serializing_if = "is_default")]
    pub self_calibrate: bool,
    /// Correction of the calibration, which its files keep as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correction: Option<Box<Correction>>,
}

/// Focal length, baseline and offset fitted to objects at known distances, for images of the source's size.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FittedDepth {
    /// Focal length, px.
    pub focal_px: f64,
    /// Baseline, m.
    pub baseline_m: f64,
    /// Offset added to disparities, px.
    pub doffs_px: f64,
    /// Spread of depth that the distances leave to an estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<DepthSpread>,
}

/// Typical field of view of webcams, assumed for an estimate, degrees.
pub const ASSUMED_FOV_DEG: f64 = 60.0;
/// Assumed focal length.
pub const ASSUMED_FOCAL: FocalLength = FocalLength::FovDeg(ASSUMED_FOV_DEG);
/// Smallest field of view that no flat image has, degrees: a pinhole would be 3.7 times as wide as its focal length to each side.
const WIDEST_FLAT_DEG: f64 = 150.0;
/// Assumed baseline of two webcams side by side, m.
pub const ASSUMED_BASELINE_M: f64 = 0.06;

/// Result of applying the calibration options to a source.
#[derive(Clone, Debug, Default)]
pub struct Calibrated {
    /// Preparation of the source's frames.
    pub preparation: FramePreparation,
    /// Remarks for the user to confirm: baseline, unit, scaling.
    pub note: Option<String>,
    /// Assumed numbers of an estimate, see [`CalibrationChoice::assumed`].
    pub assumed: Option<String>,
    /// Doubts about numbers that the user has typed, see [`CalibrationChoice::doubts`].
    pub doubts: Vec<String>,
    /// Loaded or estimated rig.
    pub rig: Option<StereoRig>,
    /// Fit of depth to the places at known distances of the choice.
    pub fitted: Option<FittedDepth>,
}

impl Calibrated {
    /// Appends a sentence to the remarks.
    pub fn add_note(&mut self, sentence: &str) {
        self.note = Some(self.note.take().map_or_else(|| sentence.to_owned(), |note| format!("{note}; {sentence}")));
    }

    /// Returns the remarks, with the assumed numbers and the doubts.
    pub fn remarks(&self) -> Option<String> {
        let doubts = Some(self.doubts.join("; ")).filter(|doubts| !doubts.is_empty());
        let Some(note) = self.note.clone() else { return doubts };
        let note = self.assumed.as_ref().map_or(note.clone(), |assumed| {
            format!("{note}, with {assumed} ({}, {})", option("fov-deg"), option("baseline-m"))
        });
        Some(doubts.map_or(note.clone(), |doubts| format!("{note}; but {doubts}")))
    }

    /// Returns the calibration of a recording of raw pairs, for this source.
    ///
    /// # Errors
    /// The rig is invalid, or for images of another aspect ratio.
    pub fn from_note(note: &CalibrationNote, source: &SourceInfo) -> Result<Self, CalibrationError> {
        let rig = note.parsed_rig()?;
        let rectifier = rig.as_ref().filter(|_| note.rectifies);
        let rectifier = rectifier.map(|rig| rig.rectifier(source.width, source.height, note.crop)).transpose()?;
        let scale = Scale::from_word(&note.scale).unwrap_or_default();
        let rectifier = rectifier.map(Arc::new);
        let CalibrationNote { geometry, axis, rows, row_field, swapped, .. } = *note;
        // recordings of earlier versions lack `rows`, and were made without a correction
        let rows = rows.and_then(|word| correction(word, row_field));
        let preparation = FramePreparation { rectifier, geometry, axis, rows, scale, swapped, follows: true };
        Ok(Self { preparation, note: rig.as_ref().map(StereoRig::summary), rig, ..Self::default() })
    }

    /// Returns the calibration as a recording of this source stores it.
    pub fn to_note(&self, crop: Crop, source: &SourceInfo) -> CalibrationNote {
        CalibrationNote {
            rig: self.rig.as_ref().map(toml_of),
            rectifies: self.preparation.rectifier.is_some(),
            crop,
            geometry: self.preparation.geometry(source),
            scale: self.preparation.scale.to_string(),
            axis: self.preparation.axis,
            rows: self
                .preparation
                .rows
                .as_ref()
                .map(|rows| if rows.is_kept() { RowsChoice::Field } else { RowsChoice::Auto }),
            row_field: self.preparation.rows.as_ref().filter(|rows| rows.is_kept()).map(|rows| rows.field()),
            swapped: self.preparation.swapped,
        }
    }
}

impl CalibrationChoice {
    /// Returns the kind of rectification.
    pub fn rectify(&self) -> RectifyChoice {
        let by_files = if self.files.is_empty() { RectifyChoice::Off } else { RectifyChoice::Calibration };
        self.rectify.unwrap_or(by_files)
    }

    /// Returns whether all options except crop, working size and order of the images have their defaults.
    pub fn is_unset(&self) -> bool {
        let Self { files, rectify, baseline_m, depth_fit, .. } = self;
        files.is_empty() && rectify.is_none() && self.focal().is_none() && baseline_m.is_none() && depth_fit.is_none()
    }

    /// Returns the crop of the rectification.
    pub fn crop(&self) -> Crop {
        Crop { alpha: self.alpha, rectified_fov_deg: self.rectified_fov_deg }
    }

    /// Returns the focal length from the one option of three that is set: `fov_deg`, `focal_px` or `focal_mm`.
    pub fn focal(&self) -> Option<FocalLength> {
        let lens = self.focal_mm.zip(self.sensor_width_mm);
        let lens = lens.map(|(focal_mm, sensor_width_mm)| FocalLength::Lens { focal_mm, sensor_width_mm });
        self.focal_px.map(FocalLength::Px).or(lens).or(self.fov_deg.map(FocalLength::FovDeg))
    }

    /// Sets the focal length in one of three ways, and clears the others.
    pub fn set_focal(&mut self, focal: Option<FocalLength>) {
        (self.fov_deg, self.focal_px, self.focal_mm, self.sensor_width_mm) = match focal {
            None => (None, None, None, None),
            Some(FocalLength::FovDeg(fov_deg)) => (Some(fov_deg), None, None, None),
            Some(FocalLength::Px(px)) => (None, Some(px), None, None),
            Some(FocalLength::Lens { focal_mm, sensor_width_mm }) => {
                (None, None, Some(focal_mm), Some(sensor_width_mm))
            }
        };
    }

    /// Returns the options that differ from their defaults, each with its value unless it is a switch. A depth fit has none; only a rig
    /// file stores it.
    pub fn options(&self) -> Vec<(&'static str, Option<String>)> {
        let all = |files: &[PathBuf]| -> Option<String> {
            let names: Vec<_> = files.iter().map(|path| path.display().to_string()).collect();
            (!names.is_empty()).then(|| names.join(","))
        };
        let number = |value: Option<f64>| value.map(|number| number.to_string());
        let valued = [
            ("calibration", all(&self.files)),
            ("calibration-unit", self.unit.map(|unit| unit.to_string())),
            ("calibration-cameras", self.cameras.as_ref().map(Cameras::to_string)),
            ("calibration-crop", self.mode_crop.map(|crop| crop.to_string())),
            ("rectify", self.rectify.map(|rectify| rectify.to_string())),
            ("alpha", number(Some(self.alpha).filter(|alpha| *alpha > 0.0))),
            ("rectified-fov-deg", number(self.rectified_fov_deg)),
            ("fov-deg", number(self.fov_deg)),
            ("focal-px", number(self.focal_px)),
            ("focal-mm", number(self.focal_mm)),
            ("sensor-width-mm", number(self.sensor_width_mm)),
            ("baseline-m", number(self.baseline_m)),
            ("doffs", number(Some(self.doffs_px).filter(|doffs_px| *doffs_px != 0.0))),
            ("rows", self.rows.map(|rows| rows.to_string())),
            ("scale", (self.scale != Scale::One).then(|| self.scale.to_string())),
            ("mask", all(&self.mask)),
        ];
        let switches = [
            ("calibration-swap", self.swapped),
            ("swap-pictures", self.swap_pictures),
            ("vertical", self.vertical),
            ("self-calibrate", self.self_calibrate),
        ];
        set_options(valued, switches)
    }

    /// Returns the preparation for a source, computed without its images.
    ///
    /// # Errors
    /// A file cannot be used, or is for another aspect ratio; or an estimate is requested, which requires images.
    pub fn apply(&self, source: &SourceInfo) -> Result<Calibrated, CalibrationError> {
        // the scene and other sources with a known rig need no calibration
        let has_own_geometry = source.is_rectified && source.geometry.is_some();
        let calibrated = match self.rectify() {
            _ if has_own_geometry => {
                let note = (!self.files.is_empty()).then(|| {
                    format!("{} has its own geometry: the calibration is not used; leave it out", source.name)
                });
                let mut calibrated = Calibrated { note, ..self.without_files(source) };
                // rows of such a source are exact, or differ on purpose
                calibrated.preparation.rows = None;
                calibrated.preparation.follows = self.is_unset();
                calibrated
            }
            RectifyChoice::Calibration if self.files.is_empty() => {
                return Err(CalibrationError::NoCalibration);
            }
            RectifyChoice::Auto => {
                return Err(CalibrationError::NoImages);
            }
            RectifyChoice::Off if self.files.is_empty() => {
                let calibrated = self.without_files(source);
                let curved = self.curved(source).filter(|_| calibrated.preparation.geometry.is_some());
                curved.map_or(Ok(calibrated), |curved| Err(CalibrationError::Curved(curved)))?
            }
            RectifyChoice::Calibration | RectifyChoice::Off => {
                let size = Some((source.width, source.height));
                let &Self { unit, swapped, ref cameras, .. } = self;
                let camera_numbers = source.camera_numbers;
                let options = LoadOptions { unit, swapped, size, cameras: cameras.clone(), camera_numbers };
                let rig = load(&self.files, &options)?;
                let rig =
                    self.mode_crop.map_or(Ok(rig.clone()), |crop| rig.cropped(crop, (source.width, source.height)))?;
                let rig = self.correction.as_deref().map_or(Ok(rig.clone()), |correction| rig.corrected(correction))?;
                let mut calibrated = self.with_rig(rig, source)?;
                if let Some(correction) = &self.correction {
                    calibrated.add_note(&format!("as it stands since {}, by its own images", correction.date));
                }
                if let Some(crop) = self.mode_crop {
                    let place = if crop == ModeCrop::Centre { "the middle".to_owned() } else { crop.to_string() };
                    calibrated.add_note(&format!("the images are taken as a crop of the calibration's, at {place}"));
                }
                if self.rectify() == RectifyChoice::Off {
                    let geometry = calibrated.preparation.geometry(source);
                    calibrated.preparation = FramePreparation { rectifier: None, geometry, ..calibrated.preparation };
                }
                calibrated
            }
        };
        let calibrated = Calibrated { doubts: self.doubts(source), ..calibrated };
        Ok(self.with_depth_fit(self.standing(calibrated, source)?, source))
    }

    /// Returns this choice with the rig corrected by what these pairs show of it, and the sentence that says so; without a correction where
    /// they are too few views, or the rig stands as calibrated.
    ///
    /// # Errors
    /// Errors of [`Self::apply`]; or a pair does not fit the calibration.
    pub fn self_calibrated(
        &self,
        pairs: &[Arc<RawPair>],
        source: &SourceInfo,
    ) -> Result<(Self, String), CalibrationError> {
        // every pixel is a match at its full size, and rows are left as the rig shows them
        let plain = Self { rows: Some(RowsChoice::Off), scale: Scale::One, ..self.clone() };
        let preparation = plain.apply(source)?.preparation;
        let mut gatherer = DriftGatherer::default();
        for pair in pairs {
            let frame = Arc::new(preparation.prepare(pair, source, Instant::now())?);
            let Some(rectifier) = &frame.rectifier else { break };
            let in_rows = frame.in_rows();
            let (left, right) = (&in_rows.left.luma, &in_rows.right.luma);
            gatherer.add(rectifier, &matches(left, right), left.size(), &RowField::default())?;
        }
        let Some(drift) = gatherer.drift() else {
            return Ok((
                self.clone(),
                "the images have too little in common to tell whether the rig has changed".to_owned(),
            ));
        };
        if !drift.is_offered {
            return Ok((self.clone(), drift.words()));
        }
        let text = format!("{}; {}", drift.words(), drift.depth_words());
        let text = drift.lens.map_or(text.clone(), |lens| format!("{text}; {}", lens.words()));
        Ok((self.with_correction(Some(drift.correction)), text))
    }

    /// Returns this choice with another correction, or none. Row errors are found anew: a field of theirs was that of the rig before.
    #[must_use]
    pub fn with_correction(&self, correction: Option<Correction>) -> Self {
        let rows = self.rows.filter(|rows| *rows != RowsChoice::Field);
        Self { correction: correction.map(Box::new), rows, row_field: None, ..self.clone() }
    }

    /// Returns doubts about the lens and the baseline, if they are typed and in use for a source, each with advice.
    pub fn doubts(&self, source: &SourceInfo) -> Vec<String> {
        let has_own_geometry = source.is_rectified && source.geometry.is_some();
        if has_own_geometry || !self.files.is_empty() || self.depth_fit.is_some() {
            return Vec::new();
        }
        let curved = source.curved.as_ref().map(ToString::to_string);
        doubts_of_typed(self.focal(), self.baseline_m, source.width).into_iter().chain(curved).collect()
    }

    /// Returns the preparation for the user's mounting of the cameras, one above the other or side by side.
    ///
    /// # Errors
    /// The cameras are given as one above the other, and the calibration is for cameras side by side.
    pub fn standing(&self, mut calibrated: Calibrated, source: &SourceInfo) -> Result<Calibrated, CalibrationError> {
        if self.vertical {
            if calibrated.preparation.geometry(source).is_some_and(|geometry| geometry.axis == Axis::Horizontal) {
                return Err(CalibrationError::SideBySide { source_name: source.name.clone() });
            }
            calibrated.preparation.axis = Axis::Vertical;
        }
        Ok(calibrated)
    }

    /// Estimates the preparation from pairs of the source.
    ///
    /// # Errors
    /// The pairs have too few matches; the text has advice.
    pub fn estimate(&self, pairs: &[Arc<RawPair>], source: &SourceInfo) -> Result<Calibrated, CalibrationError> {
        if let Some(curved) = self.curved(source) {
            return Err(CalibrationError::Curved(curved));
        }
        let written = self.written_lens(source);
        let lens = match (written, self.swap_pictures) {
            (Some(NamedLens { focal_px: [left_px, right_px], .. }), true) => LensGuess::written([*right_px, *left_px]),
            (Some(lens), false) => LensGuess::written(lens.focal_px),
            (None, _) => self.focal().unwrap_or(ASSUMED_FOCAL).into(),
        };
        let baseline_m = self.baseline_m.unwrap_or(ASSUMED_BASELINE_M);
        let mut lumas: Vec<_> = pairs.iter().map(|pair| (&pair.left.luma, &pair.right.luma)).collect();
        if self.swap_pictures {
            for (left, right) in &mut lumas {
                std::mem::swap(left, right);
            }
        }
        let found: Estimate = estimate_rig(&lumas, lens, baseline_m, self.axis())?;
        let note = format!(
            "estimated from {} in {}, {} that disagree left out: {} differ by {:.2} px, before by {:.2} px; depth is an estimate",
            counted(found.matches as u64, "match"),
            counted(pairs.len() as u64, "pair"),
            found.left_out,
            self.axis().lines(),
            found.row_offset_after.median_abs_px,
            found.row_offset_before.median_abs_px
        );
        let note = written.map_or(note.clone(), |lens| format!("{note}; {}", lens.words));
        let middle_m = found.rig.spread.map(|spread| found.rig.baseline_m() / spread.middle);
        let mut calibrated = self.of_estimate(found.rig, Some(note), source)?;
        let geometry = calibrated.preparation.geometry(source).filter(|geometry| geometry.spread.is_some());
        let words = geometry
            .zip(middle_m)
            .and_then(|(geometry, middle_m)| geometry.depth_words(geometry.disparity_px(middle_m)));
        if let (Some(note), Some(words)) = (&mut calibrated.note, words) {
            note.push_str(": the distance of the middle point is ");
            note.push_str(&words);
        }
        Ok(calibrated)
    }

    /// Returns the preparation by an earlier estimate, with the baseline, crop and size of this choice. Lens, sides and mounting, which
    /// change an estimate, must be unchanged.
    ///
    /// # Errors
    /// The rig is for images of another aspect ratio.
    pub fn estimated_before(
        &self,
        rig: &StereoRig,
        note: Option<String>,
        source: &SourceInfo,
    ) -> Result<Calibrated, CalibrationError> {
        let factor = self.baseline_m.unwrap_or(ASSUMED_BASELINE_M) / rig.baseline_m();
        let rig = StereoRig { translation_m: rig.translation_m * factor, ..rig.clone() };
        self.of_estimate(rig, note, source)
    }

    fn of_estimate(
        &self,
        rig: StereoRig,
        note: Option<String>,
        source: &SourceInfo,
    ) -> Result<Calibrated, CalibrationError> {
        let (assumed, doubts) = (self.assumed(source), self.doubts(source));
        let calibrated = Calibrated { note, assumed, doubts, ..self.with_rig(rig, source)? };
        Ok(self.with_depth_fit(calibrated, source))
    }

    /// Returns what tells that the source's images are not flat: the images themselves, or a field of view that no flat image has.
    fn curved(&self, source: &SourceInfo) -> Option<CurvedImages> {
        let size = (source.width, source.height);
        let by_angle = || {
            let fov_deg = self.fov_deg.filter(|fov_deg| *fov_deg >= WIDEST_FLAT_DEG)?;
            let why = format!("{} says", Remedy::set("fov-deg", fov_deg));
            Some(CurvedImages { curve: Curve::of_shape(size).unwrap_or(Curve::Fisheye), why })
        };
        source.curved.clone().or_else(by_angle)
    }

    /// Returns the lenses that the source's images name, unless the user gives one.
    fn written_lens<'a>(&self, source: &'a SourceInfo) -> Option<&'a NamedLens> {
        source.lens.as_ref().filter(|_| self.focal().is_none())
    }

    /// Returns a sentence on the numbers that an estimate assumes because they were not given.
    pub fn assumed(&self, source: &SourceInfo) -> Option<String> {
        let is_known = self.focal().is_some() || source.lens.is_some();
        let lens = (!is_known).then(|| format!("a field of view of the lens of {ASSUMED_FOV_DEG:.0}°"));
        let baseline = self.baseline_m.is_none().then(|| format!("a baseline of {ASSUMED_BASELINE_M} m"));
        let assumed: Vec<_> = lens.into_iter().chain(baseline).collect();
        (self.depth_fit.is_none() && !assumed.is_empty()).then(|| format!("{} assumed", assumed.join(" and ")))
    }

    /// Returns a preparation without rectification, for an unusable calibration.
    pub fn uncalibrated(&self) -> Calibrated {
        Calibrated { preparation: self.unrectified(), ..Calibrated::default() }
    }

    fn unrectified(&self) -> FramePreparation {
        let (axis, rows) = (self.axis(), correction(self.rows.unwrap_or_default(), self.row_field));
        FramePreparation { axis, rows, scale: self.scale, swapped: self.swap_pictures, ..FramePreparation::default() }
    }

    /// Returns the direction of the baseline without a calibration.
    fn axis(&self) -> Axis {
        if self.vertical { Axis::Vertical } else { Axis::Horizontal }
    }

    fn without_files(&self, source: &SourceInfo) -> Calibrated {
        let size = (source.width, source.height);
        let geometry = self
            .focal()
            .zip(self.baseline_m)
            .map(|(focal, baseline_m)| Geometry::centred(focal.px(source.width), baseline_m, self.doffs_px, size))
            .map(|geometry| Geometry { axis: self.axis(), ..geometry });
        Calibrated {
            preparation: FramePreparation { rectifier: None, geometry, ..self.unrectified() },
            ..Calibrated::default()
        }
    }

    fn with_rig(&self, rig: StereoRig, source: &SourceInfo) -> Result<Calibrated, CalibrationError> {
        let rectifier = rig.rectifier(source.width, source.height, self.crop())?;
        let notes = [Some(rig.summary()), rectifier.note().map(str::to_owned)];
        let note = notes.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let preparation = FramePreparation { rectifier: Some(Arc::new(rectifier)), ..self.unrectified() };
        Ok(Calibrated { preparation, note: Some(note), rig: Some(rig), ..Calibrated::default() })
    }

    fn with_depth_fit(&self, mut calibrated: Calibrated, source: &SourceInfo) -> Calibrated {
        if let Some(fit) = self.depth_fit {
            let preparation = &mut calibrated.preparation;
            let known = preparation.geometry(source).unwrap_or_else(|| FittedDepth::unknown(source, preparation.axis));
            preparation.geometry = Some(fit.applied(known));
        }
        calibrated
    }
}

fn correction(choice: RowsChoice, field: Option<RowField>) -> Option<Arc<RowCorrection>> {
    match choice {
        RowsChoice::Auto => Some(Arc::new(RowCorrection::auto())),
        RowsChoice::Off => None,
        RowsChoice::Field => field.map(|field| Arc::new(RowCorrection::kept(field))),
    }
}

impl FittedDepth {
    /// Copies the numbers of a geometry.
    pub fn of(geometry: &Geometry) -> Self {
        let Geometry { focal_px, baseline_m, doffs_px, spread, .. } = *geometry;
        Self { focal_px, baseline_m, doffs_px, spread }
    }

    /// Returns an assumed geometry for a source without calibration.
    pub fn unknown(source: &SourceInfo, axis: Axis) -> Geometry {
        let focal_px = ASSUMED_FOCAL.px(source.width);
        let centred = Geometry::centred(focal_px, ASSUMED_BASELINE_M, 0.0, (source.width, source.height));
        Geometry { estimated: true, axis, ..centred }
    }

    /// Returns a geometry with these numbers, marked as estimated.
    pub fn applied(self, known: Geometry) -> Geometry {
        let Self { focal_px, baseline_m, doffs_px, spread } = self;
        Geometry { focal_px, baseline_m, doffs_px, estimated: true, uncertainty: None, spread, ..known }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cameras_follow_image_folders_unless_given() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calib.txt");
        let text = "P0: 500 0 320 0 0 500 120 0 0 0 1 0\nP1: 500 0 320 -265 0 500 120 0 0 0 1 0\n\
                    P2: 500 0 320 31 0 500 120 0 0 0 1 0\nP3: 500 0 320 -229 0 500 120 0 0 0 1 0\n";
        std::fs::write(&path, text).unwrap();
        let baseline_m = |camera_numbers, cameras: Option<&str>| {
            let source = SourceInfo { width: 641, height: 241, camera_numbers, ..SourceInfo::default() };
            let cameras = cameras.map(|text| text.parse().unwrap());
            let choice = CalibrationChoice { files: vec![path.clone()], cameras, ..CalibrationChoice::default() };
            assert_eq!(
                choice.options().iter().any(|(name, _)| *name == "calibration-cameras"),
                choice.cameras.is_some()
            );
            let calibrated = choice.apply(&source).unwrap();
            (calibrated.rig.unwrap().baseline_m(), calibrated.note.unwrap().contains("calibration-cameras 0,1"))
        };
        assert_eq!(baseline_m(Some([0, 1]), None), (0.53, false));
        assert_eq!(baseline_m(Some([2, 3]), None), (0.52, false));
        assert_eq!(baseline_m(Some([2, 3]), Some("0,1")), (0.53, false));
        assert_eq!(baseline_m(None, None), (0.52, true));
    }

    #[test]
    fn typed_numbers_are_doubted_while_they_are_in_use() {
        let source = SourceInfo { width: 320, height: 240, ..SourceInfo::default() };
        let typed = CalibrationChoice { focal_px: Some(250.0), baseline_m: Some(6.0), ..CalibrationChoice::default() };
        let said = |choice: &CalibrationChoice| choice.apply(&source).unwrap().remarks();
        let text = said(&typed).unwrap();
        assert!(text.starts_with("a baseline of 6 m is larger") && text.contains("baseline-m 0.06 if"), "{text}");
        assert_eq!(said(&CalibrationChoice { baseline_m: Some(0.06), ..typed.clone() }), None);
        let depth_fit = Some(FittedDepth { focal_px: 250.0, baseline_m: 0.06, doffs_px: 0.0, spread: None });
        assert_eq!(said(&CalibrationChoice { depth_fit, ..typed }), None);
    }
}
