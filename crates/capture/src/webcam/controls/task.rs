//! Applies the control settings of a source's cameras on a separate thread, because drivers may be slow, and because automatic modes
//! must settle before their values are copied.

use super::super::error::CameraError;
use super::{apply, equalise, protect_calibration};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded};
use parking_lot::Mutex;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use stereopsis_frame::{CameraOptions, CaptureError};

/// Time that automatic modes get to settle before their values are copied.
const SETTLING_TIME: Duration = Duration::from_secs(2);

/// Running task that sets controls of open cameras. Dropping it ends the task soon; applied settings stay.
#[derive(Debug)]
pub struct ControlTask {
    remarks: Arc<Mutex<Vec<String>>>,
    /// Stop channel, which disconnects when this is dropped.
    _stop: Sender<()>,
}

impl ControlTask {
    /// Starts to set the controls of streaming cameras, left and right or the side-by-side one: first the settings, then the protection of
    /// a calibration, and after two seconds equal exposure.
    ///
    /// # Errors
    /// The system provides no thread.
    pub fn start(indices: &[u32], options: &CameraOptions) -> Result<Self, CaptureError> {
        let remarks = Arc::new(Mutex::new(Vec::new()));
        let (stop, stopped) = bounded(0);
        let (shared_remarks, options, indices) = (remarks.clone(), options.clone(), indices.to_vec());
        // the thread is detached: a driver may block it, and it ends by itself
        let run = move || set_all(&indices, &options, &stopped, &shared_remarks);
        thread::Builder::new().name("camera controls".into()).spawn(run).map_err(CameraError::NoControlThread)?;
        Ok(Self { remarks, _stop: stop })
    }

    /// Returns the remarks so far, for [`stereopsis_frame::SourceState::remarks`].
    pub fn remarks(&self) -> Vec<String> {
        self.remarks.lock().clone()
    }
}

fn set_all(indices: &[u32], options: &CameraOptions, stopped: &Receiver<()>, remarks: &Mutex<Vec<String>>) {
    let add_remarks = |more: Vec<String>| {
        for remark in &more {
            log::info!("{remark}");
        }
        remarks.lock().extend(more);
    };
    for (&index, view) in indices.iter().zip(&options.views) {
        if stopped.try_recv() == Err(TryRecvError::Disconnected) {
            return;
        }
        add_remarks(apply(index, &view.controls));
        if options.calibrated {
            add_remarks(protect_calibration(index, &view.controls));
        }
    }
    if !options.equal_exposure {
        return;
    }
    let &[left, right] = indices else {
        add_remarks(vec!["equal exposure is for two cameras; one that gives both images exposes them alike".into()]);
        return;
    };
    if stopped.recv_timeout(SETTLING_TIME) == Err(RecvTimeoutError::Timeout) {
        add_remarks(vec![equalise(left, right).unwrap_or_else(|error| error.to_string())]);
    }
}
