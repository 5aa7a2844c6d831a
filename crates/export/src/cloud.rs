//! Depth as a point cloud: PLY.

use super::file::{Endings, ExportError};
use super::picture::colors_of;
use crate::files;
use crate::geometry::Geometry;
use crate::image::{Image, Picture};
use std::path::Path;

/// Most by which the disparities of four neighbours differ within a surface, px for each pixel between them: a disparity gradient
/// of 1, which surfaces exceed only where they are seen nearly along themselves.
pub const MAX_STEP_PX: f64 = 1.0;
/// Half of the step in which disparities are stored, px.
const TOLERANCE_PX: f64 = 1.0 / 32.0;
/// Number of a pixel that is no point.
const NO_POINT: u32 = u32::MAX;

/// Which pixels become points, and what is between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloudShape {
    /// Every so many pixels of every so many rows, at least 1.
    pub every: usize,
    /// Neighbours are joined by triangles, cut where their disparities differ by more than [`MAX_STEP_PX`].
    pub has_faces: bool,
}

/// Numbers of points and triangles of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloudSize {
    /// Number of points.
    pub points: usize,
    /// Number of triangles.
    pub faces: usize,
}

/// Writes every pixel that has a depth as a point, as binary little-endian `.ply`: x to the right, y down, z forward, metres,
/// seen from the left camera. A `picture` of the same size gives the points colours, or brightness if it has none.
///
/// # Errors
/// Another ending, or the file cannot be written.
pub fn write_cloud(
    path: &Path,
    depth_m: &Image<f32>,
    geometry: &Geometry,
    picture: Option<&Picture>,
) -> Result<(), ExportError> {
    Endings(&["ply"], "points in space are a .ply").find(path)?;
    let picture = picture.filter(|picture| picture.size() == depth_m.size());
    let colors = picture.map(colors_of);
    let shape = CloudShape { every: 1, has_faces: false };
    let (bytes, _) = cloud_bytes(depth_m, geometry, colors.as_ref(), shape);
    Ok(files::write(path, &bytes)?)
}

/// The bytes of such a file for some of the pixels, with `colors` of the same size, and with triangles between them on request.
pub fn cloud_bytes(
    depth_m: &Image<f32>,
    geometry: &Geometry,
    colors: Option<&Image<[u8; 3]>>,
    shape: CloudShape,
) -> (Vec<u8>, CloudSize) {
    let every = shape.every.max(1);
    let mut numbers = Image::filled(depth_m.width(), depth_m.height(), NO_POINT);
    let mut points = 0;
    let mut body = Vec::new();
    for y in (0..depth_m.height()).step_by(every) {
        for x in (0..depth_m.width()).step_by(every) {
            let z = depth_m.at(x, y);
            if !z.is_finite() || z <= 0.0 {
                continue;
            }
            numbers.set(x, y, points as u32);
            points += 1;
            let at = geometry.point_m(x as f64, y as f64, f64::from(z));
            body.extend(at.iter().flat_map(|&v| (v as f32).to_le_bytes()));
            if let Some(colors) = colors {
                body.extend(colors.at(x, y));
            }
        }
    }
    let faces = if shape.has_faces { faces(depth_m, geometry, &numbers, every) } else { Vec::new() };
    for face in &faces {
        body.push(3);
        body.extend(face.iter().flat_map(|number| number.to_le_bytes()));
    }
    let size = CloudSize { points, faces: faces.len() };
    let mut bytes = header(size, colors.is_some(), shape.has_faces).into_bytes();
    bytes.extend(body);
    (bytes, size)
}

/// Two triangles for each four neighbours that are one surface, as numbers of points; their front is what the camera sees.
fn faces(depth_m: &Image<f32>, geometry: &Geometry, numbers: &Image<u32>, every: usize) -> Vec<[u32; 3]> {
    let mut faces = Vec::new();
    for y in (0..depth_m.height().saturating_sub(every)).step_by(every) {
        for x in (0..depth_m.width().saturating_sub(every)).step_by(every) {
            let corners = [(x, y), (x + every, y), (x, y + every), (x + every, y + every)];
            let [a, b, c, d] = corners.map(|(x, y)| numbers.at(x, y));
            let disparities = corners.map(|(x, y)| geometry.disparity_px(f64::from(depth_m.at(x, y))));
            let difference = disparities.iter().fold(f64::MIN, |a, &b| a.max(b))
                - disparities.iter().fold(f64::MAX, |a, &b| a.min(b));
            let is_cut = difference > MAX_STEP_PX * every as f64 + TOLERANCE_PX;
            if ![a, b, c, d].contains(&NO_POINT) && !is_cut {
                faces.extend([[a, c, b], [b, c, d]]);
            }
        }
    }
    faces
}

