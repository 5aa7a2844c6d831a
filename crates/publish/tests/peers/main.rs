//! Tests of publishing to Foxglove clients, other machines and ROS 2 nodes, including hostile ones.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "tests say why they are skipped, and fail by panicking")]

#[cfg(feature = "zenoh")]
mod network;
mod publish;
#[cfg(feature = "zenoh")]
mod ros2;
