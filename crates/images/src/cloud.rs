//! Depth as a point cloud in a PLY file: points, and on request normals and triangles.

use super::file::{Endings, ExportError};
use super::picture::colors_of;
use std::path::Path;
use stereopsis_base::files;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::{Image, Picture};
use stereopsis_base::parameter::choices;
use stereopsis_base::quantile::quantile;

/// Maximum difference of the disparities of four neighbours on one surface, px for each pixel between them: a disparity gradient of 1,
/// which a surface exceeds only where it is seen almost edge-on.
pub const MAX_STEP_PX: f64 = 1.0;
/// Half of the step in which disparities are stored, px.
const TOLERANCE_PX: f64 = 1.0 / 32.0;
const NO_POINT: u32 = u32::MAX;

choices! {
    /// Axes of points in space, from the left camera.
    pub enum Axes, default Opencv {
        /// x to the right, y down, z forward: OpenCV, and ROS's camera_optical_frame
        Opencv = "opencv",
        /// x to the right, y up, z backward: OpenGL, Blender's cameras and glTF
        Opengl = "opengl",
        /// x forward, y to the left, z up: ROS's bodies (REP 103)
        Ros = "ros",
    }
}

impl Axes {
    /// Returns a point or direction on these axes, from one on OpenCV's.
    fn of(self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        match self {
            Self::Opencv => [x, y, z],
            Self::Opengl => [x, -y, -z],
            Self::Ros => [z, -x, -y],
        }
    }

    /// Returns the directions of the axes, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Opencv => "x right, y down, z forward",
            Self::Opengl => "x right, y up, z backward",
            Self::Ros => "x forward, y left, z up",
        }
    }
}

/// Choice of the pixels that become points, of normals and triangles, and of the axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloudShape {
    /// Step between the pixels of a row and between rows, at least 1.
    pub every: usize,
    /// Whether neighbours are joined by triangles, except where their disparities differ by more than [`MAX_STEP_PX`].
    pub has_faces: bool,
    /// Whether each point has the normal of the surface through its neighbours, of length 1 and towards the camera.
    pub has_normals: bool,
    /// Axes of points and normals.
    pub axes: Axes,
}

impl Default for CloudShape {
    /// Returns each pixel as a point, without normals and triangles.
    fn default() -> Self {
        Self { every: 1, has_faces: false, has_normals: false, axes: Axes::default() }
    }
}

/// Numbers of points and triangles of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloudSize {
    /// Number of points.
    pub points: usize,
    /// Number of triangles.
    pub faces: usize,
}

/// Writes each pixel with a depth as a point, as binary little-endian `.ply`, m, on these axes in the frame of the left camera. A `picture` of the same size gives the points colours, or brightness if it has none.
///
/// # Errors
/// Another ending, or the file cannot be written.
pub fn write_cloud(
    path: &Path,
    depth_m: &Image<f32>,
    geometry: &Geometry,
    picture: Option<&Picture>,
    axes: Axes,
) -> Result<(), ExportError> {
    Endings(&["ply"], "points in space are a .ply").find(path)?;
    let picture = picture.filter(|picture| picture.size() == depth_m.size());
    let colors = picture.map(colors_of);
    let shape = CloudShape { axes, ..CloudShape::default() };
    let (bytes, _) = cloud_bytes(depth_m, geometry, colors.as_ref(), shape);
    Ok(files::write(path, &bytes)?)
}

/// Returns the numbers of points and triangles of such a file without making it.
pub fn cloud_size(depth_m: &Image<f32>, geometry: &Geometry, shape: CloudShape) -> CloudSize {
    let (numbers, points) = numbered(depth_m, shape.every.max(1));
    let faces = if shape.has_faces { faces(depth_m, geometry, &numbers, shape.every.max(1)).len() } else { 0 };
    CloudSize { points, faces }
}

/// Returns the number of each pixel that becomes a point, and their count.
fn numbered(depth_m: &Image<f32>, every: usize) -> (Image<u32>, usize) {
    let mut points = 0;
    let numbers = Image::from_fn(depth_m.width(), depth_m.height(), |x, y| {
        let z = depth_m.at(x, y);
        let is_point = x % every == 0 && y % every == 0 && z.is_finite() && z > 0.0;
        points += usize::from(is_point);
        if is_point { points as u32 - 1 } else { NO_POINT }
    });
    (numbers, points)
}

