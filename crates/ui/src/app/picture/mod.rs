//! Saved images of views and figures: PNG or SVG files, or the clipboard.

pub(crate) mod commands;
pub(crate) mod figure;
pub(crate) mod offscreen;
pub(crate) mod panel;
pub(crate) mod svg;
