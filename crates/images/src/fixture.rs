//! Frame and result for tests, and a reader of `.ply` files.

use std::sync::Arc;
use std::time::{Duration, SystemTime};
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_frame::{Frame, RawPair};
use stereopsis_stereo::{DisparityMap, INVALID, reason};

/// Width of the frame, px.
pub const WIDTH: usize = 320;
/// Height of the frame, px.
pub const HEIGHT: usize = 240;

/// Returns a map of a ground from 2 to 40 px with a box at 64 px and the shadow of the box.
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

/// Returns a frame with a grey pattern, with a geometry or without.
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

/// Content of a `.ply`, read by the names and types of its header.
pub struct Ply {
    /// Names of the properties of a point.
    pub names: Vec<String>,
    /// Values of each point.
    pub points: Vec<Vec<f64>>,
    /// Corners of each triangle.
    pub faces: Vec<[u32; 3]>,
}

/// Reads a binary little-endian `.ply` of points and triangles.
///
/// # Panics
/// The bytes are no such file, or the length differs from the header's.
pub fn read_ply(bytes: &[u8]) -> Ply {
    let end = bytes.windows(11).position(|bytes| bytes == b"end_header\n").expect("a header") + 11;
    let header = std::str::from_utf8(&bytes[..end]).expect("text");
    assert!(header.starts_with("ply\nformat binary_little_endian 1.0\n"), "{header}");
    let count = |element: &str| {
        let line = header.lines().find_map(|line| line.strip_prefix(&format!("element {element} ")));
        line.map_or(0, |count| count.parse::<usize>().expect("a number"))
    };
    let properties = header.lines().filter_map(|line| line.strip_prefix("property ")?.split_once(' '));
    let of_points: Vec<_> = properties.filter(|(kind, _)| *kind != "list").collect();
    let mut rest = &bytes[end..];
    let mut take = |size: usize| {
        let (taken, left) = rest.split_at(size);
        rest = left;
        taken
    };
    let mut point = || {
        let mut value = |kind: &str| match kind {
            "float" => f64::from(f32::from_le_bytes(take(4).try_into().expect("four"))),
            "uchar" => f64::from(take(1)[0]),
            other => panic!("{other}"),
        };
        of_points.iter().map(|(kind, _)| value(kind)).collect()
    };
    let points = (0..count("vertex")).map(|_| point()).collect();
    let mut face = || {
        assert_eq!(take(1), [3], "a triangle");
        [(); 3].map(|()| u32::from_le_bytes(take(4).try_into().expect("four")))
    };
    let faces = (0..count("face")).map(|_| face()).collect();
    assert!(rest.is_empty(), "{} bytes more", rest.len());
    Ply { names: of_points.iter().map(|(_, name)| (*name).to_owned()).collect(), points, faces }
}
