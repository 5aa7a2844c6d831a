//! Recomputation and export of the open recording.

pub(crate) mod commands;
pub(crate) mod panel;
pub(crate) mod state;
