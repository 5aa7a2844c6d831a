//! Error of a disparity map against ground truth, as in the Middlebury benchmark: percentages are of all pixels with ground truth, and a
//! pixel without disparity is bad. A disparity of 0 px or less counts as none, because the formats of the data sets cannot store it.

use std::fmt;
use stereopsis_base::image::{Image, Truth};
use stereopsis_base::quantile::quantile;
use stereopsis_base::remedy::Remedy;
use stereopsis_stereo::DisparityMap;

/// Error over one region of the left image.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct RegionErrors {
    /// Pixels of the region with ground truth.
    pub pixels: usize,
    /// Pixels with a disparity, %.
    pub density_percent: f64,
    /// Pixels off by more than 0.5 px, or without a disparity, %.
    pub bad_05_percent: f64,
    /// Pixels off by more than 1 px, or without a disparity, %.
    pub bad_1_percent: f64,
    /// Pixels off by more than 2 px, or without a disparity, %.
    pub bad_2_percent: f64,
    /// Pixels off by more than 4 px, or without a disparity, %.
    pub bad_4_percent: f64,
    /// Mean absolute error of the pixels with a disparity, px; NaN without any.
    pub average_px: f64,
    /// Root of the mean squared error of the pixels with a disparity, px; NaN without any.
    pub rms_px: f64,
}

/// Error over all pixels and over those that are not occluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct TruthError {
    /// All pixels with ground truth.
    pub all: RegionErrors,
    /// Pixels that are visible in the right image too; equal to `all` if the truth has no occlusions.
    pub nonocc: RegionErrors,
    /// Another scale of the truth, if one explains the errors.
    pub other_scale: Option<OtherScale>,
}

/// Factor that makes the truth equal to the result nearly everywhere, as where the scale of its numbers is another one.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct OtherScale {
    /// Truth over result.
    pub factor: f64,
    /// Number of the file's numbers that would be 1 px then; `None` for truth from no file, and where it is no whole number.
    pub scale: Option<i32>,
}

impl fmt::Display for OtherScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = if self.factor < 1.0 { 4 } else { 2 };
        write!(f, "the truth is {:.digits$} times the result nearly everywhere: ", self.factor)?;
        match self.scale {
            Some(scale) => write!(f, "give its scale ({})", Remedy::set("truth-scale", scale)),
            None => f.write_str("is it of images of another size?"),
        }
    }
}

impl fmt::Display for TruthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bad-1 all {:.1} %", self.all.bad_1_percent)
    }
}

/// Compares a map with ground truth; `None` if their sizes differ or no pixel has ground truth.
pub fn truth_error(map: &DisparityMap, truth: &Truth) -> Option<TruthError> {
    let mask_fits = truth.occluded.as_ref().is_none_or(|occluded| occluded.size() == map.size());
    if map.size() != truth.left_px.size() || !mask_fits {
        return None;
    }
    let (mut all, mut nonocc) = (Sums::default(), Sums::default());
    let estimates = map.to_px();
    for (i, (&estimate, &exact)) in estimates.pixels().iter().zip(truth.left_px.pixels()).enumerate() {
        if exact.is_finite() {
            let error = error_px(estimate, exact);
            all.add(error);
            if truth.occluded.as_ref().is_none_or(|occluded| !occluded.pixels()[i]) {
                nonocc.add(error);
            }
        }
    }
    let (all, nonocc) = (all.finish(), nonocc.finish());
    let other_scale = if all.bad_1_percent > MIN_BAD_PERCENT { other_scale(&estimates, truth) } else { None };
    (all.pixels > 0).then_some(TruthError { all, nonocc, other_scale })
}

/// Returns the absolute error of a pixel with known truth, px; NaN without an estimate. The difference is rounded to 32 bits, like the data
/// sets' floats.
pub(super) fn error_px(estimate_px: f32, exact_px: f32) -> f64 {
    if estimate_px > 0.0 { f64::from((estimate_px - exact_px).abs()) } else { f64::NAN }
}

