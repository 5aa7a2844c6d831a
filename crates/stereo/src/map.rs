//! Disparity maps: disparity in 1/16 px, the reason of each pixel without one, and optionally its confidence.

use stereopsis_base::image::{Image, QuarterTurn};

/// Value of a pixel without a disparity.
pub const INVALID: i16 = i16::MIN;

/// Number of steps per pixel of a stored disparity.
pub const SUBPIXEL_STEPS: i32 = 16;

/// Rounds a disparity in 1/16 px to whole pixels; halves are rounded up.
#[inline]
pub const fn rounded_px(disparity_16th: i32) -> i32 {
    (disparity_16th + SUBPIXEL_STEPS / 2) >> SUBPIXEL_STEPS.ilog2()
}

/// Reasons why a pixel has no disparity or an unmeasured one: a byte of bits, 0 for a measured disparity.
pub mod reason {
    /// Partner, or all candidates, outside the right image.
    pub const RANGE: u8 = 1;
    /// Another disparity with nearly as small a sum, or a chance below the limit of the learned choice.
    pub const UNIQUENESS: u8 = 2;
    /// Contradicted by the right image: occluded there, or mismatched.
    pub const LEFT_RIGHT: u8 = 4;
    /// Part of a small isolated region.
    pub const SPECKLE: u8 = 8;
    /// Bad match: the sum exceeds the match threshold.
    pub const MATCH: u8 = 16;
    /// Window or range outside the images, where the border is dropped; or a black border or a mask, see [`NO_PICTURE`](super::NO_PICTURE).
    pub const BORDER: u8 = 32;
    /// Disparity of earlier pairs, not measured in this one; the bit of the original reason stays set.
    pub const HELD: u8 = 64;
    /// Disparity filled in from the neighbours; the bit of the original reason stays set.
    pub const FILLED: u8 = 128;

    /// Reasons of pixels that still have a disparity.
    pub const WITH_DISPARITY: u8 = HELD | FILLED;

    /// Returns the reasons of pixels without a disparity, with their words and sentences.
    pub fn of_holes() -> impl Iterator<Item = (u8, &'static str, &'static str)> {
        ALL.iter().copied().filter(|(bit, ..)| bit & WITH_DISPARITY == 0)
    }

    /// All reasons, each with a word for files and a sentence for people.
    pub const ALL: &[(u8, &str, &str)] = &[
        (RANGE, "range", "its partner would lie outside the right image"),
        (UNIQUENESS, "uniqueness", "another disparity is nearly as good"),
        (LEFT_RIGHT, "left-right", "the right image disagrees: hidden there, or mismatched"),
        (SPECKLE, "speckle", "part of a small isolated region"),
        (MATCH, "match-threshold", "it matches badly"),
        (BORDER, "border", "it lies in a black border or a mask, or its window or its range leaves the images"),
        (HELD, "held", "not measured now, kept from images before"),
        (FILLED, "filled", "filled in from its neighbours, not measured"),
    ];
}

/// Mark of a pixel that a plane or a band filled, between the fill and the learned choice, which keeps its disparity. The combination
/// is unambiguous, because a held pixel is never filled; finished maps have only [`reason::FILLED`].
pub const ON_PLANE: u8 = reason::FILLED | reason::HELD;

/// Reasons of a pixel in a [black border](crate::filter::BlackBorder), which is never filled. The combination occurs nowhere else.
pub const NO_PICTURE: u8 = reason::BORDER | reason::RANGE;

/// Distance of the neighbours that tell noise from surfaces, px: beyond the small segments that matching makes of noise.
const AGREEMENT_PX: usize = 8;

/// Shares of a map's pixels, 0 to 1. Held and filled pixels never count as measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shares {
    /// Pixels measured in this pair.
    pub measured: f64,
    /// Pixels held from earlier pairs.
    pub held: f64,
    /// Pixels filled in from neighbours.
    pub filled: f64,
    /// Share of the measured pixels at the first candidate, the farthest.
    pub at_first: f64,
    /// Share of the measured pixels at the last candidate, the nearest.
    pub at_last: f64,
    /// Share of the measured pixels' neighbours 8 px away along rows and columns that are measured too and differ by at most
    /// 1 px: small in noise, where few pixels are measured and those disagree.
    pub agreeing: f64,
    /// Shares of the pixels without a disparity, by their first reason in the order of the bits.
    pub holes: [f64; 8],
}

