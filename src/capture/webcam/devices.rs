//! Which cameras there are and what they can send.
//!
//! Each one is asked on a thread of its own, all at once, because a camera may take a second to wake, or never answer.

use super::claim::{Claim, modes_of_claimed};
use super::device::{self, DeviceError};
use super::fault::{self, number};
use super::mode::{Mode, is_wide};
use super::sysfs::{self, UsbBus};
use crate::capture::CaptureError;
use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use nokhwa::utils::ApiBackend;
use std::thread;
use std::time::{Duration, Instant};

/// A camera that the system lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CameraInfo {
    /// Its number, as in `webcam:0,1`; it may change when cameras are plugged in again.
    pub index: u32,
    /// What it calls itself.
    pub name: String,
    /// Where it is plugged in, as far as the system says; stays the same when numbers change. On Linux the name below
    /// /dev/v4l/by-path where there is one, else that of the device.
    pub port: String,
    /// The USB bus that it shares with others, where the system says it.
    pub bus: Option<UsbBus>,
    /// What it can send, sorted; empty if `problem` says why.
    pub modes: Vec<Mode>,
    /// Why it cannot be used now: busy, no permission, no readable format, no answer.
    pub problem: Option<String>,
}

impl CameraInfo {
    /// Its largest pictures are at least twice as wide as high: it seems to show both eyes side by side.
    pub fn proposes_side_by_side(&self) -> bool {
        is_wide(&self.modes)
    }
}

/// How long a camera may take to list its modes.
const LISTING_TIMEOUT: Duration = Duration::from_secs(3);

/// All cameras, by number, with their modes.
///
/// # Errors
/// The system cannot list cameras at all. A camera that cannot be opened is listed with its `problem`.
pub fn cameras() -> Result<Vec<CameraInfo>, CaptureError> {
    let asked: Vec<_> = listed()?.into_iter().map(|camera| (ask(camera.index), camera)).collect();
    let deadline = Instant::now() + LISTING_TIMEOUT;
    let mut found = Vec::new();
    for (answer, mut camera) in asked {
        let index = camera.index;
        match answer.recv_deadline(deadline) {
            Ok(Ok(modes)) if !modes.is_empty() => camera.modes = modes,
            // what has nothing to show beside the first node of a camera carries its metadata
            Ok(Ok(_)) if sysfs::is_secondary_node(index) => continue,
            Ok(Ok(_)) => camera.problem = Some(fault::unreadable(index).to_string()),
            // unplugged since it was listed, or a converter that lives among the cameras
            Ok(Err(error)) if error.number == Some(number::MISSING) || error == device::no_camera() => continue,
            Ok(Err(error)) => camera.problem = Some(fault::explain(index, "open it", &error).to_string()),
            Err(RecvTimeoutError::Timeout) => {
                camera.problem = Some(fault::unanswered(index, LISTING_TIMEOUT).to_string())
            }
            Err(RecvTimeoutError::Disconnected) => camera.problem = Some(fault::ended(index).to_string()),
        }
        found.push(camera);
    }
    Ok(found)
}

/// Asks a camera for its modes; the answer comes through the channel, if it ever comes.
fn ask(index: u32) -> Receiver<Result<Vec<Mode>, DeviceError>> {
    let (sender, answer) = bounded(1);
    let Some(claim) = Claim::try_take(index) else {
        // never disturb a camera that this program reads
        let modes = modes_of_claimed(index);
        if modes.is_empty() {
            // it is just being opened, or hangs
            let _ = sender.send(Err(fault::held_here()));
        } else {
            let _ = sender.send(Ok(modes));
        }
        return answer;
    };
    // without a thread the channel closes, which is an answer too
    let _ = thread::Builder::new().name(format!("camera {index} modes")).spawn(move || {
        let modes = device::open(index).and_then(|mut device| device.modes());
        drop(claim);
        let _ = sender.send(modes);
    });
    answer
}

/// What the system lists, by number, without opening anything.
pub(super) fn listed() -> Result<Vec<CameraInfo>, CaptureError> {
    ask_for_permission();
    let named = match sysfs::nodes_beside_odd_names() {
        Some(nodes) => nodes.into_iter().map(|(index, name)| (index, name, String::new())).collect(),
        None => found_by_nokhwa()?,
    };
    let mut cameras: Vec<CameraInfo> = named
        .into_iter()
        .map(|(index, name, place)| {
            let port = sysfs::port(index).unwrap_or(place);
            CameraInfo { index, name, port, bus: sysfs::bus(index), modes: Vec::new(), problem: None }
        })
        .collect();
    cameras.sort_by_key(|c| c.index);
    cameras.dedup_by_key(|c| c.index);
    Ok(cameras)
}

/// Number, name and place of each camera.
fn found_by_nokhwa() -> Result<Vec<(u32, String, String)>, CaptureError> {
    let listed = nokhwa::query(ApiBackend::Auto)
        .map_err(|e| CaptureError::Camera(format!("the system does not list its cameras: {e}")))?;
    let camera = |info: &nokhwa::utils::CameraInfo| {
        let index = info.index().as_index().ok()?;
        // on Linux `/dev/video-dec0` and the like are listed too, under the number of a camera
        let is_another =
            cfg!(target_os = "linux") && !info.description().ends_with(&format!(" {}", fault::node(index)));
        (!is_another).then(|| (index, info.human_name(), info.misc().trim().to_owned()))
    };
    Ok(listed.iter().filter_map(camera).collect())
}

#[cfg(target_os = "macos")]
fn ask_for_permission() {
    use std::sync::Once;
    static ASKED: Once = Once::new();
    ASKED.call_once(|| {
        let (sender, answered) = bounded(1);
        nokhwa::nokhwa_initialize(move |_| {
            let _ = sender.try_send(());
        });
        // the user may take his time to answer; without an answer the cameras stay shut, which opening then says
        let _ = answered.recv_timeout(Duration::from_secs(30));
    });
}

#[cfg(not(target_os = "macos"))]
fn ask_for_permission() {}
