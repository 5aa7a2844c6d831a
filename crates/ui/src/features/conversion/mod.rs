//! Conversion of the open recording: recomputation and export.

mod commands;
mod panel;
mod state;

pub(crate) use state::ConversionState;
#[cfg(test)]
pub(crate) use state::{Conversion, ConversionStep};
