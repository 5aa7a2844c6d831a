//! Faults of rig files.

use std::io;
use std::path::PathBuf;
use stereopsis_base::remedy::option;
use stereopsis_base::{console, files};
use stereopsis_calibration::CalibrationError;

/// Fault of a rig file.
#[derive(Debug, thiserror::Error)]
pub enum RigFileError {
    /// The file cannot be read.
    #[error("cannot read the rig {}: {cause}", console::path(.path))]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        cause: ReadCause,
    },
    /// A path in the rig is no valid Unicode, so that TOML cannot hold it.
    #[error("cannot write the rig {}: {cause}", .path.display())]
    Unwritable {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        cause: toml::ser::Error,
    },
    /// The file exists, or cannot be written.
    #[error(transparent)]
    Write(#[from] files::WriteError),
    /// A table of the window's state has invalid values.
    #[error(transparent)]
    Table(#[from] RigFault),
}

/// Reason why a rig file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadCause {
    /// There is no such file.
    #[error("{}; the window writes one (Rig, Save)", files::read_cause(.path, .cause))]
    Missing {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        cause: io::Error,
    },
    /// The system refuses.
    #[error("{}", files::read_cause(.path, .cause))]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        cause: io::Error,
    },
    /// The file has bytes that are no text.
    #[error("it is no text; a TOML file is wanted")]
    NoText,
    /// The file is a calibration.
    #[error("it is a calibration: give it with {}", option("calibration"))]
    IsCalibration,
    /// The values are invalid.
    #[error(transparent)]
    Invalid(#[from] RigFault),
}

/// Invalid values of a rig.
#[derive(Debug, thiserror::Error)]
pub enum RigFault {
    /// The text is no TOML, or has an unknown key or a value of another kind.
    #[error("{}", .0.to_string().trim_end())]
    Syntax(#[from] toml::de::Error),
    /// TOML cannot hold a path.
    #[error(transparent)]
    Unwritable(#[from] toml::ser::Error),
    /// Both sides name one camera.
    #[error("[source] left and right are one camera; give it as both")]
    OneCamera,
    /// The source is neither two cameras nor one.
    #[error("[source] wants left and right (two cameras), or both (one, side by side)")]
    Sides,
    /// The rate is out of its range.
    #[error("[source] rate_hz must be above 0, at most 1000")]
    Rate,
    /// A length or an angle is not above 0.
    #[error("[calibration] {0} must be above 0")]
    NotAboveZero(&'static str),
    /// Two values name the lens.
    #[error("[calibration] {0} and {1} both name the lens: leave one of them out")]
    TwoLenses(&'static str, &'static str),
    /// A correction has no calibration.
    #[error("[calibration] correction and self_calibrate need files, whose rig they correct")]
    NothingToCorrect,
    /// The field of row errors is chosen and missing.
    #[error("[calibration] rows = \"field\" needs row_field: six numbers, which the window saves")]
    NoRowField,
    /// The fit of depth to known distances has a number that cannot be.
    #[error("[calibration.depth_fit] has a number that cannot be: fit depth to the known distances again")]
    DepthFit,
    /// A focal length in millimetres needs the width of the sensor, and the other way round.
    #[error("[calibration] focal_mm and sensor_width_mm need each other: give both or neither")]
    HalfOfLens,
    /// The field of view is half a sphere or more.
    #[error("[calibration] fov_deg must be below 180")]
    Fov,
    /// The share of black borders is out of its range.
    #[error("[calibration] alpha must be from 0 to 1")]
    Alpha,
    /// Two values name the crop.
    #[error("[calibration] alpha and rectified_fov_deg both name the crop: leave one of them out")]
    TwoCrops,
    /// The field of row errors or the crop is invalid.
    #[error("[calibration] {0}")]
    Calibration(#[from] CalibrationError),
}
