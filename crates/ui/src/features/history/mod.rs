//! History of the settings, undo and redo, and a settings file that is followed.

pub(crate) mod commands;
pub(crate) mod panel;
