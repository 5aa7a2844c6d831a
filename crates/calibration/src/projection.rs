//! Projections of rectified images, and the rotations to them.

use glam::{DMat3, DVec2, DVec3};
use stereopsis_base::geometry::{Axis, Geometry};

/// Pinhole projection of a rectified image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    /// Focal length along x, px.
    pub fx: f64,
    /// Focal length along y, px.
    pub fy: f64,
    /// Principal point, x, px.
    pub cx: f64,
    /// Principal point, y, px.
    pub cy: f64,
}

impl Projection {
    /// Returns the ray of a rectified pixel, with z = 1.
    pub(super) fn ray(&self, x: f64, y: f64) -> DVec3 {
        DVec3::new((x - self.cx) / self.fx, (y - self.cy) / self.fy, 1.0)
    }

    /// Returns the rectified pixel of a direction; `None` behind the camera.
    pub(super) fn pixel(&self, ray: DVec3) -> Option<DVec2> {
        let Self { fx, fy, cx, cy } = *self;
        (ray.z > 0.0).then(|| DVec2::new(fx * ray.x / ray.z + cx, fy * ray.y / ray.z + cy))
    }

    /// Returns the projection to a part of the images, without the columns and rows before `corner`.
    pub(super) fn cut_at(&self, corner: DVec2) -> Self {
        Self { cx: self.cx - corner.x, cy: self.cy - corner.y, ..*self }
    }

    #[must_use]
    pub(super) fn scaled(&self, factor: DVec2) -> Self {
        let Self { fx, fy, cx, cy } = *self;
        Self { fx: fx * factor.x, fy: fy * factor.y, cx: (cx + 0.5) * factor.x - 0.5, cy: (cy + 0.5) * factor.y - 0.5 }
    }
}

/// Rotations and projections that rectify both images.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectification {
    /// Rotation R1 from the left camera's axes to the common ones.
    pub rotation_left: DMat3,
    /// Rotation R2 from the right camera's axes to the common ones.
    pub rotation_right: DMat3,
    /// Projection P1 of the left rectified image.
    pub left: Projection,
    /// Projection P2 of the right rectified image.
    pub right: Projection,
    /// Baseline, from P2, m.
    pub baseline_m: f64,
    /// Direction of the baseline.
    pub axis: Axis,
}

impl Rectification {
    /// Scales the images by `factor` along x and y.
    #[must_use]
    pub(super) fn scaled(&self, factor: DVec2) -> Self {
        Self { left: self.left.scaled(factor), right: self.right.scaled(factor), ..*self }
    }

    /// Returns the geometry that converts disparity of the rectified images to metres.
    pub fn geometry(&self) -> Geometry {
        let Self { left, right, axis, .. } = self;
        let (focal_px, doffs_px) = match axis {
            Axis::Horizontal => (left.fx, right.cx - left.cx),
            Axis::Vertical => (left.fy, right.cy - left.cy),
        };
        Geometry { axis: *axis, ..Geometry::new(focal_px, self.baseline_m, doffs_px, [left.cx, left.cy]) }
    }
}

/// Returns the direction from the left camera to the right one in their common axes.
pub(crate) fn to_right(axis: Axis) -> DVec3 {
    match axis {
        Axis::Horizontal => DVec3::X,
        Axis::Vertical => DVec3::Y,
    }
}

/// Returns the direction of a baseline that is longer along x or along y.
pub(crate) fn longer_axis(x: f64, y: f64) -> Axis {
    if y.abs() > x.abs() { Axis::Vertical } else { Axis::Horizontal }
}
