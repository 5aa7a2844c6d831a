//! Publishes the topics of a recording live: for Foxglove over a WebSocket ([`Foxglove`]), where clients can also set parameters, and for
//! ROS 2 over Zenoh ([`ros2`]). Capture and engine never wait here: the newest frame replaces one that is not packed yet.
//!
//! ```text
//!  capture, engine ─▶ newest frame, newest result ─▶ packets of subscribed topics ─▶ a queue for each client ─▶ network
//!  (taps)             (inbox)                        (worker, topics)                (hub, outbox)              (client)
//!  pipeline ◀─────────────────── requested parameters (panel) ◀───────────────────── requests (protocol) ◀──── admission (server, guard)
//! ```
//!
//! # Design: access is decided before anything is sent, and nothing grows without bound
//!
//! - A [`Publication`] has an inbox, a panel and a thread, whatever its [`Link`]; a run has any number of them.
//! - The server is the program's own, on `tungstenite`. The server of the crate `foxglove` cannot refuse a request, limits neither clients
//!   nor their messages, and ends silently when file descriptors run out. A proxy in front of it would leave its port open.
//! - [`guard`], [`protocol`] and [`panel`] do no input or output, so that fuzz targets can call them.
//! - Everything that clients can make grow is bounded by a constant.
//! - Each client has a thread that reads and one that writes; only the latter waits for the network. The outbox drops the oldest
//!   messages and disconnects a client that leaves its answers unread. All clients share the bytes of a message.

mod address;
mod client;
mod error;
mod foxglove;
pub mod guard;
mod hub;
mod inbox;
mod listening;
pub mod origin;
mod outbox;
pub mod panel;
pub mod protocol;
mod publication;
#[cfg(feature = "zenoh")]
pub mod ros2;
mod run;
#[cfg(feature = "zenoh")]
pub mod serve;
mod server;
mod target;
mod token;
mod topics;
mod worker;

pub use address::Address;
pub use client::MAX_MESSAGE_BYTES;
pub use error::{AddressError, PlaceFault, PublishError};
pub use foxglove::{Foxglove, PublishOptions};
pub use hub::MAX_CLIENTS;
pub use origin::WebOrigin;
pub use publication::{Link, Publication};
pub use server::MAX_CONNECTIONS;
pub use target::PublishTarget;
pub use token::{Token, TokenError};
