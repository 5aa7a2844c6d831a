//! Explanation of a pixel: its costs, sums, tests, and remedies.

pub(crate) mod commands;
pub(crate) mod curves;
pub(crate) mod directions;
pub(crate) mod panel;
pub(crate) mod pictures;
