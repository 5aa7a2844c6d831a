//! The three ways in which people name a lens, and the focal length in px that each of them means.

/// How a lens is named.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FocalLength {
    /// In px of the pictures, as calibrations tell it.
    Px(f64),
    /// By the horizontal field of view in degrees, as data sheets of webcams tell it.
    FovDeg(f64),
    /// By the length that is engraved on the lens, as makers of industrial cameras tell it.
    Lens {
        /// Focal length, mm.
        focal_mm: f64,
        /// Width of the part of the sensor that the pictures show, mm.
        sensor_width_mm: f64,
    },
}

impl FocalLength {
    /// In px of pictures that are `width` px wide. A length in mm becomes px by `f_p = W_i f / W_s` (Leu, Bacara & Jivet
    /// 2010, eq. 3), the widths of picture and sensor.
    pub fn px(self, width: usize) -> f64 {
        match self {
            Self::Px(px) => px,
            Self::FovDeg(fov_deg) => width as f64 / 2.0 / (fov_deg.to_radians() / 2.0).tan(),
            Self::Lens { focal_mm, sensor_width_mm } => width as f64 * focal_mm / sensor_width_mm,
        }
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
        }
        assert!((lens.px(1280) - 640.0).abs() < 1e-9, "the same sensor in finer pixels");
    }
}
