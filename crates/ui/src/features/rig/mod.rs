//! Rig page: two cameras and their sides, calibration, depth from known distances, camera controls, and the rig file.

pub(crate) mod by_itself;
pub(crate) mod controls_panel;
pub(crate) mod panel;
pub(crate) mod rows_panel;
mod scale_panel;
pub(crate) mod self_calibration;
