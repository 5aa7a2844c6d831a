//! Calibration of a pair source in the form that recordings store.

use super::formats::read_toml;
use super::{CalibrationError, Crop, RowField, RowsChoice, StereoRig, toml_of};
use serde::{Deserialize, Serialize};
use stereopsis_base::geometry::{Axis, Geometry};

/// Rectification of the pairs, and their geometry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationNote {
    /// Rig in Stereopsis's TOML, if there is one.
    pub rig: Option<String>,
    /// Whether the rig rectifies the pairs.
    pub rectifies: bool,
    /// Part of the images that is shown.
    #[serde(flatten)]
    pub crop: Crop,
    /// Geometry that converts disparity to metres, at the source's size, if known.
    pub geometry: Option<Geometry>,
    /// Working size, in the words of `--scale`.
    pub scale: String,
    /// Direction of the baseline of pairs without a geometry.
    #[serde(default, skip_serializing_if = "stereopsis_base::parameter::is_default")]
    pub axis: Axis,
    /// Correction of remaining row errors; no correction if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowsChoice>,
    /// Row field for [`RowsChoice::Field`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_field: Option<RowField>,
    /// Whether left and right of the raw images are swapped.
    #[serde(default, skip_serializing_if = "stereopsis_base::parameter::is_default")]
    pub swapped: bool,
}

impl CalibrationNote {
    /// Checks that the numbers are plausible; the rig's text is checked when it is parsed.
    ///
    /// # Errors
    /// The first implausible number.
    pub fn check(&self) -> Result<(), CalibrationError> {
        self.crop.validate()?;
        if let Some(field) = self.row_field {
            field.validate()?;
        }
        let Some(Geometry { focal_px, baseline_m, doffs_px, cx_px, cy_px, .. }) = self.geometry else { return Ok(()) };
        if let Some(wrong) = self.geometry.and_then(|geometry| geometry.uncertainty).filter(|told| !told.is_plausible())
        {
            return Err(CalibrationError::Uncertainty(wrong));
        }
        if self.geometry.and_then(|geometry| geometry.spread).is_some_and(|spread| !spread.is_plausible()) {
            return Err(CalibrationError::Spread);
        }
        let above_zero = [("focal_px", focal_px), ("baseline_m", baseline_m)];
        let others = [("doffs_px", doffs_px), ("cx_px", cx_px), ("cy_px", cy_px)];
        let wrong = above_zero.iter().find(|(_, v)| !(*v > 0.0 && *v < 1e9));
        match wrong.or(others.iter().find(|(_, v)| v.is_nan() || v.abs() >= 1e9)) {
            Some(&(name, value)) => Err(CalibrationError::Number { name, value }),
            None => Ok(()),
        }
    }

    /// Parses the rig, if there is one.
    ///
    /// # Errors
    /// The text of the rig is damaged.
    pub fn parsed_rig(&self) -> Result<Option<StereoRig>, CalibrationError> {
        self.rig.as_deref().map(read_toml).transpose()
    }

    /// Returns the note of pairs that this rig rectifies.
    pub fn of_rig(rig: &StereoRig, crop: impl Into<Crop>) -> Self {
        Self { rig: Some(toml_of(rig)), rectifies: true, crop: crop.into(), ..Self::default() }
    }

    /// Returns the note of pairs that are already rectified.
    pub fn of_rectified(geometry: Geometry) -> Self {
        Self { geometry: Some(geometry), ..Self::default() }
    }
}
