//! Calibrated rigs: files, rectification and metric depth.
//!
//! [`load`] reads a [`StereoRig`] from files of many kinds and our own; [`StereoRig::rectifier`] computes, for one image size, the map that
//! the capture thread applies to every raw pair.
//!
//! ```
//! use stereopsis_base::image::{Image, Luma, Picture};
//! use stereopsis_calibration::{LoadOptions, load};
//!
//! let rig = load(&["../../calibration/example-rig.toml".into()], &LoadOptions::default())?;
//! let rectifier = rig.rectifier(640, 480, 0.0)?;
//! let raw = Picture::from(Luma::U8(Image::filled(640, 480, 128)));
//! let (left, _right) = rectifier.apply(&raw, &raw)?;
//! assert_eq!(left.size(), (640, 480));
//! # Ok::<(), stereopsis_calibration::CalibrationError>(())
//! ```

mod camera_info;
mod camera_model;
mod checks;
mod crop;
mod curve;
mod description;
mod depth_fit;
mod drift;
mod error;
mod estimate;
mod focal;
mod formats;
mod health;
mod length_unit;
mod lens;
mod linear;
mod matches;
mod note;
mod part;
mod polynomial;
mod projection;
mod rectification;
mod rectifier;
mod remap;
mod rig;
mod rows;
mod sides;
#[cfg(test)]
mod shared_data;

pub use camera_info::CameraInfo;
pub use camera_model::{Camera, Distortion};
pub use checks::doubts_of_typed;
pub use crop::Crop;
pub use curve::{Curve, CurvedImages};
pub use depth_fit::{DepthFitError, KnownDepth, fit_depth};
pub use drift::{Corrected, Correction, DepthError, Drift, DriftGatherer, LensChange, MIN_DRIFT_VIEWS};
pub use error::CalibrationError;
pub use estimate::{Estimate, estimate_rig};
pub use focal::{FocalLength, LensGuess};
pub use formats::{Cameras, Kind, LoadOptions, Output, check_readable, load, read, toml_of, write};
pub use health::{RowOffset, Verdict, row_offset_of};
pub use length_unit::LengthUnit;
pub use lens::{BrownConrady, Fisheye};
pub use matches::{Match, Search, edge_matches, matches, search};
pub use note::CalibrationNote;
pub use part::{ModeCrop, SensorPart};
pub use projection::{Projection, Rectification};
pub use rectifier::Rectifier;
pub use remap::RowRemap;
pub use rig::StereoRig;
pub use rows::{RowField, RowFit, RowsChoice, row_field};
pub use sides::{Exchanged, exchanged, is_verged, matches_for_range, range_of};
