//! Conversion of the open recording: recomputation and export.

mod commands;
mod panel;
mod state;

pub(crate) use commands::Converter;
#[cfg(test)]
pub(crate) use {commands::ConversionStep, state::Conversion};
