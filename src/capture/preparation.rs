//! Preparation of a raw pair: rectification, working size, geometry.

use super::{Frame, RawPair, Scale, SourceInfo};
use crate::calibration::{CalibrationError, Rectifier};
use crate::geometry::Geometry;
use std::sync::Arc;
use std::time::Instant;

/// How a raw pair becomes a frame.
#[derive(Clone, Debug, Default)]
pub struct FramePreparation {
    /// Rectifies pairs; `None` passes raw pairs on unchanged.
    pub rectifier: Option<Arc<Rectifier>>,
    /// Geometry that takes precedence over the rectifier's and the source's own; at the source's size.
    pub geometry: Option<Geometry>,
    /// Working size.
    pub scale: Scale,
}

impl FramePreparation {
    /// Geometry that converts disparity to metres, at the source's size.
    pub fn geometry(&self, source: &SourceInfo) -> Option<Geometry> {
        self.geometry.or_else(|| self.rectifier.as_ref().map(|rectifier| rectifier.geometry())).or(source.geometry)
    }

    /// Checks whether this pair can be prepared.
    ///
    /// # Errors
    /// The pair does not fit the calibration.
    pub fn check(&self, raw: &RawPair) -> Result<(), CalibrationError> {
        self.rectifier.as_ref().map_or(Ok(()), |rectifier| rectifier.check(&raw.left, &raw.right))
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
        let (left, right) = match &self.rectifier {
            Some(rectifier) => {
                let (left, right) = rectifier.apply(&raw.left, &raw.right)?;
                if scale == Scale::One { (left, right) } else { (scale.picture(&left), scale.picture(&right)) }
            }
            None => (scale.picture(&raw.left), scale.picture(&raw.right)),
        };
        // ground truth holds for the unrectified pixels
        let truth = raw.truth.as_ref().filter(|_| self.rectifier.is_none());
        let truth =
            truth.map(|truth| if scale == Scale::One { Arc::clone(truth) } else { Arc::new(scale.truth(truth)) });
        Ok(Frame {
            left: Arc::new(left),
            right: Arc::new(right),
            raw: Arc::clone(raw),
            truth,
            geometry: self.geometry(source).map(|g| g.scaled(scale.factor())),
            arrived,
            rectify_time: start.elapsed(),
        })
    }
}