fn header(size: CloudSize, colored: bool, has_faces: bool) -> String {
    let CloudSize { points, faces } = size;
    let colors = if colored { "property uchar red\nproperty uchar green\nproperty uchar blue\n" } else { "" };
    let faces = if has_faces {
        format!("element face {faces}\nproperty list uchar uint vertex_indices\n")
    } else {
        String::new()
    };
    format!(
        "ply\nformat binary_little_endian 1.0\ncomment metres, x right, y down, z forward, from the left camera\n\
         element vertex {points}\nproperty float x\nproperty float y\nproperty float z\n{colors}{faces}end_header\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Luma;

    const GEOMETRY: Geometry = Geometry::new(100.0, 0.1, 0.0, [1.0, 0.5]);

    /// The header, and the bytes behind it.
    fn written(picture: Option<&Picture>) -> (String, Vec<u8>) {
        let depth = Image::new(3, 2, vec![2.0, f32::NAN, 4.0, 0.0, 1.0, f32::INFINITY]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ply");
        write_cloud(&path, &depth, &GEOMETRY, picture).unwrap();
        split(&std::fs::read(path).unwrap())
    }

    fn split(bytes: &[u8]) -> (String, Vec<u8>) {
        let end = bytes.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
        (String::from_utf8(bytes[..end].to_vec()).unwrap(), bytes[end..].to_vec())
    }

    fn floats(bytes: &[u8]) -> Vec<f32> {
        bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    #[test]
    fn only_pixels_with_depth_become_points_in_front_of_the_left_camera() {
        let (header, body) = written(None);
        assert!(header.contains("element vertex 3\n") && !header.contains("red"), "{header}");
        assert_eq!(floats(&body), [-0.02, -0.01, 2.0, 0.04, -0.02, 4.0, 0.0, 0.005, 1.0]);
    }

    #[test]
    fn points_have_the_colour_of_their_pixel() {
        let luma = Luma::U16 { image: Image::from_fn(3, 2, |x, y| (100 * (3 * y + x)) as u16), bits: 10 };
        let rgb = Image::from_fn(3, 2, |x, y| [x as u8, y as u8, 7]);
        let (header, body) = written(Some(&Picture { luma: luma.clone(), rgb: Some(rgb) }));
        assert!(header.contains("property uchar blue\n"), "{header}");
        let colors: Vec<_> = body.chunks(15).map(|point| &point[12..]).collect();
        assert_eq!(colors, [[0, 0, 7], [2, 0, 7], [1, 1, 7]]);
        assert_eq!(floats(&body[15..27]), [0.04, -0.02, 4.0]);
        let (_, grey) = written(Some(&Picture { luma, rgb: None }));
        assert_eq!(grey[27..30], [50; 3], "the upper eight of ten bits");
        let other = Picture { luma: Luma::U8(Image::filled(2, 2, 1)), rgb: None };
        assert!(!written(Some(&other)).0.contains("red"), "a picture of another size says nothing");
    }

    #[test]
    fn neighbours_are_joined_up_to_the_edge_of_depth() {
        // columns at 10, 11, 12.1, 12.1 px: the third one is more than 1 px from the second; the last pixel has no depth
        let depth =
            Image::from_fn(4, 2, |x, y| if (x, y) == (3, 1) { f32::NAN } else { 10.0 / [10.0, 11.0, 12.1, 12.1][x] });
        let shape = CloudShape { every: 1, has_faces: true };
        let (bytes, size) = cloud_bytes(&depth, &GEOMETRY, None, shape);
        let (header, body) = split(&bytes);
        assert_eq!(size, CloudSize { points: 7, faces: 2 });
        assert!(header.contains("element face 2\nproperty list uchar uint vertex_indices\n"), "{header}");
        let triangles: Vec<Vec<u32>> = body[7 * 12..]
            .chunks(13)
            .map(|face| face[1..].chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect())
            .collect();
        assert_eq!(triangles, [[0, 4, 1], [1, 4, 5]]);
    }

    #[test]
    fn every_second_pixel_is_one_of_four_and_neighbours_may_differ_by_twice_as_much() {
        let depth = Image::from_fn(5, 3, |x, _| 10.0 / (10.0 + x as f32));
        let shape = CloudShape { every: 2, has_faces: true };
        let (bytes, size) = cloud_bytes(&depth, &GEOMETRY, None, shape);
        let (_, body) = split(&bytes);
        assert_eq!(size, CloudSize { points: 6, faces: 4 });
        let second = floats(&body[12..24]);
        assert!(
            second.iter().zip([0.1 / 12.0, -0.05 / 12.0, 10.0 / 12.0]).all(|(a, b)| (a - b).abs() < 1e-6),
            "{second:?}"
        );
    }

    #[test]
    fn other_endings_are_refused() {
        let text = write_cloud(Path::new("a.pcd"), &Image::filled(1, 1, 1.0), &GEOMETRY, None).unwrap_err().to_string();
        assert!(text.contains(".ply"), "{text}");
    }
}
