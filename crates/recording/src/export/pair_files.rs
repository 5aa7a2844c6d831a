//! Writes the files of one pair of an export.

use super::{ExportError, Part, frames_csv};
use crate::Packet;
use crate::ReadError;
use crate::unpack::UnpackedResult;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use stereopsis_base::geometry::Geometry;
use stereopsis_frame::{Frame, FramePreparation, RawPair, SourceInfo};

/// Writer of the files of pairs, shared by any number of threads.
pub(super) struct PairWriter<'a> {
    pub(super) folder: &'a Path,
    /// Whether files that exist are kept, as those of an earlier run.
    pub(super) is_resumed: bool,
    pub(super) parts: &'a [Part],
    /// Preparation of a raw pair to the frame that was matched.
    pub(super) preparation: &'a FramePreparation,
    /// Description of the recording as a source.
    pub(super) info: &'a SourceInfo,
    /// Time of each set of parameters, ns since 1970.
    pub(super) parameter_times_ns: Vec<u64>,
}

pub(super) struct WrittenPair {
    pub(super) line: String,
    /// Losses, in sentences.
    pub(super) warnings: Vec<String>,
    /// Parts of which the pair has a file.
    pub(super) parts: Vec<Part>,
    /// Geometry of the pair at working size.
    pub(super) geometry: Option<Geometry>,
}

impl PairWriter<'_> {
    pub(super) fn write(
        &self,
        number: u64,
        raw: RawPair,
        result: Result<Vec<Packet>, ReadError>,
    ) -> Result<WrittenPair, ExportError> {
        let mut warnings = Vec::new();
        let measured = result.and_then(|packets| Ok(UnpackedResult::of(&packets)?));
        let measured = measured.unwrap_or_else(|err| {
            warnings.push(err.to_string());
            UnpackedResult::default()
        });
        let raw = Arc::new(raw);
        let needs_frame = [Part::Rectified, Part::Ply].iter().any(|part| self.parts.contains(part));
        let frame = needs_frame.then(|| self.preparation.prepare(&raw, self.info, Instant::now())).transpose();
        let frame = frame.unwrap_or_else(|err| {
            warnings.push(err.to_string());
            None
        });
        let mut parts = Vec::new();
        for &part in self.parts {
            for ending in part.files().0 {
                let path = self.folder.join(format!("{number:06}{ending}"));
                let is_written = (self.is_resumed && path.exists())
                    || write_file(&path, ending, &raw, frame.as_ref(), &measured, &mut warnings)?;
                if is_written && !parts.contains(&part) {
                    parts.push(part);
                }
            }
        }
        let taken = self.parameter_times_ns.iter().filter(|&&taken| taken <= measured.log_time_ns).count();
        let parameters = measured.note.as_ref().and_then(|_| taken.checked_sub(1));
        let line = frames_csv::line(number, &raw, measured.note.as_ref(), parameters);
        let geometry = self.preparation.geometry_of(&raw, self.info);
        let geometry = geometry.map(|geometry| geometry.scaled(self.preparation.scale.factor()));
        Ok(WrittenPair { line, warnings, parts, geometry })
    }
}

/// Writes the file with this ending of [`Part::files`]; returns false if the recording lacks its content.
fn write_file(
    path: &Path,
    ending: &str,
    raw: &RawPair,
    frame: Option<&Frame>,
    measured: &UnpackedResult,
    warnings: &mut Vec<String>,
) -> Result<bool, stereopsis_images::ExportError> {
    let (mm, px) = (measured.depth_mm.as_ref(), measured.disparity_px.as_ref());
    match (ending, frame) {
        ("_left.png", _) => stereopsis_images::write_picture(path, &raw.left)?,
        ("_right.png", _) => stereopsis_images::write_picture(path, &raw.right)?,
        ("_left_rectified.png", Some(frame)) => stereopsis_images::write_picture(path, &frame.left)?,
        ("_right_rectified.png", Some(frame)) => stereopsis_images::write_picture(path, &frame.right)?,
        ("_depth_mm.png", _) => {
            let Some(mm) = mm else { return Ok(false) };
            stereopsis_images::write_millimetres(path, mm)?;
        }
        ("_disp_x256.png" | "_disp.pfm" | "_disp.tiff", _) => {
            let Some(px) = px else { return Ok(false) };
            warnings.extend(stereopsis_images::write_disparity_px(path, px)?);
        }
        ("_cloud.ply", Some(Frame { geometry: Some(geometry), left, .. })) => {
            let of_disparity = |&px: &f32| geometry.depth_m(f64::from(px)).map_or(f32::NAN, |z| z as f32);
            let depth_m = measured.depth_m().or_else(|| px.map(|px| px.map(of_disparity)));
            let Some(depth_m) = depth_m else { return Ok(false) };
            stereopsis_images::write_cloud(path, &depth_m, geometry, Some(left))?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}
