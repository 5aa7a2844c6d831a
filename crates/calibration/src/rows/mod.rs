//! Row errors of a rectified pair: a smooth field of offsets is fitted to matched points, and the right image is corrected by it.
//!
//! Mounts bend, lenses warm up, and no calibration is exact: rows are off by tenths of a pixel, more in one corner than in another. Half a
//! pixel costs matching some per cent of its pixels. The error is smooth, so a polynomial with six coefficients describes it.

use super::CalibrationError;
use super::matches::Match;
use super::polynomial::{self, Factors, TERMS, value};
use super::rectifier::Rectifier;
use super::remap::{RemapTable, RowRemap};
use glam::DVec2;
use std::fmt;
use stereopsis_base::console::counted;
use stereopsis_base::geometry::Axis;
use stereopsis_base::parameter::choices;
use stereopsis_base::quantile::quantile;

choices! {
    /// How small row errors of rectified pairs are corrected.
    pub enum RowsChoice, default Auto {
        /// By the images: files and recordings pair by pair, cameras slowly.
        Auto = "auto",
        /// Not at all.
        Off = "off",
        /// By the field that the rig file holds.
        Field = "field",
    }
}

/// Smallest number of matches of an estimate.
const MIN_MATCHES: usize = 40;
/// Smallest number of matches for all terms; fewer determine only a constant.
const MIN_MATCHES_FOR_ALL: usize = 120;
/// Smallest field, px; a smaller one is within the noise of its estimate.
const MIN_FIELD_PX: f64 = 0.06;
/// Largest field, px; a larger error needs a new calibration.
pub(crate) const MAX_FIELD_PX: f64 = 3.0;
/// Smallest standard deviation of matches without errors, px.
const MIN_SIGMA_PX: f64 = 0.05;
/// Largest share of the median error that a useful field may leave.
const MAX_SHARE_LEFT: f64 = 0.9;

/// Offsets of the rows of the right image, as shares of half of its height, independent of the working size.
///
/// Coordinates are -1 to 1 over the image. For cameras one above the other they belong to the images turned counterclockwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct RowField {
    /// Coefficients of 1, x, y, xy, x² and y².
    pub terms: [f64; TERMS],
}

/// Estimated field, and the row errors before and after it.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct RowFit {
    /// Field that corrects the rows; the default one if a correction is unnecessary or would not help.
    pub field: RowField,
    /// Median of the absolute row errors without a correction, px.
    pub before_px: f64,
    /// Median of the absolute row errors with the correction, px.
    pub after_px: f64,
    /// Largest offset of the field anywhere in the image, px.
    pub max_px: f64,
    /// Number of matches.
    pub matches: usize,
}

/// Returns the place of a pixel, from -1 to 1.
fn place(pixel: DVec2, size: DVec2) -> DVec2 {
    (pixel + 0.5) * 2.0 / size - 1.0
}

impl RowField {
    /// Whether the field changes nothing.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// Checks that the field is a slight error, as an estimated one is.
    ///
    /// # Errors
    /// The field exceeds [`MAX_FIELD_PX`] by far in images of 1000 rows, or is no number.
    pub fn validate(&self) -> Result<(), CalibrationError> {
        const ROWS: usize = 1000;
        let max_px = self.max_px(ROWS);
        let is_slight = self.terms.iter().all(|term| term.is_finite()) && max_px <= 20.0 * MAX_FIELD_PX;
        if is_slight { Ok(()) } else { Err(CalibrationError::RowField(max_px)) }
    }

    /// Returns the offset at a pixel of a right image of this size, px; positive: the row lies lower.
    pub(crate) fn offset_px(&self, pixel: DVec2, size: DVec2) -> f64 {
        value(&self.terms, place(pixel, size)) * size.y / 2.0
    }

