//! Refusals of an estimate.

use stereopsis_base::console::counted;
use stereopsis_base::remedy::{Remedy, option};

/// Reason why a rig cannot be estimated from images.
#[derive(Debug, thiserror::Error)]
pub enum EstimateError {
    /// The list of pairs is empty.
    #[error("there is no pair of images")]
    NoPair,
    /// The images have several sizes.
    #[error("the images have different sizes; take all with one camera mode")]
    Sizes,
    /// The given lens or baseline is not above 0.
    #[error("focal length {focal_px} px and baseline {baseline_m} m must be above 0")]
    Lengths { focal_px: f64, baseline_m: f64 },
    /// Most matches contradict each other.
    #[error(
        "only {agreeing} of {found} points agree on how the cameras stand; keep rig and scene still while the images are taken, and \
         show things at several distances instead of a repeated pattern"
    )]
    Disagreement { agreeing: usize, found: usize },
    /// Most matches lie behind the cameras.
    #[error("with a focal length of {0:.0} px the points lie behind the cameras; check it")]
    Behind(f64),
    /// Left and right are exchanged: mirrored images match.
    #[error("left and right are swapped: give the two cameras in the other order")]
    Exchanged,
    /// Left and right are exchanged, or the cameras look towards each other: disparities are negative, down to this one, px.
    #[error(
        "left and right are swapped: give the two cameras in the other order, as points lie up to {:.0} px on the wrong side; if the order \
         is right, the cameras look towards each other: turn them apart, or show something nearer", -.0
    )]
    Negative(f64),
    /// All matches have nearly the same disparity.
    #[error(
        "all points are at about the same distance (their disparities differ by {0:.1} px); show something near and something far \
         at once"
    )]
    OneDepth(f64),
    /// The rows differ more than before, or much.
    #[error(
        "after the estimate rows would differ by {after:.1} px, before by {before:.1} px, so it is not taken: show more things with \
         texture, near and far, or calibrate the cameras"
    )]
    Rows { before: f64, after: f64 },
    /// The row offsets scatter.
    #[error("the row offsets of the points scatter too much to be measured")]
    Scatter,
    /// Rows disagree, and columns agree in this number of matches.
    #[error(
        "{} lie in the same columns of both images and not in the same rows: if one camera stands above the other, say so ({})",
        counted(*.0 as u64, "point"), option("vertical")
    )]
    Vertical(usize),
    /// The images have this mean brightness.
    #[error("the images are dark, mean {0:.0} of 255: more light, or a longer exposure")]
    Dark(f64),
    /// The images have this mean number of corners.
    #[error(
        "the images have too little texture ({} an image); aim the cameras at things with detail, in good light and focus",
        counted(*.0 as u64, "corner")
    )]
    LittleTexture(usize),
    /// The images have few matches.
    #[error(
        "the images have little in common ({} in {}, of {} an image): let both cameras look at the same things, about the same way up, \
         rows within 8 % of the height, nothing too near",
        counted(*.found as u64, "point"), counted(*.pairs as u64, "pair"), counted(*.corners as u64, "corner")
    )]
    FewMatches { found: usize, pairs: usize, corners: usize },
}

impl EstimateError {
    /// Returns the options with which the user can do something about the error.
    pub(crate) fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Exchanged | Self::Negative(_) => vec![option("swap-pictures")],
            Self::Vertical(_) => vec![option("vertical")],
            _ => Vec::new(),
        }
    }
}
