//! Comparison of two settings, A and B.

pub(crate) mod commands;
pub(crate) mod panel;