    /// Returns the largest offset in images of `height` rows, px.
    pub fn max_px(&self, height: usize) -> f64 {
        const STEPS: i32 = 8;
        let along = || (-STEPS..=STEPS).map(|n| f64::from(n) / f64::from(STEPS));
        let places = along().flat_map(|y| along().map(move |x| DVec2::new(x, y)));
        places.map(|place| value(&self.terms, place).abs()).fold(0.0, f64::max) * height as f64 / 2.0
    }

    /// Returns this field moved towards `other` by `share`, 0 to 1.
    #[must_use]
    pub fn towards(&self, other: &Self, share: f64) -> Self {
        Self { terms: std::array::from_fn(|n| self.terms[n] + share * (other.terms[n] - self.terms[n])) }
    }
}

impl fmt::Display for RowFit {
    // `rows corrected by up to 0.42 px: they differed by 0.30 px, now by 0.06 px; 412 matches`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, before_px, after_px, max_px, matches } = self;
        let count = counted(*matches as u64, "match");
        if field.is_zero() {
            return write!(f, "rows need no correction: they differ by {before_px:.2} px; {count}");
        }
        write!(
            f,
            "rows corrected by up to {max_px:.2} px: they differed by {before_px:.2} px, now by {after_px:.2} px; {count}"
        )
    }
}

/// Estimates the row errors of matches in images of `width` x `height`, whose right one was already corrected by `applied`; `None` with too
/// few matches. Matches of several pairs of one rig may be combined.
pub fn row_field(found: &[Match], width: usize, height: usize, applied: &RowField) -> Option<RowFit> {
    let size = DVec2::new(width as f64, height as f64);
    let error = |m: &Match| (place(m.right, size), m.row_offset_px() + applied.offset_px(m.right, size));
    let errors: Vec<_> = found.iter().map(error).collect();
    if errors.len() < MIN_MATCHES {
        return None;
    }
    let count = if errors.len() < MIN_MATCHES_FOR_ALL { 1 } else { TERMS };
    let (factors, _) = polynomial::fit(&errors, count, MIN_SIGMA_PX);
    let median_px = |factors: &Factors| {
        quantile(&mut errors.iter().map(|(at, px)| (px - value(factors, *at)).abs()).collect::<Vec<_>>(), 0.5)
    };
    let (before_px, after_px) = (median_px(&[0.0; TERMS]), median_px(&factors));
    let field = RowField { terms: factors.map(|px| px * 2.0 / size.y) };
    let max_px = field.max_px(height);
    let matches = errors.len();
    if !(MIN_FIELD_PX..=MAX_FIELD_PX).contains(&max_px) || after_px > MAX_SHARE_LEFT * before_px {
        return Some(RowFit { field: RowField::default(), before_px, after_px: before_px, max_px: 0.0, matches });
    }
    Some(RowFit { field, before_px, after_px, max_px, matches })
}

impl RowRemap {
    /// Computes the map of right images of a size; with a rectifier to this size, of raw ones.
    pub fn new(field: &RowField, axis: Axis, size: (usize, usize), rectifier: Option<&Rectifier>) -> Self {
        let (width, height) = (size.0 as f64, size.1 as f64);
        let corrected = |x: usize, y: usize| {
            let pixel = DVec2::new(x as f64, y as f64);
            match axis {
                Axis::Horizontal => pixel + DVec2::new(0.0, field.offset_px(pixel, DVec2::new(width, height))),
                Axis::Vertical => {
                    let turned = DVec2::new(pixel.y, width - 1.0 - pixel.x);
                    pixel - DVec2::new(field.offset_px(turned, DVec2::new(height, width)), 0.0)
                }
            }
        };
        let table = match rectifier {
            Some(rectifier) => rectifier.right_table().seen_through(corrected),
            // repeats the last row beyond the image, because a black one would be matched
            None => RemapTable::new(size.0, size.1, |x, y| {
                corrected(x, y).clamp(DVec2::ZERO, DVec2::new(width - 1.0, height - 1.0))
            }),
        };
        Self { table }
    }
}

#[cfg(test)]
mod tests;
