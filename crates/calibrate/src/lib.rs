//! `stereopsis calibrate`: from images of a printed board to a calibrated rig with predicted depth errors.
//!
//! [`Board`] describes the print, `detect` finds its corners, `solve` computes both cameras from all views, `judge` predicts depth
//! errors, and an [`Outcome`] combines the results with the reasons against using them.
//!
//! # Design: a number that says how wrong metres will be
//!
//! ```text
//!  pairs ─▶ detect: corners of both sides ─▶ views ─▶ solve: both cameras at once ─▶ judge: solutions without each group of views
//!                                                                                     └─▶ outcome ─▶ save, report
//!  live: raw tap ─▶ watch (a thread) ─▶ session: still, sharp, new? ─▶ views
//!                                          ▲ guide: the pose that lowers the error most ◀─ outcome
//! ```
//!
//! - `detect` uses the lattices of calib-targets, and moves each corner to the saddle of its brightness.
//! - `solve` is a bundle adjustment on nalgebra with Huber's cost, eliminated poses, and weak priors on lens terms, which keep coefficients
//!   small where the views leave them open. A joint solution of both cameras makes rows agree; separate ones keep their own errors.
//! - `judge` predicts the error of depth by the jackknife, because a covariance ignores blur, bent boards and unsuitable lens models.
//! - `outcome` has all reasons to refuse a calibration; `text` and `report` only state them, and every output contains them.
//! - A folder, a recording, a live session and the window all end in `calibrate::calibrate`. An image of a folder is in memory only
//!   during its examination.
//! - `save` writes a calibration beside the earlier one. The rename of its file decides, and the folder beside it follows
//!   (`files/new_folder`); views without a calibration are kept separately.

mod board;
mod coverage;
mod detect;
mod drawing;
mod error;
mod finding;
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

pub use board::{Board, BoardError, Pattern};
pub(crate) use coverage::tilt_deg;
pub use coverage::{CELLS, Coverage};
pub use error::CalibrateError;
pub use finding::MIN_VIEWS;
pub use gather::{BatchViews, gather};
pub use guide::TargetPose;
pub use judge::{DepthError, Judgement, depth_difference};
pub use lens_kind::LensKind;
pub use outcome::{CalibrationRequest, Outcome, calibrate};
pub use pictures::{PairFiles, Pictures};
pub use pose::Pose;
pub use print::{BoardKind, Paper, PrintFormat, page};
pub use save::{BOARD_FILE, Draft, SavedCalibration, folder_of, paths_of};
pub use session::{BoardFrame, CalibrationSession, Notice, TakenView, views_of};
pub use solve::{Solution, ViewFit, solve};
pub use view::{Corner, View};
pub use watch::{Progress, Watch};
