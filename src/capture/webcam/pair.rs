//! Two cameras as one source: their frames paired by capture time.

use super::ModeRequest;
use super::camera::{OpenCamera, SILENCE, Shot, open};
use super::fault;
use crate::capture::pairing::{Paired, Pairing, Side};
use crate::capture::{CaptureError, Next, PairSource, SourceInfo};
use crate::frame::RawPair;
use crossbeam_channel::{Select, TryRecvError};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Two cameras that run freely, each at its own time.
#[derive(Debug)]
pub struct WebcamPair {
    /// Left, right.
    cameras: [OpenCamera; 2],
    last_shot: [Instant; 2],
    pairing: Pairing<Shot>,
}

const SIDES: [Side; 2] = [Side::Left, Side::Right];

impl WebcamPair {
    /// Opens both cameras at the same time, with pictures of the same size, nearest to the request.
    ///
    /// # Errors
    /// The same camera twice; no such camera, busy, no permission; no size in common; a mode that is offered and refused.
    pub fn open(left: u32, right: u32, request: &ModeRequest) -> Result<Self, CaptureError> {
        if left == right {
            return Err(CaptureError::Camera(format!(
                "camera {left} cannot be both eyes; name two cameras (`webcam:0,1`), or one that sends both eyes side by \
                 side (`webcam:{left}`)"
            )));
        }
        let cameras: [OpenCamera; 2] = open(&[left, right], 1, request)?.try_into().map_err(|_| fault::ended(left))?;
        let [left_hz, right_hz] = [&cameras[0], &cameras[1]].map(|c| f64::from(c.mode.rate_hz));
        let pairing = Pairing::new(left_hz, right_hz);
        Ok(Self { cameras, last_shot: [Instant::now(); 2], pairing })
    }

    /// Takes what has come, without waiting.
    fn drain(&mut self) -> Result<(), CaptureError> {
        for (i, side) in SIDES.into_iter().enumerate() {
            let camera = &self.cameras[i];
            loop {
                match camera.shots.try_recv() {
                    Ok(shot) => {
                        let shot = shot?;
                        self.last_shot[i] = Instant::now();
                        self.pairing.push(side, shot.time, shot);
                    }
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return Err(fault::ended(camera.index)),
                }
            }
            if self.last_shot[i].elapsed() >= SILENCE {
                let damaged = camera.counts.damaged.load(Ordering::Relaxed);
                return Err(fault::silent(camera.index, SILENCE, damaged));
            }
        }
        Ok(())
    }

    fn wait(&self, deadline: Instant) {
        let mut either = Select::new();
        for camera in &self.cameras {
            either.recv(&camera.shots);
        }
        let silent = self.last_shot[0].min(self.last_shot[1]) + SILENCE;
        let _ = either.ready_deadline(deadline.min(silent));
    }
}

impl PairSource for WebcamPair {
    fn info(&self) -> SourceInfo {
        let [left, right] = &self.cameras;
        SourceInfo {
            name: format!("webcam {},{}", left.index, right.index),
            width: left.mode.width,
            height: left.mode.height,
            rate_hz: Some(f64::from(left.mode.rate_hz.min(right.mode.rate_hz))),
            is_camera: true,
            num_pairs: None,
            is_rectified: false,
            geometry: None,
        }
    }

    fn next(&mut self, patience: Duration) -> Result<Next, CaptureError> {
        let deadline = Instant::now() + patience;
        loop {
            self.drain()?;
            if let Some(pair) = self.pairing.pop() {
                return Ok(Next::Pair(Box::new(raw_pair(pair))));
            }
            if Instant::now() >= deadline {
                return Ok(Next::Waiting);
            }
            self.wait(deadline);
        }
    }
}

fn raw_pair(Paired { left, right, time, skew_s }: Paired<Shot>) -> RawPair {
    RawPair {
        sequence: left.number,
        name: format!("webcam-{:06}", left.number),
        left: left.picture,
        right: right.picture,
        capture_time: time,
        skew_s,
        truth: None,
    }
}

impl Drop for WebcamPair {
    fn drop(&mut self) {
        // both at once; each then waits for its own thread
        for camera in &mut self.cameras {
            camera.signal_stop();
        }
        let late: u64 = self.cameras.iter().map(|c| c.counts.late.load(Ordering::Relaxed)).sum();
        log::debug!("{} frames had no partner, {late} were not taken in time", self.pairing.unpaired());
    }
}
