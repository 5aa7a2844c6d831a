//! Which mode a camera is opened with: pure choice from what the cameras list.
//!
//! The size decides first, then the rate, then the format. nokhwa is asked for exactly that mode, because its own choice of
//! the closest one fails unless the size exists.

use crate::capture::decode_camera::PixelFormat;
use nokhwa::utils::{CameraFormat, FrameFormat, Resolution};
use std::fmt;

/// One way in which a camera can send pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mode {
    /// How pixels are packed.
    pub format: PixelFormat,
    /// Columns of the whole picture (both eyes, where they come side by side).
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Frames per second.
    pub rate_hz: u32,
}

impl Mode {
    /// `(width, height)`.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}x{} at {}/s", self.format.name(), self.width, self.height, self.rate_hz)
    }
}

/// What is wished of a camera; what it has nearest to it is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModeRequest {
    /// `(width, height)` per eye; 640x480 if not given.
    pub size: Option<(usize, usize)>,
    /// Frames per second; 30 if not given.
    pub rate_hz: Option<u32>,
    /// Only this format; any if not given, YUYV first where the rates are the same.
    pub format: Option<PixelFormat>,
    /// True to decode colour too, for whoever shows it.
    pub color: bool,
}

/// Sizes and rates that a nokhwa listing means; rates beyond are misread fractions such as 30000/1001.
const RATES_HZ: std::ops::RangeInclusive<u32> = 1..=1000;

