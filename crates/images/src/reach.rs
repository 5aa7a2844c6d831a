//! Distances of a search range and their errors: `Z = f B / d`, so an error of `e` px in the disparity `d` is a relative error of `e / d`
//! (Leu, Bacara & Jivet 2010, section II, eq. 2 and Fig. 5).

use std::fmt;
use stereopsis_base::geometry::Geometry;

/// Error of depth that is acceptable for most uses, per cent of the distance.
pub const TOLERANCE_PERCENT: f64 = 5.0;
/// Step of an integer disparity, px.
pub const STEP_PX: f64 = 1.0;
/// Typical error of the disparity of textured surfaces with a good calibration, px.
pub const TYPICAL_ERROR_PX: f64 = 0.25;

/// Rig with its search range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// Geometry of the rig.
    pub geometry: Geometry,
    /// Smallest disparity, px.
    pub min_disparity: i32,
    /// Number of disparities.
    pub num_disparities: u32,
}

/// Disparity with its distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Disparity, px.
    pub disparity_px: f64,
    /// Distance, m.
    pub distance_m: f64,
    /// Relative error of the distance for an error of 1 px in the disparity.
    share_per_px: f64,
}

/// Range of distances at which the error of depth stays within a tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Within {
    /// No distance of the range, whose nearest one is this, m (infinity if the range has none).
    Nowhere(f64),
    /// Distances up to this one, m.
    UpTo(f64),
    /// All distances of the range, whose farthest one is this, m.
    Everywhere(f64),
}

impl Sample {
    /// Returns the error of the distance for an error of `error_px` in the disparity, m; to first order, and so equal in both directions.
    pub fn error_m(&self, error_px: f64) -> f64 {
        self.distance_m * self.share_per_px * error_px
    }

    /// Returns the error of the distance for an error of `error_px` in the disparity, per cent of the distance.
    pub fn error_percent(&self, error_px: f64) -> f64 {
        100.0 * self.share_per_px * error_px
    }
}

impl Reach {
    /// Returns the smallest and the largest disparity, px.
    pub fn range_px(&self) -> (f64, f64) {
        let first = f64::from(self.min_disparity);
        (first, first + f64::from(self.num_disparities.max(1)) - 1.0)
    }

    /// Returns the nearest distance, m; `None` if the whole range lies behind infinity.
    pub fn nearest_m(&self) -> Option<f64> {
        self.geometry.depth_m(self.range_px().1)
    }

    /// Returns the farthest distance, m; `None` if the range reaches infinity.
    pub fn farthest_m(&self) -> Option<f64> {
        self.geometry.depth_m(self.range_px().0)
    }

    /// Returns the sample of a disparity; `None` at and behind infinity.
    pub fn sample(&self, disparity_px: f64) -> Option<Sample> {
        let distance_m = self.geometry.depth_m(disparity_px)?;
        Some(Sample { disparity_px, distance_m, share_per_px: 1.0 / (disparity_px + self.geometry.doffs_px) })
    }

    /// Returns the distance up to which an error of `error_px` is at most `percent`, for any search range, m.
    pub fn exact_m(&self, percent: f64, error_px: f64) -> f64 {
        self.geometry.focal_px * self.geometry.baseline_m * percent / 100.0 / error_px
    }

    /// Returns the distances of the search range at which an error of `error_px` is at most `percent`.
    pub fn within(&self, percent: f64, error_px: f64) -> Within {
        let exact_m = self.exact_m(percent, error_px);
        let nearest_m = self.nearest_m().unwrap_or(f64::INFINITY);
        match self.farthest_m() {
            _ if exact_m < nearest_m => Within::Nowhere(nearest_m),
            Some(farthest_m) if farthest_m <= exact_m => Within::Everywhere(farthest_m),
            _ => Within::UpTo(exact_m),
        }
    }

    /// Returns the disparity below which an error of `error_px` is more than `percent`, px.
    pub fn limit_px(&self, percent: f64, error_px: f64) -> f64 {
        100.0 * error_px / percent - self.geometry.doffs_px
    }

    /// Returns about `count` samples for a curve, over the part of the range before infinity.
    pub fn curve(&self, count: usize) -> Vec<Sample> {
        let (first, last) = self.drawn_px();
        if first > last {
            return Vec::new();
        }
        let steps = count.max(2) - 1;
        let at = |i: usize| first + (last - first) * i as f64 / steps as f64;
        (0..=steps).filter_map(|i| self.sample(at(i))).collect()
    }

    /// Returns the ends of curves, px: at least 1 px before infinity, because distances have no limit there.
    pub fn drawn_px(&self) -> (f64, f64) {
        let (first, last) = self.range_px();
        (first.max(STEP_PX - self.geometry.doffs_px), last)
    }

    /// Returns samples for a table: both ends of the range, and round disparities between them.
    pub fn table(&self) -> Vec<Sample> {
        let (first, last) = self.range_px();
        let mut disparities = vec![first, last];
        for power in [1.0, 10.0, 100.0, 1000.0] {
            for leading in [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0] {
                disparities.extend([power * leading, -power * leading]);
            }
        }
        disparities.retain(|d| d.fract() == 0.0 && (first..=last).contains(d));
        disparities.sort_by(f64::total_cmp);
        disparities.dedup();
        disparities.into_iter().filter_map(|d| self.sample(d)).collect()
    }
}

