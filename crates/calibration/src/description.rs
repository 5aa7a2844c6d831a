//! Description of a calibration for the user, as text and as data.

use super::camera_info::projection_of;
use super::{Camera, Crop, Projection, Rectification, StereoRig};
use glam::{DMat3, DQuat, DVec2, DVec3};
use serde::Serialize;
use std::fmt;
use stereopsis_base::geometry::{Axis, Geometry};
use stereopsis_base::remedy::option;

/// Depths whose bounds are described, m.
const BOUNDED_DEPTHS_M: [f64; 4] = [0.5, 1.0, 2.0, 5.0];

/// Numbers of a rig for the user; `None` if they need an unknown image size, or do not exist.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RigDescription {
    /// Kind of the rig's file.
    pub kind: &'static str,
    /// Width and height of each view, px.
    pub size: Option<[usize; 2]>,
    /// Focal length of the rectified images, or of the left camera without them, px.
    pub focal_px: f64,
    /// Baseline, m.
    pub baseline_m: f64,
    /// Direction of the baseline: cameras side by side, or one above the other.
    pub baseline_axis: Axis,
    /// Baseline in the file's unit.
    pub baseline_in_file: f64,
    /// Unit of the file's lengths.
    pub unit: String,
    /// Whether left and right of the file are swapped.
    pub exchanged: bool,
    /// Whether the rig is estimated from images, not calibrated.
    pub estimated: bool,
    /// Bounds of depths by an estimated rig, which the true ones keep in 95 of 100.
    pub depth_bounds: Vec<DepthBounds>,
    /// Left camera.
    pub left: CameraDescription,
    /// Right camera.
    pub right: CameraDescription,
    /// Convergence of the optical axes, degrees; negative if they diverge.
    pub toe_in_deg: f64,
    /// Pitch of the right camera relative to the left one, degrees; positive: it looks higher.
    pub pitch_deg: f64,
    /// Roll of the right camera relative to the left one, degrees; positive: clockwise.
    pub roll_deg: f64,
    /// Row offset of the right image for distant points at the centre of the left one, px (positive: lower); for cameras one above the
    /// other the column offset (positive: to the right). It is 0 in rectified pairs.
    pub row_offset_px: Option<f64>,
    /// Rotation R from the left camera's axes to the right one's, row-major.
    pub rotation: [[f64; 3]; 3],
    /// Left camera's centre in the right camera's axes, T, m.
    pub translation_m: [f64; 3],
    /// Rectified images.
    pub rectified: Option<RectifiedDescription>,
    /// Reason why the rig cannot be rectified.
    pub problem: Option<String>,
    /// One-sentence summary for the user to confirm.
    pub summary: String,
    /// Warnings.
    pub doubts: Vec<String>,
}

/// Depth by an estimated rig, with its bounds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DepthBounds {
    /// Depth, m.
    pub depth_m: f64,
    /// Nearest and farthest true depth, m; `None` where the images do not tell it from infinity.
    pub between_m: [Option<f64>; 2],
    /// Sentence with both.
    #[serde(skip)]
    words: String,
}

/// Description of one camera.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CameraDescription {
    /// Name of the lens model.
    pub model: &'static str,
    /// Focal length along x, px.
    pub fx_px: f64,
    /// Focal length along y, px.
    pub fy_px: f64,
    /// Principal point, x, px.
    pub cx_px: f64,
    /// Principal point, y, px.
    pub cy_px: f64,
    /// Axis skew, px.
    pub axis_skew_px: f64,
    /// Coefficients in OpenCV's order.
    pub distortion: Vec<f64>,
    /// Field of view along the middle row, with distortion, degrees.
    pub horizontal_deg: Option<f64>,
    /// Field of view along the middle column, degrees.
    pub vertical_deg: Option<f64>,
    /// Field of view from corner to corner, degrees.
    pub diagonal_deg: Option<f64>,
    /// Largest displacement of a corner by the lens, relative to a pinhole, px.
    pub corner_shift_px: Option<f64>,
}

/// Description of the rectified images, which have the size of the raw ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RectifiedDescription {
    /// Whether the rectification is part of the calibration, and not computed.
    pub from_file: bool,
    /// Focal length, px.
    pub focal_px: f64,
    /// Difference of the principal points along the baseline, right minus left, px.
    pub doffs_px: f64,
    /// Field of view along a row, degrees.
    pub horizontal_deg: f64,
    /// Field of view along a column, degrees.
    pub vertical_deg: f64,
    /// Fraction of the raw pixels visible in the rectified images, mean of both, percent.
    pub kept_percent: f64,
    /// Rotation R1, row-major.
    pub rotation_left: [[f64; 3]; 3],
    /// Rotation R2, row-major.
    pub rotation_right: [[f64; 3]; 3],
    /// Projection P1.
    pub projection_left: [[f64; 4]; 3],
    /// Projection P2, its fourth column in px times m.
    pub projection_right: [[f64; 4]; 3],
}

