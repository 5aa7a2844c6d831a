//! Two cameras as one source: reads both streams, checks their time stamps, and pairs their frames by capture time.

use super::ModeRequest;
use super::camera_stream::{CameraStream, open_streams};
use super::controls::ControlTask;
use super::error::CameraError;
use super::reader::DecodedFrame;
use super::resync::{Resync, Step};
use crossbeam_channel::Select;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::remedy::option;
use stereopsis_frame::pairing::{Paired, Pairing};
use stereopsis_frame::stamps::Stamps;
use stereopsis_frame::{
    CameraOptions, CaptureError, Next, Original, PairSource, RawPair, Side, SourceInfo, SourceState, StereoLayout,
};

/// Pair of free-running cameras. A lost camera is opened again when it returns.
#[derive(Debug)]
pub struct WebcamPair {
    /// Streams of the left and the right camera.
    streams: [CameraStream; 2],
    stamps: [Stamps; 2],
    /// Whether both cameras use arrival times because one has unusable time stamps; equal transfer delays then cancel out.
    by_arrival: bool,
    pairing: Pairing<DecodedFrame>,
    /// Capture time of the newest left image.
    left_time: Option<SystemTime>,
    resync: Option<Resync>,
    resync_remark: Option<String>,
    options: CameraOptions,
    controls: ControlTask,
}

const SIDES: [Side; 2] = [Side::Left, Side::Right];
/// Maximum ratio of the two rates without a remark.
const MAX_RATE_RATIO: f64 = 1.5;
/// Minimum fraction of the granted rate without a remark.
const MIN_RATE_FRACTION: f64 = 0.7;

impl WebcamPair {
    /// Opens both cameras with a common image size, nearest to the request.
    ///
    /// # Errors
    /// Both numbers are equal, a camera is missing, busy or inaccessible, or the cameras have no common size in which both stream.
    pub fn open(left: u32, right: u32, request: &ModeRequest, options: &CameraOptions) -> Result<Self, CaptureError> {
        if left == right {
            return Err(CameraError::Twice(left).into());
        }
        let streams: [CameraStream; 2] =
            open_streams(&[left, right], 1, request, options)?.try_into().map_err(|_| CameraError::Ended(left))?;
        let [left_hz, right_hz] = [&streams[0], &streams[1]].map(|stream| f64::from(stream.mode().rate_hz));
        Ok(Self {
            stamps: Default::default(),
            by_arrival: false,
            pairing: Pairing::new(left_hz, right_hz),
            left_time: None,
            resync: None,
            resync_remark: None,
            options: options.clone(),
            controls: ControlTask::start(&[left, right], options)?,
            streams,
        })
    }

    /// Takes the frames from both queues without waiting.
    fn drain(&mut self) -> Result<(), CaptureError> {
        for (i, side) in SIDES.into_iter().enumerate() {
            while let Some(frame) = self.streams[i].poll()? {
                if self.streams[i].take_reopened() {
                    self.stamps[i] = Stamps::default();
                    self.pairing.reset(side);
                    self.controls =
                        ControlTask::start(&[self.streams[0].index(), self.streams[1].index()], &self.options)?;
                }
                self.take(i, frame);
            }
        }
        Ok(())
    }

    fn take(&mut self, i: usize, frame: DecodedFrame) {
        let stamp = self.stamps[i].check(frame.stamp, frame.arrival);
        let by_arrival = self.stamps.iter().any(|stamps| stamps.fault().is_some());
        if by_arrival != self.by_arrival {
            self.by_arrival = by_arrival;
            for side in SIDES {
                self.pairing.reset(side);
            }
        }
        let Some(time) = (if by_arrival { Some(frame.arrival) } else { stamp }) else {
            return self.pairing.skip_frame();
        };
        if i == 0 {
            self.left_time = Some(time);
        }
        self.pairing.push(SIDES[i], time, frame);
    }

    fn wait(&self, deadline: Instant) {
        let mut either = Select::new();
        for stream in &self.streams {
            stream.wait_on(&mut either);
        }
        let silent = self.streams.iter().filter_map(CameraStream::silent_at).min();
        let _ = either.ready_deadline(silent.map_or(deadline, |silent| silent.min(deadline)));
    }