// `measured 94.0 % + filled 6.0 %`; `valid 94.0 %` if all of it is measured
impl std::fmt::Display for Shares {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.held + self.filled == 0.0 {
            return write!(f, "valid {:.1} %", 100.0 * self.measured);
        }
        write!(f, "measured {:.1} %", 100.0 * self.measured)?;
        for (share, word) in [(self.held, "held"), (self.filled, "filled")] {
            if share > 0.0 {
                write!(f, " + {word} {:.1} %", 100.0 * share)?;
            }
        }
        Ok(())
    }
}

/// Finished maps of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maps {
    /// Map of the left image.
    pub left: DisparityMap,
    /// Map of the right image, if requested: right `(x, y)` is the partner of left `(x + d, y)`.
    pub right: Option<DisparityMap>,
}

impl Maps {
    /// Changes each map.
    pub fn for_each(&mut self, mut change: impl FnMut(&mut DisparityMap)) {
        change(&mut self.left);
        if let Some(right) = &mut self.right {
            change(right);
        }
    }

    /// Changes each map with its own argument.
    pub fn for_each_with<T>(&mut self, [of_left, of_right]: [T; 2], mut change: impl FnMut(&mut DisparityMap, T)) {
        change(&mut self.left, of_left);
        if let Some(right) = &mut self.right {
            change(right, of_right);
        }
    }
}

/// Disparity of each pixel, with reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisparityMap {
    /// Disparity in 1/16 px, left column minus right column; [`INVALID`] where there is none.
    pub values: Image<i16>,
    /// Bits of [`reason`].
    pub reasons: Image<u8>,
    /// Confidence, if requested: [`crate::disparity::confidence`] of the winner, 0 where none was measured, also if held or filled.
    /// With the learned choice, the [`chance`](crate::filter::choice::Net::chance_of) that the disparity is right.
    pub confidence: Option<Image<u8>>,
}

impl DisparityMap {
    /// Returns `(width, height)`.
    pub fn size(&self) -> (usize, usize) {
        self.values.size()
    }

