//! Temporal filter: a running mean over the pairs, which also fills holes for a while (RealSense's temporal filter with
//! persistency).

use super::description::{Filter, Function, Smoothed};
use super::spatial::blend;
use crate::map::{DisparityMap, INVALID, reason};
use crate::params::StereoParams;
use stereopsis_base::parameter::choices;

choices! {
    /// Whether disparities are smoothed over the pairs.
    pub enum Temporal {
        /// On for cameras, off for files, recordings and the built-in scene.
        Auto = "auto",
        /// On, whatever the source.
        On = "on",
        /// Off: each pair by itself.
        Off = "off",
    }
}

choices! {
    /// When a hole keeps the disparity that was there before.
    pub enum Persistence {
        /// Never.
        Off = "off",
        /// If it was measured in each of the last 8 pairs.
        EightOfEight = "8-of-8",
        /// If it was measured in 2 of the last 3 pairs.
        TwoOfThree = "2-of-3",
        /// If it was measured in 2 of the last 4 pairs.
        TwoOfFour = "2-of-4",
        /// If it was measured in 2 of the last 8 pairs.
        TwoOfEight = "2-of-8",
        /// If it was measured in 1 of the last 2 pairs.
        OneOfTwo = "1-of-2",
        /// If it was measured in 1 of the last 5 pairs.
        OneOfFive = "1-of-5",
        /// If it was measured in 1 of the last 8 pairs.
        OneOfEight = "1-of-8",
        /// If it was ever measured.
        Always = "always",
    }
}

impl Persistence {
    /// Returns the number of times that the pixel has to be measured, and in how many earlier pairs.
    pub const fn times_in_pairs(self) -> (u32, u32) {
        match self {
            Self::Off => (9, 8),
            Self::EightOfEight => (8, 8),
            Self::TwoOfThree => (2, 3),
            Self::TwoOfFour => (2, 4),
            Self::TwoOfEight => (2, 8),
            Self::OneOfTwo => (1, 2),
            Self::OneOfFive => (1, 5),
            Self::OneOfEight => (1, 8),
            Self::Always => (0, 8),
        }
    }

    /// Whether a hole keeps its disparity; bit `k` of `seen` is set if it was measured `k + 1` pairs ago.
    pub const fn keeps(self, seen: u8) -> bool {
        let (times, pairs) = self.times_in_pairs();
        (seen as u32 & ((1 << pairs) - 1)).count_ones() >= times
    }
}

pub(super) const TEMPORAL: Filter =
    Filter { size: |params| params.smooths_over_time().then_some(0), function: Function::Sequence(smooth_over_time) };

/// Blends a map with the running mean, and fills holes with it. A step of more than `temporal_delta` is a change of the scene: the
/// mean and the count of pairs restart there.
pub fn smooth_over_time(map: &mut DisparityMap, past: &mut Option<Smoothed>, params: &StereoParams) {
    for y in 0..map.values.height() {
        let past = past.get_or_insert_with(|| Smoothed::empty(map.size()));
        let row = Row {
            values: map.values.row_mut(y),
            reasons: map.reasons.row_mut(y),
            means: past.values.row_mut(y),
            seen: past.seen.row_mut(y),
        };
        row.smooth(params);
    }
}

/// One row of a map and of the filter's state.
pub struct Row<'a> {
    /// Disparities.
    pub values: &'a mut [i16],
    /// Reasons of the pixels.
    pub reasons: &'a mut [u8],
    /// Running means.
    pub means: &'a mut [i16],
    /// Bits of the pairs in which each pixel was measured, see [`Smoothed::seen`].
    pub seen: &'a mut [u8],
}

impl Row<'_> {
    /// Filters the row.
    pub fn smooth(self, params: &StereoParams) {
        let Self { values, reasons, means, seen } = self;
        for x in 0..values.len() {
            let (value, mean) = (values[x], means[x]);
            if value == INVALID {
                if mean != INVALID && params.persistence.keeps(seen[x]) {
                    values[x] = mean;
                    reasons[x] |= reason::HELD;
                }
                seen[x] <<= 1;
                continue;
            }
            let goes_on = mean != INVALID && i32::from(value).abs_diff(i32::from(mean)) <= params.temporal_delta;
            means[x] = if goes_on { blend(mean, value, params.temporal_alpha) } else { value };
            values[x] = means[x];
            seen[x] = if goes_on { seen[x] << 1 | 1 } else { 1 };
        }
    }
}
