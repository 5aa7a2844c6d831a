//! Choice of files and folders: by the system's dialog, or by a typed path where there is none.

pub(crate) mod commands;
pub(crate) mod state;
pub(crate) mod system;
