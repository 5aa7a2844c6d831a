//! How a raw pair becomes a frame: rectification, working size, geometry.

use super::{Frame, RawPair, Scale, SourceInfo};
use crate::calibration::{CalibrationError, Rectifier};
use crate::geometry::Geometry;
use std::sync::Arc;
use std::time::Instant;

/// How a raw pair becomes a frame.
#[derive(Clone, Debug, Default)]
pub struct FramePreparation {
    /// Makes rectified pairs; `None` hands raw pairs on as they are.
    pub rectifier: Option<Arc<Rectifier>>,
    /// Goes before the rectifier's and the source's own; for the source's size.
    pub geometry: Option<Geometry>,
    /// Working size.
    pub scale: Scale,
}

impl FramePreparation {
    /// What turns disparity into metres, at the source's size.
    pub fn geometry(&self, source: &SourceInfo) -> Option<Geometry> {
        self.geometry.or_else(|| self.rectifier.as_ref().map(|rectifier| rectifier.geometry())).or(source.geometry)
    }

    /// Checks whether a frame can be made of this pair.
    ///
    /// # Errors
    /// The pair does not fit the calibration.
    pub fn check(&self, raw: &RawPair) -> Result<(), CalibrationError> {
        self.rectifier.as_ref().map_or(Ok(()), |rectifier| rectifier.check(&raw.left, &raw.right))
    }

    /// The frame of a pair that arrived at this moment.
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
        // truth is of the pixels as they came: rectification would move them away from it
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
