//! A user's rig: which cameras, how they hang and are set, how their pictures become rectified pairs and metres. Plain data,
//! kept in a TOML file, from which a source is opened.

mod calibrate;
mod file;

pub use calibrate::{Calibrated, CalibrationChoice, FittedDepth, RectifyChoice, USUAL_FOCAL};
pub use file::{RigFile, RigFileError};
