//! Flags for the cameras' lens, in one of three ways; all commands share them.

use super::values::positive;
use stereopsis_calibration::FocalLength;

/// Field of view or focal length of the lens: at most one of them.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(super) struct LensArgs {
    /// Horizontal field of view of each camera, degrees, not the diagonal one
    #[arg(long, hide_short_help = true, value_name = "DEGREES", value_parser = fov, group = "lens")]
    fov_deg: Option<f64>,
    /// Focal length instead of the field of view, px
    #[arg(long, hide_short_help = true, value_name = "PX", value_parser = positive, group = "lens")]
    focal_px: Option<f64>,
    /// Focal length instead of the field of view, mm, as written on the lens
    #[arg(long, hide_short_help = true, value_name = "MM", value_parser = positive, group = "lens", requires = "sensor_width_mm")]
    focal_mm: Option<f64>,
    /// Width of the part of the sensor that the images show, mm: columns times the width of a pixel
    #[arg(long, hide_short_help = true, value_name = "MM", value_parser = positive, requires = "focal_mm")]
    #[arg(conflicts_with_all = ["fov_deg", "focal_px"])] // which would waive what it requires
    sensor_width_mm: Option<f64>,
}

impl LensArgs {
    /// Returns the lens, if it was given.
    pub(super) fn focal(&self) -> Option<FocalLength> {
        let lens = self.focal_mm.zip(self.sensor_width_mm);
        let lens = lens.map(|(focal_mm, sensor_width_mm)| FocalLength::Lens { focal_mm, sensor_width_mm });
        self.focal_px.map(FocalLength::Px).or(lens).or(self.fov_deg.map(FocalLength::FovDeg))
    }
}

fn fov(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|v| (1.0..=170.0).contains(v)).ok_or("expected 1 to 170 degrees")
}
