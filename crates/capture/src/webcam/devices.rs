//! Lists cameras and their modes. All cameras are queried in parallel, each on its own thread, because a camera may take a second to
//! wake, or block.

use super::claim::{Claim, modes_of_claimed};
use super::device::{self, DeviceError};
use super::error::{CameraError, number};
use super::mode::Mode;
use super::sysfs::{self, UsbBus};
use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use std::thread;
use std::time::{Duration, Instant};
use stereopsis_frame::{CameraApi, CaptureError};

/// Listed camera.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetectedCamera {
    /// Number, as in `webcam:0,1`; it may change when cameras are plugged in again.
    pub index: u32,
    /// Name according to the driver.
    pub name: String,
    /// Port at which it is plugged in, which stays when numbers change; empty if unknown. On Linux the name below /dev/v4l/by-path, or
    /// without one the name of the device.
    pub port: String,
    /// USB bus; `None` if unknown.
    pub bus: Option<UsbBus>,
    /// Modes, sorted; empty if `problem` is set.
    pub modes: Vec<Mode>,
    /// Reason why it cannot be used now: busy, no permission, no supported format, no answer.
    pub problem: Option<String>,
}

impl DetectedCamera {
    /// Returns whether its largest images are at least twice as wide as high, like those of side-by-side cameras.
    pub fn proposes_side_by_side(&self) -> bool {
        let largest = self.modes.iter().max_by_key(|mode| mode.width * mode.height);
        largest.is_some_and(|mode| mode.width >= 2 * mode.height)
    }
}

const LISTING_TIMEOUT: Duration = Duration::from_secs(3);

/// Returns all cameras, by number, with their modes.
///
/// # Errors
/// The system cannot list cameras at all. A camera that cannot be opened is listed with its `problem`.
pub fn cameras() -> Result<Vec<DetectedCamera>, CaptureError> {
    let queries: Vec<_> = listed()?.into_iter().map(|camera| (query(camera.index), camera)).collect();
    let deadline = Instant::now() + LISTING_TIMEOUT;
    let mut found = Vec::new();
    for (answer, mut camera) in queries {
        let index = camera.index;
        match answer.recv_deadline(deadline) {
            Ok(Ok(modes)) if !modes.is_empty() => camera.modes = modes,
            // a further node without images is for metadata
            Ok(Ok(_)) if sysfs::is_secondary_node(index) => continue,
            Ok(Ok(_)) => camera.problem = Some(CameraError::Unreadable(index).to_string()),
            // unplugged since it was listed, or a converter that takes no images
            Ok(Err(DeviceError::NoCamera)) => continue,
            Ok(Err(error)) if error.number() == Some(number::MISSING) => continue,
            Ok(Err(error)) => camera.problem = Some(CameraError::of_device(index, "open it", error).to_string()),
            Err(RecvTimeoutError::Timeout) => {
                camera.problem = Some(CameraError::Unanswered { index, since: LISTING_TIMEOUT }.to_string());
            }
            Err(RecvTimeoutError::Disconnected) => camera.problem = Some(CameraError::Ended(index).to_string()),
        }
        found.push(camera);
    }
    Ok(found)
}

/// Queries a camera's modes; the channel stays empty while the driver blocks.
fn query(index: u32) -> Receiver<Result<Vec<Mode>, DeviceError>> {
    let (sender, answer) = bounded(1);
    let Some(claim) = Claim::try_take(index) else {
        // a camera that this program has open must not be opened again
        let modes = modes_of_claimed(index);
        if modes.is_empty() {
            // the camera is being opened, or its driver blocks
            let _ = sender.send(Err(DeviceError::Held));
        } else {
            let _ = sender.send(Ok(modes));
        }
        return answer;
    };
    // without a thread the channel disconnects, which counts as an answer
    let _ = thread::Builder::new().name(format!("camera {index} modes")).spawn(move || {
        let modes = device::open(index, CameraApi::System).and_then(|mut device| device.modes());
        drop(claim);
        let _ = sender.send(modes);
    });
    answer
}

/// Returns the system's list of cameras, by number; opens none of them.
pub(super) fn listed() -> Result<Vec<DetectedCamera>, CameraError> {
    request_permission();
    let mut cameras: Vec<DetectedCamera> = named()?
        .into_iter()
        .map(|(index, name, listed_port)| {
            let port = sysfs::port(index).unwrap_or(listed_port);
            DetectedCamera { index, name, port, bus: sysfs::bus(index), modes: Vec::new(), problem: None }
        })
        .collect();
    cameras.sort_by_key(|c| c.index);
    cameras.dedup_by_key(|c| c.index);
    Ok(cameras)
}

/// Returns number and name of each camera; the port is empty, since sysfs provides it.
#[cfg(target_os = "linux")]
fn named() -> Result<Vec<(u32, String, String)>, CameraError> {
    let nodes = sysfs::nodes().map_err(CameraError::Unlisted)?;
    Ok(nodes.into_iter().map(|(index, name)| (index, name, String::new())).collect())
}

/// Returns number, name and port of each camera.
#[cfg(not(target_os = "linux"))]
fn named() -> Result<Vec<(u32, String, String)>, CameraError> {
    let listed = nokhwa::query(nokhwa::utils::ApiBackend::Auto).map_err(CameraError::Unlisted)?;
    let camera = |info: &nokhwa::utils::CameraInfo| {
        Some((info.index().as_index().ok()?, info.human_name(), info.misc().trim().to_owned()))
    };
    Ok(listed.iter().filter_map(camera).collect())
}

#[cfg(target_os = "macos")]
fn request_permission() {
    use std::sync::Once;
    static REQUESTED: Once = Once::new();
    REQUESTED.call_once(|| {
        let (sender, answered) = bounded(1);
        nokhwa::nokhwa_initialize(move |_| {
            let _ = sender.try_send(());
        });
        // without an answer of the user, opening fails with its own error
        let _ = answered.recv_timeout(Duration::from_secs(30));
    });
}

#[cfg(not(target_os = "macos"))]
fn request_permission() {}
