//! Rectifier: a rig prepared for images of one size. Raw pairs in, rectified pairs out.

use super::camera_model::Reach;
use super::formats::read_toml;
use super::remap::{self, RemapTable, RowRemap};
use super::rig::quarters;
use super::{CalibrationError, Camera, Correction, Crop, Projection, Rectification, StereoRig, checks};
use glam::{DMat3, DVec2};
use parking_lot::Mutex;
use std::panic::resume_unwind;
use std::sync::Arc;
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
    rig: StereoRig,
    crop: Crop,
    /// Rectifier of pairs of other cameras or of another size that was needed last.
    other: Mutex<Option<(OtherPairs, Arc<Rectifier>)>>,
}

/// Cameras of a rectifier: the TOML of their rig, where it is not the first one, and the sizes of the raw images, px.
type OtherPairs = (Option<String>, [(usize, usize); 2]);

impl StereoRig {
    /// Computes the map for raw images of `width` x `height`. Another size of the same aspect ratio scales the calibration. A rectification
    /// in the calibration keeps its rotations, and with the default crop also its crop. The right images of a calibration of two sizes
    /// are scaled as the left ones.
    ///
    /// # Errors
    /// The aspect ratio differs from the calibration's, the crop is out of range, or the rig cannot be rectified.
    pub fn rectifier(&self, width: usize, height: usize, crop: impl Into<Crop>) -> Result<Rectifier, CalibrationError> {
        self.rectifier_of([(width, height), self.size_beside((width, height))], crop.into())
    }

    /// Computes the map for raw left and right images of these sizes; rectified ones have the left one's.
    fn rectifier_of(&self, sizes: [(usize, usize); 2], crop: Crop) -> Result<Rectifier, CalibrationError> {
        let (rig, rectification, note) = self.at_sizes(sizes, crop)?;
        let (width, height) = sizes[0];
        let bytes = 2 * (width * height * remap::BYTES_PER_PIXEL) as u64;
        memory::check(bytes).map_err(|free| CalibrationError::RectifierMemory {
            size: (width, height),
            bytes,
            free,
        })?;
        let table = |camera: &Camera, size: (usize, usize), rotation: DMat3, projection: Projection| {
            let reach = Reach::of(camera);
            RemapTable::between(sizes[0], size, |x, y| {
                let ray = rotation.transpose() * projection.ray(x as f64, y as f64);
                if ray.z > 0.0 && reach.has(ray) { camera.project(ray) } else { DVec2::NAN }
            })
        };
        Ok(Rectifier {
            left: table(&rig.left, sizes[0], rectification.rotation_left, rectification.left),
            right: table(&rig.right, sizes[1], rectification.rotation_right, rectification.right),
            geometry: Geometry {
                estimated: self.estimated,
                uncertainty: self.uncertainty,
                spread: self.spread,
                ..rectification.geometry()
            },
            note,
            rig: self.clone(),
            crop,
            other: Mutex::default(),
        })
    }

    /// Returns the size of right images beside left ones of this size.
    fn size_beside(&self, (width, height): (usize, usize)) -> (usize, usize) {
        match (self.size, self.right_size) {
            (Some(left), Some(right)) => {
                ((right.0 * width).div_ceil(left.0.max(1)), (right.1 * height).div_ceil(left.1.max(1)))
            }
            _ => (width, height),
        }
    }

    /// Returns the rig scaled to raw left images of this size, its rectification, and remarks for the user; see [`StereoRig::rectifier`].
    pub(super) fn at_size(
        &self,
        width: usize,
        height: usize,
        crop: Crop,
    ) -> Result<(Self, Rectification, Option<String>), CalibrationError> {
        self.at_sizes([(width, height), self.size_beside((width, height))], crop)
    }

    pub(super) fn at_sizes(
        &self,
        sizes: [(usize, usize); 2],
        crop: Crop,
    ) -> Result<(Self, Rectification, Option<String>), CalibrationError> {
        crop.validate()?;
        checks::check(self)?;
        if let Some(&(width, height)) = sizes.iter().find(|(width, height)| *width < 2 || *height < 2) {
            return Err(CalibrationError::TooSmall { width, height });
        }
        let (factors, note) = self.factors_to(sizes)?;
        let (left, right) = (self.left.scaled(factors[0]), self.right.scaled(factors[1]));
        let rig = StereoRig { left, right, size: Some(sizes[0]), right_size: None, ..self.clone() };
        let rig = rig.with_right_size(sizes[1]);
        let rectification = match &self.rectification {
            Some(own) if crop.is_default() => own.scaled(factors[0]),
            Some(own) => {
                let alike = rig.alike();
                let turned = quarters(rig.quarter_turns());
                let own = Rectification { rotation_right: own.rotation_right * turned, ..*own };
                rig.unalike(own.cropped(&alike, sizes[0], crop)?)
            }
            None => rig.unalike(Rectification::compute(&rig.alike(), sizes[0].0, sizes[0].1, crop)?),
        };
        Ok((rig, rectification, note))
    }

    /// Returns a rig that sees the same, with two cameras of one image size and upright to each other: the right images are turned by
    /// quarters and scaled to the left ones' size.
    fn alike(&self) -> Self {
        let turns = self.quarter_turns();
        let [Some(size), Some(mut right_size)] = self.sizes() else { return self.clone() };
        let mut right = self.right;
        for _ in 0..turns.rem_euclid(4) {
            right = right.turned(right_size.0);
            right_size = (right_size.1, right_size.0);
        }
        if right_size != size {
            right = right.scaled(ratio(size, right_size));
        }
        let (rotation, translation_m) = self.upright_pose();
        Self { right, right_size: None, rotation, translation_m, ..self.clone() }
    }

