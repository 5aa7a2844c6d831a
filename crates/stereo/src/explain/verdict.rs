//! Verdict on a pixel: a sentence why it has a disparity or none, and the parameter that would change that.

use super::{Checked, Explanation, Partner};
use crate::map::{NO_PICTURE, SUBPIXEL_STEPS, reason};
use crate::params::StereoParams;
use crate::params::words::Median;
use stereopsis_base::parameter::Value;

const MAX_TOLERANCE_PX: u32 = 64;
const MAX_UNIQUENESS_PERCENT: u32 = 99;
const MAX_THRESHOLD_PERCENT: u32 = 99;

/// Disparity and reasons of the finished map at a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Bits of [`reason`].
    pub reasons: u8,
    /// Disparity, 1/16 px; `None` without one.
    pub disparity_16th: Option<i32>,
}

/// Reason why a pixel has a disparity or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Bits of [`reason`]: of the finished map, or of the winner and the left-right check before the filters.
    pub reasons: u8,
    /// Reason with its numbers, and a change that would remove it.
    pub sentence: String,
    /// Parameter that removes this reason; another reason may take its place.
    pub remedy: Option<Remedy>,
}

/// Parameter and the value that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// Name of the parameter on the command line.
    pub name: &'static str,
    /// Value nearest to the present one that removes the reason, with the candidates of now. `left-right` may change those, where smaller
    /// images give gates or costs.
    pub value: Value,
}

impl Remedy {
    /// Returns `params` with the change.
    #[must_use]
    pub fn apply(self, params: &StereoParams) -> StereoParams {
        let mut changed = params.clone();
        if let Some(parameter) = StereoParams::parameter(self.name) {
            changed.set(parameter, self.value);
            changed.repair(|name| name == self.name);
        }
        changed
    }

    /// Returns the text of a button, such as `Set uniqueness to 3`.
    pub fn label(self) -> String {
        format!("Set {} to {}", self.name, self.value)
    }
}

impl Explanation {
    /// Returns the verdict. `finished` has the finished map at this pixel, if known. `checked` has the result of the left-right check, if
    /// it was computed; without it the numbers of the check are those before the median.
    pub fn verdict(&self, finished: Option<Finished>, checked: Option<&Checked>) -> Verdict {
        let check = checked.copied().or_else(|| self.unfiltered_check());
        let tolerance_px = self.params.left_right.unwrap_or(0);
        let width = self.windows.picture_width;
        let before = match &check {
            Some(check) if self.reasons == 0 => check.reason(width, tolerance_px),
            _ => self.reasons,
        };
        let reasons = finished.map_or(before, |finished| finished.reasons);
        let (mut sentence, remedy) = self.first_reason(reasons, check.as_ref());
        let mut add = |text: String| {
            sentence += "; ";
            sentence += &text;
        };
        let is_checked = reasons & (reason::RANGE | reason::LEFT_RIGHT) != 0;
        if is_checked && self.params.median != Median::Off && checked.is_none() {
            add("the check runs after the median, these numbers are from before".into());
        }
        if is_checked && remedy.is_some() && self.has_smaller_images {
            add("the smaller images follow left-right too, so another candidate may win".into());
        }
        if reasons & reason::FILLED != 0 {
            add("filled in from its neighbours, so not measured".into());
        } else if reasons & reason::HELD != 0 {
            add("it keeps the disparity of earlier pairs".into());
        } else if let Some(d) = finished.and_then(|finished| finished.disparity_16th)
            && d != self.disparity_16th
        {
            add(format!("the filters moved it to {} px", px(d)));
        }
        Verdict { reasons, sentence, remedy }
    }

    /// Returns the left-right check of both winners before the median.
    fn unfiltered_check(&self) -> Option<Checked> {
        let Partner { column, right } = self.partner.as_ref()?;
        let right_16th = right.as_ref().and_then(|right| right.disparity_16th);
        Some(Checked { left_16th: self.disparity_16th, column: *column, right_16th })
    }

    /// Whether the verdict needs [`super::Explainer::check`], because the median may have changed the winners.
    pub fn needs_check(&self, finished: Option<Finished>) -> bool {
        let is_checked = |bits| bits & (reason::RANGE | reason::LEFT_RIGHT) != 0;
        self.params.median != Median::Off && finished.is_none_or(|finished| is_checked(finished.reasons))
    }

