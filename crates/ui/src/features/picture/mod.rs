//! Pictures of views and figures to take along: as PNG or SVG files, or on the clipboard.

pub(crate) mod commands;
pub(crate) mod figure;
pub(crate) mod offscreen;
pub(crate) mod panel;
pub(crate) mod state;
pub(crate) mod svg;
