//! Geometry of a rectified rig: converts disparity to metres.

mod spread;

use crate::choices;
pub use spread::{DepthSpread, KnownParallax};

choices! {
    /// Direction of the baseline in rectified images, along which disparities lie.
    pub enum Axis, default Horizontal {
        /// Cameras side by side: a point lies in the same row of both images.
        Horizontal = "horizontal",
        /// One camera above the other, the upper one is "left": a point lies in the same column of both images.
        Vertical = "vertical",
    }
}

/// Parameters of a rectified rig that convert disparity to depth: `z = f T / (d + doffs)`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Geometry {
    /// Focal length of the rectified images, px.
    pub focal_px: f64,
    /// Baseline: distance of the two optical centres, m, positive.
    pub baseline_m: f64,
    /// Difference of the principal points, right minus left, along the baseline, px; 0 where infinity has disparity 0.
    pub doffs_px: f64,
    /// Principal point of the left image, x, px; pixel centres are integers.
    pub cx_px: f64,
    /// Principal point of the left image, y, px.
    pub cy_px: f64,
    /// Whether the geometry is estimated from images, not calibrated: depth may be off by a factor, and every display of it is marked.
    pub estimated: bool,
    /// Direction of the baseline.
    #[serde(default)]
    pub axis: Axis,
    /// Accuracy of the calibration; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<Uncertainty>,
    /// Spread of depth; of estimated rigs only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<DepthSpread>,
}

/// Bounds of a calibration's errors, kept by 95 of 100 calibrations of its quality.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Uncertainty {
    /// Bound of the focal length's error, %.
    pub focal_percent: f64,
    /// Bound of the baseline's error, %.
    pub baseline_percent: f64,
}

impl Uncertainty {
    /// Whether the bounds are plausible numbers.
    pub fn is_plausible(&self) -> bool {
        [self.focal_percent, self.baseline_percent].iter().all(|percent| (0.0..=100.0).contains(percent))
    }
}

impl Axis {
    /// Returns the extent of images of this size along the baseline, px.
    pub const fn extent(self, (width, height): (usize, usize)) -> usize {
        match self {
            Self::Horizontal => width,
            Self::Vertical => height,
        }
    }

    /// Returns the word for the lines in which a point lies in both images.
    pub const fn lines(self) -> &'static str {
        match self {
            Self::Horizontal => "rows",
            Self::Vertical => "columns",
        }
    }
}

impl Geometry {
    /// Returns the geometry of a calibrated rig of cameras side by side, with the principal point of the left image.
    pub const fn new(focal_px: f64, baseline_m: f64, doffs_px: f64, [cx_px, cy_px]: [f64; 2]) -> Self {
        Self {
            focal_px,
            baseline_m,
            doffs_px,
            cx_px,
            cy_px,
            estimated: false,
            axis: Axis::Horizontal,
            uncertainty: None,
            spread: None,
        }
    }

    /// Returns the geometry of a rig whose left principal point is the centre of images of this size.
    pub fn centred(focal_px: f64, baseline_m: f64, doffs_px: f64, (width, height): (usize, usize)) -> Self {
        Self::new(focal_px, baseline_m, doffs_px, [(width as f64 - 1.0) / 2.0, (height as f64 - 1.0) / 2.0])
    }

