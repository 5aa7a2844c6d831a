//! Rig of the user as plain data: cameras, their mounting and controls, and calibration options, from which a source is opened.

mod calibrate;
mod error;
mod file;
mod known;
mod paths;

pub use calibrate::{
    ASSUMED_BASELINE_M, ASSUMED_FOCAL, ASSUMED_FOV_DEG, Calibrated, CalibrationChoice, FittedDepth, RectifyChoice,
};
pub use error::{ReadCause, RigFault, RigFileError};
pub use file::RigFile;
pub use known::{KnownPlace, KnownPlaceError};
pub use paths::{PathKind, SETUP_EXTENSIONS};
