//! One camera whose picture shows both eyes: the left half is the left eye, as seen from behind the camera.

use super::ModeRequest;
use super::camera::{OpenCamera, SILENCE, open};
use super::fault;
use crate::capture::{CaptureError, Next, PairSource, SourceInfo};
use crate::frame::{Luma, Picture, RawPair};
use crate::image::Image;
use crossbeam_channel::RecvTimeoutError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A side-by-side camera.
#[derive(Debug)]
pub struct SideBySide {
    camera: OpenCamera,
    last_shot: Instant,
}

impl SideBySide {
    /// Opens camera `index` in the mode nearest to the request, whose size is per eye.
    ///
    /// # Errors
    /// No such camera, busy, no permission, no mode of even width that it really streams.
    pub fn open(index: u32, request: &ModeRequest) -> Result<Self, CaptureError> {
        let camera = open(&[index], 2, request)?.pop().ok_or_else(|| fault::ended(index))?;
        Ok(Self { camera, last_shot: Instant::now() })
    }
}

impl PairSource for SideBySide {
    fn info(&self) -> SourceInfo {
        let mode = self.camera.mode;
        SourceInfo {
            name: format!("webcam {}", self.camera.index),
            width: mode.width / 2,
            height: mode.height,
            rate_hz: Some(f64::from(mode.rate_hz)),
            is_camera: true,
            num_pairs: None,
            is_rectified: false,
            geometry: None,
        }
    }

    fn next(&mut self, patience: Duration) -> Result<Next, CaptureError> {
        let deadline = (Instant::now() + patience).min(self.last_shot + SILENCE);
        match self.camera.shots.recv_deadline(deadline) {
            Ok(shot) => {
                let shot = shot?;
                self.last_shot = Instant::now();
                let (left, right) = split(&shot.picture);
                Ok(Next::Pair(Box::new(RawPair {
                    left,
                    right,
                    sequence: shot.number,
                    capture_time: shot.time,
                    skew_s: 0.0,
                    name: format!("webcam-{:06}", shot.number),
                    truth: None,
                })))
            }
            Err(RecvTimeoutError::Timeout) if self.last_shot.elapsed() >= SILENCE => {
                let damaged = self.camera.counts.damaged.load(Ordering::Relaxed);
                Err(fault::silent(self.camera.index, SILENCE, damaged))
            }
            Err(RecvTimeoutError::Timeout) => Ok(Next::Waiting),
            Err(RecvTimeoutError::Disconnected) => Err(fault::ended(self.camera.index)),
        }
    }
}

/// The halves of a picture of even width.
fn split(both: &Picture) -> (Picture, Picture) {
    let half = |right: bool| Picture {
        luma: match &both.luma {
            Luma::U8(image) => Luma::U8(half_of(image, right)),
            Luma::U16 { image, bits } => Luma::U16 { image: half_of(image, right), bits: *bits },
        },
        rgb: both.rgb.as_ref().map(|image| half_of(image, right)),
    };
    (half(false), half(true))
}

fn half_of<T: Copy>(image: &Image<T>, right: bool) -> Image<T> {
    let width = image.width() / 2;
    let start = if right { width } else { 0 };
    let pixels = (0..image.height()).flat_map(|y| &image.row(y)[start..start + width]).copied().collect();
    Image::new(width, image.height(), pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn left_half_is_the_left_eye() {
        let image = Image::from_fn(6, 2, |x, y| (10 * y + x) as u8);
        let (left, right) = split(&Picture { luma: Luma::U8(image), rgb: None });
        assert_eq!(left.luma, Luma::U8(Image::new(3, 2, vec![0, 1, 2, 10, 11, 12])));
        assert_eq!(right.luma, Luma::U8(Image::new(3, 2, vec![3, 4, 5, 13, 14, 15])));
    }
}
