//! Figures of a disparity map against ground truth, region by region, as benchmarks report them. docs/evaluate.md has their definitions and
//! sources.

use super::pairwise;
use super::truth_error::{RegionErrors, Sums, error_px};
use stereopsis_base::image::{Image, Truth};
use stereopsis_base::parameter::choices;
use stereopsis_stereo::DisparityMap;

choices! {
    /// Part of the left image over which figures are taken.
    pub enum TruthRegion {
        /// Pixels that the right view sees too.
        Nonocc = "nonocc",
        /// All pixels with truth, or the benchmark's own choice of them.
        All = "all",
        /// Pixels near discontinuities of depth, where the benchmark has a mask of them.
        Disc = "disc",
    }
}

/// Regions of a pair; each mask has the pair's size, and is true inside.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    /// Mask of [`TruthRegion::Nonocc`]; `None` without information on occlusions.
    pub nonocc: Option<Image<bool>>,
    /// Mask of [`TruthRegion::All`]; `None` for every pixel with truth.
    pub all: Option<Image<bool>>,
    /// Mask of [`TruthRegion::Disc`]; `None` without a mask of discontinuities.
    pub disc: Option<Image<bool>>,
}

impl Regions {
    /// Derives the regions from the truth: every pixel, and the visible ones if occlusions are marked.
    pub fn of_truth(truth: &Truth) -> Self {
        let visible = |occluded: &Image<bool>| occluded.map(|occluded| !occluded);
        Self { nonocc: truth.occluded.as_ref().map(visible), ..Self::default() }
    }

    /// Returns the available regions, each with its mask; `None` for every pixel.
    pub fn present(&self) -> Vec<(TruthRegion, Option<&Image<bool>>)> {
        let masked = |region, mask: &'_ Option<Image<bool>>| mask.is_some().then_some(region);
        let regions =
            [masked(TruthRegion::Nonocc, &self.nonocc), Some(TruthRegion::All), masked(TruthRegion::Disc, &self.disc)];
        let mask = |region| match region {
            TruthRegion::Nonocc => self.nonocc.as_ref(),
            TruthRegion::All => self.all.as_ref(),
            TruthRegion::Disc => self.disc.as_ref(),
        };
        regions.into_iter().flatten().map(|region| (region, mask(region))).collect()
    }
}

/// Figures of one region.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Pixels, density, bad pixels, mean and RMS.
    pub error: RegionErrors,
    /// Pixels off by more than 1 and 2 px, % of those with a disparity; 0 without any.
    badv_percent: [f64; 2],
    /// Pixels off by more than 3 px and more than 5 % of the truth, or without a disparity, %.
    d1_percent: f64,
    /// Quantiles of the absolute error over the pixels with a disparity, px, in the order of [`QUANTILES`]; NaN without any.
    quantiles_px: [f64; 4],
}

/// Shares of the pixels below the quantiles A50, A90, A95 and A99.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];
/// Smallest error of an outlier by KITTI 2015, px, if it also exceeds a share of the truth.
const D1_PX: f64 = 3.0;
const D1_SHARE: f64 = 0.05;

/// Column of a table: names and value of a figure.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Title for display.
    pub title: &'static str,
    /// Name for other programs, with its unit.
    pub name: &'static str,
    /// Value of the figure.
    pub of: fn(&Figures) -> f64,
}

/// All figures, in the order of tables.
pub const COLUMNS: [Column; 14] = [
    Column { title: "bad-0.5", name: "bad_05_percent", of: |f| f.error.bad_05_percent },
    Column { title: "bad-1", name: "bad_1_percent", of: |f| f.error.bad_1_percent },
    Column { title: "bad-2", name: "bad_2_percent", of: |f| f.error.bad_2_percent },
    Column { title: "bad-4", name: "bad_4_percent", of: |f| f.error.bad_4_percent },
    Column { title: "badv-1", name: "badv_1_percent", of: |f| f.badv_percent[0] },
    Column { title: "badv-2", name: "badv_2_percent", of: |f| f.badv_percent[1] },
    Column { title: "D1", name: "d1_percent", of: |f| f.d1_percent },
    Column { title: "density", name: "density_percent", of: |f| f.error.density_percent },
    Column { title: "mean", name: "average_px", of: |f| f.error.average_px },
    Column { title: "RMS", name: "rms_px", of: |f| f.error.rms_px },
    Column { title: "A50", name: "a50_px", of: |f| f.quantiles_px[0] },
    Column { title: "A90", name: "a90_px", of: |f| f.quantiles_px[1] },
    Column { title: "A95", name: "a95_px", of: |f| f.quantiles_px[2] },
    Column { title: "A99", name: "a99_px", of: |f| f.quantiles_px[3] },
];

impl Figures {
    /// Returns the number of pixels of the region with truth.
    pub fn pixels(&self) -> usize {
        self.error.pixels
    }
}

