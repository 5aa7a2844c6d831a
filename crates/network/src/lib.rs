//! Several machines: heads that have cameras, engines that match, programs that watch and record; over Zenoh.
//!
//! ```text
//!  head: camera ─▶ newest pair ─▶ publisher ═▶ router ═▶ newest pair ─▶ source of any command
//!                                                    ═▶ newest pair ─▶ engine ─▶ newest result ═▶ router ═▶ newest result ─▶ window
//! ```
//!
//! A message is what a recording would hold of a pair or a result ([`wire`]). At each place the newest wins, drops are counted, and
//! nothing waits for a receiver. There is no coordinator: who is there is known from liveliness tokens ([`key`]), and which engine
//! has which rig follows from them ([`rendezvous`]).
//!
//! Nodes of ROS 2 are others' ([`ros2`]): they have keys, times and messages of their own.
//!
//! Where a session listens it is a router, and where it only connects a client ([`access`]). Nothing is found by itself.

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
