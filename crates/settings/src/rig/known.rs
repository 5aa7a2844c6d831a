//! Depth fitted to places at known distances.

use super::calibrate::{CalibrationChoice, FittedDepth};
use std::fmt;
use std::str::FromStr;
use stereopsis_base::geometry::Geometry;
use stereopsis_calibration::{DepthFitError, KnownDepth, fit_depth};
use stereopsis_frame::{FramePreparation, SourceInfo};

/// Place at a known distance, in the words of `--known-distance`: `X,Y:METRES`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownPlace {
    /// Column and row in the rectified left image at its working size, px.
    pub pixel: (usize, usize),
    /// Distance from the cameras' plane, m.
    pub distance_m: f64,
}

/// Text that is no known place.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected X,Y:METRES, such as 320,240:1.50: column and row of the rectified left image, and the distance there"
)]
pub struct KnownPlaceError;

impl FromStr for KnownPlace {
    type Err = KnownPlaceError;

    fn from_str(text: &str) -> Result<Self, KnownPlaceError> {
        let parts = || {
            let (pixel, distance) = text.split_once(':')?;
            let (x, y) = pixel.split_once(',')?;
            let pixel = (x.trim().parse().ok()?, y.trim().parse().ok()?);
            let distance_m = distance.trim().trim_end_matches('m').trim().parse().ok()?;
            Some(Self { pixel, distance_m }).filter(|known| known.distance_m > 0.0 && known.distance_m.is_finite())
        };
        parts().ok_or(KnownPlaceError)
    }
}

impl fmt::Display for KnownPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((x, y), distance_m) = (self.pixel, self.distance_m);
        write!(f, "{x},{y}:{distance_m}")
    }
}

/// Largest ratio of the given focal length to the one that known distances imply.
const MAX_CONTRADICTION: f64 = 1.3;

impl CalibrationChoice {
    /// Returns the geometry of a source, at its size, fitted to points at known distances; their disparities are of the source's size. A
    /// fit before this one is left out.
    ///
    /// # Errors
    /// The points do not determine the depth, or contradict the images or the lens that the user has given.
    pub fn fit_depth(
        &self,
        preparation: &FramePreparation,
        source: &SourceInfo,
        known: &[KnownDepth],
    ) -> Result<Geometry, DepthFitError> {
        let is_typed = self.focal().is_some() && self.baseline_m.is_some();
        let geometry = preparation.geometry(source);
        if geometry.is_none() && !is_typed && known.len() < 2 {
            return Err(DepthFitError::OneOfTwo);
        }
        let guess = geometry.unwrap_or_else(|| {
            let assumed = FittedDepth::unknown(source, preparation.axis);
            let focal_px = self.focal().map_or(assumed.focal_px, |focal| focal.px(source.width));
            Geometry { focal_px, baseline_m: self.baseline_m.unwrap_or(assumed.baseline_m), ..assumed }
        });
        let fitted = fit_depth(&guess, known)?;
        let factor = fitted.focal_px / guess.focal_px;
        match self.focal() {
            Some(said) if !(1.0 / MAX_CONTRADICTION..MAX_CONTRADICTION).contains(&factor) => Err(DepthFitError::Lens {
                implied_deg: said.times(factor).fov_deg(source.width),
                said_deg: said.fov_deg(source.width),
                baseline_m: guess.baseline_m,
            }),
            _ => Ok(Geometry { estimated: true, ..fitted }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_are_written() {
        for (text, pixel, distance_m) in [("320,240:1.5", (320, 240), 1.5), (" 3 , 4 : 2.25 m", (3, 4), 2.25)] {
            let known: KnownPlace = text.parse().unwrap();
            assert_eq!(known, KnownPlace { pixel, distance_m });
            assert_eq!(known.to_string().parse::<KnownPlace>().unwrap(), known);
        }
        for wrong in ["", "1,2", "1:2", "1,2:0", "1,2:-1", "1,2:inf", "-1,2:3", "1,2:3,4", "a,2:3", "1.5,2:3"] {
            assert!(wrong.parse::<KnownPlace>().unwrap_err().to_string().contains("X,Y:METRES"), "{wrong}");
        }
    }

    #[test]
    fn one_distance_needs_lens_and_baseline() {
        let source = SourceInfo { width: 640, height: 480, ..SourceInfo::default() };
        let one = [KnownDepth { disparity_px: 20.0, depth_m: 2.0 }];
        let typed = CalibrationChoice { fov_deg: Some(60.0), baseline_m: Some(0.1), ..CalibrationChoice::default() };
        let unknown = CalibrationChoice::default();
        let fitted = |choice: &CalibrationChoice, known: &[KnownDepth]| {
            choice.fit_depth(&choice.apply(&source).unwrap().preparation, &source, known)
        };
        assert!(matches!(fitted(&unknown, &one), Err(DepthFitError::OneOfTwo)));
        let geometry = fitted(&typed, &one).unwrap();
        assert!(geometry.estimated && (geometry.depth_m(20.0).unwrap() - 2.0).abs() < 1e-9, "{geometry:?}");
        let two = [one[0], KnownDepth { disparity_px: 5.0, depth_m: 8.0 }];
        assert!((fitted(&unknown, &two).unwrap().depth_m(10.0).unwrap() - 4.0).abs() < 1e-9);
        assert!(
            matches!(fitted(&typed, &two), Err(DepthFitError::Lens { .. })),
            "another lens than the user has typed"
        );
    }
}
