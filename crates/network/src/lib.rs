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
