//! Rigs that cannot be.

use std::fmt;
use stereopsis_base::geometry::Axis;
use stereopsis_base::remedy::{Remedy, option};

/// Reason why a rig cannot be.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum RigError {
    /// The image size is none.
    #[error("the image size {width}x{height} cannot be; correct it in the file")]
    Size { width: usize, height: usize },
    /// A number of a camera is not finite.
    #[error("the {side} camera holds {value}: the calibration failed or the file is damaged; calibrate again")]
    NotFinite { side: &'static str, value: f64 },
    /// A focal length is not above 0.
    #[error(
        "the {side} camera matrix is singular: its focal lengths are {fx} and {fy} px, which must be above 0; the camera is not \
         calibrated"
    )]
    Singular { side: &'static str, fx: f64, fy: f64 },
    /// A focal length is none of images of this size.
    #[error(
        "the {side} camera's focal lengths {fx} and {fy} cannot be{}: they must be in px, not in mm or in widths; calibrate again, or \
         take the file of this camera",
        of_size(" for images of", *.size)
    )]
    FocalLengths { side: &'static str, fx: f64, fy: f64, size: Option<(usize, usize)> },
    /// A principal point is none of images of this size.
    #[error(
        "the {side} camera's principal point ({cx:.0}, {cy:.0}) lies outside the image{}: the file is of another camera or for \
         another size, or the calibration failed; calibrate again with the board in all corners",
        of_size(" of", *.size)
    )]
    PrincipalPoint { side: &'static str, cx: f64, cy: f64, size: Option<(usize, usize)> },
    /// A lens model shows large parts of the image twice.
    #[error(
        "the {side} camera's distortion folds inside the image, {:.0} % of the way from its middle to its edge: the coefficients are \
         wrong or in another order; calibrate again with the board in all corners",
        .share * 100.0
    )]
    Fold { side: &'static str, share: f64 },
    /// The camera matrices seem to be for another image size.
    #[error("{mode}; as it is, {cause}")]
    OtherMode { mode: OtherMode, cause: Box<Self> },
    /// R is none.
    #[error("R, the rotation between the cameras, is no rotation; the file is damaged, take a copy or calibrate again")]
    Rotation,
    /// T or its length is not finite.
    #[error("T, the translation between the cameras, holds no lengths in metres; calibrate again")]
    Translation,
    /// The baseline is 0.
    #[error(
        "the baseline is 0: T must hold the distance between the two cameras; calibrate both together, each alone does not give it"
    )]
    NoBaseline,
    /// One camera stands in front of the other.
    #[error(
        "one camera stands in front of the other; they must stand side by side, or one above the other: is R or T of another rig?"
    )]
    InFront,
    /// T has the upper camera as the right one.
    #[error(
        "the right camera stands above the left one (T has a positive y), and of two such cameras the upper one is the left one: {0}"
    )]
    Above(Order),
    /// T has the left camera as the right one.
    #[error("the right camera stands to the left of the left one (T has a positive x): {0}")]
    LeftOfLeft(Order),
    /// P2 has the left or the upper camera as the right one.
    #[error("the right camera stands {} (P2 has a positive shift): {order}", match .axis {
        Axis::Horizontal => "to the left of the left one",
        Axis::Vertical => "above the left one",
    })]
    Shift { axis: Axis, order: Order },
    /// R1 or R2 is no rotation.
    #[error("R1 or R2, the rectifying rotations, are no rotations; leave them out and they are computed")]
    RectifyingRotations,
    /// P1 or P2 has no focal length.
    #[error("P1 or P2, the rectified cameras, are singular; leave them out and they are computed")]
    SingularProjections,
    /// P1 and P2 differ.
    #[error(
        "P1 and P2, the rectified cameras, do not belong together: focal lengths and {} of both images must be the same; take both from \
         one calibration, or leave R1, R2, P1 and P2 out and they are computed",
        .0.lines()
    )]
    Projections(Axis),
    /// T and P2 have opposite directions.
    #[error(
        "T and P2 contradict each other: one has the right camera on the right, the other on the left, so T is reversed; change its \
         sign, or leave P1 and P2 out"
    )]
    Reversed,
    /// T and P2 have different baselines.
    #[error(
        "T and P2 contradict each other: their baselines are {of_t_m:.4} and {of_p2_m:.4} m; they are of two calibrations, take both from \
         one, or leave R1, R2, P1 and P2 out"
    )]
    Baselines { of_t_m: f64, of_p2_m: f64 },
    /// R differs from R1 and R2 by this angle.
    #[error(
        "R contradicts R1 and R2 by {0:.1} degrees; they are of two calibrations, take all from one, or leave R1, R2, P1 and P2 out"
    )]
    Rotations(f64),
}

/// Image size that the camera matrices are for, in place of the stated one.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error(
    "K looks like one of {width}x{height} images, the calibration says {}x{}: the principal points ({:.0}, {:.0}) and ({:.0}, {:.0}) are \
     in the middle of {width}x{height}; correct the size in the file (image_width, image_height) or {}, or take the file of the mode in use",
    .stated.0, .stated.1, .centres[0][0], .centres[0][1], .centres[1][0], .centres[1][1], option("size"),
    width = .likely.0, height = .likely.1
)]
pub struct OtherMode {
    pub(super) likely: (usize, usize),
    pub(super) stated: (usize, usize),
    /// Principal points, px.
    pub(super) centres: [[f64; 2]; 2],
}

/// Advice for cameras in the wrong order.
#[derive(Debug, PartialEq, Eq)]
pub struct Order {
    /// Whether the user has swapped left and right of the file.
    pub(super) exchanged: bool,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let swap = option("calibration-swap");
        if self.exchanged {
            return write!(f, "left and right are right as they are in the file: leave {swap} out");
        }
        write!(
            f,
            "either left and right are swapped: give {swap}, and {} too where the images are swapped with them; or T goes from the \
             right camera to the left one: write R transposed, and minus R transposed times T, into the file",
            option("swap-pictures")
        )
    }
}

fn of_size(words: &str, size: Option<(usize, usize)>) -> String {
    size.map_or(String::new(), |(width, height)| format!("{words} {width}x{height}"))
}

impl RigError {
    /// Returns the options with which the user can do something about the error.
    pub(crate) fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Above(_) | Self::LeftOfLeft(_) | Self::Shift { .. } => vec![option("calibration-swap")],
            Self::OtherMode { .. } => vec![option("size")],
            _ => Vec::new(),
        }
    }
}
