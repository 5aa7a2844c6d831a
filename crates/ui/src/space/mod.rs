//! Points of a result in space, drawn by the GPU from the disparity map for a movable camera.
//! `camera` has the projection, `drawing` plain data from the settings, `pass` and `screen` draw these with `shaders/space.wgsl`, and
//! `points` computes the same points on the host for files. Lengths are in m in the left camera's axes: x right, y down, z forward.

mod camera;
mod drawing;
mod lines;
mod pass;
mod points;
mod screen;
pub(crate) mod panel;
pub(crate) mod commands;
mod save_menu;
mod settings;
#[cfg(test)]
mod tests;

pub(crate) use camera::{Lens, Pose};
pub(crate) use drawing::{Drawing, Scene};
pub(crate) use lines::grid_spacing_m;
pub(crate) use pass::Inputs;
pub(crate) use points::{NotOnHost, ShownPoints, shown_points};
pub(crate) use screen::SpaceScreen;
pub(crate) use settings::{Colouring, DENSITIES, PointsWish, SpaceSettings, Surface, every_text};
