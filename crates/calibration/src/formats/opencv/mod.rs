//! OpenCV's stereo calibration: one file, or intrinsics and extrinsics, or left, right and both.
//!
//! Required are camera matrices, R and T; or R1, R2, P1 and P2; or only P1 and P2, for rectified images. In place of R and T may stand the
//! pose of the right camera in the axes of the left one (`T_LEFT_RIGHT`, a point of the right camera to the left one, as the frames of
//! OpenLORIS-Scene's `trans_matrix.yaml` and `T_c1_c2` of ORB-SLAM3's Calibration Tutorial 1.0), or the pose of one board in both cameras
//! (`rot_matrix_left`, `t_left`: a point of the board to the camera, as `cv2.solvePnP` returns them). Q follows from P1 and P2 and is
//! ignored. Lengths have no unit in these files, unless `length_unit` is present, as in files written by Stereopsis.

use super::draft::{self, Draft, Pose};
use super::matrix::Matrix;
use super::names::{self, Meaning, Side};
use super::tree::Node;
use super::{File, FileError, Kind, ValueFault, model};
use crate::checks::fisheye_doubt;
use crate::{Camera, Distortion, LengthUnit, Projection, Rectification, StereoRig};
use glam::DMat3;
use stereopsis_base::console::foreign;

pub(super) fn read(files: &[File]) -> Result<Draft, FileError> {
    let mut found = FoundValues::default();
    for file in files {
        found.add("", &file.tree, names::side_of(&file.stem()))?;
    }
    found.files = files.len();
    found.sizes.extend(found.widths.drain(..).zip(found.heights.drain(..)));
    found.number_sides();
    found.draft()
}

/// Largest number of named values in a file.
const MAX_VALUES: usize = 20_000;
/// Largest number of names in an error.
const MAX_NAMED: usize = 40;

/// Known matrices, numbers and words of all files.
#[derive(Default)]
struct FoundValues {
    /// Number of files.
    files: usize,
    matrices: Vec<(Meaning, Side, Matrix)>,
    sizes: Vec<(usize, usize)>,
    /// Image widths, each a single number; heights likewise.
    widths: Vec<usize>,
    heights: Vec<usize>,
    /// Names of lens models.
    models: Vec<(Side, String)>,
    unit: Option<LengthUnit>,
    /// Names of matrices and numbers, for errors.
    all_names: Vec<String>,
    /// Number of nodes read.
    values: usize,
}

