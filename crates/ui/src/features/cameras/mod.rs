//! Page of cameras: images of all of them, left and right by a click, rigs of the network.

pub(crate) mod panel;
#[cfg(feature = "zenoh")]
pub(crate) mod rigs;
