//! The geometry of a rectified rig, which turns disparity into metres.

/// The numbers of a rectified rig that turn disparity into space: `z = f T / (d + doffs)`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Geometry {
    /// Focal length of the rectified pictures, px.
    pub focal_px: f64,
    /// Distance of the two optical centres, m, positive.
    pub baseline_m: f64,
    /// `cx_right - cx_left`, px; 0 where infinity has disparity 0.
    pub doffs_px: f64,
    /// Principal point of the left picture, px, pixel centres at whole numbers.
    pub cx_px: f64,
    /// Principal point of the left picture, px.
    pub cy_px: f64,
    /// Guessed from the pictures and not calibrated: depth may be off by a factor, and whoever shows it says so.
    pub estimated: bool,
}

impl Geometry {
    /// The same rig with pictures `factor` times as large (1/2 halves them).
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            focal_px: self.focal_px * factor,
            baseline_m: self.baseline_m,
            doffs_px: self.doffs_px * factor,
            cx_px: (self.cx_px + 0.5) * factor - 0.5,
            cy_px: (self.cy_px + 0.5) * factor - 0.5,
            estimated: self.estimated,
        }
    }

    /// Depth in metres of a disparity in px; `None` at and behind infinity.
    pub fn depth_m(&self, disparity_px: f64) -> Option<f64> {
        let d = disparity_px + self.doffs_px;
        (d > 0.0).then(|| self.focal_px * self.baseline_m / d)
    }

    /// Disparity in px of a depth in metres.
    pub fn disparity_px(&self, depth_m: f64) -> f64 {
        self.focal_px * self.baseline_m / depth_m - self.doffs_px
    }
}