    /// Mirrors the map.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        Self {
            values: self.values.mirrored(),
            reasons: self.reasons.mirrored(),
            confidence: self.confidence.as_ref().map(Image::mirrored),
        }
    }

    /// Turns the map by a quarter; its disparities then lie along the other axis.
    #[must_use]
    pub fn turned(&self, turn: QuarterTurn) -> Self {
        Self {
            values: self.values.turned(turn),
            reasons: self.reasons.turned(turn),
            confidence: self.confidence.as_ref().map(|confidence| confidence.turned(turn)),
        }
    }

    /// Returns the map for images of half the size: every second pixel of every second row, half its disparity, rounded down.
    #[must_use]
    pub fn halved(&self) -> Self {
        let (width, height) = self.size();
        let (width, height) = (width.div_ceil(2), height.div_ceil(2));
        let half = |value: i16| if value == INVALID { INVALID } else { value >> 1 };
        Self {
            values: Image::from_fn(width, height, |x, y| half(self.values.at(2 * x, 2 * y))),
            reasons: Image::from_fn(width, height, |x, y| self.reasons.at(2 * x, 2 * y)),
            confidence: None,
        }
    }

    /// Returns the disparity of a pixel, px.
    pub fn disparity_px(&self, x: usize, y: usize) -> Option<f32> {
        let value = self.values.at(x, y);
        (value != INVALID).then(|| f32::from(value) / SUBPIXEL_STEPS as f32)
    }

    /// Returns the median disparity in the square of `2 radius + 1` pixels around a pixel, px; `None` where fewer than half have one.
    pub fn median_around_px(&self, (x, y): (usize, usize), radius: usize) -> Option<f32> {
        let (width, height) = self.size();
        let columns = x.saturating_sub(radius)..(x + radius + 1).min(width);
        let rows = y.saturating_sub(radius)..(y + radius + 1).min(height);
        let square = rows.flat_map(|y| columns.clone().map(move |x| (x, y)));
        let (mut all, mut found) = (0, Vec::new());
        for (x, y) in square {
            all += 1;
            found.extend(self.disparity_px(x, y));
        }
        if found.is_empty() || 2 * found.len() < all {
            return None;
        }
        let middle = found.len() / 2;
        Some(*found.select_nth_unstable_by(middle, f32::total_cmp).1)
    }

    /// Returns the confidence of a pixel, per cent, 100 is the clearest; `None` if not requested or not measured.
    pub fn confidence_percent(&self, x: usize, y: usize) -> Option<f32> {
        let confidence = self.confidence.as_ref()?.at(x, y);
        (self.reasons.at(x, y) == 0).then(|| f32::from(confidence) / 2.55)
    }

    /// Returns the disparity of every pixel, px; NaN where there is none.
    pub fn to_px(&self) -> Image<f32> {
        self.values.map(|&v| if v == INVALID { f32::NAN } else { f32::from(v) / SUBPIXEL_STEPS as f32 })
    }

    /// Returns the share of pixels with a disparity, 0 to 1.
    pub fn valid_share(&self) -> f64 {
        let valid = self.values.pixels().iter().filter(|&&v| v != INVALID).count();
        valid as f64 / self.values.pixels().len().max(1) as f64
    }

    /// Returns the shares of the pixels by origin of their disparities; `first_px` and `last_px` are the ends of the search range.
    pub fn shares(&self, first_px: i32, last_px: i32) -> Shares {
        let (first, last) = (first_px * SUBPIXEL_STEPS, last_px * SUBPIXEL_STEPS);
        let mut holes = [0_u64; 8];
        let (mut measured, mut held, mut filled, mut at_first, mut at_last) = (0_u64, 0_u64, 0_u64, 0_u64, 0_u64);
        for (&value, &reasons) in self.values.pixels().iter().zip(self.reasons.pixels()) {
            if value == INVALID {
                let first = if reasons & NO_PICTURE == NO_PICTURE { reason::BORDER } else { reasons };
                if let Some(hole) = holes.get_mut(first.trailing_zeros() as usize) {
                    *hole += 1;
                }
            } else if reasons & reason::FILLED != 0 {
                filled += 1;
            } else if reasons & reason::HELD != 0 {
                held += 1;
            } else {
                measured += 1;
                // sub-pixel refinement moves a winner by at most half a pixel
                at_first += u64::from(2 * (i32::from(value) - first) <= SUBPIXEL_STEPS);
                at_last += u64::from(2 * (last - i32::from(value)) <= SUBPIXEL_STEPS);
            }
        }
        let share = |count: u64, of: u64| count as f64 / of.max(1) as f64;
        let all = self.values.pixels().len() as u64;
        Shares {
            measured: share(measured, all),
            held: share(held, all),
            filled: share(filled, all),
            at_first: share(at_first, measured),
            at_last: share(at_last, measured),
            agreeing: share(self.agreeing_pairs(), 2 * measured),
            holes: holes.map(|count| share(count, all)),
        }
    }

    /// Returns the number of pairs of measured pixels [`AGREEMENT_PX`] apart in a row or a column that differ by at most 1 px.
    fn agreeing_pairs(&self) -> u64 {
        let height = self.size().1;
        let row = |y: usize| (self.values.row(y), self.reasons.row(y));
        let count = |(values, reasons): (&[i16], &[u8]), (others, of_others): (&[i16], &[u8])| {
            let pairs = values.iter().zip(reasons).zip(others.iter().zip(of_others));
            let agree = pairs.filter(|((value, reasons), (other, of_other))| {
                // without a reason there is a disparity
                **reasons | **of_other == 0 && i32::from(**value).abs_diff(i32::from(**other)) <= SUBPIXEL_STEPS as u32
            });
            agree.count() as u64
        };
        let in_rows = (0..height).map(|y| {
            let (values, reasons) = row(y);
            let from = AGREEMENT_PX.min(values.len());
            count((values, reasons), (&values[from..], &reasons[from..]))
        });
        let in_columns = (AGREEMENT_PX..height).map(|y| count(row(y - AGREEMENT_PX), row(y)));
        in_rows.sum::<u64>() + in_columns.sum::<u64>()
    }

    /// Removes the disparity of pixel `(x, y)` for the reason `why`.
    pub fn invalidate(&mut self, x: usize, y: usize, why: u8) {
        self.values.set(x, y, INVALID);
        self.reasons.set(x, y, self.reasons.at(x, y) | why);
        if let Some(confidence) = &mut self.confidence {
            confidence.set(x, y, 0);
        }
    }
}
