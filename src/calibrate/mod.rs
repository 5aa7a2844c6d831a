//! `stereopsis calibrate`: from pictures of a printed board to a calibrated rig, and how wrong its metres will be.
//!
//! [`Board`] says what is printed, `detect` finds its corners in pictures, `solve` computes both cameras from all views at
//! once.

mod board;
mod drawing;
#[cfg(test)]
mod fixture;
mod lens_kind;
mod pose;
mod solve;
mod print;
mod detect;
mod view;

pub use board::{Board, Pattern};
pub use lens_kind::LensKind;
pub use pose::Pose;
pub use solve::{Options, Solution, ViewFit, solve};
pub use drawing::Rect;
pub use print::{BoardKind, Paper, PrintFormat, page};
pub use detect::{Detector, Seen, edge_width_px};
pub use view::{Corner, Eye, View};