impl fmt::Display for Within {
    /// Formats the end of a sentence that begins with `within 5 %`: `up to 20.90 m`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nowhere(nearest_m) if nearest_m.is_finite() => {
                write!(f, "nowhere: the nearest distance is {nearest_m:.2} m")
            }
            Self::Nowhere(_) => f.write_str("nowhere: all of the range lies behind infinity"),
            Self::UpTo(exact_m) => write!(f, "up to {exact_m:.2} m"),
            Self::Everywhere(farthest_m) => write!(f, "up to {farthest_m:.2} m, the farthest that is searched"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_calibration::FocalLength;

    fn geometry(focal_px: f64, baseline_m: f64) -> Geometry {
        Geometry::new(focal_px, baseline_m, 0.0, [0.0, 0.0])
    }

    /// Returns the rig of Leu, Bacara & Jivet 2010: 11 mm, 1280 pixels of 12 um, 456 mm apart.
    fn paper(min_disparity: i32, num_disparities: u32) -> Reach {
        let lens = FocalLength::Lens { focal_mm: 11.0, sensor_width_mm: 15.36 };
        Reach { geometry: geometry(lens.px(1280), 0.456), min_disparity, num_disparities }
    }

    #[test]
    fn matches_the_distances_of_the_paper() {
        let reach = paper(20, 44);
        assert_eq!(reach.range_px(), (20.0, 63.0));
        // "within the acceptable tolerance of 5 %, only for distances up to 20 m", "closer than 6.5 m are not interesting"
        let exact_m = reach.exact_m(TOLERANCE_PERCENT, STEP_PX);
        assert!((exact_m - 20.9).abs() < 0.01, "{exact_m}");
        let nearest_m = reach.nearest_m().unwrap();
        assert!((nearest_m - 6.635).abs() < 0.01, "{nearest_m}");
        assert!((reach.sample(64.0).unwrap().distance_m - 6.53).abs() < 0.01);
        assert!((reach.limit_px(TOLERANCE_PERCENT, STEP_PX) - 20.0).abs() < 1e-9, "their smallest disparity");
        let Within::Everywhere(farthest_m) = reach.within(TOLERANCE_PERCENT, STEP_PX) else { panic!("{reach:?}") };
        assert!((farthest_m - 20.9).abs() < 0.01);
        assert_eq!(paper(0, 64).within(TOLERANCE_PERCENT, STEP_PX), Within::UpTo(exact_m));
        assert!(matches!(paper(0, 15).within(TOLERANCE_PERCENT, STEP_PX), Within::Nowhere(_)));
    }

    #[test]
    fn an_error_is_the_slope_of_the_distance() {
        let mut reach = paper(-4, 80);
        reach.geometry.doffs_px = 6.0;
        for sample in reach.curve(50) {
            let off = |px: f64| reach.sample(sample.disparity_px + px).unwrap().distance_m;
            let slope = (off(-1e-4) - off(1e-4)) / 2e-4;
            assert!((sample.error_m(0.5) / (0.5 * slope) - 1.0).abs() < 1e-5, "{sample:?}");
            assert!((sample.error_percent(0.5) - 100.0 * sample.error_m(0.5) / sample.distance_m).abs() < 1e-9);
        }
        let at_limit = reach.sample(reach.limit_px(5.0, 0.5)).unwrap();
        assert!((at_limit.error_percent(0.5) - 5.0).abs() < 1e-9);
        assert!((at_limit.distance_m - reach.exact_m(5.0, 0.5)).abs() < 1e-9);
    }

    #[test]
    fn tables_are_round_and_end_where_the_range_ends() {
        let px = |reach: Reach| reach.table().iter().map(|sample| sample.disparity_px).collect::<Vec<_>>();
        assert_eq!(px(paper(20, 44)), [20.0, 30.0, 40.0, 50.0, 60.0, 63.0]);
        assert_eq!(px(paper(0, 12)), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 11.0], "0 px is infinity");
        let mut converging = paper(-8, 12);
        converging.geometry.doffs_px = 10.0;
        assert_eq!(px(converging)[..3], [-8.0, -6.0, -5.0]);
        assert_eq!((px(paper(-8, 4)), paper(-8, 4).curve(10)), (Vec::new(), Vec::new()));
    }

    #[test]
    fn formats_the_range_of_distances() {
        let said = |reach: Reach, error_px| reach.within(TOLERANCE_PERCENT, error_px).to_string();
        assert_eq!(said(paper(0, 64), STEP_PX), "up to 20.90 m");
        assert_eq!(said(paper(25, 39), STEP_PX), "up to 16.72 m, the farthest that is searched");
        assert_eq!(said(paper(0, 15), STEP_PX), "nowhere: the nearest distance is 29.86 m");
        assert_eq!(said(paper(-9, 5), STEP_PX), "nowhere: all of the range lies behind infinity");
    }
}
