//! OpenCV's stereo calibration: one file, or intrinsics and extrinsics, or left, right and both.
//!
//! Needs camera matrices, R and T; or, in their place, R1, R2, P1 and P2. Q follows from P1 and P2 and is not read. Lengths
//! have no unit in these files: the caller gives it.

use super::names::{self, Kind, Side};
use super::yaml::{self, Contents, Matrix};
use crate::calibration::rig::is_rotation;
use crate::calibration::{CalibrationError, Camera, Distortion, LengthUnit, Projection, Rectification, StereoRig};
use glam::{DMat3, DQuat, DVec3};
use std::path::PathBuf;

/// Reads a rig from one or more files; `unit` is the length of one unit of T.
///
/// # Errors
/// A file is missing or unreadable, a matrix is missing, has a wrong size or a value that is no number, or the rig is none.
pub fn load(paths: &[PathBuf], unit: LengthUnit) -> Result<StereoRig, CalibrationError> {
    let found = Found::read(paths)?;
    let rig = found.rig(unit).map_err(|e| CalibrationError(format!("{}: {e}", list(paths))))?;
    rig.validate().map_err(|e| CalibrationError(format!("{}: {e}", list(paths))))?;
    Ok(rig)
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" and ")
}

/// Every matrix of all files that means something.
struct Found {
    matrices: Vec<(Kind, Side, Matrix)>,
    size: Option<(usize, usize)>,
    /// Every name, for the error text.
    all_names: Vec<String>,
}

impl Found {
    fn read(paths: &[PathBuf]) -> Result<Self, CalibrationError> {
        let mut found = Self { matrices: Vec::new(), size: None, all_names: Vec::new() };
        for path in paths {
            let contents = yaml::read(path)?;
            refuse_fisheye(&contents).map_err(|e| CalibrationError(format!("{}: {e}", path.display())))?;
            let file_side = names::side_of(&path.file_stem().unwrap_or_default().to_string_lossy());
            found.add(contents, file_side);
        }
        found.number_sides();
        Ok(found)
    }

    fn add(&mut self, contents: Contents, file_side: Side) {
        let number =
            |is_it: fn(&str) -> bool| contents.numbers.iter().find(|(name, _)| is_it(name)).map(|n| n.1 as usize);
        self.size = self.size.or(number(names::is_width).zip(number(names::is_height)));
        self.all_names.extend(contents.numbers.iter().map(|(name, _)| name.clone()));
        for matrix in contents.matrices {
            self.all_names.push(matrix.name.clone());
            match names::meaning(&matrix.name) {
                Some((Kind::Size, _)) => {
                    if let (None, &[width, height]) = (self.size, matrix.data.as_slice()) {
                        self.size = Some((width as usize, height as usize));
                    }
                }
                // a file of one camera, as calibration of each alone writes it
                Some((kind @ (Kind::Camera | Kind::Distortion | Kind::Projection), Side::Unsaid)) => {
                    let side = match file_side {
                        Side::Unsaid if self.has(kind, Side::Left) => Side::Right,
                        Side::Unsaid => Side::Left,
                        side => side,
                    };
                    self.matrices.push((kind, side, matrix));
                }
                Some((kind, side)) => self.matrices.push((kind, side, matrix)),
                None => {}
            }
        }
    }

    /// 1 and 2 are left and right, unless a 0 says that 0 and 1 are.
    fn number_sides(&mut self) {
        let from_zero = self.matrices.iter().any(|(_, side, _)| *side == Side::Zero);
        for (_, side, _) in &mut self.matrices {
            *side = match *side {
                Side::Zero => Side::Left,
                Side::One if from_zero => Side::Right,
                Side::One => Side::Left,
                other => other,
            };
        }
    }

    fn has(&self, kind: Kind, side: Side) -> bool {
        self.find(kind, side).is_some()
    }

    fn find(&self, kind: Kind, side: Side) -> Option<&Matrix> {
        self.matrices.iter().find(|(k, s, _)| (*k, *s) == (kind, side)).map(|(_, _, matrix)| matrix)
    }

    fn need(&self, kind: Kind, side: Side, what: &str) -> Result<&Matrix, CalibrationError> {
        self.find(kind, side).ok_or_else(|| {
            let found = if self.all_names.is_empty() { "nothing".to_owned() } else { self.all_names.join(" ") };
            CalibrationError(format!(
                "{what} is missing; looked for {}, found {found}; give both files (intrinsics and extrinsics) if there are two",
                names::LOOKED_FOR
            ))
        })
    }

    fn rig(&self, unit: LengthUnit) -> Result<StereoRig, CalibrationError> {
        let left = self.camera(Side::Left, "the left camera matrix")?;
        let right = self.camera(Side::Right, "the right camera matrix")?;
        let rectification = self.rectification(unit)?;
        let (rotation, translation_m) = match &rectification {
            // R and T follow from the rectification where they are missing
            Some(r) if !self.has(Kind::Rotation, Side::Unsaid) || !self.has(Kind::Translation, Side::Unsaid) => {
                let from_common = r.rotation_right.transpose();
                (from_common * r.rotation_left, from_common * DVec3::new(-r.baseline_m, 0.0, 0.0))
            }
            _ => {
                let rotation = self.need(Kind::Rotation, Side::Unsaid, "the rotation R between the cameras")?;
                let translation =
                    self.need(Kind::Translation, Side::Unsaid, "the translation T between the cameras")?;
                let translation = DVec3::from(values::<3>(translation, &[(3, 1), (1, 3)])?);
                (rotation_of(rotation)?, translation * unit.metres())
            }
        };
        Ok(StereoRig { left, right, rotation, translation_m, size: self.size, rectification, unit, estimated: false })
    }

