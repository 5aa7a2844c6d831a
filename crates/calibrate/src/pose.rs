//! Rigid motions, and the pose of a flat board from its corners.

use super::{Board, Corner};
use glam::{DMat3, DQuat, DVec2, DVec3};
use nalgebra::{DMatrix, DVector};
use stereopsis_calibration::Camera;

/// Rigid motion: `x` becomes `rotation * x + translation_m`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Rotation.
    pub rotation: DMat3,
    /// Translation, m.
    pub translation_m: DVec3,
}

impl Pose {
    /// Identity.
    pub const IDENTITY: Self = Self { rotation: DMat3::IDENTITY, translation_m: DVec3::ZERO };

    /// Transforms a point, m.
    pub fn at(&self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation_m
    }

    /// Returns the composition: this motion after `first`.
    #[must_use]
    pub fn after(&self, first: &Self) -> Self {
        Self { rotation: self.rotation * first.rotation, translation_m: self.at(first.translation_m) }
    }

    /// Returns the inverse motion.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.transpose();
        Self { rotation, translation_m: -(rotation * self.translation_m) }
    }

    /// Returns this motion followed by a small rotation (rotation vector, rad) and translation (m).
    #[must_use]
    pub fn moved(&self, turn: DVec3, shift: DVec3) -> Self {
        let rotation = DMat3::from_quat(DQuat::from_scaled_axis(turn)) * self.rotation;
        // re-orthonormalised, since products of rotations drift
        let rotation = DMat3::from_quat(DQuat::from_mat3(&rotation).normalize());
        Self { rotation, translation_m: self.translation_m + shift }
    }
}

/// Computes the pose of a board in a camera's axes from at least four corners that have rays and are not collinear.
///
/// The homography from the board to the rays (direct linear transform; Hartley & Zisserman 2004, algorithm 4.1) has the first two
/// columns of the rotation and the translation as its columns, up to one factor (Zhang 2000, section 3.1).
pub(super) fn board_pose(board: &Board, camera: &Camera, corners: &[Corner]) -> Option<Pose> {
    let rays: Vec<_> = corners
        .iter()
        .filter_map(|corner| Some((board.point_m(corner.id).truncate(), camera.ray(corner.at)?.truncate())))
        .collect();
    let [first, second, third] = homography(&rays)?;
    let scale = 2.0 / (first.length() + second.length());
    let scale = if third.z < 0.0 { -scale } else { scale };
    let (x, y) = (first * scale, second * scale);
    let rotation = nearest_rotation(DMat3::from_cols(x, y, x.cross(y)))?;
    Some(Pose { rotation, translation_m: third * scale })
}

fn homography(pairs: &[(DVec2, DVec2)]) -> Option<[DVec3; 3]> {
    if pairs.len() < 4 {
        return None;
    }
    // points centred and scaled (Hartley's normalisation)
    let middle = pairs.iter().map(|pair| pair.0).sum::<DVec2>() / pairs.len() as f64;
    let spread = (pairs.iter().map(|pair| (pair.0 - middle).length_squared()).sum::<f64>() / pairs.len() as f64).sqrt();
    if spread <= 0.0 || !spread.is_finite() {
        return None;
    }
    // collinear points leave the homography undetermined
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    let mut normal = DMatrix::zeros(9, 9);
    for &(from, to) in pairs {
        let p = (from - middle) / spread;
        (xx, xy, yy) = (xx + p.x * p.x, xy + p.x * p.y, yy + p.y * p.y);
        let rows = [
            [p.x, p.y, 1.0, 0.0, 0.0, 0.0, -to.x * p.x, -to.x * p.y, -to.x],
            [0.0, 0.0, 0.0, p.x, p.y, 1.0, -to.y * p.x, -to.y * p.y, -to.y],
        ];
        for row in rows {
            for i in 0..9 {
                for j in 0..9 {
                    normal[(i, j)] += row[i] * row[j];
                }
            }
        }
    }
    if xx * yy - xy * xy < 1e-6 * (xx + yy).powi(2) {
        return None;
    }
    // eigenvector of the smallest eigenvalue, by inverse iteration
    let shift = 1e-12 * normal.trace();
    for i in 0..9 {
        normal[(i, i)] += shift;
    }
    let decomposed = normal.cholesky()?;
    let mut h = DVector::from_element(9, 1.0 / 3.0);
    for _ in 0..30 {
        h = decomposed.solve(&h);
        h /= h.norm();
    }
    let [first, second, third] = [0, 1, 2].map(|i| DVec3::new(h[i], h[i + 3], h[i + 6]));
    let (first, second) = (first / spread, second / spread);
    Some([first, second, third - first * middle.x - second * middle.y])
}

/// Returns the rotation nearest to an almost orthonormal matrix, its polar factor, by Newton's iteration (Higham 1986).
fn nearest_rotation(matrix: DMat3) -> Option<DMat3> {
    let mut found = matrix;
    for _ in 0..30 {
        if found.determinant() <= 1e-9 {
            return None;
        }
        found = (found + found.transpose().inverse()) * 0.5;
    }
    found.is_finite().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_calibration::Distortion;

    #[test]
    fn a_board_is_where_its_corners_say() {
        let board: Board = "chessboard:9x6:25mm".parse().unwrap();
        let camera =
            Camera { fx: 500.0, fy: 510.0, cx: 320.0, cy: 240.0, skew: 0.0, distortion: Distortion::default() };
        for step in 0..20 {
            let turn =
                DVec3::new(0.4 * f64::from(step).sin(), 0.5 * f64::from(step).cos(), 0.1 * f64::from(step) - 1.0);
            let pose = Pose::IDENTITY.moved(turn, DVec3::new(-0.1, -0.05, 0.6));
            let corners: Vec<_> =
                (0..54).map(|id| Corner { id, at: camera.project(pose.at(board.point_m(id))) }).collect();
            let found = board_pose(&board, &camera, &corners).unwrap();
            assert!((found.translation_m - pose.translation_m).length() < 1e-6, "{found:?} {pose:?}");
            assert!((found.rotation - pose.rotation).to_cols_array().iter().all(|d| d.abs() < 1e-6));
            let back = found.inverse().after(&found);
            assert!((back.at(DVec3::ONE) - DVec3::ONE).length() < 1e-12);
        }
        let row: Vec<_> = (0..9).map(|id| Corner { id, at: DVec2::new(100.0 + 20.0 * id as f64, 200.0) }).collect();
        assert_eq!(board_pose(&board, &camera, &row), None);
    }
}
