//! Errors of calibrations: each names its cause with numbers and names, and the texts say it with the next step for the user.

use crate::checks::RigError;
use crate::depth_fit::DepthFitError;
use crate::estimate::EstimateError;
use crate::formats::{FileError, ValueError, WriteError};
use crate::{CurvedImages, ModeCrop};
use std::io;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use stereopsis_base::geometry::Uncertainty;
use stereopsis_base::process::memory::FreeMemory;
use stereopsis_base::remedy::{Remedy, option};
use stereopsis_base::{console, files};

/// Error of a calibration. The text names the operation, the file, and the next step for the user.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// The system cannot read a file.
    #[error("cannot read the calibration {}: {}", console::path(.path), files::read_cause(.path, .cause))]
    Unreadable {
        /// File.
        path: PathBuf,
        /// Error of the system.
        cause: io::Error,
    },
    /// A folder has no `left.yaml` and `right.yaml`.
    #[error("cannot read the calibration {}: it is a folder without left.yaml and right.yaml; give the file in it", console::path(.0))]
    Folder(PathBuf),
    /// There are none or too many files.
    #[error(
        "{count} calibration files were given ({names}); give one, or two: left and right, or intrinsics and extrinsics"
    )]
    FileCount {
        /// Number of files.
        count: usize,
        /// Their names.
        names: String,
    },
    /// The content of the files is unreadable.
    #[error("cannot read the calibration {names}: {cause}")]
    File {
        /// Names of the files.
        names: String,
        /// Fault.
        cause: Box<FileError>,
    },
    /// The files are readable, but their rig cannot be.
    #[error("cannot use the calibration {names}: {cause}{}", .doubts.iter().fold(String::new(), |all, doubt| all + "; " + doubt))]
    Unusable {
        /// Names of the files.
        names: String,
        /// Fault.
        cause: Box<RigError>,
        /// Doubts from reading, which may be the cause.
        doubts: Vec<String>,
    },
    /// A list of numbers has a wrong count, or wrong numbers.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The rig cannot be.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// The rig stands in no way that can be rectified.
    #[error("the cameras cannot be rectified: {0}")]
    Standing(RigError),
    /// The rectified images would have nothing in common.
    #[error(
        "the two cameras look too far apart: they are turned by {:.0} and {:.0} degrees from the direction across their baseline, and neither \
         one image centre for both nor one for each gives rectified images of what both see, which are possible up to 70 degrees; if the \
         cameras do stand so, turn them to one direction; else check R and T, and that both cameras were calibrated together",
        .aside_deg[0], .aside_deg[1]
    )]
    Apart {
        /// Angles of both cameras' axes from the direction across the baseline, degrees.
        aside_deg: [f64; 2],
    },
    /// The images are not flat, so that no estimate and no lens gives metres.
    #[error("{0}")]
    Curved(CurvedImages),
    /// Images are too small.
    #[error("images of {width}x{height} are too small to be rectified")]
    TooSmall {
        /// Width, px.
        width: usize,
        /// Height, px.
        height: usize,
    },
    /// Images have another aspect ratio than the calibration.
    #[error(
        "the calibration is for images of {}x{}, these are {}x{}, another shape: {}",
        .own.0, .own.1, .size.0, .size.1, cure_of_shape(*.own, *.size)
    )]
    Shape {
        /// Size of the calibration, px.
        own: (usize, usize),
        /// Size of the images, px.
        size: (usize, usize),
    },
    /// A word gives no crop of a mode.
    #[error("expected centre, or column and row of the corner of the crop in the calibration's images, such as 0,40, and not {}", console::foreign(.0))]
    ModeCrop(String),
    /// There is no crop of a calibration without one image size.
    #[error("{} needs a calibration that names one image size for both cameras", option("calibration-crop"))]
    CropOfSizes,
    /// The images lie outside of those of the calibration.
    #[error(
        "images of {}x{} at {crop} lie outside of the calibration's {}x{}: give the corner of the crop in them",
        .size.0, .size.1, .own.0, .own.1
    )]
    CropOutside {
        /// Crop.
        crop: ModeCrop,
        /// Size of the calibration, px.
        own: (usize, usize),
        /// Size of the images, px.
        size: (usize, usize),
    },
    /// The images of a pair have two sizes, and nothing rectifies them into one.
    #[error(
        "the images of the pair have {}x{} and {}x{} px: give a calibration of both cameras, which brings them into one size",
        .0[0].0, .0[0].1, .0[1].0, .0[1].1
    )]
    PairSizes([(usize, usize); 2]),
    /// The calibration names no size, and its principal points are far from the centre of the images.
    #[error(
        "the calibration names no image size and cannot be for {}x{}: its optical axis is at ({:.0}, {:.0}), as in images of about \
         {}x{}; add image_width and image_height to the file, and the calibration is scaled",
        .size.0, .size.1, .centre[0], .centre[1], .likely[0], .likely[1]
    )]
    Unsized {
        /// Size of the images, px.
        size: (usize, usize),
        /// Principal point, px.
        centre: [f64; 2],
        /// Size of images with this centre, px.
        likely: [f64; 2],
    },
    /// The user names another image size than the file.
    #[error("the calibration is for images of {}x{}, not {}x{}; leave {} out", .own.0, .own.1, .size.0, .size.1, option("size"))]
    OwnSize {
        /// Size in the file, px.
        own: (usize, usize),
        /// Size that was given, px.
        size: (usize, usize),
    },
    /// Images have another size than the rectifier.
    #[error("images of {}x{} came in, the rectification was made for {}x{}: make one for this size", .size.0, .size.1, .own.0, .own.1)]
    RectifierSize {
        /// Size of the rectifier, px.
        own: (usize, usize),
        /// Size of the images, px.
        size: (usize, usize),
    },
    /// The map of a rectification does not fit into memory.
    #[error(
        "the rectification of {}x{} px takes {} of memory, and {free}: use smaller images",
        .size.0, .size.1, console::bytes(*.bytes)
    )]
    RectifierMemory {
        /// Size of the images, px.
        size: (usize, usize),
        /// Memory that is needed, bytes.
        bytes: u64,
        /// Memory that is free.
        free: FreeMemory,
    },
    /// The images of a prepared pair do not fit into memory.
    #[error(
        "a pair of {}x{} px takes {} of memory to prepare, and {free}: lower {}",
        .size.0, .size.1, console::bytes(*.bytes), option("scale")
    )]
    PairMemory {
        /// Size of the images, px.
        size: (usize, usize),
        /// Memory that is needed, bytes.
        bytes: u64,
        /// Memory that is free.
        free: FreeMemory,
    },
    /// The crop's `alpha` is out of range.
    #[error("alpha is {0}: it must be from 0 (no black border) to 1 (all kept)")]
    Alpha(f64),
    /// The crop's field of view is out of range.
    #[error(
        "the rectified field of view is {fov_deg} degrees: it must be from {} to {}",
        .possible.start(), .possible.end()
    )]
    RectifiedFov {
        /// Field of view, degrees.
        fov_deg: f64,
        /// Fields of view that are possible, degrees.
        possible: RangeInclusive<f64>,
    },
    /// The rig cannot be estimated from images.
    #[error("the rig cannot be estimated: {0}")]
    Estimate(#[from] EstimateError),
    /// A format cannot hold the rig.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A camera has more coefficients than any lens.
    #[error("{0} coefficients are more than any lens has")]
    Coefficients(usize),
    /// A number of a camera is not finite.
    #[error("it holds {0}: the calibration failed or the message is damaged")]
    NotFinite(f64),
    /// A focal length of a camera is not above 0.
    #[error("its focal lengths are {0} and {1} px")]
    FocalLengths(f64, f64),
    /// A recorded row field is no slight error.
    #[error("row_field moves rows by up to {0:.0} of 1000: leave it out")]
    RowField(f64),
    /// Depth cannot be corrected by known distances.
    #[error(transparent)]
    DepthFit(#[from] DepthFitError),
    /// A correction is no slight change.
    #[error("the correction of the rig is no slight change: leave it out, or calibrate again")]
    Correction,
    /// A recorded uncertainty is implausible.
    #[error("uncertainty is {0:?}")]
    Uncertainty(Uncertainty),
    /// A recorded spread of depth is implausible.
    #[error("the spread of depth is no distribution: its numbers are damaged")]
    Spread,
    /// A recorded number is implausible.
    #[error("{name} is {value}")]
    Number {
        /// Name of the number.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// The user wants to rectify, and there is no calibration.
    #[error(
        "no calibration to rectify with: give {} FILE, or {}",
        option("calibration"),
        Remedy::set("rectify", "auto")
    )]
    NoCalibration,
    /// An estimate has no images.
    #[error("an estimate needs images of the source; open it again")]
    NoImages,
    /// The calibration is of cameras side by side, and the user says that they stand one above the other.
    #[error(
        "{vertical} says that the cameras of {source_name} stand one above the other, and its calibration that they stand side by side: \
         leave {vertical} out, or give the calibration of this rig",
        vertical = option("vertical")
    )]
    SideBySide {
        /// Name of the source.
        source_name: String,
    },
}

