//! Preparation of a raw pair: rectification, working size, geometry.

use super::{Frame, RawPair, Scale, SourceInfo};
use crate::calibration::{CalibrationError, Rectifier};
use crate::console;
use crate::geometry::{Axis, Geometry};
use crate::image::Picture;
use crate::process::memory;
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
        let (left, right) = match &self.rectifier {
            Some(rectifier) => {
                let (left, right) = rectifier.apply(left, right)?;
                if scale == Scale::One { (left, right) } else { (scale.picture(&left), scale.picture(&right)) }
            }
            None => (scale.picture(left), scale.picture(right)),
        };
        // ground truth holds for the unrectified pixels of the left picture
        let truth = raw.truth.as_ref().filter(|_| self.rectifier.is_none() && !self.swapped);
        let truth =
            truth.map(|truth| if scale == Scale::One { Arc::clone(truth) } else { Arc::new(scale.truth(truth)) });
        let geometry = self.geometry(source).map(|geometry| geometry.scaled(scale.factor()));
        Ok(Frame {
            left: Arc::new(left),
            right: Arc::new(right),
            raw: Arc::clone(raw),
            axis: geometry.map_or(self.axis, |geometry| geometry.axis),
            truth,
            geometry,
            arrived,
            rectify_time: start.elapsed(),
        })
    }
}
