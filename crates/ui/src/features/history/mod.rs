//! Changes of the settings, the way back to each of them, and a settings file that is followed.

pub(crate) mod commands;
pub(crate) mod panel;
pub(crate) mod settings_file;
pub(crate) mod state;
