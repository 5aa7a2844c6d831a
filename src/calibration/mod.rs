//! From the numbers of a calibrated rig to rectified pairs and metres.

/// Why a calibration cannot be used. The text says what was tried, on what, and what to do next.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CalibrationError(pub String);