    fn step_resync(&mut self) {
        let (Some(resync), Some(left_time)) = (&mut self.resync, self.left_time) else { return };
        let [left, right] = &mut self.streams;
        if left.is_lost() || right.is_lost() {
            self.resync_remark = Some("bringing the cameras together ended: one is lost; ask for it again".into());
            self.resync = None;
            return;
        }
        let interval_s = self.pairing.intervals_s().map_or(1.0 / f64::from(left.mode().rate_hz), |[left_s, _]| left_s);
        match resync.step(interval_s, left_time) {
            Step::Measure => {}
            Step::Restart(at) => {
                right.restart(at);
                self.pairing.reset_skew();
            }
            Step::Aligned(skew_s) => {
                log::info!("the cameras take their images {:.1} ms apart", skew_s * 1e3);
                self.pairing.reset_skew(); // pairs during the restart are not representative
                (self.resync, self.resync_remark) = (None, None);
            }
            Step::Failed(skew_s) => {
                let apart = skew_s.map_or("far".into(), |skew_s| format!("{:.1} ms", skew_s * 1e3));
                self.resync_remark = Some(format!(
                    "cameras {} and {} stay {apart} apart although camera {1} was started several times; try again, or use \
                     cameras that are synchronised",
                    left.index(),
                    right.index()
                ));
                self.resync = None;
            }
        }
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = self.streams.iter().flat_map(CameraStream::remarks).collect();
        let [left, right] = self.streams.each_ref().map(|stream| stream.mode().format);
        if left != right {
            let (left, right) = (left.name(), right.name());
            remarks.push(format!(
                "the cameras send {left} and {right}, which may differ in brightness and sharpness; ask both for one format \
                 ({})",
                option("format")
            ));
        }
        for (stream, stamps) in self.streams.iter().zip(&self.stamps) {
            if let Some(fault) = stamps.fault() {
                remarks.push(format!(
                    "camera {}: its time stamps {}; images are paired by when they come, which is less exact",
                    stream.index(),
                    fault.words()
                ));
            }
        }
        remarks.extend(self.rate_remark());
        remarks.extend(self.resync_remark.clone());
        remarks.extend(self.controls.remarks());
        remarks
    }

    fn rate_remark(&self) -> Option<String> {
        let [left, right] = &self.streams;
        if left.is_lost() || right.is_lost() {
            return None;
        }
        let rates = self.pairing.intervals_s()?.map(|interval_s| 1.0 / interval_s);
        let (slow, fast) = if rates[0] < rates[1] { (0, 1) } else { (1, 0) };
        let (slow_hz, fast_hz, promised_hz) = (rates[slow], rates[fast], self.streams[slow].mode().rate_hz);
        let [slow, fast] = [slow, fast].map(|i| self.streams[i].index());
        if fast_hz > MAX_RATE_RATIO * slow_hz {
            return Some(format!(
                "camera {slow} sends {slow_hz:.0} images a second and camera {fast} {fast_hz:.0}, so pairs come at \
                 {slow_hz:.0}/s; ask both for one rate, or give more light: in the dark cameras slow down"
            ));
        }
        (slow_hz < MIN_RATE_FRACTION * f64::from(promised_hz)).then(|| {
            format!(
                "the cameras send {slow_hz:.0} images a second instead of {promised_hz}; give more light, or shorten the \
                 exposure: in the dark cameras slow down"
            )
        })
    }
}

impl PairSource for WebcamPair {
    fn info(&self) -> SourceInfo {
        let [left, right] = &self.streams;
        SourceInfo {
            name: format!("webcam {},{}", left.index(), right.index()),
            width: left.mode().width,
            height: left.mode().height,
            rate_hz: Some(f64::from(left.mode().rate_hz.min(right.mode().rate_hz))),
            is_camera: true,
            ..SourceInfo::default()
        }
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        let deadline = Instant::now() + timeout;
        loop {
            self.drain()?;
            self.step_resync();
            if let Some(pair) = self.pairing.pop() {
                if let Some(resync) = &mut self.resync {
                    resync.observe(pair.right.arrival, pair.skew_s);
                }
                return Ok(Next::Pair(Box::new(raw_pair(pair, &self.options))));
            }
            if Instant::now() >= deadline {
                return Ok(Next::Waiting);
            }
            self.wait(deadline);
        }
    }

    fn state(&self) -> SourceState {
        SourceState {
            cameras: self.streams.iter().map(CameraStream::state).collect(),
            unpaired: self.pairing.unpaired(),
            skew: self.pairing.skew(),
            remarks: self.remarks(),
            resyncing: self.resync.is_some(),
            ..SourceState::default()
        }
    }

    fn resync(&mut self) {
        self.resync_remark = None;
        self.resync = Some(Resync::new());
    }
}

fn raw_pair(Paired { left, right, time, skew_s }: Paired<DecodedFrame>, options: &CameraOptions) -> RawPair {
    let orientation = options.views.each_ref().map(|stream| stream.orientation);
    let layout = StereoLayout { orientation, ..StereoLayout::default() };
    RawPair {
        original: Some(Original { images: vec![left.original, right.original], layout }),
        skew_s,
        ..RawPair::new(format!("webcam-{:06}", left.number), left.number, time, left.picture, right.picture)
    }
}

impl Drop for WebcamPair {
    fn drop(&mut self) {
        // signal both threads before each drop waits for its own
        for stream in &mut self.streams {
            stream.signal_stop();
        }
        let late: u64 = self.streams.iter().map(|stream| stream.state().late).sum();
        log::debug!("{} frames had no partner, {late} were not taken in time", self.pairing.unpaired());
    }
}
