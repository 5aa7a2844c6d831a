//! Examination of this machine.

pub(crate) mod commands;
pub(crate) mod panel;
pub(crate) mod state;