/// Share of pixels off by more than 1 px above which another scale is looked for, %.
const MIN_BAD_PERCENT: f64 = 50.0;
/// Share of the compared pixels whose truth is the same multiple of the result, from which on scales differ.
const MIN_SHARE_OF_FACTOR: f64 = 0.8;
/// Difference from a factor that counts as none, of 1 in all.
const FACTOR_TOLERANCE: f64 = 0.05;
/// Smallest factor, or 1 over it, that is another scale.
const MIN_FACTOR: f64 = 1.2;
/// Number of compared pixels, and smallest disparity of one, px, whose ratio means something.
const MIN_COMPARED: usize = 100;
const MIN_COMPARED_PX: f32 = 2.0;

fn other_scale(estimates: &Image<f32>, truth: &Truth) -> Option<OtherScale> {
    let both = estimates.pixels().iter().zip(truth.left_px.pixels());
    let compared = both.filter(|(estimate, exact)| **estimate >= MIN_COMPARED_PX && exact.is_finite() && **exact > 0.0);
    let mut factors: Vec<f64> = compared.map(|(&estimate, &exact)| f64::from(exact) / f64::from(estimate)).collect();
    if factors.len() < MIN_COMPARED {
        return None;
    }
    let factor = quantile(&mut factors, 0.5);
    let agree = factors.iter().filter(|&&other| (other / factor - 1.0).abs() <= FACTOR_TOLERANCE).count();
    let is_found = factor.max(1.0 / factor) >= MIN_FACTOR && agree as f64 >= MIN_SHARE_OF_FACTOR * factors.len() as f64;
    let scale = truth.scale.map(|scale| f64::from(scale) * factor);
    let is_whole = |scale: &f64| scale.abs() >= 1.0 && (scale / scale.round() - 1.0).abs() <= FACTOR_TOLERANCE;
    is_found.then(|| OtherScale { factor, scale: scale.filter(is_whole).map(|scale| scale.round() as i32) })
}

const BAD_PX: [f64; 4] = [0.5, 1.0, 2.0, 4.0];

#[derive(Default)]
pub(super) struct Sums {
    pixels: usize,
    valid: usize,
    bad: [usize; 4],
    absolute: f64,
    squared: f64,
}

impl Sums {
    /// Counts one pixel; NaN for no disparity.
    pub(super) fn add(&mut self, error: f64) {
        self.pixels += 1;
        for (bad, limit) in self.bad.iter_mut().zip(BAD_PX) {
            *bad += usize::from(error.is_nan() || error > limit);
        }
        if !error.is_nan() {
            self.valid += 1;
            self.absolute += error;
            self.squared += error * error;
        }
    }