    /// Returns this rig's rectification, from that of [`Self::alike`].
    fn unalike(&self, rectification: Rectification) -> Rectification {
        let rotation_right = match self.quarter_turns() {
            0 => rectification.rotation_right,
            turns => rectification.rotation_right * quarters(-turns),
        };
        Rectification { rotation_right, ..rectification }
    }

    /// Returns the rig for left images of another size of the same aspect ratio, without a rectification.
    ///
    /// # Errors
    /// The rig is of another aspect ratio.
    pub fn rescaled(&self, size: (usize, usize)) -> Result<Self, CalibrationError> {
        let sizes = [size, self.size_beside(size)];
        let (factors, _) = self.factors_to(sizes)?;
        let (left, right) = (self.left.scaled(factors[0]), self.right.scaled(factors[1]));
        let rig = Self { left, right, rectification: None, size: Some(size), ..self.clone() };
        Ok(rig.with_right_size(sizes[1]))
    }

    /// Returns the ratios of the image sizes to the calibration's, and a remark for the user.
    fn factors_to(&self, sizes: [(usize, usize); 2]) -> Result<([DVec2; 2], Option<String>), CalibrationError> {
        let [Some(own_left), Some(own_right)] = self.sizes() else {
            return self.assume_sizes(sizes).map(|note| ([DVec2::ONE; 2], Some(note)));
        };
        let own = [own_left, own_right];
        for (own, size) in own.into_iter().zip(sizes) {
            let factor = ratio(size, own);
            // the same aspect ratio within the rounding of a row or a column
            let [rows, columns] = [own.1 as f64 * factor.x - size.1 as f64, own.0 as f64 * factor.y - size.0 as f64];
            if rows.abs() > 1.0 && columns.abs() > 1.0 {
                return Err(CalibrationError::Shape { own, size });
            }
        }
        let scaled = |own: (usize, usize), size: (usize, usize)| {
            format!("the calibration is for {}x{} and was scaled to images of {}x{}", own.0, own.1, size.0, size.1)
        };
        let mut notes: Vec<_> = own.into_iter().zip(sizes).filter(|(own, size)| own != size).collect();
        notes.dedup();
        let notes: Vec<_> = notes.into_iter().map(|(own, size)| scaled(own, size)).collect();
        let note = (!notes.is_empty()).then(|| notes.join(", "));
        Ok(([ratio(sizes[0], own[0]), ratio(sizes[1], own[1])], note))
    }

    /// Accepts images whose centre is near the principal points, if the file has no size.
    fn assume_sizes(&self, sizes: [(usize, usize); 2]) -> Result<String, CalibrationError> {
        for (camera, size) in [&self.left, &self.right].into_iter().zip(sizes) {
            if camera.off_centre(size) > 0.2 {
                let likely = DVec2::new(2.0 * camera.cx + 1.0, 2.0 * camera.cy + 1.0).round();
                return Err(CalibrationError::Unsized { size, centre: [camera.cx, camera.cy], likely: likely.into() });
            }
        }
        let [(width, height), _] = sizes;
        Ok(format!("the calibration names no image size; it is taken to be for {width}x{height}"))
    }
}

/// Returns the ratio of two image sizes along x and y.
fn ratio((width, height): (usize, usize), of: (usize, usize)) -> DVec2 {
    DVec2::new(width as f64, height as f64) / DVec2::new(of.0 as f64, of.1 as f64)
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

    /// Returns `(width, height)` of rectified images: that of raw left ones.
    pub fn size(&self) -> (usize, usize) {
        self.left.size()
    }

    /// Returns `(width, height)` of raw left and right images.
    pub fn raw_sizes(&self) -> [(usize, usize); 2] {
        [self.left.source_size(), self.right.source_size()]
    }

    /// Returns the rectifier, with the same crop, of pairs of other sizes, or of another rig in Stereopsis's TOML. It is kept until others
    /// are needed.
    ///
    /// # Errors
    /// Errors of [`StereoRig::rectifier`]; or the text is no rig.
    pub fn for_others(&self, rig: Option<&str>, sizes: [(usize, usize); 2]) -> Result<Arc<Self>, CalibrationError> {
        let mut other = self.other.lock();
        if let Some(((of_rig, of_sizes), rectifier)) = &*other
            && (of_rig.as_deref(), *of_sizes) == (rig, sizes)
        {
            return Ok(Arc::clone(rectifier));
        }
        let parsed = rig.map(read_toml).transpose()?;
        let rectifier = Arc::new(parsed.as_ref().unwrap_or(&self.rig).rectifier_of(sizes, self.crop)?);
        *other = Some(((rig.map(str::to_owned), sizes), Arc::clone(&rectifier)));
        Ok(rectifier)
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
        for (picture, own) in [left, right].into_iter().zip(self.raw_sizes()) {
            if picture.size() != own {
                return Err(CalibrationError::RectifierSize { own, size: picture.size() });
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

    /// Returns the rig of the rectifier.
    pub fn rig(&self) -> &StereoRig {
        &self.rig
    }

    pub(super) fn crop(&self) -> Crop {
        self.crop
    }

    /// Returns the rectifier of the same pairs by a correction of the rig.
    ///
    /// # Errors
    /// Errors of [`StereoRig::corrected`] and [`StereoRig::rectifier`].
    pub fn corrected(&self, correction: &Correction) -> Result<Self, CalibrationError> {
        self.rig.corrected(correction)?.rectifier_of(self.raw_sizes(), self.crop)
    }

    pub(super) fn right_table(&self) -> &RemapTable {
        &self.right
    }
}

#[cfg(test)]
mod tests;
