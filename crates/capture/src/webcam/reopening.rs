//! Search for a lost camera in the background, which opens it again when it returns. It is recognized by its port, because its number
//! may have changed.

use super::claim;
use super::devices::listed;
use super::error::CameraError;
use super::opening::{EarlierOpening, OpenCamera, open_again};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use std::thread;
use std::time::Duration;

/// Identity of a camera, independent of its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// Port; empty if unknown.
    pub(super) port: String,
    /// Name according to the driver.
    pub(super) name: String,
    /// Number when it was opened.
    pub(super) index: u32,
}

impl Identity {
    /// Returns the identity of an open camera, from the system's list.
    pub(super) fn of(index: u32) -> Self {
        let found = listed().unwrap_or_default().into_iter().find(|camera| camera.index == index);
        found.map_or_else(
            || Self { port: String::new(), name: format!("camera {index}"), index },
            |camera| Self { port: camera.port, name: camera.name, index },
        )
    }

    /// Returns the current number of the camera, if it is listed.
    fn find(&self) -> Option<u32> {
        let cameras = listed().ok()?;
        let mut here = cameras.iter().filter(|camera| match self.port.as_str() {
            "" => camera.index == self.index,
            port => camera.port == port,
        });
        let first = here.next()?;
        // all nodes of a camera have the same port: prefer its earlier number
        Some(if here.any(|camera| camera.index == self.index) { self.index } else { first.index })
    }
}

/// Search for a lost camera, which ends soon after it is dropped.
#[derive(Debug)]
pub(super) struct Reopening {
    /// Channel of the camera, or of an error of opening a camera that is listed again.
    pub(super) answer: Receiver<Result<OpenCamera, CameraError>>,
    /// Stop channel, which disconnects when this is dropped.
    _stop: Sender<()>,
}

const POLL_INTERVAL: Duration = Duration::from_millis(250);

impl Reopening {
    /// Starts the search.
    ///
    /// # Errors
    /// The system provides no thread.
    pub(super) fn start(identity: Identity, earlier_opening: EarlierOpening) -> Result<Self, CameraError> {
        let (sender, answer) = bounded(1);
        let (stop, stopped) = bounded::<()>(0);
        let index_lost = identity.index;
        let name = format!("camera {index_lost} again");
        let search = move || {
            while stopped.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                // while the old thread is blocked in the driver, the camera cannot be opened, and that problem is reported already
                let Some(index) = identity.find().filter(|&index| !claim::is_taken(index)) else { continue };
                match open_again(index, &earlier_opening) {
                    Ok(camera) => {
                        let _ = sender.send(Ok(camera));
                        return;
                    }
                    // a full channel may drop this error: another one follows
                    Err(error) => {
                        let _ = sender.try_send(Err(error));
                    }
                }
            }
        };
        let thread = thread::Builder::new().name(name).spawn(search);
        thread.map_err(|cause| CameraError::NoSearch { index: index_lost, cause })?;
        Ok(Self { answer, _stop: stop })
    }
}
