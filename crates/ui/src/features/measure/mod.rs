//! Measurement of distances and of depth quality.

pub(crate) mod commands;
pub(crate) mod panel;
pub(crate) mod state;
