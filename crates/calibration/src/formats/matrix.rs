//! Matrix of a file, validated before use.

use super::{ValueError, ValueFault};
use crate::{Camera, Distortion, Projection};
use glam::{DMat3, DMat4, DQuat, DVec3};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    /// Name: the keys from the top, joined by dots.
    pub(super) name: String,
    /// Rows and columns, if the file states them.
    pub(super) shape: Option<(usize, usize)>,
    /// Elements, row-major.
    pub(super) data: Vec<f64>,
}

impl Matrix {
    fn error(&self, fault: ValueFault) -> ValueError {
        fault.of(&self.name)
    }

    /// Returns the elements, if the matrix has one of these shapes and finite numbers.
    pub(super) fn values<const N: usize>(&self, wanted: &'static [(usize, usize)]) -> Result<[f64; N], ValueError> {
        let fits = self.shape.is_none_or(|shape| wanted.contains(&shape));
        let data = <[f64; N]>::try_from(self.data.as_slice())
            .ok()
            .filter(|_| fits)
            .ok_or_else(|| self.error(ValueFault::Shape { shape: self.shape, count: self.data.len(), wanted }))?;
        self.finite()?;
        Ok(data)
    }

    /// Checks that all elements are finite numbers.
    pub(super) fn finite(&self) -> Result<(), ValueError> {
        match self.data.iter().position(|v| !v.is_finite()) {
            None => Ok(()),
            Some(i) => Err(self.error(ValueFault::NotFinite { value: self.data[i], place: i + 1 })),
        }
    }

    /// Returns the camera of the matrix `[fx skew cx; 0 fy cy; 0 0 1]` and a lens.
    pub(super) fn camera(&self, distortion: Distortion) -> Result<Camera, ValueError> {
        let [fx, skew, cx, below, fy, cy, x, y, one] = self.values::<9>(&[(3, 3)])?;
        if is_zero(cx) && is_zero(cy) && !(is_zero(x) && is_zero(y)) {
            return Err(self.error(ValueFault::Transposed(x, y)));
        }
        if !(is_zero(below) && is_zero(x) && is_zero(y) && is_zero(one - 1.0)) {
            return Err(self.error(ValueFault::NoCamera { below, third: [x, y, one] }));
        }
        let skew = if is_zero(skew) { 0.0 } else { skew };
        Ok(Camera { fx, fy, cx, cy, skew, distortion })
    }

    /// Returns the camera of a rectified image; the matrix has no skew.
    pub(super) fn pinhole(&self) -> Result<Projection, ValueError> {
        let Camera { fx, fy, cx, cy, .. } = self.camera(Distortion::default())?;
        Ok(Projection { fx, fy, cx, cy })
    }

    pub(super) fn vector(&self) -> Result<DVec3, ValueError> {
        Ok(self.values::<3>(&[(3, 1), (1, 3)])?.into())
    }

    /// Returns a rotation from a matrix, or from OpenCV's rotation vector: axis times angle.
    pub(super) fn rotation(&self) -> Result<DMat3, ValueError> {
        if self.data.len() == 3 {
            return Ok(DMat3::from_quat(DQuat::from_scaled_axis(self.vector()?)));
        }
        nearest_rotation(DMat3::from_cols_array(&self.values::<9>(&[(3, 3)])?).transpose())
            .ok_or_else(|| self.error(ValueFault::NoRotation))
    }

    /// Returns rotation and translation of a 4x4 transformation.
    pub(super) fn pose(&self) -> Result<(DMat3, DVec3), ValueError> {
        let pose = DMat4::from_cols_array(&self.values::<16>(&[(4, 4)])?).transpose();
        let rotation =
            nearest_rotation(DMat3::from_mat4(pose)).filter(|_| (pose.row(3) - glam::DVec4::W).length() < 1e-9);
        let rotation = rotation.ok_or_else(|| self.error(ValueFault::NoPose))?;
        Ok((rotation, pose.w_axis.truncate()))
    }

    /// Returns a doubt if a 3x4 projection has an axis skew; disparities are the same without it.
    pub(super) fn skew_doubt(&self) -> Option<String> {
        let skew = self.data.get(1).filter(|skew| self.data.len() == 12 && !is_zero(**skew))?;
        let name = &self.name;
        Some(format!(
            "{name} has an axis skew of {skew} px, which a rectified image does not have: it is left out, and images that \
             another program has rectified with it lean"
        ))
    }

    /// Returns a 3x4 projection with its shift along x and y.
    pub(super) fn projection(&self) -> Result<(Projection, [f64; 2]), ValueError> {
        let [fx, _, cx, shift_x, below, fy, cy, shift_y, x, y, one, _] = self.values::<12>(&[(3, 4)])?;
        if !(is_zero(below) && is_zero(x) && is_zero(y) && is_zero(one - 1.0)) {
            return Err(self.error(ValueFault::NoRectifiedCamera { below, third: [x, y, one] }));
        }
        if fx <= 0.0 || fy <= 0.0 {
            return Err(self.error(ValueFault::Singular { fx, fy }));
        }
        Ok((Projection { fx, fy, cx, cy }, [shift_x, shift_y]))
    }
}

/// Whether a number is 0 within the rounding errors of tools.
fn is_zero(value: f64) -> bool {
    value.abs() < 1e-6
}

/// Returns the rotation nearest to a matrix that is one within 0.001, because files have few digits; `None` for others.
pub(super) fn nearest_rotation(matrix: DMat3) -> Option<DMat3> {
    if !crate::checks::is_rotation(matrix) {
        return None;
    }
    // Newton's iteration for the orthogonal polar factor (Higham 1986)
    let step = |m: DMat3| (m + m.inverse().transpose()) * 0.5;
    Some((0..4).fold(matrix, |m, _| step(m)))
}