/// Returns the bytes of such a file and its size; `colors` have the size of `depth_m`.
pub fn cloud_bytes(
    depth_m: &Image<f32>,
    geometry: &Geometry,
    colors: Option<&Image<[u8; 3]>>,
    shape: CloudShape,
) -> (Vec<u8>, CloudSize) {
    let every = shape.every.max(1);
    let (numbers, points) = numbered(depth_m, every);
    let mut body = Vec::new();
    for y in (0..depth_m.height()).step_by(every) {
        for x in (0..depth_m.width()).step_by(every) {
            if numbers.at(x, y) == NO_POINT {
                continue;
            }
            let at = shape.axes.of(geometry.point_m(x as f64, y as f64, f64::from(depth_m.at(x, y))));
            body.extend(at.iter().flat_map(|&v| (v as f32).to_le_bytes()));
            if shape.has_normals {
                let normal = shape.axes.of(normal(depth_m, geometry, every, (x, y)));
                body.extend(normal.iter().flat_map(|&v| (v as f32).to_le_bytes()));
            }
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
    let mut bytes = header(size, colors.is_some(), shape, remark(depth_m, geometry)).into_bytes();
    bytes.extend(body);
    (bytes, size)
}

/// Returns whether points of these disparities, px, belong to one surface, where neighbours are `every` pixels apart.
fn is_one_surface(disparities_px: &[f64], every: usize) -> bool {
    let difference_px =
        disparities_px.iter().fold(f64::MIN, |a, &b| a.max(b)) - disparities_px.iter().fold(f64::MAX, |a, &b| a.min(b));
    difference_px <= MAX_STEP_PX * every as f64 + TOLERANCE_PX
}

/// Returns the normal of the surface through a point and its neighbours in row and column; without them, the direction to the camera.
fn normal(depth_m: &Image<f32>, geometry: &Geometry, every: usize, (x, y): (usize, usize)) -> [f64; 3] {
    let point = |x: usize, y: usize| geometry.point_m(x as f64, y as f64, f64::from(depth_m.at(x, y)));
    let disparity_px = |x: usize, y: usize| geometry.disparity_px(f64::from(depth_m.at(x, y)));
    let at = point(x, y);
    let neighbour = |(column, row): (Option<usize>, Option<usize>)| {
        let (column, row) = (column?, row?);
        let is_inside = column < depth_m.width() && row < depth_m.height();
        let has_depth = is_inside && depth_m.at(column, row).is_finite() && depth_m.at(column, row) > 0.0;
        let joined = has_depth && is_one_surface(&[disparity_px(x, y), disparity_px(column, row)], every);
        joined.then(|| point(column, row))
    };
    // from the neighbour before to the one behind, or from or to the point itself
    let along = |before, behind| {
        let (from, to) = (neighbour(before).unwrap_or(at), neighbour(behind).unwrap_or(at));
        [0, 1, 2].map(|axis| to[axis] - from[axis])
    };
    let right = along((x.checked_sub(every), Some(y)), (Some(x + every), Some(y)));
    let down = along((Some(x), y.checked_sub(every)), (Some(x), Some(y + every)));
    // the cross product of right and down would point away from the camera
    let normal = [0, 1, 2].map(|axis| {
        let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
        down[next] * right[last] - down[last] * right[next]
    });
    let length = |v: [f64; 3]| v.iter().map(|part| part * part).sum::<f64>().sqrt();
    match length(normal) {
        0.0 => at.map(|part| -part / length(at)),
        size => normal.map(|part| part / size),
    }
}

/// Returns two triangles for each four neighbours on one surface, as numbers of points; the front faces the camera.
fn faces(depth_m: &Image<f32>, geometry: &Geometry, numbers: &Image<u32>, every: usize) -> Vec<[u32; 3]> {
    let mut faces = Vec::new();
    for y in (0..depth_m.height().saturating_sub(every)).step_by(every) {
        for x in (0..depth_m.width().saturating_sub(every)).step_by(every) {
            let corners = [(x, y), (x + every, y), (x, y + every), (x + every, y + every)];
            let [a, b, c, d] = corners.map(|(x, y)| numbers.at(x, y));
            let disparities = corners.map(|(x, y)| geometry.disparity_px(f64::from(depth_m.at(x, y))));
            if ![a, b, c, d].contains(&NO_POINT) && is_one_surface(&disparities, every) {
                faces.extend([[a, c, b], [b, c, d]]);
            }
        }
    }
    faces
}

/// Returns the comment on the lengths of an estimated rig, with the interval of the middle depth.
fn remark(depth_m: &Image<f32>, geometry: &Geometry) -> Option<String> {
    geometry.estimated.then_some(())?;
    let depths = depth_m.pixels().iter().filter(|z| z.is_finite() && **z > 0.0);
    let mut depths: Vec<_> = depths.map(|&z| f64::from(z)).collect();
    let median_m = (!depths.is_empty()).then(|| quantile(&mut depths, 0.5));
    let words = median_m.filter(|_| geometry.spread.is_some());
    let words = words.and_then(|median_m| geometry.depth_words(geometry.disparity_px(median_m)));
    Some(words.map_or_else(
        || "comment estimated: lengths may be off by a factor\n".to_owned(),
        |words| format!("comment estimated: the middle depth is {words}\n"),
    ))
}

fn header(size: CloudSize, colored: bool, shape: CloudShape, remark: Option<String>) -> String {
    let CloudSize { points, faces } = size;
    let remark = remark.unwrap_or_default();
    let axes = shape.axes.words();
    let normals = if shape.has_normals { "property float nx\nproperty float ny\nproperty float nz\n" } else { "" };
    let colors = if colored { "property uchar red\nproperty uchar green\nproperty uchar blue\n" } else { "" };
    let faces = if shape.has_faces {
        format!("element face {faces}\nproperty list uchar uint vertex_indices\n")
    } else {
        String::new()
    };
    format!(
        "ply\nformat binary_little_endian 1.0\ncomment metres, {axes}, from the left camera\n{remark}\
         element vertex {points}\nproperty float x\nproperty float y\nproperty float z\n{normals}{colors}{faces}end_header\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::read_ply;
    use stereopsis_base::geometry::DepthSpread;
    use stereopsis_base::image::Luma;

    const GEOMETRY: Geometry = Geometry::new(100.0, 0.1, 0.0, [1.0, 0.5]);

    fn written(picture: Option<&Picture>) -> (String, Vec<u8>) {
        let depth = Image::new(3, 2, vec![2.0, f32::NAN, 4.0, 0.0, 1.0, f32::INFINITY]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ply");
        write_cloud(&path, &depth, &GEOMETRY, picture, Axes::Opencv).unwrap();
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
    fn axes_turn_points_and_normals_without_mirroring() {
        let depth = Image::filled(3, 3, 2.0);
        let [opencv, opengl, ros] = [Axes::Opencv, Axes::Opengl, Axes::Ros].map(|axes| {
            let shape = CloudShape { has_normals: true, axes, ..CloudShape::default() };
            let (header, body) = split(&cloud_bytes(&depth, &GEOMETRY, None, shape).0);
            assert!(header.contains(axes.words()), "{header}");
            floats(&body)[..6].to_vec()
        });
        assert_eq!(opencv, [-0.02, -0.01, 2.0, 0.0, 0.0, -1.0]);
        assert_eq!(opengl, [-0.02, 0.01, -2.0, 0.0, 0.0, 1.0]);
        assert_eq!(ros, [2.0, 0.02, 0.01, -1.0, 0.0, 0.0]);
    }

    #[test]
    fn only_pixels_with_depth_become_points_in_front_of_the_left_camera() {
        let (header, body) = written(None);
        assert!(header.contains("element vertex 3\n") && !header.contains("red"), "{header}");
        assert_eq!(floats(&body), [-0.02, -0.01, 2.0, 0.04, -0.02, 4.0, 0.0, 0.005, 1.0]);
    }

    #[test]
    fn a_comment_says_between_which_depths_an_estimate_lies() {
        let spread = DepthSpread {
            mean: [0.0; 2],
            deviation: [0.02, 0.0],
            correlation: 0.0,
            rest: 0.002,
            farthest: 0.01,
            middle: 0.05,
        };
        let depth = Image::new(3, 1, vec![1.0, 2.0, 4.0]);
        let shape = CloudShape::default();
        let comment = |geometry: &Geometry| split(&cloud_bytes(&depth, geometry, None, shape).0).0;
        assert!(!comment(&GEOMETRY).contains("estimated"));
        let unbounded = Geometry { estimated: true, ..GEOMETRY };
        assert!(comment(&unbounded).contains("\ncomment estimated: lengths may be off by a factor\n"));
        let bounded = comment(&Geometry { spread: Some(spread), ..unbounded });
        assert!(bounded.contains("\ncomment estimated: the middle depth is 2.00 m, between "), "{bounded}");
    }

    #[test]
    fn points_have_the_colours_of_their_pixels() {
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
        assert!(!written(Some(&other)).0.contains("red"), "an image of another size says nothing");
    }

    #[test]
    fn neighbours_are_joined_up_to_the_edge_of_depth() {
        // columns at 10, 11, 12.1, 12.1 px: the third one is more than 1 px from the second; the last pixel has no depth
        let depth =
            Image::from_fn(4, 2, |x, y| if (x, y) == (3, 1) { f32::NAN } else { 10.0 / [10.0, 11.0, 12.1, 12.1][x] });
        let shape = CloudShape { every: 1, has_faces: true, ..CloudShape::default() };
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
    fn step_of_two_pixels_doubles_the_allowed_difference() {
        let depth = Image::from_fn(5, 3, |x, _| 10.0 / (10.0 + x as f32));
        let shape = CloudShape { every: 2, has_faces: true, ..CloudShape::default() };
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
    fn predicts_the_size_of_a_file() {
        let depth = Image::from_fn(9, 7, |x, y| if (x + y) % 5 == 0 { f32::NAN } else { 2.0 });
        for every in [1, 2, 3] {
            for has_faces in [false, true] {
                let shape = CloudShape { every, has_faces, ..CloudShape::default() };
                let (_, size) = cloud_bytes(&depth, &GEOMETRY, None, shape);
                assert_eq!(cloud_size(&depth, &GEOMETRY, shape), size);
            }
        }
    }

    #[test]
    fn normals_match_a_tilted_plane_or_face_the_camera() {
        // all points with normal · point = -1.5 m, which the camera sees from the front
        let normal = [0.3, -0.4, -0.75_f64.sqrt()];
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let geometry = Geometry::new(100.0, 0.1, 0.0, [12.0, 9.0]);
        let mut depth =
            Image::from_fn(24, 18, |x, y| (-1.5 / dot(&normal, &geometry.point_m(x as f64, y as f64, 1.0))) as f32);
        depth.set(12, 12, f32::NAN);
        for x in 0..24 {
            depth.set(x, 4, f32::NAN);
        }
        depth.set(5, 4, 0.3); // before all others
        let colors = Image::filled(24, 18, [7, 8, 9]);
        for every in [1, 2] {
            let shape = CloudShape { every, has_faces: true, has_normals: true, ..CloudShape::default() };
            let (bytes, size) = cloud_bytes(&depth, &geometry, Some(&colors), shape);
            let ply = read_ply(&bytes);
            assert_eq!(
                (ply.names.join(" ").as_str(), ply.points.len()),
                ("x y z nx ny nz red green blue", size.points)
            );
            assert_eq!(ply.faces.len(), size.faces);
            for point in &ply.points {
                let (at, found) = (&point[..3], &point[3..6]);
                let to_camera = [0, 1, 2].map(|axis| -at[axis] / dot(at, at).sqrt());
                let wanted = if at[2] < 0.4 { to_camera } else { normal };
                assert!(dot(found, &wanted) > 1.0 - 1e-6, "{found:?} instead of {wanted:?} at {at:?}");
                assert_eq!(point[6..], [7.0, 8.0, 9.0]);
            }
        }
    }

    #[test]
    fn other_endings_are_refused() {
        let text = write_cloud(Path::new("a.pcd"), &Image::filled(1, 1, 1.0), &GEOMETRY, None, Axes::Opencv)
            .unwrap_err()
            .to_string();
        assert!(text.contains(".ply"), "{text}");
    }
}
