//! Live calibration with a printed board.

pub(crate) mod board;
pub(crate) mod commands;
pub(crate) mod look;
pub(crate) mod panel;
pub(crate) mod pictures;
pub(crate) mod result;
pub(crate) mod views;
