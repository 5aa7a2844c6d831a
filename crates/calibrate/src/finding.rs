//! Reasons against the use of a calibration, and what would improve it.

use std::sync::Arc;
use stereopsis_base::console::counted;
use stereopsis_base::geometry::Axis;
use stereopsis_calibration::CalibrationError;

/// Smallest number of views with the board in both images.
pub const MIN_VIEWS: usize = 8;
/// Smallest value of the largest tilt, degrees: without tilt focal length and distance are ambiguous.
pub(super) const MIN_TILT_DEG: f64 = 20.0;
/// Largest row distance in held-out views, px.
pub(super) const MAX_ROWS_PX: f64 = 0.5;

/// Reason against the use of a calibration, or a doubt about one that is used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Finding {
    /// Number of views with the board in both images, too small.
    #[error("only {} {} the board to both cameras; {} are the least", counted(*.0 as u64, "view"), if *.0 == 1 { "shows" } else { "show" }, MIN_VIEWS)]
    FewViews(usize),
    /// The rotation between the cameras is about half a turn.
    #[error("one camera is upside down relative to the other: turn its images by 180 degrees")]
    UpsideDown,
    /// The right camera stands on the left, or above.
    #[error(
        "left and right are exchanged: the right camera stands {}; give the cameras, or the folders, in the other order",
        match .0 {
            Axis::Horizontal => "to the left of the left one",
            Axis::Vertical => "above the left one, and of two such cameras the upper one is the left one",
        }
    )]
    Exchanged(Axis),
    /// Largest tilt of the board, degrees.
    #[error(
        "the board is tilted by {0:.0} degrees at most, and {least:.0} are needed somewhere: without tilt a longer focal length looks like \
         a larger distance",
        least = MIN_TILT_DEG
    )]
    Tilt(f64),
    /// No corner lies near some borders of an image.
    #[error("no corner was seen near the {} of the {side} image: the lens there is a guess", named(.borders))]
    Unseen { side: &'static str, borders: Vec<&'static str> },
    /// Largest width of the board, as a share of the image's.
    #[error(
        "the board fills at most {:.0} % of the {side} image's width: hold it nearer, or print a larger one",
        100.0 * .width
    )]
    Small { side: &'static str, width: f64 },
    /// Number of views in which the cameras contradict each other.
    #[error(
        "in {split} of {views} views the cameras contradict each other: the images are not of the same moment, or not of the same board; \
         hold the board still for each view"
    )]
    Contradiction { split: usize, views: usize },
    /// Re-projection errors of each camera alone and of both together.
    #[error(
        "each camera alone explains its corners within {alone_px:.2} px, both together within {together_px:.2} px: the rig moved, or \
         images of the two cameras are not of the same moment (skew, rolling shutter); hold the board still"
    )]
    Moved { alone_px: f64, together_px: f64 },
    /// Relative change of the focal length from the first to the last views.
    #[error(
        "the focal length changed by {:.1} % between the first and the last views: switch the autofocus off, and do not zoom",
        100.0 * .0
    )]
    FocalLength(f64),
    /// Height of the board's squares relative to their width, less 1.
    #[error(
        "the squares of the board are {:.1} % {}: the printer scaled both directions differently, or the board is bent; print again at \
         100 % and measure across and down",
        100.0 * .0.abs(), if *.0 > 0.0 { "higher than they are wide" } else { "wider than they are high" }
    )]
    Squares(f64),
    /// Distance of rows in held-out views.
    #[error(
        "in views that the solution has not used, {} differ by {px:.2} px; {most} is the most for good matching",
        .axis.lines(), most = MAX_ROWS_PX
    )]
    Rows { axis: Axis, px: f64 },
    /// Size of the board in held-out views, relative to its description.
    #[error("in views that the solution has not used, the board measures {:.1} % of its size", 100.0 * .0)]
    BoardSize(f64),
    /// The rig cannot be rectified.
    #[error(transparent)]
    Rectification(Arc<CalibrationError>),
}

/// Recommendation for the next calibration.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Advice {
    /// Borders of an image near which the board was not shown.
    #[error("show the board nearer to the {} of the {side} image", named(.borders))]
    Nearer { side: &'static str, borders: Vec<&'static str> },
    /// Errors of the calibration exceed those of matching.
    #[error(
        "more views, with the board tilted in all directions and in all parts of the images, would lower the error"
    )]
    MoreViews,
    /// Errors of matching exceed those of the calibration.
    #[error("the calibration is better than matching: only a longer baseline or more pixels would lower the error")]
    OtherRig,
}

/// Joins the borders' names.
fn named(borders: &[&str]) -> String {
    let (last, others) = borders.split_last().unwrap_or((&"", &[]));
    let plural = if others.is_empty() { "border" } else { "borders" };
    others.iter().rev().fold(format!("{last} {plural}"), |text, other| format!("{other} and {text}"))
}
