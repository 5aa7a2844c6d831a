//! Sets the controls of a source's cameras on a thread of its own, because a driver may take its time, and an automatic has
//! to settle before it is copied.

use super::{apply, equalise, protect_calibration};
use crate::capture::{CameraOptions, CaptureError};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long automatics may settle before they are copied.
const SETTLED: Duration = Duration::from_secs(2);

/// What is under way with the controls of open cameras. Dropping it ends that soon; settings made stay.
#[derive(Debug)]
pub struct ControlTask {
    remarks: Arc<Mutex<Vec<String>>>,
    /// Closed when this is dropped.
    _stop: Sender<()>,
}

impl ControlTask {
    /// Starts to set the cameras of a source, left and right or the one that gives both eyes, which stream already: wishes,
    /// then what protects a calibration, then, after two seconds, equal exposure.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(indices: &[u32], options: &CameraOptions) -> Result<Self, CaptureError> {
        let remarks = Arc::new(Mutex::new(Vec::new()));
        let (stop, stopped) = bounded(0);
        let (said, options, indices) = (remarks.clone(), options.clone(), indices.to_vec());
        // dropping does not wait for the thread: a driver may hold it, and it ends by itself
        let run = move || set_all(&indices, &options, &stopped, &said);
        thread::Builder::new()
            .name("camera controls".into())
            .spawn(run)
            .map_err(|error| CaptureError::Camera(format!("no thread for the cameras' controls: {error}")))?;
        Ok(Self { remarks, _stop: stop })
    }

    /// What has been said so far, for [`crate::capture::SourceState::remarks`].
    pub fn remarks(&self) -> Vec<String> {
        self.remarks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn set_all(indices: &[u32], options: &CameraOptions, stopped: &Receiver<()>, said: &Mutex<Vec<String>>) {
    let say = |more: Vec<String>| {
        for remark in &more {
            log::info!("{remark}");
        }
        said.lock().unwrap_or_else(PoisonError::into_inner).extend(more);
    };
    for (&index, eye) in indices.iter().zip(&options.eyes) {
        if stopped.try_recv() == Err(TryRecvError::Disconnected) {
            return;
        }
        say(apply(index, &eye.controls));
        if options.calibrated {
            say(protect_calibration(index, &eye.controls));
        }
    }
    if !options.equal_exposure {
        return;
    }
    let &[left, right] = indices else {
        say(vec!["equal exposure is for two cameras; one that gives both eyes exposes them alike".into()]);
        return;
    };
    if stopped.recv_timeout(SETTLED) == Err(RecvTimeoutError::Timeout) {
        say(vec![equalise(left, right).unwrap_or_else(|error| error.to_string())]);
    }
}
