//! Temporal filter: a running mean over the pairs, which also fills holes for a while (RealSense's temporal filter with
//! persistency).

use super::spatial::RunningMean;
use crate::map::{DisparityMap, INVALID, reason};
use crate::params::words::Persistence;
use stereopsis_base::image::Image;

/// State of the temporal filter, for each pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smoothed {
    /// Running mean, 1/16 px; [`INVALID`] where no disparity was ever measured.
    pub values: Image<i16>,
    /// Pairs among the last eight in which the pixel was measured, the latest in bit 0.
    pub seen: Image<u8>,
}

impl Smoothed {
    /// Returns the state before the first pair.
    pub fn empty((width, height): (usize, usize)) -> Self {
        Self { values: Image::filled(width, height, INVALID), seen: Image::filled(width, height, 0) }
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

/// Blends a map with the running mean, and fills holes with it. A step of more than `temporal_delta` is a change of the scene: the
/// mean and the count of pairs restart there.
pub fn smooth_over_time(
    map: &mut DisparityMap,
    past: &mut Option<Smoothed>,
    running: RunningMean,
    persistence: Persistence,
) {
    for y in 0..map.values.height() {
        let past = past.get_or_insert_with(|| Smoothed::empty(map.size()));
        let row = Row {
            values: map.values.row_mut(y),
            reasons: map.reasons.row_mut(y),
            means: past.values.row_mut(y),
            seen: past.seen.row_mut(y),
        };
        row.smooth(running, persistence);
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
    pub fn smooth(self, running: RunningMean, persistence: Persistence) {
        let Self { values, reasons, means, seen } = self;
        for x in 0..values.len() {
            let (value, mean) = (values[x], means[x]);
            if value == INVALID {
                if mean != INVALID && persistence.keeps(seen[x]) {
                    values[x] = mean;
                    reasons[x] |= reason::HELD;
                }
                seen[x] <<= 1;
                continue;
            }
            let next = running.next(mean, value);
            means[x] = next.unwrap_or(value);
            values[x] = means[x];
            seen[x] = if next.is_some() { seen[x] << 1 | 1 } else { 1 };
        }
    }
}