fn cure_of_shape(own: (usize, usize), size: (usize, usize)) -> String {
    if own.0 * size.0 == own.1 * size.1 {
        return "turn them by 90 degrees, as the camera took them when it was calibrated".to_owned();
    }
    format!(
        "if they are a crop of those, give {} (or X,Y of its corner); else choose a camera mode of the same shape, or calibrate in \
         this one",
        Remedy::set("calibration-crop", "centre")
    )
}

impl CalibrationError {
    /// Returns the options with which the user can do something about the error.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::File { cause, .. } => cause.remedies(),
            Self::Unusable { cause, .. } => cause.remedies(),
            Self::Rig(cause) | Self::Standing(cause) => cause.remedies(),
            Self::Estimate(cause) => cause.remedies(),
            Self::OwnSize { .. } | Self::Write(WriteError::NoSize(_)) => vec![option("size")],
            Self::PairMemory { .. } => vec![option("scale")],
            Self::NoCalibration => vec![option("calibration"), Remedy::set("rectify", "auto")],
            Self::SideBySide { .. } => vec![option("vertical")],
            Self::Shape { .. } => vec![Remedy::set("calibration-crop", "centre")],
            Self::PairSizes(_) => vec![option("calibration")],
            Self::Curved(_) => CurvedImages::remedies(),
            Self::CropOfSizes | Self::CropOutside { .. } => vec![option("calibration-crop")],
            _ => Vec::new(),
        }
    }
}
