//! Preparation of a raw pair: rectification, working size, geometry.

use super::{Frame, FrameRows, RawPair, RowCorrection, Scale, SourceInfo};
use crate::calibration::{CalibrationError, Rectifier, RowField};
use crate::console;
use crate::geometry::{Axis, Geometry};
use crate::image::Picture;
use crate::process::memory;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

/// How a raw pair becomes a frame.
#[derive(Clone, Debug, Default)]
pub struct FramePreparation {
    /// Rectifies pairs; `None` passes raw pairs on unchanged.
    pub rectifier: Option<Arc<Rectifier>>,
    /// Geometry that takes precedence over the rectifier's and the source's own; at the source's size.
    pub geometry: Option<Geometry>,
    /// Direction of the baseline of pairs without a geometry.
    pub axis: Axis,
    /// Corrects the rows of the right picture; `None` takes them as they are.
    pub rows: Option<Arc<RowCorrection>>,
    /// Working size.
    pub scale: Scale,
    /// Left and right are exchanged, before anything else.
    pub swapped: bool,
}

impl FramePreparation {
    /// Geometry that converts disparity to metres, at the source's size.
    pub fn geometry(&self, source: &SourceInfo) -> Option<Geometry> {
        let of_source = || source.geometry.map(|geometry| if self.swapped { geometry.swapped() } else { geometry });
        self.geometry.or_else(|| self.rectifier.as_ref().map(|rectifier| rectifier.geometry())).or_else(of_source)
    }

    /// The left and the right picture.
    fn sides<'a>(&self, raw: &'a RawPair) -> [&'a Picture; 2] {
        let sides = [&raw.left, &raw.right];
        if self.swapped { [sides[1], sides[0]] } else { sides }
    }

    /// Checks whether this pair can be prepared.
    ///
    /// # Errors
    /// The pair does not fit the calibration.
    pub fn check(&self, raw: &RawPair) -> Result<(), CalibrationError> {
        let [left, right] = self.sides(raw);
        self.rectifier.as_ref().map_or(Ok(()), |rectifier| rectifier.check(left, right))
    }

    /// Refuses a pair whose rectified and scaled pictures have no room.
    fn check_memory(&self, left: &Picture, right: &Picture) -> Result<(), CalibrationError> {
        let raw = left.bytes() + right.bytes();
        let (rectified, divisor) = (if self.rectifier.is_some() { raw } else { 0 }, self.scale.divisor() as u64);
        let scaled = if rectified > 0 && divisor == 1 { 0 } else { raw / (divisor * divisor) };
        memory::check(rectified + scaled).map_err(|free| {
            let ((width, height), needed) = (left.size(), console::bytes(rectified + scaled));
            CalibrationError(format!(
                "a pair of {width}x{height} px takes {needed} of memory to prepare, and {free}: lower --scale"
            ))
        })
    }

    /// Prepares the frame of a pair; `arrival` is the time at which the pair came.
    ///
    /// # Errors
    /// The pair does not fit the calibration.
    pub fn prepare(
        &self,
        raw: &Arc<RawPair>,
        source: &SourceInfo,
        arrived: Instant,
    ) -> Result<Frame, CalibrationError> {
        let start = Instant::now();
        let scale = self.scale;
        let [left, right] = self.sides(raw);
        self.check_memory(left, right)?;
        let (left, right, rows) = self.rectified(left, right, source)?;
        let scaled = |picture: Cow<'_, Picture>| match picture {
            Cow::Owned(picture) if scale == Scale::One => picture,
            picture => scale.picture(&picture),
        };
        let (left, right) = (scaled(left), scaled(right));
        // ground truth holds for the unrectified pixels of the left picture
        let truth = raw.truth.as_ref().filter(|_| self.rectifier.is_none() && !self.swapped);
        let truth =
            truth.map(|truth| if scale == Scale::One { Arc::clone(truth) } else { Arc::new(scale.truth(truth)) });
        let geometry = self.geometry(source).map(|geometry| geometry.scaled(scale.factor()));
        Ok(Frame {
            left: Arc::new(left),
            right: Arc::new(right),
            raw: Arc::clone(raw),
            axis: self.axis_of(source),
            truth,
            geometry,
            rows,
            arrived,
            rectify_time: start.elapsed(),
        })
    }

    /// Direction of the baseline.
    fn axis_of(&self, source: &SourceInfo) -> Axis {
        self.geometry(source).map_or(self.axis, |geometry| geometry.axis)
    }

    /// Both pictures rectified, the right one with its rows corrected: by the field that is in force, or of files by that of the pair.
    fn rectified<'a>(
        &self,
        left: &'a Picture,
        right: &'a Picture,
        source: &SourceInfo,
    ) -> Result<(Cow<'a, Picture>, Cow<'a, Picture>, Option<FrameRows>), CalibrationError> {
        let rectifier = self.rectifier.as_ref();
        let of_pair = !source.is_camera;
        let map = |rows: &RowCorrection, field: RowField| rows.map(field, self.axis_of(source), right.size(), rectifier);
        let mut field = self.rows.as_ref().map(|rows| rows.field()).unwrap_or_default();
        let first = self.rows.as_ref().and_then(|rows| map(rows, field));
        let raw = right;
        let (left, mut right) = match rectifier {
            Some(rectifier) => {
                let (left, right) = rectifier.apply_with(left, right, first.as_deref())?;
                (Cow::Owned(left), Cow::Owned(right))
            }
            None => (Cow::Borrowed(left), first.map_or(Cow::Borrowed(right), |map| Cow::Owned(map.apply(right)))),
        };
        let Some(rows) = &self.rows else { return Ok((left, right, None)) };
        let fit = if of_pair { rows.of_pair(&left.luma, &right.luma, self.axis_of(source)) } else { None };
        if let Some(fit) = fit
            && let Some(map) = map(rows, fit.field)
        {
            field = fit.field;
            right = Cow::Owned(map.apply(raw));
        }
        Ok((left, right, Some(FrameRows { correction: Arc::clone(rows), field, fit })))
    }
}
