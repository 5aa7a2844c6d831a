//! `stereopsis calibrate`: from images of a printed board to a calibrated rig with predicted depth errors.
//!
//! [`Board`] describes the print, `detect` finds its corners, `solve` computes both cameras from all views, `judge` predicts depth
//! errors, and an [`Outcome`] combines the results with the reasons against using them.
//!
//! # Design: a number that says how wrong metres will be
//!
//! ```text
//!  pairs ─▶ detect: corners of both sides ─▶ views ─▶ solve: both cameras at once ─▶ judge: solved again without each group of views ─▶ outcome ─▶ save, report
//!  live: raw tap ─▶ watch (a thread) ─▶ session: still, sharp, new? ─▶ views              guide: the pose that lowers the error most ◀─┘
//! ```
//!
//! - `detect` uses the lattices of calib-targets, and moves each corner to the saddle of its brightness. `solve` is a bundle adjustment on nalgebra: Huber's cost,
//!   poses eliminated, weak priors on lens terms, so that no coefficient is larger than the views say. Both cameras are solved jointly: solved one after the other they
//!   keep each other's errors, and rows differ.
//! - `judge` predicts the error of depth by the jackknife. A covariance flatters, because it knows nothing of blur, bent boards and lens models that do not fit.
//! - `outcome` has all reasons to refuse a calibration, `text` and `report` only say them. Every view of a calibration shows its refusals.
//! - A folder, a recording, a live session and the window all end in `calibrate::calibrate`. Of a folder an image is in memory only while it is looked at.
//! - `save` writes a calibration beside the earlier one. The rename of its file decides, and the folder beside it follows (`files/new_folder`); views of which comes no
//!   calibration are kept apart.

use stereopsis_base::{console, files, geometry, image, newest};
use stereopsis_calibration as calibration;
use stereopsis_capture as capture;

mod board;
mod coverage;
mod detect;
mod drawing;
#[cfg(any(test, feature = "testing"))]
pub mod fixture;
mod gather;
mod guide;
mod judge;
mod lens_kind;
mod marker;
mod outcome;
mod pictures;
mod pose;
mod print;
mod report;
mod save;
mod session;
mod solve;
#[cfg(test)]
mod tests;
mod text;
mod view;
mod watch;

pub use board::{Board, Pattern};
pub(crate) use coverage::tilt_deg;
pub use coverage::{CELLS, Coverage};
pub use gather::{BatchViews, gather};
pub use guide::TargetPose;
pub use judge::{DepthError, Judgement, depth_difference};
pub use lens_kind::LensKind;
pub use outcome::{MIN_VIEWS, Outcome, Request, calibrate};
pub use pictures::PairFiles;
pub use pictures::Pictures;
pub use pose::Pose;
pub use print::{BoardKind, Paper, PrintFormat, page};
pub use save::{BOARD_FILE, Draft, Saved, folder_of, paths_of};
pub use session::{BoardFrame, Notice, Session, Taken, views_of};
pub use solve::{Solution, ViewFit, solve};
pub use stereopsis_capture::pairing::Side;
pub use view::{Corner, View};
pub use watch::{Progress, Watch};
