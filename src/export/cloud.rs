//! Depth as a point cloud: PLY.

use super::file::{Endings, ExportError};
use super::picture::colors_of;
use crate::files;
use crate::geometry::Geometry;
use crate::image::{Image, Picture};
use std::path::Path;

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
    let has_depth = |z: &f32| z.is_finite() && *z > 0.0;
    let points = depth_m.pixels().iter().copied().filter(has_depth).count();
    let mut bytes = header(points, colors.is_some()).into_bytes();
    bytes.reserve(points * 15);
    for y in 0..depth_m.height() {
        for (x, &z) in depth_m.row(y).iter().enumerate().filter(|(_, z)| has_depth(z)) {
            let along = f64::from(z) / geometry.focal_px;
            let at = [(x as f64 - geometry.cx_px) * along, (y as f64 - geometry.cy_px) * along, f64::from(z)];
            bytes.extend(at.iter().flat_map(|&v| (v as f32).to_le_bytes()));
            if let Some(colors) = &colors {
                bytes.extend(colors.at(x, y));
            }
        }
    }
    Ok(files::write(path, &bytes)?)
}

fn header(points: usize, colored: bool) -> String {
    let colors = if colored { "property uchar red\nproperty uchar green\nproperty uchar blue\n" } else { "" };
    format!(
        "ply\nformat binary_little_endian 1.0\ncomment metres, x right, y down, z forward, from the left camera\n\
         element vertex {points}\nproperty float x\nproperty float y\nproperty float z\n{colors}end_header\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Luma;

    const GEOMETRY: Geometry =
        Geometry { focal_px: 100.0, baseline_m: 0.1, doffs_px: 0.0, cx_px: 1.0, cy_px: 0.5, estimated: false };

    /// The header, and the bytes behind it.
    fn written(picture: Option<&Picture>) -> (String, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ply");
        let depth = Image::new(3, 2, vec![2.0, f32::NAN, 4.0, 0.0, 1.0, f32::INFINITY]);
        write_cloud(&path, &depth, &GEOMETRY, picture).unwrap();
        let bytes = std::fs::read(path).unwrap();
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
    fn other_endings_are_refused() {
        let text = write_cloud(Path::new("a.pcd"), &Image::filled(1, 1, 1.0), &GEOMETRY, None).unwrap_err().to_string();
        assert!(text.contains(".ply"), "{text}");
    }
}