impl StereoRig {
    /// Describes the rig, rectified with this crop.
    pub fn describe(&self, crop: impl Into<Crop>) -> RigDescription {
        let crop = crop.into();
        let turn = DQuat::from_mat3(&self.rotation).normalize().to_scaled_axis();
        let (rectification, problem) = match (self.rectification, self.size) {
            (Some(rectification), None) => (Some(rectification), None),
            (_, Some((width, height))) => match self.at_size(width, height, crop) {
                Ok((_, rectification, _)) => (Some(rectification), None),
                Err(e) => (None, Some(e.to_string())),
            },
            (None, None) => (None, Some(format!("the file names no image size: give {}", option("size")))),
        };
        let rectified = rectification.zip(self.size).map(|(rectification, size)| self.rectified(&rectification, size));
        RigDescription {
            kind: self.kind.word(),
            size: self.size.map(|(width, height)| [width, height]),
            focal_px: rectification.map_or(self.left.fx, |r| r.left.fx),
            baseline_m: self.baseline_m(),
            baseline_axis: self.axis(),
            baseline_in_file: self.baseline_in_file(),
            unit: self.unit.to_string(),
            exchanged: self.exchanged,
            estimated: self.estimated,
            depth_bounds: self.depth_bounds(),
            left: camera(&self.left, self.size),
            right: camera(&self.right, self.sizes()[1]),
            toe_in_deg: turn.y.to_degrees(),
            pitch_deg: -turn.x.to_degrees(),
            roll_deg: -turn.z.to_degrees(),
            row_offset_px: self.size.and_then(|size| self.row_offset(size)),
            rotation: rows(self.rotation),
            translation_m: self.translation_m.to_array(),
            rectified,
            problem,
            summary: self.summary(),
            doubts: self.doubts.clone(),
        }
    }

    fn depth_bounds(&self) -> Vec<DepthBounds> {
        // of the images' disparities only the ratio to the focal length matters
        let geometry = Geometry { spread: self.spread, ..Geometry::new(1.0, self.baseline_m(), 0.0, [0.0; 2]) };
        let bounds = |&depth_m: &f64| {
            let disparity_px = geometry.disparity_px(depth_m);
            let between_m = geometry.depth_interval_m(disparity_px)?.map(|end| Some(end).filter(|m| m.is_finite()));
            Some(DepthBounds { depth_m, between_m, words: geometry.depth_words(disparity_px)? })
        };
        BOUNDED_DEPTHS_M.iter().filter_map(bounds).collect()
    }

    fn row_offset(&self, size: (usize, usize)) -> Option<f64> {
        if self.right_size.is_some() || self.quarter_turns() != 0 {
            return None; // the rows of such images are not the same
        }
        let middle = last(size) / 2.0;
        let seen = self.rotation * self.left.ray(middle)?;
        let apart = (seen.z > 0.0).then(|| self.right.project(seen) - middle)?;
        Some(match self.axis() {
            Axis::Horizontal => apart.y,
            Axis::Vertical => apart.x,
        })
    }

    fn rectified(&self, r: &Rectification, size: (usize, usize)) -> RectifiedDescription {
        let angle = |low: f64, high: f64, focal: f64| ((high / focal).atan() - (low / focal).atan()).to_degrees();
        let end = last(size) + 0.5;
        let right_size = self.right_size.unwrap_or(size);
        let sides = [(&self.left, size, r.rotation_left, r.left), (&self.right, right_size, r.rotation_right, r.right)];
        let visible_fraction: f64 =
            sides.iter().map(|(camera, of, rotation, p)| visible_fraction((camera, *of), *rotation, p, size)).sum();
        let projection = |p: &Projection, baseline_m: f64| {
            let [a, b, c, d, e, f, g, h, rest @ ..] = projection_of(p, baseline_m, r.axis);
            [[a, b, c, d], [e, f, g, h], rest]
        };
        RectifiedDescription {
            from_file: self.rectification.is_some(),
            focal_px: r.geometry().focal_px,
            doffs_px: r.geometry().doffs_px,
            horizontal_deg: angle(-0.5 - r.left.cx, end.x - r.left.cx, r.left.fx),
            vertical_deg: angle(-0.5 - r.left.cy, end.y - r.left.cy, r.left.fy),
            kept_percent: visible_fraction * 50.0,
            rotation_left: rows(r.rotation_left),
            rotation_right: rows(r.rotation_right),
            projection_left: projection(&r.left, 0.0),
            projection_right: projection(&r.right, r.baseline_m),
        }
    }
}

