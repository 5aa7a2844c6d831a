//! Presets of the program and of the user.

pub(crate) mod commands;
pub(crate) mod panel;
