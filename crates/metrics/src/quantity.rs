//! Measured number with its name and unit, or the reason why it is missing.

/// Number, or the reason why it is missing.
pub type Measured = Result<f64, Missing>;

/// Reason why a number is missing; a sentence without its full stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// No calibration, without which disparities have no millimetres.
    #[error("no calibration: only with focal length and baseline do disparities become millimetres")]
    Calibration,
    /// Too few measured pixels for a plane.
    #[error("{have} measured pixels: a plane needs at least 3")]
    Pixels {
        /// Number of measured pixels.
        have: usize,
    },
    /// No plane, because all measured pixels lie on one line.
    #[error("all measured pixels lie on one line, and many planes go through it")]
    Line,
    /// Disparity of infinity, or behind it.
    #[error("at or behind infinity: the disparity is too small for this calibration")]
    Infinity,
    /// Plane that contains the camera, or that the ray through the image's centre never meets.
    #[error("the plane does not cross the line of sight through the middle of the image")]
    LineOfSight,
    /// No true distance to compare with.
    #[error("no true distance was given to compare with")]
    TrueDistance,
    /// Too few pairs for noise over time.
    #[error("noise over time needs at least 2 pairs in which a pixel of the region is measured")]
    Pairs,
    /// Chosen point without a measured disparity.
    #[error("pixel {x},{y} has no measured disparity")]
    Point {
        /// Column, px.
        x: usize,
        /// Row, px.
        y: usize,
    },
    /// Calibration without bounds of its errors.
    #[error("the calibration does not say how exact it is, so this part is unknown and not in the sum")]
    Uncertainty,
    /// Estimated calibration, whose errors are unknown or unbounded.
    #[error("the calibration is an estimate: lengths may be off by a factor, which is not in the sum")]
    Estimate,
    /// Estimated calibration that does not bound a distance.
    #[error("not bounded: the images do not tell it from infinity")]
    FarBound,
    /// Unknown scatter of matching around a point.
    #[error(
        "too few measured pixels around a point lie on one plane with it, so this part is unknown and not in the sum"
    )]
    Scatter,
    /// Left-right check that was off.
    #[error("the left-right check is off: switch it on")]
    LeftRightCheck,
    /// No measured pixel.
    #[error("no pixel is measured")]
    Nothing,
    /// No previous map to compare with.
    #[error("it compares with the pair before, and there is none")]
    Previous,
    /// Movement of the camera, or of the whole scene.
    #[error("too few pixels stayed as they were since the pair before")]
    Moving,
}

/// Desirable values of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Small values.
    Lower,
    /// Large values.
    Higher,
    /// Values near zero.
    Zero,
    /// No preference: the quantity describes the scene.
    Neither,
}

/// Measured number with its names and unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Name for display: `fill rate`.
    pub title: &'static str,
    /// Name for files, with the unit at its end: `fill_percent`.
    pub name: &'static str,
    /// Unit: `%`, `mm`, `px`, `degrees`.
    pub unit: &'static str,
    /// Desirable values.
    pub better: Better,
    /// Value of the quantity.
    pub value: Measured,
}
