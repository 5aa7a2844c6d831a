//! Distributed operation over Zenoh: heads with cameras, engines that match, programs that watch and record.
//!
//! ```text
//!  head: camera ─▶ newest pair ─▶ publisher ═▶ router ═▶ newest pair ─▶ source of any command
//!                                                    ═▶ newest pair ─▶ engine ─▶ newest result ═▶ router ═▶ newest result ─▶ window
//! ```
//!
//! A message has the content of a recorded pair or result ([`wire`]). Every queue keeps only the newest message, drops are counted,
//! and senders never wait for receivers. There is no coordinator: members announce themselves by liveliness tokens ([`key`]), which
//! also determine the engine of each rig ([`rendezvous`]).
//!
//! ROS 2 nodes have their own keys, times and messages ([`ros2`]).
//!
//! A session that listens is a router, any other a client ([`access`]). There is no automatic discovery.
//!
//! # Design: what a recording holds, as messages, and no coordinator
//!
//! - A message is a head of 40 bytes (`network/wire`) and the packets that a recording would have (`recording/pack`). So a source on the network is read by the code that reads recordings, and what is
//!   tested there against damaged bytes protects here too. A result (`network/result`) has the disparity map itself.
//! - A head keeps all that belongs to its rig: calibration, parameters, clock. Engines and viewers ask for it when the number in a pair's head changes. An engine may die at any moment, because nothing is
//!   stored with it but the state of filters.
//! - `network/rendezvous` computes the order of the engines of a rig from their liveliness tokens, in whole numbers, the same on every machine. A token alone proves nothing: `serve/others` asks all members for
//!   their state, and engines count while they answer. An engine leaves a rig when results of an earlier one in the order have come (`serve/rig`), and takes it where these are silent (`serve`); a viewer drops
//!   results of pairs that it has shown.
//! - A session follows its members once (`network/presence`), and shares that. Replies are taken by callbacks (`network/replies`): a queue that the asking thread empties afterwards can hold it for ever.
//! - A receiver keeps to one head (`network/kept`), and judges messages before they take the place of others (`network/inlet`). Of two members of one name `network/membership` computes which goes on.
//! - A head of one camera is a member of another role, so that no engine takes it for a rig. `network/paired` pairs the images of two by the rule for two cameras of one machine (`capture/pairing`), in
//!   this machine's time. A head asks for no pixels (`capture::Pixels::Unread`): a JPEG that is passed on is not decoded.
//! - `--engine network` is an engine like others (`engine/elsewhere`): its results come with the pairs. `RigSource` holds pairs back until their results are there, only while such an engine wants them.
//!   Parameters follow both ways through `capture::Elsewhere`.
//! - Streams use Zenoh's `BlockFirst` from a thread of their own, each kind with another priority; questions have a higher one, and are answered on a thread of their own (`network/answers`): a thread of
//!   Zenoh that waits reads nothing. A link without room for half a second is given up, because closing it later holds up all others of its router.
//! - A session that listens is a router, and one that only connects a client. `network/access` refuses to listen beyond this machine where nothing says who may connect.
//! - `tools/network/faults.py` starts three machines and a router as namespaces, and stops, slows, cuts and kills each of them.

use stereopsis_base::{console, files, geometry, image, newest, process, rate};
use stereopsis_calibration as calibration;
use stereopsis_capture as capture;
use stereopsis_engine as engine;
use stereopsis_recording as recording;
use stereopsis_settings::settings;
use stereopsis_stereo as stereo;

pub mod access;
mod ages;
mod answers;
pub mod census;
mod clock;
mod error;
#[cfg(feature = "testing")]
pub mod fixture;
mod head;
mod inlet;
mod kept;
pub mod key;
mod membership;
mod outlet;
mod paired;
mod presence;
pub mod rendezvous;
mod replies;
pub mod result;
mod rig;
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
pub use replies::ANSWER_TIMEOUT;
pub use rig::{RigSource, RigView};
pub use session::Network;
