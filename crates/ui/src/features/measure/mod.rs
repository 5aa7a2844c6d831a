//! Measurement of distances and of depth quality.

mod commands;
mod panel;

pub(crate) use commands::Measure;
