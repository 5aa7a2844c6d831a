//! Skew of the pairs of a recording: time from the left to the right image.

use std::time::Duration;
use stereopsis_frame::Skew;

/// Maximum skew without a remark, s: with more, depth of fast motion is wrong.
const MAX_SMALL_SKEW_S: f64 = 0.005;
/// Maximum skew without a remark, intervals between two pairs.
const MAX_SMALL_SKEW_INTERVALS: f64 = 0.1;
/// Maximum spread at which all pairs count as of the same skew, share of the largest skew.
const MAX_EQUAL_SPREAD: f64 = 0.1;

/// Skew of several pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairSkew {
    /// Mean and spread of the skew.
    pub skew: Skew,
    /// Skew farthest from 0, with its sign, s.
    largest_s: f64,
    /// Interval between pairs, s; 0 where it is unknown.
    interval_s: f64,
}

impl PairSkew {
    /// Returns the skew of pairs with this interval; `None` without pairs.
    pub fn of(skews_s: &[f64], interval: Duration) -> Option<Self> {
        let sane: Vec<f64> = skews_s.iter().copied().filter(|skew_s| skew_s.is_finite()).collect();
        let largest_s = sane.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()))?;
        let mean_s = sane.iter().sum::<f64>() / sane.len() as f64;
        let spread_s = sane.iter().copied().fold(f64::MIN, f64::max) - sane.iter().copied().fold(f64::MAX, f64::min);
        Some(Self { skew: Skew { mean_s, spread_s }, largest_s, interval_s: interval.as_secs_f64() })
    }

    /// Returns a sentence on a skew that matters.
    pub fn remark(&self) -> Option<String> {
        let Self { skew, largest_s, interval_s } = self;
        let apart_s = largest_s.abs();
        let is_small =
            apart_s <= MAX_SMALL_SKEW_S && (*interval_s <= 0.0 || apart_s <= MAX_SMALL_SKEW_INTERVALS * interval_s);
        if is_small {
            return None;
        }
        let up_to = if skew.spread_s > MAX_EQUAL_SPREAD * apart_s { "up to " } else { "" };
        let share = apart_s / interval_s;
        let intervals = match share {
            _ if *interval_s <= 0.0 => String::new(),
            0.45..=0.55 => ", half an interval".to_owned(),
            _ => format!(", {:.0} % of an interval", 100.0 * share),
        };
        Some(format!(
            "left and right are {up_to}{:.1} ms apart{intervals}: depth of what moves is off by its motion in this time; \
             images of one moment need cameras that are triggered together",
            1e3 * apart_s
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_large_skew_in_ms_and_intervals() {
        let remark = |skews_s: &[f64], interval_ms| {
            PairSkew::of(skews_s, Duration::from_millis(interval_ms)).and_then(|skew| skew.remark()).unwrap_or_default()
        };
        assert!(remark(&[-0.02; 5], 40).starts_with("left and right are 20.0 ms apart, half an interval: "));
        assert!(remark(&[0.001, -0.0123, 0.004], 50).contains("are up to 12.3 ms apart, 25 % of an interval"));
        assert!(remark(&[0.003; 3], 20).contains("3.0 ms apart, 15 %"), "slow things need no word, fast cameras do");
        assert!(remark(&[0.006; 3], 0).contains("are 6.0 ms apart: "), "of an unknown interval no share is told");
        assert_eq!(remark(&[0.002, -0.003, f64::NAN], 33), "");
        assert_eq!(PairSkew::of(&[f64::NAN], Duration::ZERO), None);
    }
}
