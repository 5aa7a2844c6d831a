//! The open recording computed again, or exported.

pub(crate) mod commands;
pub(crate) mod panel;
pub(crate) mod state;
