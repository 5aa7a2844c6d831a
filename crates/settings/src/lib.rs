//! Settings of a run and the rig of the user: defaults, settings file, preset and flags resolved into plain data.

pub mod settings;
pub mod rig;
