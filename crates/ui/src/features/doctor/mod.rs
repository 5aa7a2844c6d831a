//! Examination of this machine.

mod commands;
mod panel;

pub(crate) use commands::Doctor;
