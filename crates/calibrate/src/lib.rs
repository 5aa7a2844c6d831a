//! `stereopsis calibrate`: from pictures of a printed board to a calibrated rig with predicted depth errors.
//!
//! [`Board`] describes the print, `detect` finds its corners, `solve` computes both cameras from all views, `judge` predicts depth
//! errors, and an [`Outcome`] combines the results with the reasons against using them.

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
pub use view::{Corner, Eye, View};
pub use watch::{Progress, Watch};