    /// Scales the images by `factor` (1/2 halves them).
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            focal_px: self.focal_px * factor,
            doffs_px: self.doffs_px * factor,
            cx_px: (self.cx_px + 0.5) * factor - 0.5,
            cy_px: (self.cy_px + 0.5) * factor - 0.5,
            ..*self
        }
    }

    /// Swaps left and right.
    #[must_use]
    pub fn swapped(&self) -> Self {
        let [cx_px, cy_px] = self.right_centre_px();
        Self { cx_px, cy_px, doffs_px: -self.doffs_px, ..*self }
    }

    /// Returns the principal point of the right image, x and y, px.
    pub fn right_centre_px(&self) -> [f64; 2] {
        match self.axis {
            Axis::Horizontal => [self.cx_px + self.doffs_px, self.cy_px],
            Axis::Vertical => [self.cx_px, self.cy_px + self.doffs_px],
        }
    }

    /// Returns the partner in the right image of a pixel of the left one with this disparity, px.
    pub fn right_pixel(axis: Axis, (x_px, y_px): (f32, f32), disparity_px: f32) -> (f32, f32) {
        match axis {
            Axis::Horizontal => (x_px - disparity_px, y_px),
            Axis::Vertical => (x_px, y_px - disparity_px),
        }
    }

    /// Returns the depth of a disparity, m; `None` at and behind infinity.
    pub fn depth_m(&self, disparity_px: f64) -> Option<f64> {
        let d = disparity_px + self.doffs_px;
        (d > 0.0).then(|| self.focal_px * self.baseline_m / d)
    }

    /// Returns the parallax of a disparity: the baseline over the depth.
    pub fn parallax(&self, disparity_px: f64) -> f64 {
        (disparity_px + self.doffs_px) / self.focal_px
    }

    /// Returns the depths between which the true one of a disparity lies in 95 of 100 estimated rigs, m; the farther one may be infinite.
    /// `None` without a spread.
    pub fn depth_interval_m(&self, disparity_px: f64) -> Option<[f64; 2]> {
        let [low, high] = self.spread?.interval(self.parallax(disparity_px));
        let depth_m = |parallax: f64| if parallax > 0.0 { self.baseline_m / parallax } else { f64::INFINITY };
        Some([depth_m(high), depth_m(low)])
    }

    /// Returns the depth of a disparity in words, with its interval in an estimated rig; `None` at and behind infinity.
    pub fn depth_words(&self, disparity_px: f64) -> Option<String> {
        let depth = metres(self.depth_m(disparity_px)?);
        Some(match self.interval_words(disparity_px) {
            Some(between) => format!("{depth}, {between}"),
            None => depth,
        })
    }

    /// Returns the interval of a disparity's depth in words, as `between 0.90 m and infinity`; `None` without a spread.
    pub fn interval_words(&self, disparity_px: f64) -> Option<String> {
        let [near_m, far_m] = self.depth_interval_m(disparity_px)?;
        Some(format!("between {} and {}", metres(near_m), metres(far_m)))
    }

    /// Returns the geometry whose parallax is `offset + (1 + slope)` times the present one.
    #[must_use]
    pub fn corrected(&self, [offset, slope]: [f64; 2]) -> Self {
        let focal_px = self.focal_px / (1.0 + slope);
        let spread = self.spread.map(|spread| spread.corrected([offset, slope]));
        Self { focal_px, doffs_px: self.doffs_px + offset * focal_px, spread, ..*self }
    }

    /// Returns the point that a pixel of the left image shows at a depth, m: x right, y down, z forward from the left camera.
    pub fn point_m(&self, x_px: f64, y_px: f64, depth_m: f64) -> [f64; 3] {
        let along = depth_m / self.focal_px;
        [(x_px - self.cx_px) * along, (y_px - self.cy_px) * along, depth_m]
    }

    /// Returns the disparity of a depth in metres, px.
    pub fn disparity_px(&self, depth_m: f64) -> f64 {
        self.focal_px * self.baseline_m / depth_m - self.doffs_px
    }
}

/// Formats a depth with about three digits, in m.
fn metres(depth_m: f64) -> String {
    match depth_m {
        _ if depth_m.is_infinite() => "infinity".to_owned(),
        _ if depth_m < 10.0 => format!("{depth_m:.2} m"),
        _ if depth_m < 100.0 => format!("{depth_m:.1} m"),
        _ => format!("{depth_m:.0} m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_depth_have_its_interval() {
        let geometry = Geometry::new(500.0, 0.06, 0.0, [319.5, 239.5]);
        assert_eq!(geometry.depth_words(12.5).as_deref(), Some("2.40 m"));
        assert_eq!(geometry.depth_words(0.0), None);
        let wide = DepthSpread {
            mean: [0.0; 2],
            deviation: [0.02, 0.0],
            correlation: 0.0,
            rest: 0.002,
            farthest: 0.01,
            middle: 0.025,
        };
        let estimated = Geometry { spread: Some(wide), ..geometry };
        assert_eq!(estimated.depth_words(5.0).as_deref(), Some("6.00 m, between 1.32 m and infinity"));
        let narrow = Geometry { spread: Some(DepthSpread { deviation: [5e-4, 0.0], rest: 0.0, ..wide }), ..geometry };
        assert_eq!(narrow.depth_words(12.5).as_deref(), Some("2.40 m, between 2.31 m and 2.50 m"));
    }
}
