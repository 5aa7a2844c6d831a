//! What other machines, viewers and nodes of ROS 2 see of this one, and what they can do to it.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "tests say why they are skipped, and fail by panicking")]

#[cfg(feature = "zenoh")]
mod network;
mod publish;
#[cfg(feature = "zenoh")]
mod ros2;
