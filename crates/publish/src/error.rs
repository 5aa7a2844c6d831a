//! Faults of publishing.

use super::token::TokenError;
use std::io;
use std::net::SocketAddr;
use stereopsis_base::files;
use stereopsis_base::remedy::Remedy;

/// Reason why a run is not published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The address cannot be listened on.
    #[error("cannot publish on {}: {}", .0, bind_cause(.1))]
    Address(SocketAddr, io::Error),
    /// The system provides no thread, or no port.
    #[error("cannot publish: {}", files::cause(.0))]
    System(#[from] io::Error),
    /// There is no token.
    #[error("cannot publish: {0}")]
    Token(#[from] TokenError),
    /// The graph of ROS 2 cannot be joined.
    #[cfg(feature = "zenoh")]
    #[error(transparent)]
    Ros2(#[from] stereopsis_network::ros2::RosError),
    /// The system provides no thread for ROS 2.
    #[cfg(feature = "zenoh")]
    #[error("cannot publish to ROS 2: {}", files::cause(.0))]
    Ros2Thread(io::Error),
}

fn bind_cause(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "the port is taken, perhaps by another stereopsis or a ROS bridge: end that, or choose another port as in {} (:0 takes any)",
            Remedy::set("publish", "foxglove=:8766")
        ),
        io::ErrorKind::AddrNotAvailable => {
            "this machine has no such address; 0.0.0.0 stands for all that it has".to_owned()
        }
        io::ErrorKind::PermissionDenied => "the system keeps this port for itself: choose one from 1024 up".to_owned(),
        _ => files::cause(error),
    }
}

/// Fault of the words that say to whom a run is published.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// The words name no receiver.
    #[error("'{0}': expected foxglove, foxglove=ADDRESS:PORT or ros2")]
    Target(String),
    /// ROS 2 has an address.
    #[error(
        "'{0}': ros2 takes no address; the variables ROS_DOMAIN_ID and ZENOH_CONFIG_OVERRIDE say where its nodes are"
    )]
    Ros2(String),
    /// This build has no network.
    #[cfg(not(feature = "zenoh"))]
    #[error("ros2 {}", stereopsis_base::console::NO_NETWORK)]
    NoNetwork,
    /// The address of the server has a fault.
    #[error("'{0}': {1}; expected ADDRESS:PORT, ADDRESS or :PORT")]
    Place(String, PlaceFault),
}

/// Fault of an address to listen on.
#[derive(Debug, thiserror::Error)]
pub enum PlaceFault {
    /// The port is no number of a port.
    #[error("a port is a number from 0 to 65535")]
    Port,
    /// A number stands in the place of a name.
    #[error("that is no address")]
    NoAddress,
    /// The name has no address.
    #[error("no such machine")]
    NoMachine,
    /// The name cannot be resolved.
    #[error("no such machine ({})", files::cause(.0))]
    Unresolved(io::Error),
}
