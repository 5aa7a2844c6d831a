//! A rig made ready for pictures of one size: raw pairs go in, rectified pairs come out.

use super::remap::RemapTable;
use super::{CalibrationError, Camera, Projection, Rectification, StereoRig};
use crate::geometry::Geometry;
use crate::image::{Luma, Picture};
use glam::{DMat3, DVec2};

/// Rectifies pairs of one size by a map made once.
#[derive(Debug)]
pub struct Rectifier {
    left: RemapTable,
    right: RemapTable,
    geometry: Geometry,
    note: Option<String>,
}

impl StereoRig {
    /// Makes the map for raw pictures of `width` x `height`. Another size of the same shape scales the calibration.
    /// `alpha` from 0 to 1 says what to do with the border: 0 crops until no black is left, 1 keeps every raw pixel. Where a
    /// rectification came with the calibration, its rotations are taken in any case, and with `alpha` 0 its crop too.
    ///
    /// # Errors
    /// Another shape than that of the calibration, an `alpha` out of range, or a rig that cannot be rectified.
    pub fn rectifier(&self, width: usize, height: usize, alpha: f64) -> Result<Rectifier, CalibrationError> {
        let (rig, rectification, note) = self.at_size(width, height, alpha)?;
        let table = |camera: &Camera, rotation: DMat3, projection: Projection| {
            RemapTable::new(width, height, |x, y| {
                let ray = rotation.transpose() * projection.ray(x as f64, y as f64);
                if ray.z > 0.0 { camera.project(ray) } else { DVec2::NAN }
            })
        };
        Ok(Rectifier {
            left: table(&rig.left, rectification.rotation_left, rectification.left),
            right: table(&rig.right, rectification.rotation_right, rectification.right),
            geometry: Geometry { estimated: self.estimated, ..rectification.geometry() },
            note,
        })
    }

    /// The rig scaled to raw pictures of `width` x `height`, how they are rectified, and what a user should know of it; see
    /// [`StereoRig::rectifier`].
    pub(super) fn at_size(
        &self,
        width: usize,
        height: usize,
        alpha: f64,
    ) -> Result<(Self, Rectification, Option<String>), CalibrationError> {
        if !(0.0..=1.0).contains(&alpha) {
            return Err(CalibrationError(format!(
                "alpha is {alpha}: it must be from 0 (no black border) to 1 (all kept)"
            )));
        }
        self.validate()?;
        if width < 2 || height < 2 {
            return Err(CalibrationError(format!("pictures of {width}x{height} are too small to be rectified")));
        }
        let (factor, note) = self.factor_to(width, height)?;
        let rig = StereoRig { left: self.left.scaled(factor), right: self.right.scaled(factor), ..self.clone() };
        let rectification = match &self.rectification {
            Some(own) if alpha <= 0.0 => own.scaled(factor),
            Some(own) => own.cropped(&rig, (width, height), alpha)?,
            None => Rectification::compute(&rig, width, height, alpha)?,
        };
        Ok((rig, rectification, note))
    }

    /// How much larger the pictures are than those of the calibration, and what a user should know of it.
    fn factor_to(&self, width: usize, height: usize) -> Result<(DVec2, Option<String>), CalibrationError> {
        let given = DVec2::new(width as f64, height as f64);
        let Some((own_width, own_height)) = self.size else {
            return self.assume_size(width, height).map(|note| (DVec2::ONE, Some(note)));
        };
        let own = DVec2::new(own_width as f64, own_height as f64);
        let factor = given / own;
        // the same shape up to the rounding of a row or a column
        if (own.y * factor.x - given.y).abs() > 1.0 && (own.x * factor.y - given.x).abs() > 1.0 {
            return Err(CalibrationError(format!(
                "the calibration is for pictures of {own_width}x{own_height}, these are {width}x{height}, another shape: \
                 choose a camera mode of the same shape, or calibrate in this one"
            )));
        }
        let note = (given != own).then(|| {
            format!("the calibration is for {own_width}x{own_height} and was scaled to pictures of {width}x{height}")
        });
        Ok((factor, note))
    }

    /// Without a size in the file the pictures must at least have their middle near the principal points.
    fn assume_size(&self, width: usize, height: usize) -> Result<String, CalibrationError> {
        for camera in [&self.left, &self.right] {
            let share = DVec2::new((camera.cx + 0.5) / width as f64, (camera.cy + 0.5) / height as f64);
            if (share - 0.5).abs().max_element() > 0.2 {
                let likely = DVec2::new(2.0 * camera.cx + 1.0, 2.0 * camera.cy + 1.0).round();
                return Err(CalibrationError(format!(
                    "the calibration names no picture size and cannot be for {width}x{height}: its optical axis is at \
                     ({:.0}, {:.0}), as in pictures of about {}x{}; add image_width and image_height to the file, and \
                     the calibration is scaled",
                    camera.cx, camera.cy, likely.x, likely.y
                )));
            }
        }
        Ok(format!("the calibration names no picture size; it is taken to be for {width}x{height}"))
    }
}

impl Rectifier {
    /// What turns disparity of the rectified pictures into metres.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// What a user should know: that the calibration was scaled, or its size assumed.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// `(width, height)` of the pictures that it takes and gives.
    pub fn size(&self) -> (usize, usize) {
        self.left.size()
    }

    /// Where rectified pixel `(x, y)` of the left and of the right picture comes from, in raw px, to 1/128 px; `None` where
    /// it is black.
    pub fn sources(&self, x: usize, y: usize) -> [Option<DVec2>; 2] {
        [&self.left, &self.right].map(|table| table.source(x, y))
    }

    /// Checks whether a pair can be rectified.
    ///
    /// # Errors
    /// Pictures of another size than the map was made for.
    pub fn check(&self, left: &Picture, right: &Picture) -> Result<(), CalibrationError> {
        for picture in [left, right] {
            if picture.size() != self.size() {
                let ((width, height), (own_width, own_height)) = (picture.size(), self.size());
                return Err(CalibrationError(format!(
                    "pictures of {width}x{height} came in, the rectification was made for {own_width}x{own_height}; \
                     open the source again"
                )));
            }
        }
        Ok(())
    }

    /// The rectified pair, left and right; what no camera sees is black.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn apply(&self, left: &Picture, right: &Picture) -> Result<(Picture, Picture), CalibrationError> {
        self.check(left, right)?;
        Ok((rectify(&self.left, left), rectify(&self.right, right)))
    }
}

fn rectify(table: &RemapTable, picture: &Picture) -> Picture {
    let luma = match &picture.luma {
        Luma::U8(image) => Luma::U8(table.apply(image)),
        Luma::U16 { image, bits } => Luma::U16 { image: table.apply(image), bits: *bits },
    };
    Picture { luma, rgb: picture.rgb.as_ref().map(|rgb| table.apply(rgb)) }
}

#[cfg(test)]
mod tests;
