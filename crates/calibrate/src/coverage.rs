//! Coverage of the images by the views of the board.

use super::{Pose, View};
use glam::{DVec2, DVec3};
use serde::Serialize;
use stereopsis_frame::Side;

/// Columns and rows of the coverage grid.
pub const CELLS: (usize, usize) = (8, 6);
/// Coverage of a side's image.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coverage {
    /// Number of corners in each cell of [`CELLS`], row by row.
    pub cells: Vec<usize>,
    /// Outermost corners as shares of width and height: left, top, right, bottom.
    pub extent: [f64; 4],
    /// Board widths in the views, as shares of the image's width.
    pub widths: Vec<f64>,
}

impl Coverage {
    /// Computes the coverage of a side.
    pub fn of(views: &[View], side: Side, (width, height): (usize, usize)) -> Self {
        let size = DVec2::new(width as f64, height as f64);
        let mut cells = vec![0; CELLS.0 * CELLS.1];
        let (mut low, mut high) = (DVec2::ONE, DVec2::ZERO);
        let mut widths = Vec::new();
        for view in views {
            let places = view.of(side).iter().map(|corner| ((corner.at + 0.5) / size).clamp(DVec2::ZERO, DVec2::ONE));
            let (mut first, mut last) = (DVec2::ONE, DVec2::ZERO);
            for place in places {
                let cell = (place * DVec2::new(CELLS.0 as f64, CELLS.1 as f64)).as_usizevec2();
                cells[cell.y.min(CELLS.1 - 1) * CELLS.0 + cell.x.min(CELLS.0 - 1)] += 1;
                (first, last) = (first.min(place), last.max(place));
            }
            if !view.of(side).is_empty() {
                widths.push((last - first).max_element());
                (low, high) = (low.min(first), high.max(last));
            }
        }
        Self { cells, extent: [low.x, low.y, high.x, high.y], widths }
    }

    /// Returns the borders whose nearest corner is farther away than a share of the image.
    pub(crate) fn unseen_borders(&self, share: f64) -> Vec<&'static str> {
        let [left, top, right, bottom] = self.extent;
        let borders = [("left", left), ("upper", top), ("right", 1.0 - right), ("lower", 1.0 - bottom)];
        borders.into_iter().filter(|(_, gap)| *gap > share).map(|(name, _)| name).collect()
    }

    /// Returns the share of cells with a corner.
    pub fn share(&self) -> f64 {
        self.cells.iter().filter(|&&count| count > 0).count() as f64 / self.cells.len() as f64
    }
}

/// Computes the angle between the board and the left camera's image plane, degrees.
pub(crate) fn tilt_deg(pose: &Pose) -> f64 {
    let angle = (pose.rotation * DVec3::Z).angle_between(DVec3::Z).to_degrees();
    angle.min(180.0 - angle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Corner;
    use glam::DMat3;

    #[test]
    fn borders_that_no_corner_is_near_are_named() {
        let at = |x: f64, y: f64| Corner { id: 0, at: DVec2::new(x, y) };
        let view = View { name: String::new(), corners: [vec![at(10.0, 100.0), at(320.0, 470.0)], vec![]] };
        let coverage = Coverage::of(std::slice::from_ref(&view), Side::Left, (640, 480));
        assert_eq!(coverage.unseen_borders(0.15), ["upper", "right"]);
        assert_eq!((coverage.cells.iter().sum::<usize>(), coverage.cells[8]), (2, 1));
        assert!((coverage.widths[0] - 370.0 / 480.0).abs() < 1e-9);
        let nothing = Coverage::of(&[view], Side::Right, (640, 480));
        assert_eq!((nothing.unseen_borders(0.15).len(), nothing.share()), (4, 0.0));
    }

    #[test]
    fn tilt_is_measured_from_a_facing_plane() {
        let turned = |rotation| tilt_deg(&Pose { rotation, translation_m: DVec3::Z });
        assert!(turned(DMat3::from_rotation_z(1.0)) < 1e-6);
        assert!((turned(DMat3::from_rotation_x(0.5) * DMat3::from_rotation_z(2.0)) - 0.5f64.to_degrees()).abs() < 1e-6);
    }
}
