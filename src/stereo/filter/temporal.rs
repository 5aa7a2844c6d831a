//! Temporal filter: a running mean over the pairs, and holes that keep what was there a moment ago (RealSense's temporal
//! filter with persistency).

use super::spatial::blend;
use crate::choices;
use crate::image::Image;
use crate::stereo::map::{DisparityMap, INVALID, reason};
use crate::stereo::params::StereoParams;

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
    /// How often it has to be measured, in how many pairs before this one.
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

    /// Whether a hole keeps its disparity; bit `k` of `seen` says that it was measured `k + 1` pairs ago.
    pub const fn keeps(self, seen: u8) -> bool {
        let (times, pairs) = self.times_in_pairs();
        (seen as u32 & ((1 << pairs) - 1)).count_ones() >= times
    }
}

/// What the filter remembers of each pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smoothed {
    /// The running mean, 1/16 px; [`INVALID`] where nothing was ever measured.
    pub values: Image<i16>,
    /// In which of the last eight pairs it was measured, the last one in bit 0.
    pub seen: Image<u8>,
}

/// Blends a map with what was there before, and keeps that in holes. A step of more than `temporal_delta` is a change of the
/// scene: the mean begins anew, and earlier pairs are forgotten.
pub fn smooth_over_time(map: &mut DisparityMap, past: &mut Option<Smoothed>, params: &StereoParams) {
    if !params.temporal {
        return;
    }
    let (width, height) = map.size();
    let past = past.get_or_insert_with(|| Smoothed {
        values: Image::filled(width, height, INVALID),
        seen: Image::filled(width, height, 0),
    });
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        let (value, mean, seen) = (map.values.at(x, y), past.values.at(x, y), past.seen.at(x, y));
        if value == INVALID {
            if mean != INVALID && params.persistence.keeps(seen) {
                map.values.set(x, y, mean);
                map.reasons.set(x, y, map.reasons.at(x, y) | reason::HELD);
            }
            past.seen.set(x, y, seen << 1);
            continue;
        }
        let goes_on = mean != INVALID && i32::from(value).abs_diff(i32::from(mean)) <= params.temporal_delta;
        let next = if goes_on { blend(mean, value, params.temporal_alpha) } else { value };
        map.values.set(x, y, next);
        past.values.set(x, y, next);
        past.seen.set(x, y, if goes_on { seen << 1 | 1 } else { 1 });
    }
}
