//! Lines around the points: a grid on a plane below, and the view of each camera as a pyramid.

use glam::{DVec3, dvec3};
use stereopsis_base::geometry::Geometry;

// colours visible on a dark ground and on a light one
const GRID_COLOUR: [u8; 4] = [120, 120, 120, 255];
const LEFT_COLOUR: [u8; 4] = [200, 110, 0, 255];
const RIGHT_COLOUR: [u8; 4] = [30, 120, 210, 255];
/// Smallest number of the grid's lines up to the far end.
const MIN_LINES: f64 = 4.0;

/// End of a line in the shader's format.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct LineEnd {
    /// Position, m.
    pub(crate) at: [f32; 3],
    pub(crate) colour: [u8; 4],
}

/// Returns the distance between the grid's lines in m, the power of ten with four to forty lines up to `far_m`.
pub(crate) fn grid_spacing_m(far_m: f64) -> f64 {
    10f64.powf((far_m / MIN_LINES).log10().floor())
}

fn line(from: DVec3, to: DVec3, colour: [u8; 4]) -> [LineEnd; 2] {
    [from, to].map(|at| LineEnd { at: at.as_vec3().to_array(), colour })
}

/// Returns the points at this depth in the corners of the left image in m, clockwise from the upper left one.
fn corners_m(geometry: &Geometry, (width, height): (usize, usize), z_m: f64) -> [DVec3; 4] {
    let (right, bottom) = (width as f64 - 0.5, height as f64 - 0.5);
    let corners = [(-0.5, -0.5), (right, -0.5), (right, bottom), (-0.5, bottom)];
    corners.map(|(x, y)| DVec3::from(geometry.point_m(x, y, z_m)))
}

/// Returns the grid up to `far_m`, on the plane through the lower border of the image at `middle_m`.
pub(super) fn grid(geometry: &Geometry, size: (usize, usize), middle_m: f64, far_m: f64) -> Vec<LineEnd> {
    let below_m = corners_m(geometry, size, middle_m)[2].y;
    let spacing_m = grid_spacing_m(far_m);
    let count = (far_m / spacing_m).ceil() as i32;
    let half = (count / 2).max(1);
    let (end_m, side_m) = (f64::from(count) * spacing_m, f64::from(half) * spacing_m);
    let along = (-half..=half).map(|i| f64::from(i) * spacing_m);
    let along = along.map(|x| line(dvec3(x, below_m, 0.0), dvec3(x, below_m, end_m), GRID_COLOUR));
    let across = (0..=count).map(|i| f64::from(i) * spacing_m);
    let across = across.map(|z| line(dvec3(-side_m, below_m, z), dvec3(side_m, below_m, z), GRID_COLOUR));
    along.chain(across).flatten().collect()
}

/// Returns the views of both cameras as pyramids of the baseline's length.
pub(super) fn cameras(geometry: &Geometry, size: (usize, usize)) -> Vec<LineEnd> {
    let base = corners_m(geometry, size, geometry.baseline_m);
    // a principal point further right means that the right image lies further left
    let shift_m = geometry.baseline_m * (1.0 - geometry.doffs_px / geometry.focal_px);
    let pyramid = |eye_m: f64, shift_m: f64, colour| {
        let (eye, shift) = (dvec3(eye_m, 0.0, 0.0), dvec3(shift_m, 0.0, 0.0));
        let base = base.map(|corner| corner + shift);
        (0..4).flat_map(move |i| [line(eye, base[i], colour), line(base[i], base[(i + 1) % 4], colour)])
    };
    let [left, right] = [pyramid(0.0, 0.0, LEFT_COLOUR), pyramid(geometry.baseline_m, shift_m, RIGHT_COLOUR)];
    left.chain(right).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::{Ground, contrast};
    use egui::Color32;

    #[test]
    fn the_grid_is_of_metres_and_below() {
        for (far_m, wanted_m) in [(1.5, 0.1), (6.0, 1.0), (39.0, 1.0), (50.0, 10.0)] {
            assert!((grid_spacing_m(far_m) / wanted_m - 1.0).abs() < 1e-12, "up to {far_m} m");
        }
        let geometry = Geometry::centred(100.0, 0.1, 0.0, (200, 100));
        let grid = grid(&geometry, (200, 100), 2.0, 6.0);
        assert_eq!(grid.len(), 2 * (7 + 7));
        assert!(grid.iter().all(|end| (end.at[1] - 1.0).abs() < 1e-6), "50 px below the axis at 2 m: {grid:?}");
        assert!(grid.iter().all(|end| (0.0..=6.0).contains(&end.at[2])));
    }

    #[test]
    fn lines_are_seen_on_either_ground() {
        for ground in [Ground::Dark, Ground::Light] {
            let [r, g, b] = ground.colour(true);
            for [red, green, blue, _] in [GRID_COLOUR, LEFT_COLOUR, RIGHT_COLOUR] {
                let contrast = contrast(Color32::from_rgb(red, green, blue), Color32::from_rgb(r, g, b));
                assert!(contrast >= 3.0, "{red} {green} {blue} on {ground}: {contrast:.2}");
            }
        }
    }

    #[test]
    fn drawn_cameras_match_baseline_and_fields_of_view() {
        let geometry = Geometry { doffs_px: 10.0, ..Geometry::centred(100.0, 0.1, 0.0, (200, 100)) };
        let ends = cameras(&geometry, (200, 100));
        let xs = |colour| {
            let of = ends.iter().filter(move |end| end.colour == colour);
            let eye = of.clone().find(|end| end.at[2] == 0.0).unwrap().at[0];
            let left = of.map(|end| end.at[0]).fold(f32::INFINITY, f32::min);
            [eye, left]
        };
        let is_near = |a: [f32; 2], b: [f32; 2]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(is_near(xs(LEFT_COLOUR), [0.0, -0.1]), "{:?}", xs(LEFT_COLOUR));
        // the principal point is 10 px further right, so the left border is 110 px left of it
        assert!(is_near(xs(RIGHT_COLOUR), [0.1, -0.01]), "{:?}", xs(RIGHT_COLOUR));
    }
}