/// Computes the figures of a map over the pixels of a region with truth; `truth_px` is in px, not finite if unknown. `None` if sizes differ
/// or no pixel of the region has truth.
pub fn figures(map: &DisparityMap, truth_px: &Image<f32>, region: Option<&Image<bool>>) -> Option<Figures> {
    if map.size() != truth_px.size() || region.is_some_and(|region| region.size() != map.size()) {
        return None;
    }
    let estimates = map.to_px();
    let (mut sums, mut errors_px, mut outliers) = (Sums::default(), Vec::new(), 0);
    for (i, (&estimate, &exact)) in estimates.pixels().iter().zip(truth_px.pixels()).enumerate() {
        if !exact.is_finite() || region.is_some_and(|region| !region.pixels()[i]) {
            continue;
        }
        let error = error_px(estimate, exact);
        sums.add(error);
        outliers += usize::from(error.is_nan() || (error > D1_PX && error > D1_SHARE * f64::from(exact)));
        errors_px.extend(Some(error).filter(|error| !error.is_nan()));
    }
    let squares: Vec<f64> = errors_px.iter().map(|error| error * error).collect();
    let mean = |values: &[f64]| pairwise::sum(values) / values.len() as f64;
    let error = RegionErrors { average_px: mean(&errors_px), rms_px: mean(&squares).sqrt(), ..sums.finish() };
    errors_px.sort_unstable_by(f64::total_cmp);
    let above = |limit_px| {
        let count = errors_px.len() - errors_px.partition_point(|&error| error <= limit_px);
        100.0 * count as f64 / errors_px.len().max(1) as f64
    };
    (error.pixels > 0).then(|| Figures {
        error,
        badv_percent: [above(1.0), above(2.0)],
        d1_percent: 100.0 * outliers as f64 / error.pixels as f64,
        quantiles_px: QUANTILES.map(|share| quantile(&errors_px, share)),
    })
}

/// Returns the value at position `share * (n - 1)` of sorted values, with linear interpolation; NaN without any.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let position = share * last as f64;
    let below = position.floor() as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    low + (high - low) * (position - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_stereo::INVALID;

    fn map_of(values: Vec<i16>) -> DisparityMap {
        let n = values.len();
        DisparityMap { values: Image::new(n, 1, values), reasons: Image::filled(n, 1, 0), confidence: None }
    }

    fn all(figures: &Figures) -> Vec<(&'static str, f64)> {
        COLUMNS.iter().map(|column| (column.name, (column.of)(figures))).collect()
    }

    #[test]
    fn figures_are_those_of_a_hand_calculation() {
        // truth 100 px; errors 0, 0.75, 1.5, 3, 4, 6 px, one pixel without a disparity, one without truth, one outside the region
        let estimates = [1600, 1612, 1624, 1648, 1664, 1696, INVALID, 1600, 3200];
        let mut truth = vec![100.0; 9];
        truth[7] = f32::NAN;
        let region = Image::from_fn(9, 1, |x, _| x != 8);
        let found = figures(&map_of(estimates.to_vec()), &Image::new(9, 1, truth), Some(&region)).unwrap();
        assert_eq!(found.pixels(), 7);
        let expected = [
            ("bad_05_percent", 600.0 / 7.0),
            ("bad_1_percent", 500.0 / 7.0),
            ("bad_2_percent", 400.0 / 7.0),
            ("bad_4_percent", 200.0 / 7.0),
            ("badv_1_percent", 400.0 / 6.0),
            ("badv_2_percent", 300.0 / 6.0),
            // 6 px is more than 5 % of 100 px, and 4 px is not; the pixel without a disparity counts
            ("d1_percent", 200.0 / 7.0),
            ("density_percent", 600.0 / 7.0),
            ("average_px", 15.25 / 6.0),
            ("rms_px", ((0.5625 + 2.25 + 9.0 + 16.0 + 36.0) / 6.0_f64).sqrt()),
            ("a50_px", 2.25),
            ("a90_px", 5.0),
            ("a95_px", 5.5),
            ("a99_px", 5.9),
        ];
        for ((name, value), (expected_name, expected)) in all(&found).into_iter().zip(expected) {
            assert_eq!(name, expected_name);
            assert!((value - expected).abs() < 1e-9, "{name} is {value}, not {expected}");
        }
    }

    #[test]
    fn small_disparities_are_outliers_above_3_px_alone() {
        let truth = Image::filled(2, 1, 10.0);
        let found = figures(&map_of(vec![16 * 13, 16 * 13 + 1]), &truth, None).unwrap();
        assert!((found.d1_percent - 50.0).abs() < 1e-9, "3 px is not more than 3 px");
    }

    #[test]
    fn nothing_valid_has_percentages_and_no_errors() {
        let found = figures(&map_of(vec![INVALID, 0]), &Image::filled(2, 1, 5.0), None).unwrap();
        assert!((found.d1_percent - 100.0).abs() < 1e-9 && found.badv_percent == [0.0, 0.0]);
        assert!(found.quantiles_px.iter().all(|value| value.is_nan()));
        assert_eq!(figures(&map_of(vec![16]), &Image::filled(1, 1, f32::NAN), None), None);
        assert_eq!(figures(&map_of(vec![16]), &Image::filled(2, 1, 1.0), None), None, "another size");
    }

    #[test]
    fn regions_follow_truth_and_masks() {
        let mut truth = Truth { left_px: Image::filled(2, 1, 1.0), right_px: None, occluded: None, scale: None };
        let words = |regions: &Regions| regions.present().iter().map(|(region, _)| region.word()).collect::<Vec<_>>();
        assert_eq!(words(&Regions::of_truth(&truth)), ["all"]);
        truth.occluded = Some(Image::new(2, 1, vec![true, false]));
        let regions = Regions { disc: Some(Image::filled(2, 1, true)), ..Regions::of_truth(&truth) };
        assert_eq!(words(&regions), ["nonocc", "all", "disc"]);
        assert_eq!(regions.nonocc.unwrap().pixels(), [false, true]);
    }
}
