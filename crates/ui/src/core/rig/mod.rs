//! Options, calibration and camera controls of the source.

pub(crate) mod commands;
pub(crate) mod controls;
pub(crate) mod estimate_pairs;
pub(crate) mod sides;
pub(crate) mod state;
