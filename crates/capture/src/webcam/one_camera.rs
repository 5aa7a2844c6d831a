//! Single camera as a source. Its image contains both views side by side, the left half being the left view as seen from behind the
//! camera; or it is one view of a pair whose other camera belongs to another machine.

use super::ModeRequest;
use super::camera_stream::{CameraStream, open_streams};
use super::controls::ControlTask;
use super::error::CameraError;
use super::reader::DecodedFrame;
use crossbeam_channel::Select;
use std::time::{Duration, Instant};
use stereopsis_frame::stamps::Stamps;
use stereopsis_frame::{
    CameraOptions, CaptureError, Next, Original, PairSource, RawPair, SourceInfo, SourceState, StereoLayout, halves,
};

/// Views in the image of a camera.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CameraViews {
    /// Both views, side by side.
    BothViews,
    /// One view, which becomes both images of the pair; a head then sends only one of them.
    OneView,
}

impl CameraViews {
    fn count(self) -> usize {
        match self {
            Self::BothViews => 2,
            Self::OneView => 1,
        }
    }
}

/// Single camera, which is opened again when it returns after a loss.
#[derive(Debug)]
pub struct OneCamera {
    views: CameraViews,
    stream: CameraStream,
    stamps: Stamps,
    options: CameraOptions,
    controls: ControlTask,
}

impl OneCamera {
    /// Opens camera `index` in the mode nearest to the request, whose size is per view.
    ///
    /// # Errors
    /// The camera is missing, busy or inaccessible, or no mode (of even width for two views) really streams.
    pub fn open(
        index: u32,
        views: CameraViews,
        request: &ModeRequest,
        options: &CameraOptions,
    ) -> Result<Self, CaptureError> {
        let stream = open_streams(&[index], views.count(), request, options)?.pop().ok_or(CameraError::Ended(index))?;
        let controls = ControlTask::start(&[index], options)?;
        Ok(Self { views, stream, stamps: Stamps::default(), options: options.clone(), controls })
    }

    fn pair(&mut self, frame: &DecodedFrame) -> Result<RawPair, CaptureError> {
        if self.stream.take_reopened() {
            self.stamps = Stamps::default();
            self.controls = ControlTask::start(&[self.stream.index()], &self.options)?;
        }
        let orientation = [self.options.views[0].orientation; 2];
        let (left, right, original) = match self.views {
            CameraViews::BothViews => {
                let swapped = self.options.swapped_halves;
                let (left, right) = halves(&frame.picture, swapped);
                let layout = StereoLayout { side_by_side: true, swapped, orientation };
                (left, right, Original { images: vec![frame.original.clone()], layout })
            }
            CameraViews::OneView => {
                let layout = StereoLayout { orientation, ..StereoLayout::default() };
                let images = vec![frame.original.clone(), frame.original.clone()];
                (frame.picture.clone(), frame.picture.clone(), Original { images, layout })
            }
        };
        Ok(RawPair {
            original: Some(original),
            ..RawPair::new(
                format!("webcam-{:06}", frame.number),
                frame.number,
                self.stamps.check(frame.stamp, frame.arrival).unwrap_or(frame.arrival),
                left,
                right,
            )
        })
    }
}

impl PairSource for OneCamera {
    fn info(&self) -> SourceInfo {
        let mode = self.stream.mode();
        SourceInfo {
            name: format!("webcam {}", self.stream.index()),
            width: mode.width / self.views.count(),
            height: mode.height,
            rate_hz: Some(f64::from(mode.rate_hz)),
            is_camera: true,
            ..SourceInfo::default()
        }
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(frame) = self.stream.poll()? {
                return Ok(Next::Pair(Box::new(self.pair(&frame)?)));
            }
            if Instant::now() >= deadline {
                return Ok(Next::Waiting);
            }
            let mut news = Select::new();
            self.stream.wait_on(&mut news);
            let _ = news.ready_deadline(self.stream.silent_at().map_or(deadline, |silent| silent.min(deadline)));
        }
    }

    fn state(&self) -> SourceState {
        let mut remarks = self.stream.remarks();
        remarks.extend(self.controls.remarks());
        SourceState { cameras: vec![self.stream.state()], remarks, ..SourceState::default() }
    }
}