fn last((width, height): (usize, usize)) -> DVec2 {
    DVec2::new(width as f64, height as f64) - 1.0
}

fn rows(matrix: DMat3) -> [[f64; 3]; 3] {
    matrix.transpose().to_cols_array_2d()
}

/// Returns the fraction of a camera's pixels that rectified images show.
fn visible_fraction(
    (camera, of): (&Camera, (usize, usize)),
    rotation: DMat3,
    to: &Projection,
    size: (usize, usize),
) -> f64 {
    const STEPS: u32 = 64;
    let inside = |x: u32, y: u32| {
        let share = DVec2::new(f64::from(x) + 0.5, f64::from(y) + 0.5) / f64::from(STEPS);
        let ray = camera.direction(share * (last(of) + 1.0) - 0.5);
        let at = ray.and_then(|ray| to.pixel(rotation * ray));
        at.is_some_and(|at| at.cmpge(DVec2::splat(-0.5)).all() && at.cmple(last(size) + 0.5).all())
    };
    let count = (0..STEPS).flat_map(|y| (0..STEPS).map(move |x| (x, y))).filter(|&(x, y)| inside(x, y)).count();
    count as f64 / f64::from(STEPS * STEPS)
}

fn camera(camera: &Camera, size: Option<(usize, usize)>) -> CameraDescription {
    let Camera { fx, fy, cx, cy, skew, distortion } = *camera;
    // angles to both sides of the axis, because their sum exceeds 180 degrees in some fisheyes
    let between = |a: DVec2, b: DVec2| {
        let off = |pixel| camera.direction(pixel).map(|direction| direction.angle_between(DVec3::Z));
        Some((off(a)? + off(b)?).to_degrees())
    };
    let corners = size.map(|size| {
        let (low, high) = (DVec2::splat(-0.5), last(size) + 0.5);
        [low, high, DVec2::new(low.x, high.y), DVec2::new(high.x, low.y)]
    });
    let angle = |a: fn(DVec2) -> DVec2, b: fn(DVec2) -> DVec2| {
        let end = last(size?);
        between(a(end), b(end))
    };
    let diagonal = corners.and_then(|[a, b, c, d]| Some(between(a, b)?.max(between(c, d)?)));
    let shift = corners.map(|all| all.map(|corner| camera.shift_px(corner)).into_iter().fold(0.0, f64::max));
    CameraDescription {
        model: distortion.name(),
        fx_px: fx,
        fy_px: fy,
        cx_px: cx,
        cy_px: cy,
        axis_skew_px: skew,
        distortion: distortion.coefficients(),
        horizontal_deg: angle(|end| DVec2::new(-0.5, end.y / 2.0), |end| DVec2::new(end.x + 0.5, end.y / 2.0)),
        vertical_deg: angle(|end| DVec2::new(end.x / 2.0, -0.5), |end| DVec2::new(end.x / 2.0, end.y + 0.5)),
        diagonal_deg: diagonal,
        corner_shift_px: shift.filter(|shift| shift.is_finite()),
    }
}

impl fmt::Display for RigDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "kind       {}{}", self.kind, if self.estimated { ", estimated from images" } else { "" })?;
        writeln!(f, "check      {}", self.summary.split("; but ").next().unwrap_or_default())?;
        for doubt in &self.doubts {
            writeln!(f, "doubt      {doubt}")?;
        }
        for bounds in &self.depth_bounds {
            writeln!(f, "depth      {}", bounds.words)?;
        }
        for (name, camera) in [("left ", &self.left), ("right", &self.right)] {
            writeln!(f, "{name}      {camera}")?;
        }
        write!(
            f,
            "together   toe-in {:.2}°, pitch {:.2}°, roll {:.2}°",
            self.toe_in_deg + 0.0,
            self.pitch_deg + 0.0,
            self.roll_deg + 0.0
        )?;
        match self.row_offset_px {
            Some(apart) if apart.abs() >= 0.05 => {
                let side = match (self.baseline_axis, apart > 0.0) {
                    (Axis::Horizontal, true) => "lower",
                    (Axis::Horizontal, false) => "higher",
                    (Axis::Vertical, true) => "further to the right",
                    (Axis::Vertical, false) => "further to the left",
                };
                writeln!(f, "; the right image shows what is far {:.1} px {side}", apart.abs())?;
            }
            Some(_) => writeln!(f, "; {} agree already", self.baseline_axis.lines())?,
            None => writeln!(f)?,
        }
        if let Some(r) = &self.rectified {
            writeln!(
                f,
                "rectified  focal {:.1} px, field of view {:.1}° x {:.1}°, {:.0} % of the pixels kept, doffs {:.2} px; {}",
                r.focal_px,
                r.horizontal_deg,
                r.vertical_deg,
                r.kept_percent,
                r.doffs_px + 0.0,
                if r.from_file { "as the file says" } else { "computed" }
            )?;
        }
        if let Some(problem) = &self.problem {
            writeln!(f, "rectified  not yet: {problem}")?;
        }
        Ok(())
    }
}

