//! Checks whether two cameras that share a USB bus have enough bandwidth for raw images.

use super::error::mjpeg;
use super::{DetectedCamera, Mode};
use std::fmt;
use stereopsis_frame::decode_camera::PixelFormat;

/// Speed of a bus from which on the images of any two webcams fit, Mbit/s.
const FAST_MBIT: u32 = 481;
/// Share of a USB 2 bus that video may take; the rest is reserved for other transfers (USB 2.0, section 5.6.4).
const VIDEO_SHARE: f64 = 0.8;

/// Warning that the raw images of two cameras exceed their bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BandwidthWarning {
    /// Text with the cameras, the mode that does not fit, and the largest one that does.
    pub text: String,
    /// Remedy.
    pub remedy: String,
}

impl fmt::Display for BandwidthWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}. {}", self.text, self.remedy)
    }
}

/// Checks every two usable cameras; returns a warning for two on one slow bus whose common raw modes do not all fit.
pub fn bandwidth_warnings<'a>(cameras: impl IntoIterator<Item = &'a DetectedCamera>) -> Vec<BandwidthWarning> {
    let usable: Vec<_> = cameras.into_iter().filter(|camera| camera.problem.is_none()).collect();
    let pairs =
        usable.iter().enumerate().flat_map(|(i, left)| usable[i + 1..].iter().map(move |right| (*left, *right)));
    pairs.filter_map(|(left, right)| warning(left, right)).collect()
}

fn warning(left: &DetectedCamera, right: &DetectedCamera) -> Option<BandwidthWarning> {
    let (bus, other) = (left.bus?, right.bus?);
    if bus.bus != other.bus || bus.speed_mbit.max(other.speed_mbit) >= FAST_MBIT {
        return None;
    }
    let room = f64::from(bus.speed_mbit) * 1e6 / 8.0 * VIDEO_SHARE;
    let mut shared: Vec<(f64, &Mode)> = left
        .modes
        .iter()
        .filter(|m| right.modes.contains(m))
        .filter_map(|m| Some((2.0 * bytes_per_s(m)?, m)))
        .collect();
    shared.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (need, too_much) = shared.iter().find(|(need, _)| *need > room)?;
    let fits = shared.iter().rev().find(|(need, _)| *need <= room);
    let fits = fits.map_or("no raw mode of both fits".to_owned(), |(need, mode)| {
        format!("the most that fits is {mode} ({:.0} MB/s)", need / 1e6)
    });
    let text = format!(
        "cameras {} and {} share {bus}, which carries about {:.0} MB/s of video: {too_much} from both needs {:.0} MB/s; {fits}",
        left.index,
        right.index,
        room / 1e6,
        need / 1e6,
    );
    let remedy = format!("Ask for compressed images ({}), or plug one camera into a port of another bus", mjpeg());
    Some(BandwidthWarning { text, remedy })
}

/// Returns the bandwidth of a raw mode, bytes/s; `None` for compressed images.
fn bytes_per_s(mode: &Mode) -> Option<f64> {
    let bytes_per_pixel = match mode.format {
        PixelFormat::Yuyv | PixelFormat::Y16 => 2.0,
        PixelFormat::Nv12 => 1.5,
        PixelFormat::Grey => 1.0,
        PixelFormat::Mjpeg => return None,
    };
    Some(bytes_per_pixel * (mode.width * mode.height) as f64 * f64::from(mode.rate_hz))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webcam::UsbBus;

    fn camera(index: u32, bus: u32, speed_mbit: u32, sizes: &[(usize, usize)]) -> DetectedCamera {
        let mode = |format, &(width, height): &(usize, usize)| Mode { format, width, height, rate_hz: 30 };
        let raw = sizes.iter().map(|size| mode(PixelFormat::Yuyv, size));
        let modes = raw.chain([mode(PixelFormat::Mjpeg, &(1920, 1080))]).collect();
        let bus = Some(UsbBus { bus, speed_mbit });
        DetectedCamera { index, name: "Cam".into(), port: String::new(), bus, modes, problem: None }
    }

    #[test]
    fn warns_of_two_raw_cameras_on_a_slow_bus() {
        let sizes = [(640, 480), (1280, 720), (1920, 1080)];
        let cameras = [camera(0, 2, 480, &sizes), camera(2, 2, 480, &sizes), camera(4, 3, 480, &sizes)];
        let said: Vec<_> = bandwidth_warnings(&cameras).iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 1, "{said:?}");
        // 2 x 1280 x 720 x 2 bytes x 30/s
        assert!(
            said[0].starts_with("cameras 0 and 2 share USB bus 2 (480 Mbit/s), which carries about 48 MB/s"),
            "{}",
            said[0]
        );
        assert!(said[0].contains("YUYV 1280x720 at 30/s from both needs 111 MB/s"), "{}", said[0]);
        assert!(
            said[0].contains("the most that fits is YUYV 640x480 at 30/s (37 MB/s). Ask for compressed"),
            "{}",
            said[0]
        );
    }

    #[test]
    fn does_not_warn_of_modes_that_fit() {
        let small = [(640, 480)];
        assert!(bandwidth_warnings(&[camera(0, 2, 480, &small), camera(2, 2, 480, &small)]).is_empty());
        let large = [(1920, 1080)];
        assert!(bandwidth_warnings(&[camera(0, 2, 5000, &large), camera(2, 2, 5000, &large)]).is_empty());
        assert!(bandwidth_warnings(&[camera(0, 2, 480, &large), camera(2, 3, 480, &large)]).is_empty());
    }
}