/// The modes in nokhwa's listing that can be read here, sorted.
pub(super) fn readable(listed: &[CameraFormat]) -> Vec<Mode> {
    let mut modes: Vec<Mode> = listed.iter().filter_map(mode_of).filter(|m| RATES_HZ.contains(&m.rate_hz)).collect();
    if cfg!(target_os = "macos") {
        // its binding may take the rate range of another format of the same size, and the process ends
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
    let format = match listed.format() {
        FrameFormat::YUYV => PixelFormat::Yuyv,
        FrameFormat::MJPEG => PixelFormat::Mjpeg,
        _ => return None,
    };
    let (width, height) = size_of(listed);
    Some(Mode { format, width, height, rate_hz: listed.frame_rate() })
}

impl From<Mode> for CameraFormat {
    fn from(mode: Mode) -> Self {
        let format = match mode.format {
            PixelFormat::Yuyv => FrameFormat::YUYV,
            PixelFormat::Nv12 => FrameFormat::NV12,
            PixelFormat::Mjpeg => FrameFormat::MJPEG,
            PixelFormat::Grey | PixelFormat::Y16 => FrameFormat::GRAY,
        };
        Self::new(Resolution::new(mode.width as u32, mode.height as u32), format, mode.rate_hz)
    }
}

/// The modes to try on each camera, best first: all of one size, which is the one nearest to the wish that every camera
/// has. Nothing if there is no such size.
pub(super) fn choose(offers: &[Vec<Mode>], eyes_per_picture: usize, request: &ModeRequest) -> Option<Vec<Vec<Mode>>> {
    let (eye_width, height) = request.size.unwrap_or((640, 480));
    let wished = (eye_width * eyes_per_picture, height);
    let rate_hz = request.rate_hz.unwrap_or(30);
    let allowed = |m: &&Mode| request.format.is_none_or(|f| f == m.format);
    let shared = offers.first()?.iter().filter(allowed).filter(|m| {
        m.width.is_multiple_of(eyes_per_picture)
            && offers.iter().all(|offer| offer.iter().filter(allowed).any(|other| other.size() == m.size()))
    });
    let two_wide = |m: &Mode| eyes_per_picture == 1 || m.width >= 2 * m.height;
    let size = shared.min_by_key(|m| {
        let distance = m.width.abs_diff(wished.0) + m.height.abs_diff(wished.1);
        // a picture of both eyes is at least twice as wide as high; the camera's other modes show one eye, or squeeze
        (!two_wide(m) && m.size() != wished, distance, m.rate_hz.abs_diff(rate_hz), m.format)
    })?;
    let candidates = |offer: &Vec<Mode>| {
        let mut modes: Vec<Mode> = offer.iter().filter(allowed).filter(|m| m.size() == size.size()).copied().collect();
        modes.sort_by_key(|m| (m.rate_hz.abs_diff(rate_hz), m.format));
        modes
    };
    Some(offers.iter().map(candidates).collect())
}

#[cfg(test)]
mod tests {
    use super::PixelFormat::{Mjpeg, Yuyv};
    use super::*;

    fn mode(format: PixelFormat, width: usize, height: usize, rate_hz: u32) -> Mode {
        Mode { format, width, height, rate_hz }
    }

    /// What a common webcam offers: raw pictures are slow when large.
    fn webcam() -> Vec<Mode> {
        vec![
            mode(Yuyv, 320, 240, 30),
            mode(Yuyv, 640, 480, 15),
            mode(Yuyv, 640, 480, 30),
            mode(Yuyv, 1280, 720, 10),
            mode(Mjpeg, 640, 480, 30),
            mode(Mjpeg, 1280, 720, 30),
            mode(Mjpeg, 1920, 1080, 30),
        ]
    }

    fn best(offers: &[Vec<Mode>], eyes: usize, request: &ModeRequest) -> Option<Mode> {
        choose(offers, eyes, request).map(|c| c[0][0])
    }

    #[test]
    fn default_is_vga_raw_at_30() {
        let candidates = choose(&[webcam()], 1, &ModeRequest::default()).expect("has modes");
        assert_eq!(candidates, [[mode(Yuyv, 640, 480, 30), mode(Mjpeg, 640, 480, 30), mode(Yuyv, 640, 480, 15)]]);
    }

    #[test]
    fn mjpeg_where_raw_is_too_slow() {
        let request = ModeRequest { size: Some((1280, 720)), ..ModeRequest::default() };
        assert_eq!(best(&[webcam()], 1, &request), Some(mode(Mjpeg, 1280, 720, 30)));
        let request = ModeRequest { format: Some(Yuyv), ..request };
        assert_eq!(best(&[webcam()], 1, &request), Some(mode(Yuyv, 1280, 720, 10)));
    }

    #[test]
    fn nearest_size_where_the_wish_is_missing() {
        let request = ModeRequest { size: Some((1900, 1000)), ..ModeRequest::default() };
        assert_eq!(best(&[webcam()], 1, &request), Some(mode(Mjpeg, 1920, 1080, 30)));
    }

    #[test]
    fn two_cameras_get_one_size() {
        let other = vec![mode(Mjpeg, 320, 240, 60), mode(Mjpeg, 800, 600, 30), mode(Mjpeg, 1280, 720, 30)];
        let chosen = choose(&[webcam(), other], 1, &ModeRequest::default()).expect("320x240");
        assert_eq!(chosen, [[mode(Yuyv, 320, 240, 30)], [mode(Mjpeg, 320, 240, 60)]]);
        let strange = vec![mode(Yuyv, 752, 480, 30)];
        assert_eq!(choose(&[webcam(), strange], 1, &ModeRequest::default()), None);
    }

    #[test]
    fn side_by_side_takes_a_picture_of_both_eyes() {
        let stereo = vec![mode(Mjpeg, 2560, 720, 30), mode(Mjpeg, 640, 480, 30), mode(Mjpeg, 1280, 720, 30)];
        assert_eq!(best(std::slice::from_ref(&stereo), 2, &ModeRequest::default()), Some(mode(Mjpeg, 2560, 720, 30)));
        let request = ModeRequest { size: Some((320, 480)), ..ModeRequest::default() };
        assert_eq!(best(&[stereo], 2, &request), Some(mode(Mjpeg, 640, 480, 30)));
        assert_eq!(best(&[vec![mode(Yuyv, 641, 100, 30)]], 2, &ModeRequest::default()), None);
    }

    #[test]
    fn listing_is_sorted_and_without_what_cannot_be_read() {
        let listed = [
            CameraFormat::new(Resolution::new(640, 480), FrameFormat::YUYV, 30),
            CameraFormat::new(Resolution::new(640, 480), FrameFormat::YUYV, 30000),
            CameraFormat::new(Resolution::new(640, 480), FrameFormat::NV12, 30),
            CameraFormat::new(Resolution::new(320, 240), FrameFormat::YUYV, 30),
            CameraFormat::new(Resolution::new(640, 480), FrameFormat::YUYV, 30),
        ];
        assert_eq!(readable(&listed), [mode(Yuyv, 320, 240, 30), mode(Yuyv, 640, 480, 30)]);
    }
}
