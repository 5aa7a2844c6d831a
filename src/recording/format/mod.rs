//! The formats in which messages lie in a file.

use crate::choices;

choices! {
    /// In which words a recording is written.
    pub enum Format {
        /// ROS 2's messages: opens in ROS 2, Foxglove, Python, and as depth in rerun.
        Ros2 = "ros2",
        /// Foxglove's messages.
        Foxglove = "foxglove",
    }
}
