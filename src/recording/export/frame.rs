//! The files of one pair.

use super::table::Row;
use super::{ExportError, Part};
use crate::capture::{Frame, RawPair, Recipe, SourceInfo};
use crate::export;
use crate::image::Image;
use crate::recording::read::ReadError;
use crate::recording::unpack::Measured;
use crate::recording::{Packet, time};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Writes the files of pairs; any number of threads at once.
pub(super) struct Writer<'a> {
    /// Where they go.
    pub(super) folder: &'a Path,
    /// Files that are there already were written by a run before, and stay.
    pub(super) is_resumed: bool,
    /// What is written.
    pub(super) parts: &'a [Part],
    /// How a raw pair becomes the one that was matched.
    pub(super) recipe: &'a Recipe,
    /// What is known of the recording.
    pub(super) info: &'a SourceInfo,
    /// When each set of parameters was taken, ns since 1970.
    pub(super) parameter_times_ns: &'a [u64],
}

/// What was written of a pair.
pub(super) struct Written {
    pub(super) row: Row,
    /// What was lost on the way, in sentences.
    pub(super) warnings: Vec<String>,
}

impl Writer<'_> {
    /// Writes the pair at this place of the recording, with its result.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn write(
        &self,
        place: u64,
        raw: RawPair,
        result: Result<Vec<Packet>, ReadError>,
    ) -> Result<Written, ExportError> {
        let mut warnings = Vec::new();
        let measured = result.map_err(|err| err.to_string()).and_then(|packets| Measured::of(&packets));
        let measured = measured.unwrap_or_else(|text| {
            warnings.push(text);
            Measured::default()
        });
        let raw = Arc::new(raw);
        let needs_frame = self.has(Part::Rectified) || self.has(Part::Ply);
        let frame = needs_frame.then(|| self.recipe.make(&raw, self.info, Instant::now())).transpose();
        let frame = frame.unwrap_or_else(|err| {
            warnings.push(err.to_string());
            None
        });
        self.write_pictures(place, &raw, frame.as_ref())?;
        self.write_numbers(place, &measured, &mut warnings)?;
        if let Some(frame) = frame.as_ref().filter(|_| self.has(Part::Ply)) {
            self.write_cloud(place, &measured, frame)?;
        }
        let taken = self.parameter_times_ns.iter().filter(|&&taken| taken <= measured.log_time_ns).count();
        let parameters = measured.note.as_ref().and_then(|_| taken.checked_sub(1));
        let row = Row {
            place,
            sequence: raw.sequence,
            skew_s: raw.skew_s,
            name: raw.name.clone(),
            capture_time_ns: time::to_ns(raw.capture_time),
            result: measured.note,
            parameters,
        };
        Ok(Written { row, warnings })
    }

    fn write_pictures(&self, place: u64, raw: &RawPair, frame: Option<&Frame>) -> Result<(), ExportError> {
        for (part, picture) in [(Part::Left, &raw.left), (Part::Right, &raw.right)] {
            if self.has(part) {
                self.put(place, part.endings()[0], |path| export::write_picture(path, picture))?;
            }
        }
        if let Some(frame) = frame.filter(|_| self.has(Part::Rectified)) {
            for (ending, picture) in Part::Rectified.endings().iter().zip([&frame.left, &frame.right]) {
                self.put(place, ending, |path| export::write_picture(path, picture))?;
            }
        }
        Ok(())
    }

    fn write_numbers(&self, place: u64, measured: &Measured, warnings: &mut Vec<String>) -> Result<(), ExportError> {
        if let Some(mm) = measured.depth_mm.as_ref().filter(|_| self.has(Part::DepthMm)) {
            self.put(place, Part::DepthMm.endings()[0], |path| export::write_millimetres(path, mm))?;
        }
        if let Some(px) = &measured.disparity_px {
            for part in [Part::DispX256, Part::Pfm, Part::Tiff] {
                if self.has(part) {
                    let written = self.put(place, part.endings()[0], |path| export::write_disparity_px(path, px))?;
                    warnings.extend(written.unwrap_or_default());
                }
            }
        }
        Ok(())
    }

    /// Points from the recorded depth; where there is none, from the recorded disparity.
    fn write_cloud(&self, place: u64, measured: &Measured, frame: &Frame) -> Result<(), ExportError> {
        let Some(geometry) = &frame.geometry else { return Ok(()) };
        let of_mm = |&mm: &u16| if mm == 0 { f32::NAN } else { f32::from(mm) / 1000.0 };
        let of_px = |&px: &f32| geometry.depth_m(f64::from(px)).map_or(f32::NAN, |z| z as f32);
        let depth_m: Image<f32> = match (&measured.depth_mm, &measured.disparity_px) {
            (Some(mm), _) => mm.map(of_mm),
            (None, Some(px)) => px.map(of_px),
            (None, None) => return Ok(()),
        };
        let left = Some(&frame.left);
        self.put(place, Part::Ply.endings()[0], |path| export::write_cloud(path, &depth_m, geometry, left))?;
        Ok(())
    }

    fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    /// Writes one file, unless a run before has written it.
    fn put<T>(
        &self,
        place: u64,
        ending: &str,
        write: impl FnOnce(&Path) -> Result<T, export::ExportError>,
    ) -> Result<Option<T>, ExportError> {
        let path = self.folder.join(format!("{place:06}{ending}"));
        if self.is_resumed && path.exists() {
            return Ok(None);
        }
        Ok(Some(write(&path)?))
    }
}