impl FoundValues {
    /// Adds a node and all below it; its name is the path of its keys.
    ///
    /// # Errors
    /// There are too many values, or the unit of lengths is unknown.
    fn add(&mut self, name: &str, node: &Node, file_side: Side) -> Result<(), FileError> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(FileError::TooManyValues(MAX_VALUES));
        }
        if let Some(matrix) = node.matrix(name) {
            self.all_names.push(name.to_owned());
            let fisheye = names::fisheye_of(name).map(|side| (side.or(file_side), "fisheye".to_owned()));
            self.models.extend(fisheye);
            self.add_matrix(matrix, file_side);
        } else if node.has("data") && node.has("rows") && names::meaning(name).is_some() {
            return Err(ValueFault::NoData.of(name).into());
        } else if let Some(number) = node.number() {
            self.all_names.push(name.to_owned());
            if names::is_width(name) {
                self.widths.push(number as usize);
            } else if names::is_height(name) {
                self.heights.push(number as usize);
            } else if names::is_fisheye_switch(name) && number != 0.0 {
                self.models.push((file_side, "fisheye".to_owned()));
            }
        } else if let Some(word) = node.word() {
            if names::is_model(name) || model::is_fisheye(word) {
                self.models.push((names::side_of(name).or(file_side), word.to_owned()));
            } else if names::is_unit(name) {
                let unit = word.parse::<LengthUnit>().map_err(FileError::from);
                self.unit = Some(unit.map_err(|e| e.in_part(foreign(name)))?);
            }
        }
        for (key, value) in if node.has("data") { &[] } else { node.entries() } {
            let name = if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
            self.add(&name, value, file_side)?;
        }
        Ok(())
    }

    fn add_matrix(&mut self, matrix: Matrix, file_side: Side) {
        match names::meaning(&matrix.name) {
            Some((Meaning::Size, _)) => {
                if let &[width, height] = matrix.data.as_slice() {
                    self.sizes.push((width as usize, height as usize));
                }
            }
            // a file of one camera, as its own calibration writes it
            Some((meaning @ (Meaning::Camera | Meaning::Distortion | Meaning::Projection), Side::Unnamed)) => {
                let side = match file_side {
                    Side::Unnamed if self.has(meaning, Side::Left) => Side::Right,
                    Side::Unnamed => Side::Left,
                    side => side,
                };
                self.matrices.push((meaning, side, matrix));
            }
            Some((meaning, side)) => self.matrices.push((meaning, side, matrix)),
            None => {}
        }
    }

    /// Maps 1 and 2 to left and right; if a 0 exists, 0 and 1.
    fn number_sides(&mut self) {
        let from_zero = self.matrices.iter().any(|(_, side, _)| *side == Side::Zero);
        let settle = |side: &mut Side| {
            *side = match *side {
                Side::Zero => Side::Left,
                Side::One if from_zero => Side::Right,
                Side::One => Side::Left,
                other => other,
            };
        };
        self.matrices.iter_mut().for_each(|(_, side, _)| settle(side));
        self.models.iter_mut().for_each(|(side, _)| settle(side));
    }

    fn has(&self, meaning: Meaning, side: Side) -> bool {
        self.find(meaning, side).is_some()
    }

    fn find(&self, meaning: Meaning, side: Side) -> Option<&Matrix> {
        self.matrices.iter().find(|(m, s, _)| (*m, *s) == (meaning, side)).map(|(_, _, matrix)| matrix)
    }

    fn need(&self, meaning: Meaning, side: Side, what: &'static str) -> Result<&Matrix, FileError> {
        self.find(meaning, side).ok_or_else(|| {
            let mut found: Vec<_> = self.all_names.iter().take(MAX_NAMED).map(|name| foreign(name)).collect();
            if found.is_empty() {
                found.push("nothing".to_owned());
            } else if self.all_names.len() > MAX_NAMED {
                found.push("…".to_owned());
            }
            FileError::NoMatrix { what, found: found.join(" ") }
        })
    }

    /// Returns the size that all places of the files agree on; `None` without one.
    fn size(&self) -> Result<Option<(usize, usize)>, FileError> {
        let size = self.sizes.first().copied();
        let other = self.sizes.iter().find(|other| Some(**other) != size);
        if let Some((size, other)) = size.zip(other) {
            return Err(FileError::TwoSizes([size, *other]));
        }
        Ok(size)
    }

    /// Returns the rig of rectified images, if the file has only P1 and P2.
    fn rectified(&self) -> Result<Option<StereoRig>, FileError> {
        let [p1, p2] = [Side::Left, Side::Right].map(|side| self.find(Meaning::Projection, side));
        let is_other = |meaning: Meaning| {
            !matches!(meaning, Meaning::Projection | Meaning::BoardRotation | Meaning::BoardTranslation)
        };
        let has_others = self.matrices.iter().any(|(meaning, ..)| is_other(*meaning));
        let (Some(p1), Some(p2), false) = (p1, p2, has_others) else { return Ok(None) };
        let projections = [p1.projection()?, p2.projection()?];
        let cameras = projections.map(|(Projection { fx, fy, cx, cy }, _)| {
            let distortion = Distortion::default();
            Camera { fx, fy, cx, cy, skew: 0.0, distortion }
        });
        let rectification = draft::rectification(projections, [DMat3::IDENTITY; 2]);
        let (rotation, translation) = draft::pose(&rectification);
        // of two files, each with one P
        let names = if p1.name == p2.name { p1.name.clone() } else { format!("{} and {}", p1.name, p2.name) };
        let doubts = vec![format!(
            "the file has {names} alone: the images are taken to be rectified already; for images as they come from the \
             cameras add K1, D1, K2, D2, R and T"
        )];
        let rig = StereoRig::new(cameras[0], cameras[1], rotation, translation, self.size()?);
        Ok(Some(StereoRig { rectification: Some(rectification), doubts, ..rig }))
    }

    fn draft(&self) -> Result<Draft, FileError> {
        let mut rig = match self.rectified()? {
            Some(rig) => rig,
            None => self.raw()?,
        };
        let projections = [Side::Left, Side::Right].map(|side| self.find(Meaning::Projection, side));
        if rig.rectification.is_some() {
            rig.doubts.extend(projections.into_iter().flatten().filter_map(Matrix::skew_doubt));
        }
        Ok(Draft { rig: StereoRig { kind: Kind::OpenCv, ..rig }, unit: self.unit })
    }

    /// Returns the rig of raw images.
    fn raw(&self) -> Result<StereoRig, FileError> {
        let left = self.camera(Side::Left, "the left camera matrix")?;
        let right = self.camera(Side::Right, "the right camera matrix")?;
        let size = self.size()?;
        let rectification = self.rectification()?;
        let (rotation, translation) = self.pose(rectification.as_ref())?;
        let doubts = self.lens_doubts([&left, &right], size);
        let rig = StereoRig::new(left, right, rotation, translation, size);
        Ok(StereoRig { rectification, doubts, ..rig })
    }

    /// Returns the pose of the left camera in the axes of the right one, in the way in which the files say it.
    fn pose(&self, rectification: Option<&Rectification>) -> Result<Pose, FileError> {
        let has = |meaning| self.has(meaning, Side::Unnamed);
        if !(has(Meaning::Rotation) && has(Meaning::Translation)) {
            if let Some(rectification) = rectification {
                return Ok(draft::pose(rectification));
            }
            if let Some(right_in_left) = self.find(Meaning::RightInLeft, Side::Unnamed) {
                return Ok(draft::inverse(right_in_left.pose()?));
            }
            let of_board =
                |side| self.find(Meaning::BoardRotation, side).zip(self.find(Meaning::BoardTranslation, side));
            if let (Some(left), Some(right)) = (of_board(Side::Left), of_board(Side::Right)) {
                let to_board = |(rotation, translation): (&Matrix, &Matrix)| -> Result<Pose, FileError> {
                    Ok(draft::inverse((rotation.rotation()?, translation.vector()?)))
                };
                return Ok(draft::relative([to_board(left)?, to_board(right)?]));
            }
        }
        // the files of two cameras that were calibrated alone
        if self.files == 2 && !has(Meaning::Rotation) && !has(Meaning::Translation) {
            return Err(FileError::Alone);
        }
        let rotation = self.need(Meaning::Rotation, Side::Unnamed, "the rotation R between the cameras")?;
        let translation = self.need(Meaning::Translation, Side::Unnamed, "the translation T between the cameras")?;
        Ok((rotation.rotation()?, translation.vector()?))
    }

    /// Returns the lens model that the file names for a camera; empty for none. A fisheye's name wins, because some files also name the
    /// projection, which is a pinhole's.
    fn model(&self, side: Side) -> &str {
        let of_side = || self.models.iter().filter(|(of, _)| *of == side || *of == Side::Unnamed).map(|(_, word)| word);
        of_side().find(|word| model::is_fisheye(word)).or_else(|| of_side().next()).map_or("", String::as_str)
    }

    /// Returns doubts about lenses for which the file has too little data.
    fn lens_doubts(&self, cameras: [&Camera; 2], size: Option<(usize, usize)>) -> Vec<String> {
        let sides = [Side::Left, Side::Right];
        let lenses = sides.map(|side| self.find(Meaning::Distortion, side));
        // a file may state that its lenses have no distortion
        let missing = [0, 1].map(|i| lenses[i].is_none() && self.model(sides[i]) != "none");
        let missing = match missing {
            [true, true] => Some(("distortion (D1 and D2)", "both lenses are", "D1 and D2")),
            [true, false] => Some(("distortion of the left camera (D1)", "its lens is", "D1")),
            [false, true] => Some(("distortion of the right camera (D2)", "its lens is", "D2")),
            [false, false] => None,
        };
        let missing = missing.map(|(what, taken, names)| {
            format!(
                "the file has no {what}: {taken} taken to bend no lines, and where a lens does, rows and depth are wrong towards \
                 the rim; add {names} of the calibration, or five zeros for undistorted images"
            )
        });
        let is_unnamed = |side| matches!(self.model(side).to_lowercase().as_str(), "" | "pinhole" | "perspective");
        let fisheye = (0..2).find_map(|i| {
            let lens = lenses[i].filter(|lens| lens.data.len() == 4 && is_unnamed(sides[i]))?;
            fisheye_doubt(&lens.name, cameras[i], size)
        });
        missing.into_iter().chain(fisheye).collect()
    }

    fn camera(&self, side: Side, what: &'static str) -> Result<Camera, FileError> {
        let matrix = self.need(Meaning::Camera, side, what)?;
        let model = self.model(side);
        let distortion = match self.find(Meaning::Distortion, side) {
            Some(lens) => {
                lens.finite()?;
                model::lens(model, &lens.name, &lens.data)?
            }
            None if model::is_fisheye(model) => {
                return Err(ValueFault::NoFisheye.of(what).into());
            }
            None => Distortion::default(),
        };
        Ok(matrix.camera(distortion)?)
    }

    /// Returns the file's own rectification, if all four matrices exist.
    fn rectification(&self) -> Result<Option<Rectification>, FileError> {
        let of = |meaning| self.find(meaning, Side::Left).zip(self.find(meaning, Side::Right));
        let (Some((r1, r2)), Some((p1, p2))) = (of(Meaning::Rectifying), of(Meaning::Projection)) else {
            return Ok(None);
        };
        let projections = [p1.projection()?, p2.projection()?];
        Ok(Some(draft::rectification(projections, [r1.rotation()?, r2.rotation()?])))
    }
}

#[cfg(test)]
mod forms;
#[cfg(test)]
mod tests;
