//! Distributed operation over Zenoh: heads publish the pairs of cameras, engines match them, and other programs show and record both.
//!
//! ```text
//!  head: camera ─▶ newest pair ─▶ publisher ═▶ router ═▶ newest pair ─▶ source of any command
//!                                                    ═▶ newest pair ─▶ engine ─▶ newest result ═▶ router ═▶ newest result ─▶ window
//! ```
//!
//! Every queue keeps only the newest message, drops are counted, and senders never wait for receivers. There is no coordinator: members
//! announce themselves by liveliness tokens ([`key`]), which also determine the engine of each rig ([`rendezvous`]). ROS 2 nodes have
//! their own keys, times and messages ([`ros2`]).
//!
//! # Design: recorded messages over a network, without a coordinator
//!
//! - A message is a header of 40 bytes ([`wire`]) and the packets that a recording would contain (`recording/pack`). So the reader of
//!   recordings, which is tested against damaged bytes, reads pairs of the network too. A result ([`result`]) contains the disparity map.
//! - A head keeps all data of its rig: calibration, parameters, clock. Engines and viewers query it when the description's number in a
//!   header changes. An engine may fail at any moment, because it stores nothing except the state of filters.
//! - [`rendezvous`] computes the order of the engines of a rig from their liveliness tokens in integers, identically on every machine. A
//!   token alone does not prove that a program runs: `serve/members` polls all members, and engines count while they answer. An engine
//!   leaves a rig when results of an earlier one in the order arrive (`serve/rig`), and takes a rig when the earlier ones are silent
//!   (`serve`). A viewer drops results of pairs that it has shown.
//! - A session observes its members once (`presence`). Replies are collected by callbacks (`replies`): with a queue that the querying
//!   thread empties afterwards, that thread could block for ever.
//! - A receiver is bound to one head (`tracked_head`), and judges messages before they replace others (`inlet`). Of two members of one
//!   name, `membership` determines the one that continues.
//! - A head of one camera has its own role, so that no engine takes it for a rig. `paired` pairs the images of two such heads by the rule
//!   for two local cameras (`frame/pairing`), in this machine's time. A head forwards images undecoded (`frame::Pixels::Unread`).
//! - With `--engine network` a viewer opens the engine that a [`RigSource`] brings (`rig_engine`): its jobs wait for the results of their
//!   pairs. A result of a newer pair ends the wait. Parameters are exchanged through `parameters`.
//! - Streams use Zenoh's `BlockFirst` from a separate thread, each kind with its own priority. Queries have a higher one and are answered
//!   on a separate thread (`answers`), because a blocked thread of Zenoh reads nothing. A link without room for half a second is closed:
//!   closing it later would block all other links of its router.
//! - A session that listens is a router, any other a client; there is no automatic discovery. [`access`] refuses to listen on addresses
//!   that other machines can reach without a rule for who may connect.
//! - `tools/network/faults.py` starts three machines and a router as namespaces, and stops, slows, disconnects and kills each of them.

pub mod access;
mod ages;
mod answers;
pub mod census;
mod clock;
mod error;
pub mod fixture;
mod head;
mod head_error;
mod inlet;
mod tracked_head;
pub mod key;
mod membership;
mod outlet;
mod paired;
mod parameters;
mod presence;
pub mod rendezvous;
mod repeated;
mod replies;
pub mod result;
mod rig;
mod rig_engine;
pub mod ros2;
mod session;
pub mod status;
mod watch;
pub mod wire;

pub use access::{Access, Endpoint};
pub use ages::watch_results;
pub use error::NetworkError;
pub use head::{ControlRequest, Head};
pub use inlet::{Inlet, Verdict};
pub use membership::Membership;
pub use outlet::{Outlet, OutletCounts, Parcel, Stream};
pub use paired::PairedHeads;
pub use presence::{Presence, Present};
pub use repeated::Repeated;
pub use replies::ANSWER_TIMEOUT;
pub use rig::{RigSource, RigView};
pub use session::{AnswerError, Network};
