//! Focal length as the user states it, and its conversion to px.

/// Focal length in the form in which the user states it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FocalLength {
    /// Focal length in px of the images, as in calibrations.
    Px(f64),
    /// Horizontal field of view, degrees, as in data sheets of webcams.
    FovDeg(f64),
    /// Focal length and sensor width, mm, as in data sheets of industrial cameras.
    Lens {
        /// Focal length, mm.
        focal_mm: f64,
        /// Width of the used part of the sensor, mm.
        sensor_width_mm: f64,
    },
}

/// Knowledge of the lenses of two cameras before an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LensGuess {
    /// Mean focal length.
    pub focal: FocalLength,
    /// Right focal length over the left one.
    pub ratio: f64,
    /// Standard deviation of the mean focal length, as a share of it.
    pub deviation: f64,
}

/// Standard deviation of a focal length that is typed or assumed, as a share: data sheets often have the diagonal field of view.
const TYPED_DEVIATION: f64 = 0.2;
/// Standard deviation of a focal length that a camera writes into its images, in whole millimetres.
const WRITTEN_DEVIATION: f64 = 0.03;

impl From<FocalLength> for LensGuess {
    fn from(focal: FocalLength) -> Self {
        Self { focal, ratio: 1.0, deviation: TYPED_DEVIATION }
    }
}

impl LensGuess {
    /// Returns the guess of focal lengths that cameras have written into their images, px.
    pub fn written([left_px, right_px]: [f64; 2]) -> Self {
        let focal = FocalLength::Px((left_px * right_px).sqrt());
        Self { focal, ratio: right_px / left_px, deviation: WRITTEN_DEVIATION }
    }
}

impl FocalLength {
    /// Returns the focal length for images `width` px wide. A length in mm is converted by `f_p = W_i f / W_s` (Leu, Bacara & Jivet 2010,
    /// eq. 3), with the widths of image and sensor.
    pub fn px(self, width: usize) -> f64 {
        match self {
            Self::Px(px) => px,
            Self::FovDeg(fov_deg) => width as f64 / 2.0 / (fov_deg.to_radians() / 2.0).tan(),
            Self::Lens { focal_mm, sensor_width_mm } => width as f64 * focal_mm / sensor_width_mm,
        }
    }

    /// Returns a focal length that is longer by `factor`, stated in the same way.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        match self {
            Self::Px(px) => Self::Px(px * factor),
            Self::FovDeg(fov_deg) => {
                Self::FovDeg(2.0 * ((fov_deg.to_radians() / 2.0).tan() / factor).atan().to_degrees())
            }
            Self::Lens { focal_mm, sensor_width_mm } => Self::Lens { focal_mm: focal_mm * factor, sensor_width_mm },
        }
    }

    /// Returns the focal length for images turned by 90 degrees; a field of view is converted as that of a pinhole.
    #[must_use]
    pub(crate) fn along_columns(self, (width, height): (usize, usize)) -> Self {
        match self {
            Self::FovDeg(_) => Self::FovDeg(Self::Px(self.px(width)).fov_deg(height)),
            Self::Px(_) | Self::Lens { .. } => Self::Px(self.px(width)),
        }
    }

    /// Returns the horizontal field of view of images `width` px wide, degrees.
    pub fn fov_deg(self, width: usize) -> f64 {
        2.0 * (width as f64 / 2.0 / self.px(width)).atan().to_degrees()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_names_of_one_lens_are_one_focal_length() {
        // pixels of 12 um: 640 of them are 7.68 mm
        let lens = FocalLength::Lens { focal_mm: 3.84, sensor_width_mm: 7.68 };
        for focal in [lens, FocalLength::Px(320.0), FocalLength::FovDeg(90.0)] {
            assert!((focal.px(640) - 320.0).abs() < 1e-9, "{focal:?}");
            assert!((focal.fov_deg(640) - 90.0).abs() < 1e-9, "{focal:?}");
            assert!((focal.times(1.5).px(640) - 480.0).abs() < 1e-9, "{focal:?}");
        }
        assert!((lens.px(1280) - 640.0).abs() < 1e-9, "the same sensor in finer pixels");
    }
}
