//! Writes the files of one pair of an export.

use super::{ExportError, Part, frames_csv};
use crate::Packet;
use crate::ReadError;
use crate::unpack::UnpackedResult;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use stereopsis_base::geometry::{Axis, Geometry};
use stereopsis_frame::{Frame, FramePreparation, RawPair, SourceInfo};
use stereopsis_images::Axes;

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
    /// Axes of points.
    pub(super) axes: Axes,
    /// Disparity in the plane of the screen, px; `None` where no pair has depth.
    pub(super) screen_px: Option<i32>,
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
    /// Shares of the pixels that have depth, and whose depth is beyond that of whole millimetres.
    pub(super) depth_shares: [f64; 2],
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
        let needs_frame =
            |part: &Part| [Part::Rectified, Part::DepthM, Part::Ply].contains(part) || part.view().is_some();
        let needs_frame = self.parts.iter().any(needs_frame);
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
                    || self.write_file(&path, (part, ending), &raw, frame.as_ref(), &measured, &mut warnings)?;
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
        let depth_shares = measured.depth_shares();
        Ok(WrittenPair { line, warnings, parts, geometry, depth_shares })
    }

    /// Writes the file with this ending of [`Part::files`]; returns false if the recording lacks its content.
    fn write_file(
        &self,
        path: &Path,
        (part, ending): (Part, &str),
        raw: &RawPair,
        frame: Option<&Frame>,
        measured: &UnpackedResult,
        warnings: &mut Vec<String>,
    ) -> Result<bool, stereopsis_images::ExportError> {
        let px = measured.disparity_px.as_ref();
        match (ending, frame) {
            ("_left.png", _) => stereopsis_images::write_picture(path, &raw.left)?,
            ("_right.png", _) => stereopsis_images::write_picture(path, &raw.right)?,
            ("_left_rectified.png", Some(frame)) => stereopsis_images::write_picture(path, &frame.left)?,
            ("_right_rectified.png", Some(frame)) => stereopsis_images::write_picture(path, &frame.right)?,
            ("_depth_mm.png", _) => {
                let Some(mm) = measured.depth_mm() else { return Ok(false) };
                stereopsis_images::write_millimetres(path, &mm)?;
            }
            ("_disp_x256.png" | "_disp.pfm" | "_disp.tiff", _) => {
                let Some(px) = px else { return Ok(false) };
                warnings.extend(stereopsis_images::write_disparity_px(path, px)?);
            }
            ("_depth_m.tiff" | "_cloud.ply", Some(Frame { geometry: Some(geometry), left, .. })) => {
                let of_disparity = |&px: &f32| geometry.depth_m(f64::from(px)).map_or(f32::NAN, |z| z as f32);
                // disparities are finer than whole millimetres, and have no end at 65.535 m
                let depth_m = px.map(|px| px.map(of_disparity)).or_else(|| measured.depth_m());
                let Some(depth_m) = depth_m else { return Ok(false) };
                if part == Part::DepthM {
                    stereopsis_images::write_depth_m(path, &depth_m)?;
                } else {
                    stereopsis_images::write_cloud(path, &depth_m, geometry, Some(left), self.axes)?;
                }
            }
            (_, Some(Frame { axis: Axis::Vertical, .. })) if part.view().is_some() => {
                warnings.push(
                    "views of which one lies above the other cannot be looked at: eyes lie beside each other"
                        .to_owned(),
                );
                return Ok(false);
            }
            (_, Some(Frame { left, right, .. })) => {
                let (Some(view), Some(screen_px)) = (part.view(), self.screen_px) else { return Ok(false) };
                stereopsis_images::write_stereo_view(path, view, [left, right], screen_px)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
