//! Rectifier: a rig prepared for images of one size. Raw pairs in, rectified pairs out.

use super::camera_model::Reach;
use super::remap::{self, RemapTable, RowRemap};
use super::{CalibrationError, Camera, Crop, Projection, Rectification, StereoRig, checks};
use glam::{DMat3, DVec2};
use std::panic::resume_unwind;
use std::thread::{Builder, ScopedJoinHandle};
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::Picture;
use stereopsis_base::process::memory;

/// Rectifier of pairs of one size, with a precomputed map.
#[derive(Debug)]
pub struct Rectifier {
    left: RemapTable,
    right: RemapTable,
    geometry: Geometry,
    note: Option<String>,
}

impl StereoRig {
    /// Computes the map for raw images of `width` x `height`. Another size of the same aspect ratio scales the calibration. A rectification
    /// in the calibration keeps its rotations, and with the default crop also its crop.
    ///
    /// # Errors
    /// The aspect ratio differs from the calibration's, the crop is out of range, or the rig cannot be rectified.
    pub fn rectifier(&self, width: usize, height: usize, crop: impl Into<Crop>) -> Result<Rectifier, CalibrationError> {
        let (rig, rectification, note) = self.at_size(width, height, crop.into())?;
        let bytes = 2 * (width * height * remap::BYTES_PER_PIXEL) as u64;
        memory::check(bytes).map_err(|free| CalibrationError::RectifierMemory {
            size: (width, height),
            bytes,
            free,
        })?;
        let table = |camera: &Camera, rotation: DMat3, projection: Projection| {
            let reach = Reach::of(camera);
            RemapTable::new(width, height, |x, y| {
                let ray = rotation.transpose() * projection.ray(x as f64, y as f64);
                if ray.z > 0.0 && reach.has(ray) { camera.project(ray) } else { DVec2::NAN }
            })
        };
        Ok(Rectifier {
            left: table(&rig.left, rectification.rotation_left, rectification.left),
            right: table(&rig.right, rectification.rotation_right, rectification.right),
            geometry: Geometry {
                estimated: self.estimated,
                uncertainty: self.uncertainty,
                spread: self.spread,
                ..rectification.geometry()
            },
            note,
        })
    }

    /// Returns the rig scaled to raw images, its rectification, and remarks for the user; see [`StereoRig::rectifier`].
    pub(super) fn at_size(
        &self,
        width: usize,
        height: usize,
        crop: Crop,
    ) -> Result<(Self, Rectification, Option<String>), CalibrationError> {
        crop.validate()?;
        checks::check(self)?;
        if width < 2 || height < 2 {
            return Err(CalibrationError::TooSmall { width, height });
        }
        let (factor, note) = self.factor_to(width, height)?;
        let rig = StereoRig { left: self.left.scaled(factor), right: self.right.scaled(factor), ..self.clone() };
        let rectification = match &self.rectification {
            Some(own) if crop.is_default() => own.scaled(factor),
            Some(own) => own.cropped(&rig, (width, height), crop)?,
            None => Rectification::compute(&rig, width, height, crop)?,
        };
        Ok((rig, rectification, note))
    }

    /// Returns the rig for images of another size of the same aspect ratio, without a rectification.
    ///
    /// # Errors
    /// The rig is of another aspect ratio.
    pub fn rescaled(&self, (width, height): (usize, usize)) -> Result<Self, CalibrationError> {
        let (factor, _) = self.factor_to(width, height)?;
        let (left, right) = (self.left.scaled(factor), self.right.scaled(factor));
        Ok(Self { left, right, rectification: None, size: Some((width, height)), ..self.clone() })
    }

    /// Returns the ratio of the image size to the calibration's, and a remark for the user.
    fn factor_to(&self, width: usize, height: usize) -> Result<(DVec2, Option<String>), CalibrationError> {
        let given = DVec2::new(width as f64, height as f64);
        let Some((own_width, own_height)) = self.size else {
            return self.assume_size(width, height).map(|note| (DVec2::ONE, Some(note)));
        };
        let own = DVec2::new(own_width as f64, own_height as f64);
        let factor = given / own;
        // the same aspect ratio within the rounding of a row or a column
        if (own.y * factor.x - given.y).abs() > 1.0 && (own.x * factor.y - given.x).abs() > 1.0 {
            return Err(CalibrationError::Shape { own: (own_width, own_height), size: (width, height) });
        }
        let note = (given != own).then(|| {
            format!("the calibration is for {own_width}x{own_height} and was scaled to images of {width}x{height}")
        });
        Ok((factor, note))
    }

    /// Accepts images whose centre is near the principal points, if the file has no size.
    fn assume_size(&self, width: usize, height: usize) -> Result<String, CalibrationError> {
        for camera in [&self.left, &self.right] {
            if camera.off_centre((width, height)) > 0.2 {
                let likely = DVec2::new(2.0 * camera.cx + 1.0, 2.0 * camera.cy + 1.0).round();
                return Err(CalibrationError::Unsized {
                    size: (width, height),
                    centre: [camera.cx, camera.cy],
                    likely: likely.into(),
                });
            }
        }
        Ok(format!("the calibration names no image size; it is taken to be for {width}x{height}"))
    }
}

impl Rectifier {
    /// Returns the geometry that converts disparity of the rectified images to metres.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Returns remarks for the user: the calibration was scaled, or its size assumed.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Returns `(width, height)` of raw and rectified images.
    pub fn size(&self) -> (usize, usize) {
        self.left.size()
    }

    /// Returns the raw position of rectified pixel `(x, y)` of the left and of the right image, to 1/128 px; `None` if it is black.
    pub fn sources(&self, x: usize, y: usize) -> [Option<[f64; 2]>; 2] {
        [&self.left, &self.right].map(|table| table.source(x, y).map(DVec2::into))
    }

    /// Checks whether a pair can be rectified.
    ///
    /// # Errors
    /// The images have another size than the map.
    pub fn check(&self, left: &Picture, right: &Picture) -> Result<(), CalibrationError> {
        for picture in [left, right] {
            if picture.size() != self.size() {
                return Err(CalibrationError::RectifierSize { own: self.size(), size: picture.size() });
            }
        }
        Ok(())
    }

    /// Rectifies a pair; pixels outside the raw images are black.
    ///
    /// # Errors
    /// Errors of [`Self::check`].
    pub fn apply(&self, left: &Picture, right: &Picture) -> Result<(Picture, Picture), CalibrationError> {
        self.apply_with(left, right, None)
    }

    /// Rectifies a pair and corrects its rows by `rows`, a map made with this rectifier.
    ///
    /// # Errors
    /// Errors of [`Self::check`].
    pub fn apply_with(
        &self,
        left: &Picture,
        right: &Picture,
        rows: Option<&RowRemap>,
    ) -> Result<(Picture, Picture), CalibrationError> {
        self.check(left, right)?;
        let of_right = rows.map_or(&self.right, |rows| &rows.table);
        Ok(std::thread::scope(|scope| {
            // permanent threads would be missing in a forked process; if no thread can be started, this one does the work
            let work = || of_right.apply(right);
            let thread = Builder::new().name("rectify".into()).spawn_scoped(scope, work).ok();
            let left = self.left.apply(left);
            let wait = |thread: ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            (left, thread.map_or_else(work, wait))
        }))
    }

    pub(super) fn right_table(&self) -> &RemapTable {
        &self.right
    }
}

#[cfg(test)]
mod tests;
