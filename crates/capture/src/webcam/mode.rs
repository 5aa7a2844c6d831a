//! Chooses the mode in which cameras are opened from the modes that they list: by size first, then rate, then format. Pure functions.

use std::fmt;
use stereopsis_frame::decode_camera::PixelFormat;
use stereopsis_frame::{CameraApi, Pixels};

/// Image mode of a camera.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mode {
    /// Pixel format.
    pub format: PixelFormat,
    /// Width of the whole image (both views of a side-by-side camera), px.
    pub width: usize,
    /// Height, px.
    pub height: usize,
    /// Frame rate, Hz.
    pub rate_hz: u32,
}

impl Mode {
    /// Returns whether the mode is plausible.
    pub(super) fn is_possible(&self) -> bool {
        let sides = [self.width, self.height];
        let colours_fit = match self.format {
            PixelFormat::Yuyv => self.width.is_multiple_of(2),
            PixelFormat::Nv12 => sides.iter().all(|side| side.is_multiple_of(2)),
            _ => true,
        };
        colours_fit && sides.iter().all(|side| (1..=MAX_SIDE_PX).contains(side)) && RATES_HZ.contains(&self.rate_hz)
    }

    /// Returns `(width, height)`, px.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}x{} at {}/s", self.format.name(), self.width, self.height, self.rate_hz)
    }
}

/// Maximum width and height, px, equal to that of the option for sizes.
const MAX_SIDE_PX: usize = 16_384;
/// Plausible rates, Hz.
const RATES_HZ: std::ops::RangeInclusive<u32> = 1..=1000;

/// Requested mode of a camera; the nearest listed mode is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModeRequest {
    /// Size `(width, height)` per view, px; `None` means 640x480.
    pub size: Option<(usize, usize)>,
    /// Rate, Hz; `None` means 30.
    pub rate_hz: Option<u32>,
    /// Interface to the camera.
    pub api: CameraApi,
    /// Pixel format; `None` means any, with YUYV first at equal rates.
    pub format: Option<PixelFormat>,
    /// Parts of the images to decode.
    pub pixels: Pixels,
}

impl ModeRequest {
    /// Returns the explicitly requested properties that `mode` lacks, as text: `640x480 at 60/s`.
    pub(super) fn unmet_by(&self, mode: Mode, views_per_picture: usize) -> Option<String> {
        let size = self.size.filter(|&(width, height)| (width * views_per_picture, height) != mode.size());
        let rate_hz = self.rate_hz.filter(|&rate| rate != mode.rate_hz);
        let (width, height) = (mode.width / views_per_picture, mode.height);
        match (size, rate_hz) {
            (None, None) => None,
            (Some((w, h)), None) => Some(format!("{w}x{h} per image")),
            (None, Some(rate)) => Some(format!("{rate}/s at {width}x{height} per image")),
            (Some((w, h)), Some(rate)) => Some(format!("{w}x{h} per image at {rate}/s")),
        }
    }
}

