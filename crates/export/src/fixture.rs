//! A frame and a result for tests.

use crate::geometry::Geometry;
use crate::image::{Image, Luma, Picture};
use crate::stereo::{DisparityMap, INVALID, reason};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use stereopsis_frame::{Frame, RawPair};

/// Width of the frame, px.
pub const WIDTH: usize = 320;
/// Height of the frame, px.
pub const HEIGHT: usize = 240;

/// A ground from 2 to 40 px with a box at 64 px and the shadow of the box.
pub fn map() -> DisparityMap {
    let inside = |x: usize, y: usize| (120..200).contains(&x) && (80..180).contains(&y);
    let shadow = |x: usize, y: usize| (96..120).contains(&x) && (80..180).contains(&y);
    let values = Image::from_fn(WIDTH, HEIGHT, |x, y| match () {
        () if inside(x, y) => 64 * 16,
        () if shadow(x, y) => INVALID,
        () => 32 + (y * 38 * 16 / HEIGHT) as i16,
    });
    let reasons = Image::from_fn(WIDTH, HEIGHT, |x, y| if shadow(x, y) { reason::LEFT_RIGHT } else { 0 });
    DisparityMap { values, reasons, confidence: None }
}

/// A grey ramp, with a geometry or without.
pub fn frame(with_geometry: bool) -> Frame {
    let luma = Image::from_fn(WIDTH, HEIGHT, |x, y| ((x * 7) ^ (y * 5)) as u8);
    let picture = Picture { luma: Luma::U8(luma), rgb: None };
    let raw = RawPair::new(
        "scene-000012",
        12,
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000),
        picture.clone(),
        picture,
    );
    let geometry = Geometry::new(300.0, 0.12, 0.0, [159.5, 119.5]);
    Frame { geometry: with_geometry.then_some(geometry), ..Frame::of_raw(Arc::new(raw)) }
}