    pub(super) fn finish(&self) -> RegionErrors {
        let percent = |count: usize| 100.0 * count as f64 / self.pixels.max(1) as f64;
        let mean = |sum: f64| sum / self.valid as f64;
        RegionErrors {
            pixels: self.pixels,
            density_percent: percent(self.valid),
            bad_05_percent: percent(self.bad[0]),
            bad_1_percent: percent(self.bad[1]),
            bad_2_percent: percent(self.bad[2]),
            bad_4_percent: percent(self.bad[3]),
            average_px: mean(self.absolute),
            rms_px: mean(self.squared).sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_stereo::INVALID;

    // exact, off by 1, off by 1.25, off by 3, invalid, off by 10 but hidden, twice no truth
    fn example() -> (DisparityMap, Truth) {
        let values = vec![160, 176, 180, 112, INVALID, 320, 160, 160];
        let exact = vec![10.0, 10.0, 10.0, 10.0, 10.0, 10.0, f32::NAN, f32::INFINITY];
        let occluded = (0..8).map(|i| i == 5).collect();
        let map = DisparityMap { values: Image::new(8, 1, values), reasons: Image::filled(8, 1, 0), confidence: None };
        let left_px = Image::new(8, 1, exact);
        (map, Truth { right_px: None, left_px, occluded: Some(Image::new(8, 1, occluded)), scale: None })
    }

    #[test]
    fn invalid_counts_as_bad_and_a_limit_is_not_exceeded_by_itself() {
        let (map, truth) = example();
        let error = truth_error(&map, &truth).unwrap();
        assert_eq!((error.all.pixels, error.nonocc.pixels), (6, 5));
        assert!((error.all.bad_05_percent - 500.0 / 6.0).abs() < 1e-9);
        assert!((error.all.bad_1_percent - 400.0 / 6.0).abs() < 1e-9, "1 px is not more than 1 px");
        assert!((error.all.bad_2_percent - 300.0 / 6.0).abs() < 1e-9);
        assert_eq!(error.to_string(), "bad-1 all 66.7 %", "not the share of the visible pixels");
        assert!((error.nonocc.bad_4_percent - 20.0).abs() < 1e-9);
        assert!((error.all.density_percent - 500.0 / 6.0).abs() < 1e-9);
        assert!((error.nonocc.average_px - (0.0 + 1.0 + 1.25 + 3.0) / 4.0).abs() < 1e-9);
        assert!((error.nonocc.rms_px - ((1.0 + 1.5625 + 9.0) / 4.0f64).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn without_a_mask_no_pixel_is_known_to_be_hidden() {
        let (map, mut truth) = example();
        truth.occluded = None;
        let error = truth_error(&map, &truth).unwrap();
        assert_eq!((error.all.pixels, error.all), (6, error.nonocc));
    }

    #[test]
    fn a_disparity_of_zero_or_less_is_none() {
        let (mut map, truth) = example();
        map.values.pixels_mut()[..2].copy_from_slice(&[0, -16]);
        let error = truth_error(&map, &truth).unwrap().all;
        assert!((error.density_percent - 300.0 / 6.0).abs() < 1e-9, "{error:?}");
    }

    #[test]
    fn nothing_valid_is_all_bad() {
        let (mut map, truth) = example();
        map.values.pixels_mut().fill(INVALID);
        let error = truth_error(&map, &truth).unwrap().all;
        assert!((error.bad_4_percent - 100.0).abs() < 1e-9 && error.density_percent == 0.0);
        assert!(error.average_px.is_nan());
    }

    /// OpenCV's `StereoSGBM` saved as it comes: 16 numbers a px, read as KITTI's 256.
    #[test]
    fn one_factor_names_the_scale_of_the_truth() {
        let values: Vec<i16> = (0..400).map(|k| 16 * (4 + k % 40)).collect();
        let map =
            DisparityMap { values: Image::new(40, 10, values), reasons: Image::filled(40, 10, 0), confidence: None };
        let times = |factor: f32, scale| {
            let left_px = map.to_px().map(|&d| factor * d);
            truth_error(&map, &Truth { right_px: None, left_px, occluded: None, scale }).unwrap().other_scale
        };
        let found = times(1.0 / 16.0, Some(256)).unwrap();
        assert!((found.factor - 0.0625).abs() < 1e-6 && found.scale == Some(16), "{found:?}");
        assert_eq!(times(64.0, Some(1)).unwrap().scale, Some(64));
        assert_eq!(times(2.0, None).unwrap().scale, None);
        assert_eq!(times(1.0, Some(256)), None);
        let left_px = map.to_px().map(|&d| d + 9.0); // wrong otherwise
        assert_eq!(
            truth_error(&map, &Truth { right_px: None, left_px, occluded: None, scale: Some(1) }).unwrap().other_scale,
            None
        );
    }

    #[test]
    fn other_size_or_no_truth_is_none() {
        let (map, mut truth) = example();
        truth.left_px.pixels_mut().fill(f32::NAN);
        assert_eq!(truth_error(&map, &truth), None);
        truth.left_px = Image::filled(4, 1, 1.0);
        assert_eq!(truth_error(&map, &truth), None);
    }
}
