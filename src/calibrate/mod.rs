//! `stereopsis calibrate`: from pictures of a printed board to a calibrated rig, and how wrong its metres will be.
//!
//! [`Board`] says what is printed, `detect` finds its corners in pictures, `solve` computes both cameras from all views at
//! once.

mod board;
mod view;

pub use board::{Board, Pattern};
pub use view::{Corner, Eye, View};
