//! Error of a calibration.

/// Start of the error of two cameras in the wrong order.
pub(super) const SWAPPED: &str = "left and right are swapped: give the two cameras in the other order";

/// Error of a calibration. The text names the operation, the file, and the next step for the user.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CalibrationError(pub String);

impl CalibrationError {
    /// Whether the error is that left and right are swapped.
    pub fn means_exchanged(&self) -> bool {
        self.0.contains(SWAPPED)
    }
}
