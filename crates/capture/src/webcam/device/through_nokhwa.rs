//! Camera device through nokhwa, for systems other than Linux: YUYV, NV12 and MJPEG at integer rates. nokhwa does not report the
//! driver's damage flags; short frames and broken JPEGs are detected by decoding.

use super::{Device, DeviceError, ReceivedFrame, StreamFormat};
use crate::webcam::mode::Mode;
use nokhwa::utils::{CameraFormat, CameraIndex, FrameFormat, RequestedFormat, RequestedFormatType, Resolution};
use nokhwa::{Buffer, Camera};
use std::panic::AssertUnwindSafe;
use std::time::UNIX_EPOCH;
use stereopsis_frame::decode_camera::{Layout, PixelFormat};

pub(super) struct NokhwaDevice {
    /// Camera; `None` only during drop.
    camera: Option<Camera>,
    last: Option<Buffer>,
    index: u32,
}

/// Formats that can be decoded, with nokhwa's names.
const FORMATS: [(PixelFormat, FrameFormat); 3] = [
    (PixelFormat::Yuyv, FrameFormat::YUYV),
    (PixelFormat::Nv12, FrameFormat::NV12),
    (PixelFormat::Mjpeg, FrameFormat::MJPEG),
];

impl NokhwaDevice {
    /// Opens a camera; nokhwa sets the first listed mode that can be decoded.
    pub(super) fn open(index: u32) -> Result<Self, DeviceError> {
        let readable = FORMATS.map(|(_, theirs)| theirs);
        let request = RequestedFormat::with_formats(RequestedFormatType::None, &readable);
        let camera = Camera::new(CameraIndex::Index(index), request)?;
        Ok(Self { camera: Some(camera), last: None, index })
    }

    fn camera(&mut self) -> Result<&mut Camera, DeviceError> {
        self.camera.as_mut().ok_or(DeviceError::NoStream)
    }
}

impl Device for NokhwaDevice {
    fn modes(&mut self) -> Result<Vec<Mode>, DeviceError> {
        Ok(readable(&self.camera()?.compatible_camera_formats()?))
    }

    fn start(&mut self, mode: Mode) -> Result<StreamFormat, DeviceError> {
        // request the exact mode: nokhwa's search for the closest one fails unless the size exists
        let wanted = listed(mode)?;
        let formats = [wanted.format()];
        let request = RequestedFormat::with_formats(RequestedFormatType::Exact(wanted), &formats);
        let camera = self.camera()?;
        camera.set_camera_requset(request)?;
        camera.open_stream()?;
        Ok(StreamFormat { mode, layout: Layout::tight(mode.format, mode.size()) })
    }

    fn frame(&mut self) -> Result<Option<ReceivedFrame<'_>>, DeviceError> {
        let buffer = self.camera()?.frame()?;
        let stamp = buffer.capture_timestamp().and_then(|since| UNIX_EPOCH.checked_add(since));
        Ok(Some(ReceivedFrame { bytes: self.last.insert(buffer).buffer(), is_flagged: false, number: None, stamp }))
    }

    fn stop(&mut self) {
        let Some(camera) = &mut self.camera else { return };
        // nokhwa's binding panics if the driver refuses to stop, as some do after unplugging
        if std::panic::catch_unwind(AssertUnwindSafe(|| camera.stop_stream())).is_err() {
            log::warn!("camera {} could not be stopped in order", self.index);
        }
    }
}

impl Drop for NokhwaDevice {
    fn drop(&mut self) {
        let camera = self.camera.take();
        if std::panic::catch_unwind(AssertUnwindSafe(|| drop(camera))).is_err() {
            log::warn!("camera {} could not be closed in order", self.index);
        }
    }
}

/// Returns the listed modes that can be decoded, sorted. Implausible rates are dropped: nokhwa misreads fractions such as 30000/1001.
fn readable(listed: &[CameraFormat]) -> Vec<Mode> {
    let mut modes: Vec<Mode> = listed.iter().filter_map(mode_of).filter(Mode::is_possible).collect();
    if cfg!(target_os = "macos") {
        // nokhwa's binding may take the rate range of another format of the same size, which aborts the process
        modes.retain(|m| {
            let twice = listed.iter().any(|l| l.format() != FrameFormat::YUYV && size_of(l) == m.size());
            m.format == PixelFormat::Yuyv && (!twice || m.rate_hz == 30)
        });
    }
    modes.sort_unstable();
    modes.dedup();
    modes
}

fn size_of(listed: &CameraFormat) -> (usize, usize) {
    (listed.width() as usize, listed.height() as usize)
}

fn mode_of(listed: &CameraFormat) -> Option<Mode> {
    let (format, _) = FORMATS.into_iter().find(|(_, theirs)| *theirs == listed.format())?;
    let (width, height) = size_of(listed);
    Some(Mode { format, width, height, rate_hz: listed.frame_rate() })
}

fn listed(mode: Mode) -> Result<CameraFormat, DeviceError> {
    let known = FORMATS.into_iter().find(|(format, _)| *format == mode.format);
    let (_, format) = known.ok_or(DeviceError::NoMode)?;
    Ok(CameraFormat::new(Resolution::new(mode.width as u32, mode.height as u32), format, mode.rate_hz))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_readable_modes_sorted() {
        let mode = |format, width, height| Mode { format, width, height, rate_hz: 30 };
        let listed = [
            CameraFormat::new(Resolution::new(640, 480), FrameFormat::YUYV, 30),
            CameraFormat::new(Resolution::new(640, 480), FrameFormat::YUYV, 30000),
            CameraFormat::new(Resolution::new(640, 480), FrameFormat::RAWRGB, 30),
            CameraFormat::new(Resolution::new(640, 0), FrameFormat::YUYV, 30),
            CameraFormat::new(Resolution::new(640, 480), FrameFormat::NV12, 30),
            CameraFormat::new(Resolution::new(320, 240), FrameFormat::YUYV, 30),
            CameraFormat::new(Resolution::new(640, 480), FrameFormat::YUYV, 30),
        ];
        let expected =
            [mode(PixelFormat::Yuyv, 320, 240), mode(PixelFormat::Yuyv, 640, 480), mode(PixelFormat::Nv12, 640, 480)];
        assert_eq!(readable(&listed), expected);
    }
}