impl fmt::Display for CameraDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, fx_px, fy_px, cx_px, cy_px, .. } = self;
        write!(f, "{model}, focal {fx_px:.1} x {fy_px:.1} px, principal point ({cx_px:.1}, {cy_px:.1})")?;
        if self.axis_skew_px != 0.0 {
            write!(f, ", axis skew {:.2} px", self.axis_skew_px)?;
        }
        if let (Some(horizontal), Some(vertical)) = (self.horizontal_deg, self.vertical_deg) {
            write!(f, ", field of view {horizontal:.1}° x {vertical:.1}°")?;
        }
        if let Some(diagonal) = self.diagonal_deg {
            write!(f, " (diagonal {diagonal:.1}°)")?;
        }
        if let Some(shift) = self.corner_shift_px {
            write!(f, ", the lens moves corners by {shift:.1} px")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::rig::tests::plain_rig;
    use super::*;
    use crate::Distortion;

    #[test]
    fn a_plain_rig_is_described_by_its_trigonometry() {
        let told = plain_rig().describe(0.0);
        let expected = 2.0 * (320.0f64 / 500.0).atan().to_degrees();
        assert!((told.left.horizontal_deg.unwrap() - expected).abs() < 1e-9);
        assert!((told.left.diagonal_deg.unwrap() - 2.0 * (400.0f64 / 500.0).atan().to_degrees()).abs() < 1e-9);
        assert_eq!((told.left.corner_shift_px, told.row_offset_px), (Some(0.0), Some(0.0)));
        let rectified = told.rectified.clone().unwrap();
        assert!((rectified.horizontal_deg - expected).abs() < 1e-6 && rectified.kept_percent > 99.9);
        assert!((rectified.projection_right[0][3] + 60.0).abs() < 1e-9);
        let text = told.to_string();
        assert!(text.contains("rows agree already") && text.contains("100 % of the pixels kept"), "{text}");
    }

    #[test]
    fn angles_have_the_documented_signs() {
        let mut rig = plain_rig();
        // the right camera turned by 2 degrees to the left: the axes meet in front
        rig.rotation = DMat3::from_rotation_y(2.0f64.to_radians());
        assert!((rig.describe(0.0).toe_in_deg - 2.0).abs() < 1e-9);
        let ahead = rig.right.project(rig.rotation * DVec3::Z);
        assert!(ahead.x > rig.right.cx, "what is ahead of the left camera is to the right in the right image");
        // looking up by 1 degree shows everything lower
        rig.rotation = DMat3::from_rotation_x(1.0f64.to_radians()).transpose();
        let told = rig.describe(0.0);
        let down = told.row_offset_px.unwrap();
        assert!((told.pitch_deg.abs() - 1.0).abs() < 1e-9 && (down.abs() - 8.73).abs() < 0.01, "{down}");
        assert_eq!(told.pitch_deg > 0.0, down > 0.0, "higher look, lower image: {} {down}", told.pitch_deg);
        // clockwise roll: a level line of the left image rises towards the right in the right one
        rig.rotation = DMat3::from_rotation_z(-1.0f64.to_radians());
        let right_end = rig.right.project(rig.rotation * DVec3::new(0.5, 0.0, 1.0));
        assert!(right_end.y < rig.right.cy && (rig.describe(0.0).roll_deg - 1.0).abs() < 1e-9);
    }

    #[test]
    fn fisheyes_exceed_180_degrees() {
        let mut rig = plain_rig();
        let distortion = Distortion::from_fisheye("D", &[0.0; 4]).unwrap();
        let fisheye = Camera { fx: 180.0, fy: 180.0, cx: 319.5, cy: 239.5, skew: 0.0, distortion };
        (rig.left, rig.right) = (fisheye, fisheye);
        let told = rig.describe(0.0);
        assert!((told.left.horizontal_deg.unwrap() - 2.0 * (320.0f64 / 180.0).to_degrees()).abs() < 1e-9);
        assert!(told.rectified.unwrap().kept_percent < 90.0);
    }

    #[test]
    fn numbers_that_need_a_size_are_left_out() {
        let mut rig = plain_rig();
        rig.size = None;
        let told = rig.describe(0.0);
        assert_eq!((told.left.horizontal_deg, told.row_offset_px, told.rectified.is_none()), (None, None, true));
        assert!(told.to_string().contains("give size"));
    }
}