/// Returns the modes to try on each camera, best first. All have one size: of the sizes that every camera has, the one nearest to the
/// request. `None` without a common size.
pub(super) fn choose(offers: &[Vec<Mode>], views_per_picture: usize, request: &ModeRequest) -> Option<Vec<Vec<Mode>>> {
    let (view_width, height) = request.size.unwrap_or((640, 480));
    let requested = (view_width * views_per_picture, height);
    let rate_hz = request.rate_hz.unwrap_or(30);
    let allowed = |m: &&Mode| request.format.is_none_or(|f| f == m.format);
    let shared = offers.first()?.iter().filter(allowed).filter(|m| {
        m.width.is_multiple_of(views_per_picture)
            && offers.iter().all(|offer| offer.iter().filter(allowed).any(|other| other.size() == m.size()))
    });
    let two_wide = |m: &Mode| views_per_picture == 1 || m.width >= 2 * m.height;
    let size = shared.min_by_key(|m| {
        let distance = m.width.abs_diff(requested.0) + m.height.abs_diff(requested.1);
        // side-by-side images are at least twice as wide as high; narrower modes contain one view, or squeezed views
        (!two_wide(m) && m.size() != requested, distance, m.rate_hz.abs_diff(rate_hz), m.format)
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

    /// Returns the modes of a typical webcam, whose large raw images have low rates.
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

    fn best(offers: &[Vec<Mode>], views: usize, request: &ModeRequest) -> Option<Mode> {
        choose(offers, views, request).map(|c| c[0][0])
    }

    #[test]
    fn rejects_implausible_modes() {
        let possible = [mode(Yuyv, 2, 1, 1), mode(Mjpeg, 16_384, 3, 1000), mode(PixelFormat::Grey, 3, 3, 30)];
        assert!(possible.iter().all(Mode::is_possible));
        let sizes = [(0, 480), (640, 0), (16_386, 480), (641, 480)].map(|(w, h)| mode(Yuyv, w, h, 30));
        let others = [mode(Yuyv, 640, 480, 0), mode(Mjpeg, 640, 480, 30_000), mode(PixelFormat::Nv12, 640, 481, 30)];
        assert!(!sizes.iter().chain(&others).any(Mode::is_possible));
    }

    #[test]
    fn the_default_is_raw_vga_at_30_hz() {
        let candidates = choose(&[webcam()], 1, &ModeRequest::default()).expect("has modes");
        assert_eq!(candidates, [[mode(Yuyv, 640, 480, 30), mode(Mjpeg, 640, 480, 30), mode(Yuyv, 640, 480, 15)]]);
    }

    #[test]
    fn chooses_mjpeg_if_raw_is_too_slow() {
        let request = ModeRequest { size: Some((1280, 720)), ..ModeRequest::default() };
        assert_eq!(best(&[webcam()], 1, &request), Some(mode(Mjpeg, 1280, 720, 30)));
        let request = ModeRequest { format: Some(Yuyv), ..request };
        assert_eq!(best(&[webcam()], 1, &request), Some(mode(Yuyv, 1280, 720, 10)));
    }

    #[test]
    fn chooses_the_nearest_size() {
        let request = ModeRequest { size: Some((1900, 1000)), ..ModeRequest::default() };
        assert_eq!(best(&[webcam()], 1, &request), Some(mode(Mjpeg, 1920, 1080, 30)));
    }

    #[test]
    fn two_cameras_get_a_common_size() {
        let other = vec![mode(Mjpeg, 320, 240, 60), mode(Mjpeg, 800, 600, 30), mode(Mjpeg, 1280, 720, 30)];
        let chosen = choose(&[webcam(), other], 1, &ModeRequest::default()).expect("320x240");
        assert_eq!(chosen, [[mode(Yuyv, 320, 240, 30)], [mode(Mjpeg, 320, 240, 60)]]);
        let strange = vec![mode(Yuyv, 752, 480, 30)];
        assert_eq!(choose(&[webcam(), strange], 1, &ModeRequest::default()), None);
    }

    #[test]
    fn side_by_side_prefers_wide_images() {
        let stereo = vec![mode(Mjpeg, 2560, 720, 30), mode(Mjpeg, 640, 480, 30), mode(Mjpeg, 1280, 720, 30)];
        assert_eq!(best(std::slice::from_ref(&stereo), 2, &ModeRequest::default()), Some(mode(Mjpeg, 2560, 720, 30)));
        let request = ModeRequest { size: Some((320, 480)), ..ModeRequest::default() };
        assert_eq!(best(&[stereo], 2, &request), Some(mode(Mjpeg, 640, 480, 30)));
        assert_eq!(best(&[vec![mode(Yuyv, 641, 100, 30)]], 2, &ModeRequest::default()), None);
    }

    #[test]
    fn names_unmet_properties() {
        let unmet = |size, rate_hz, got: Mode, views| {
            ModeRequest { size, rate_hz, ..ModeRequest::default() }.unmet_by(got, views)
        };
        let got = mode(Mjpeg, 1280, 480, 30);
        assert_eq!(unmet(None, None, got, 2), None);
        assert_eq!(unmet(Some((640, 480)), Some(30), got, 2), None);
        assert_eq!(unmet(Some((640, 480)), Some(30), got, 1).as_deref(), Some("640x480 per image"));
        assert_eq!(unmet(None, Some(60), got, 2).as_deref(), Some("60/s at 640x480 per image"));
        assert_eq!(unmet(Some((800, 600)), Some(60), got, 1).as_deref(), Some("800x600 per image at 60/s"));
    }
}
