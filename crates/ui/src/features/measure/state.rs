//! Measurement in the image: a rectangle and two points, and the numbers of the newest result.

use std::sync::Arc;
use stereopsis_live::{Measurement, Subject};
use stereopsis_metrics::Region;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MeasureStep {
    /// Measures another rectangle; `None` for the middle of the image.
    SetRegion(Option<Region>),
    /// Adds a pixel as the first or the second point, or as the first of a new pair.
    AddPoint((usize, usize)),
    ClearPoints,
    /// Sets the true distance of the surface in the middle of the image, m.
    SetTrueDistance(Option<f64>),
    BeginAnew,
    /// Copies a command that measures the same to the clipboard.
    CopyCommand,
}

#[derive(Default)]
pub(crate) struct MeasureState {
    /// Measured rectangle, or `None` for the middle of the image.
    pub(crate) region: Option<Region>,
    pub(crate) points: Vec<(usize, usize)>,
    pub(crate) true_distance_m: Option<f64>,
    /// Number of times that values were forgotten.
    pub(crate) series: u64,
    /// Numbers of the newest measured result.
    pub(crate) measured: Option<Arc<Measurement>>,
}

impl MeasureState {
    /// Returns the measured subject in images of this size, without points outside them.
    pub(crate) fn subject(&self, size: (usize, usize)) -> Subject {
        let region = self.region.filter(|region| region.check_inside(size).is_ok());
        let inside = |&(x, y): &(usize, usize)| x < size.0 && y < size.1;
        let points = <[_; 2]>::try_from(&self.points[..]).ok().filter(|points| points.iter().all(inside));
        Subject {
            region: region.unwrap_or_else(|| Subject::middle(size)),
            true_distance_m: self.true_distance_m,
            points,
        }
    }

    pub(crate) fn add_point(&mut self, pixel: (usize, usize)) {
        if self.points.len() >= 2 {
            self.points.clear();
        }
        self.points.push(pixel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_point_begins_anew_and_what_lies_outside_is_not_measured() {
        let mut state = MeasureState::default();
        state.add_point((1, 2));
        assert_eq!(state.subject((64, 48)).points, None);
        state.add_point((30, 40));
        assert_eq!(state.subject((64, 48)).points, Some([(1, 2), (30, 40)]));
        assert_eq!(state.subject((64, 32)).points, None, "the image is smaller now");
        state.add_point((5, 6));
        assert_eq!(state.points, [(5, 6)]);
        state.region = Some(Region { x: 40, y: 4, width: 20, height: 20 });
        assert_eq!(state.subject((64, 48)).region.x, 40);
        assert_eq!(state.subject((48, 48)).region, Subject::middle((48, 48)));
    }
}
