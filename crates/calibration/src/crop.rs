//! Part of the images that rectification shows.

use super::CalibrationError;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use stereopsis_base::parameter::is_default;

/// Part of the images that rectification shows, given by `alpha` or by a field of view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Crop {
    /// OpenCV's `alpha`: from 0, where every rectified pixel has a source, to 1, where no source pixel is lost.
    pub alpha: f64,
    /// Field of view of the rectified images along a row, degrees, in place of `alpha`.
    #[serde(skip_serializing_if = "is_default")]
    pub rectified_fov_deg: Option<f64>,
}

impl From<f64> for Crop {
    fn from(alpha: f64) -> Self {
        Self { alpha, rectified_fov_deg: None }
    }
}

impl Crop {
    /// Valid fields of view of a pinhole image, degrees; beyond them the edges are stretched too far.
    pub const FOV_DEG: RangeInclusive<f64> = 5.0..=150.0;

    /// Checks the ranges of the numbers.
    ///
    /// # Errors
    /// A number is out of its range.
    pub fn validate(&self) -> Result<(), CalibrationError> {
        let Self { alpha, rectified_fov_deg } = self;
        if !(0.0..=1.0).contains(alpha) {
            return Err(CalibrationError::Alpha(*alpha));
        }
        let wrong = rectified_fov_deg.filter(|fov_deg| !Self::FOV_DEG.contains(fov_deg));
        wrong.map_or(Ok(()), |fov_deg| Err(CalibrationError::RectifiedFov { fov_deg, possible: Self::FOV_DEG }))
    }

    /// Whether this is the default, which keeps the crop of a rectification in the calibration.
    pub fn is_default(&self) -> bool {
        self.alpha <= 0.0 && self.rectified_fov_deg.is_none()
    }
}

/// Returns the focal length, px, at which columns from `-left_px` to `right_px` of the principal point show this field of view.
pub(super) fn focal_px(fov_deg: f64, left_px: f64, right_px: f64) -> f64 {
    // tan(a + b) with a = atan(left / f) and b = atan(right / f), solved for f
    let (sin, cos) = fov_deg.to_radians().sin_cos();
    let sum = left_px + right_px;
    (sum * cos + (sum * sum * cos * cos + 4.0 * left_px * right_px * sin * sin).sqrt()) / (2.0 * sin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_focal_length_shows_the_field_of_view() {
        for fov_deg in [5.0, 60.0, 90.0, 91.0, 150.0] {
            for (left, right) in [(320.0, 320.0), (250.0, 390.0)] {
                let focal = focal_px(fov_deg, left, right);
                let shown = (f64::atan(left / focal) + f64::atan(right / focal)).to_degrees();
                assert!((shown - fov_deg).abs() < 1e-9, "{fov_deg} {shown}");
            }
        }
    }

    #[test]
    fn refuses_invalid_crops_with_the_range() {
        let fov = |fov_deg| Crop { alpha: 0.0, rectified_fov_deg: Some(fov_deg) };
        for (crop, text) in
            [(1.5.into(), "alpha is 1.5"), (fov(170.0), "from 5 to 150"), (fov(f64::NAN), "NaN degrees")]
        {
            assert!(crop.validate().unwrap_err().to_string().contains(text), "{crop:?}");
        }
        assert!(fov(90.0).validate().is_ok() && !fov(90.0).is_default() && Crop::default().is_default());
    }
}