    fn camera(&self, side: Side, what: &str) -> Result<Camera, CalibrationError> {
        let matrix = self.need(Kind::Camera, side, what)?;
        let [fx, _, cx, _, fy, cy, ..] = values::<9>(matrix, &[(3, 3)])?;
        let distortion = match self.find(Kind::Distortion, side) {
            Some(lens) => {
                finite(lens)?;
                Distortion::from_opencv(&lens.name, &lens.data)?
            }
            None => Distortion::default(),
        };
        Ok(Camera { fx, fy, cx, cy, distortion })
    }

    /// The file's own rectification, if all four matrices are there.
    fn rectification(&self, unit: LengthUnit) -> Result<Option<Rectification>, CalibrationError> {
        let of = |kind| self.find(kind, Side::Left).zip(self.find(kind, Side::Right));
        let (Some((r1, r2)), Some((p1, p2))) = (of(Kind::Rectifying), of(Kind::Projection)) else { return Ok(None) };
        let (left, right) = (projection(p1)?, projection(p2)?);
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-3 * a.abs().max(1.0);
        if !(close(left.fx, right.fx) && close(left.fy, right.fy) && close(left.cy, right.cy)) {
            return Err(CalibrationError(format!(
                "{} and {} do not belong together: focal lengths and rows of both pictures must be the same",
                p1.name, p2.name
            )));
        }
        let (shift_x, shift_y) = (p2.data[3], p2.data[7]);
        if shift_x == 0.0 && shift_y != 0.0 {
            return Err(CalibrationError(format!(
                "{} is of a rig whose cameras stand one above the other; only cameras side by side are supported",
                p2.name
            )));
        }
        if shift_x > 0.0 {
            return Err(CalibrationError(format!(
                "{} has the right camera to the left of the left one; swap the two cameras, that is, the two pictures and \
                 the two halves of the calibration",
                p2.name
            )));
        }
        let baseline_m = -shift_x / right.fx * unit.metres();
        let (rotation_left, rotation_right) = (rotation_of(r1)?, rotation_of(r2)?);
        Ok(Some(Rectification { rotation_left, rotation_right, left, right, baseline_m }))
    }
}

fn refuse_fisheye(contents: &Contents) -> Result<(), CalibrationError> {
    let models = ["fisheye", "equidistant", "kannalabrandt", "kannala_brandt", "omni", "omnidirectional"];
    let found = contents.words.iter().find(|(_, word)| models.contains(&word.to_lowercase().as_str()));
    found.map_or(Ok(()), |(name, word)| {
        Err(CalibrationError(format!(
            "{name} is {word}: fisheye lenses are not supported; calibrate with OpenCV's pinhole model \
             (CALIB_RATIONAL_MODEL for wide lenses)"
        )))
    })
}

/// The values of a matrix that has one of these shapes and holds numbers only.
fn values<const N: usize>(matrix: &Matrix, shapes: &[(usize, usize)]) -> Result<[f64; N], CalibrationError> {
    let fits = matrix.shape.is_none_or(|shape| shapes.contains(&shape));
    let data = <[f64; N]>::try_from(matrix.data.as_slice()).ok().filter(|_| fits).ok_or_else(|| {
        let wanted: Vec<_> = shapes.iter().map(|(rows, columns)| format!("{rows}x{columns}")).collect();
        let is = match matrix.shape {
            Some((rows, columns)) => format!("{rows}x{columns} with"),
            None => "a list of".to_owned(),
        };
        let count = matrix.data.len();
        CalibrationError(format!("{} is {is} {count} values, expected {}", matrix.name, wanted.join(" or ")))
    })?;
    finite(matrix)?;
    Ok(data)
}

fn finite(matrix: &Matrix) -> Result<(), CalibrationError> {
    match matrix.data.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(i) => Err(CalibrationError(format!(
            "{} holds {} at place {}: the calibration failed or the file is damaged; calibrate again",
            matrix.name,
            matrix.data[i],
            i + 1
        ))),
    }
}

/// A rotation as a matrix, or as OpenCV's vector: axis times angle.
fn rotation_of(matrix: &Matrix) -> Result<DMat3, CalibrationError> {
    let rotation = if matrix.data.len() == 3 {
        let axis_angle = values::<3>(matrix, &[(3, 1), (1, 3)])?;
        DMat3::from_quat(DQuat::from_scaled_axis(axis_angle.into()))
    } else {
        DMat3::from_cols_array(&values::<9>(matrix, &[(3, 3)])?).transpose()
    };
    if !is_rotation(rotation) {
        return Err(CalibrationError(format!("{} is no rotation; the file is damaged", matrix.name)));
    }
    Ok(rotation)
}

fn projection(matrix: &Matrix) -> Result<Projection, CalibrationError> {
    let [fx, _, cx, _, _, fy, cy, ..] = values::<12>(matrix, &[(3, 4)])?;
    if fx <= 0.0 || fy <= 0.0 {
        return Err(CalibrationError(format!("{} is singular: its focal lengths are {fx} and {fy} px", matrix.name)));
    }
    Ok(Projection { fx, fy, cx, cy })
}

#[cfg(test)]
mod tests;
