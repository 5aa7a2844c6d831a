//! A lost camera is looked for, in the background, until it is there again: by its port, because its number may have
//! changed.

use super::claim;
use super::devices::listed;
use super::opening::{Former, OpenCamera, open_again};
use crate::capture::CaptureError;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use std::thread;
use std::time::Duration;

/// Which camera it is, whatever number it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// Where it is plugged in; empty where the system does not say.
    pub(super) port: String,
    /// What it calls itself.
    pub(super) name: String,
    /// Its number when it was opened.
    pub(super) index: u32,
}

impl Identity {
    /// Of an open camera, by the system's list.
    pub(super) fn of(index: u32) -> Self {
        let found = listed().unwrap_or_default().into_iter().find(|camera| camera.index == index);
        found.map_or_else(
            || Self { port: String::new(), name: format!("camera {index}"), index },
            |camera| Self { port: camera.port, name: camera.name, index },
        )
    }

    /// The number that it has now, if it is there.
    fn find(&self) -> Option<u32> {
        let cameras = listed().ok()?;
        let mut here = cameras.iter().filter(|camera| match self.port.as_str() {
            "" => camera.index == self.index,
            port => camera.port == port,
        });
        let first = here.next()?;
        // a camera with several nodes has them all at its port
        Some(if here.any(|camera| camera.index == self.index) { self.index } else { first.index })
    }
}

/// The search for a lost camera. Dropping it ends the search soon.
#[derive(Debug)]
pub(super) struct Reopening {
    /// The camera, or why it cannot be opened although it is there.
    pub(super) answer: Receiver<Result<OpenCamera, CaptureError>>,
    /// Closed when this is dropped.
    _stop: Sender<()>,
}

/// Time between two looks.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

impl Reopening {
    /// Starts looking.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(super) fn start(identity: Identity, former: Former) -> Result<Self, CaptureError> {
        let (sender, answer) = bounded(1);
        let (stop, stopped) = bounded::<()>(0);
        let index_lost = identity.index;
        let name = format!("camera {index_lost} again");
        let search = move || {
            while stopped.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                // while its old thread is in the driver it cannot be opened, and what is said of it already stands
                let Some(index) = identity.find().filter(|&index| !claim::is_taken(index)) else { continue };
                match open_again(index, &former) {
                    Ok(camera) => {
                        let _ = sender.send(Ok(camera));
                        return;
                    }
                    // nobody need take a refusal in time: there will be another one
                    Err(error) => {
                        let _ = sender.try_send(Err(error));
                    }
                }
            }
        };
        thread::Builder::new().name(name).spawn(search).map_err(|error| {
            CaptureError::Camera(format!(
                "camera {index_lost} is lost, and the system gives no thread to look for it: {error}; close other programs, and open \
                 the source again"
            ))
        })?;
        Ok(Self { answer, _stop: stop })
    }
}