    /// Returns the sentence of the reason that came first in the pipeline, with its remedy.
    fn first_reason(&self, reasons: u8, check: Option<&Checked>) -> (String, Option<Remedy>) {
        let has = |bit| reasons & bit != 0;
        let switch_off = |name| Some(Remedy { name, value: Value::Off });
        if reasons & NO_PICTURE == NO_PICTURE {
            let sentence = "no image: black from here to the edge of the image, in a border that rectification leaves";
            return (sentence.into(), None);
        }
        if has(reason::BORDER) {
            let sentence =
                "at the border: its window, or that of a candidate, leaves an image, and drop-border drops such pixels";
            return (sentence.into(), Some(Remedy { name: "drop-border", value: Value::Switch(false) }));
        }
        if has(reason::MATCH) {
            return self.bad_match();
        }
        if has(reason::UNIQUENESS) {
            // the learned choice drops winners that were unique
            return if self.reasons & reason::UNIQUENESS != 0 { self.ambiguous() } else { self.unlikely() };
        }
        let check = check.copied().unwrap_or(Checked { left_16th: self.disparity_16th, column: -1, right_16th: None });
        if has(reason::RANGE) && self.reasons & reason::RANGE != 0 {
            let sentence = format!(
                "outside: at {} px its partner would lie in the right image's black border",
                px(self.disparity_16th)
            );
            return (sentence, None);
        }
        if has(reason::RANGE) {
            let sentence = format!(
                "outside: at {} px its partner would lie in column {}, beside the right image; left-right off would keep it, though nothing was compared there",
                px(check.left_16th),
                check.column
            );
            return (sentence, switch_off("left-right"));
        }
        if has(reason::LEFT_RIGHT) {
            return self.contradicted(check);
        }
        if has(reason::SPECKLE) {
            let StereoParams { speckle_size, .. } = self.params;
            let sentence = format!(
                "isolated: {} px won and was confirmed, but its region has at most {speckle_size} px (speckle-size); speckle-size 0 keeps every region",
                px(self.disparity_16th)
            );
            return (sentence, Some(Remedy { name: "speckle-size", value: Value::Integer(0) }));
        }
        (self.valid(), None)
    }

    fn bad_match(&self) -> (String, Option<Remedy>) {
        let (sum, largest) = (u64::from(self.sums[self.winner]), u64::from(self.params.largest_sum()));
        let present = self.params.match_threshold.unwrap_or(0);
        let enough = (present..=MAX_THRESHOLD_PERCENT).find(|&percent| largest * u64::from(percent) / 100 >= sum);
        let value = enough.map_or(Value::Off, |percent| Value::Integer(percent.into()));
        let sentence = format!(
            "bad match: its sum {sum} is {} % of the largest one, {largest}; match-threshold accepts {present} %",
            percent_text(100.0 * sum as f64 / largest.max(1) as f64)
        );
        (sentence, Some(Remedy { name: "match-threshold", value }))
    }

    fn ambiguous(&self) -> (String, Option<Remedy>) {
        let Some(second) = self.second else { return ("not unique".into(), None) };
        let accepted = self.largest_uniqueness().unwrap_or(0);
        let sentence = format!(
            "not unique: second minimum at {:.1} px is {} % away, uniqueness asks for {} %",
            f64::from(self.disparity_px(second)),
            percent_text(self.lead_percent().unwrap_or(0.0)),
            self.params.uniqueness
        );
        (sentence, Some(Remedy { name: "uniqueness", value: Value::Integer(accepted.into()) }))
    }

    fn unlikely(&self) -> (String, Option<Remedy>) {
        let sentence = format!(
            "unlikely: {} px won, but the learned choice gives no disparity around it a chance of {} % to be right (min-chance); min-chance off would keep one",
            px(self.disparity_16th),
            self.params.min_chance.unwrap_or(0)
        );
        (sentence, Some(Remedy { name: "min-chance", value: Value::Off }))
    }

    fn contradicted(&self, check: Checked) -> (String, Option<Remedy>) {
        let Checked { left_16th, column, right_16th } = check;
        let tolerance_px = self.params.left_right.unwrap_or(0);
        let own = px(left_16th);
        let off = Remedy { name: "left-right", value: Value::Off };
        let Some(back_16th) = right_16th else {
            let sentence = format!(
                "contradicted: the left image has {own} px, but right pixel {column} has no disparity; left-right off would keep it"
            );
            return (sentence, Some(off));
        };
        let off_16th = back_16th.abs_diff(left_16th);
        let enough_px = off_16th.div_ceil(SUBPIXEL_STEPS as u32);
        let sentence = format!(
            "contradicted: the left image has {own} px, but right pixel {column} matches {} px, {} px away; left-right accepts {tolerance_px} px",
            px(back_16th),
            px(off_16th as i32)
        );
        if enough_px <= tolerance_px {
            return (sentence, None); // the median made the difference
        }
        let value = if enough_px <= MAX_TOLERANCE_PX { Value::Integer(enough_px.into()) } else { Value::Off };
        (sentence, Some(Remedy { value, ..off }))
    }

    fn valid(&self) -> String {
        let won = px(self.disparity_16th);
        let (Some(second), Some(lead)) = (self.second, self.lead_percent()) else {
            return format!("valid: {won} px won; no other candidate is more than 1 px away");
        };
        let would_drop = match self.largest_uniqueness() {
            Some(largest) if largest < MAX_UNIQUENESS_PERCENT => format!(", {} % would drop it", largest + 1),
            _ => String::new(),
        };
        format!(
            "valid: {won} px won; the second minimum at {:.1} px is {} % away, uniqueness asks for {} %{would_drop}",
            f64::from(self.disparity_px(second)),
            percent_text(lead),
            self.params.uniqueness
        )
    }

    /// Returns the largest uniqueness that keeps the winner, per cent, 0 to 100; `None` where every value keeps it.
    fn largest_uniqueness(&self) -> Option<u32> {
        let (best, rival) = (u64::from(self.sums[self.winner]), u64::from(self.sums[self.second?]));
        (best > 0).then(|| (100 * (rival - best) / rival) as u32)
    }
}

fn px(sixteenths: i32) -> String {
    format!("{:.2}", f64::from(sixteenths) / f64::from(SUBPIXEL_STEPS))
}

/// Formats one decimal, rounded down, so that a value just below a limit never looks equal to it.
fn percent_text(percent: f64) -> String {
    format!("{:.1}", (10.0 * percent).floor() / 10.0)
}
