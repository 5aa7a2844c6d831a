//! Whether a number becomes better: its last values against those before.

use super::quantity::Better;

/// Number of last values whose mean is compared.
const RECENT: usize = 10;
/// Number of earlier values at most.
const EARLIER: usize = 100;
/// A change below this share of a value is none.
const MIN_CHANGE: f64 = 0.2;
/// Share of the earlier values from which the mean has to differ.
const MIN_SHARE: f64 = 0.4;

/// How a number develops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Trend {
    /// It becomes better.
    Better,
    /// It becomes worse.
    Worse,
    /// It grows, and neither direction is the good one.
    Grows,
    /// It falls, and neither direction is the good one.
    Falls,
    /// It stays.
    Steady,
}

impl Trend {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Grows => "grows",
            Self::Falls => "falls",
            Self::Steady => "steady",
        }
    }
}

/// The trend of values in their order in time: the mean of the last 10 differs by more than 20 % from more than 40 % of the up to 100
/// values before them. This is the rule of RealSense's Depth Quality Tool. `None` below 20 values.
pub fn trend(values: &[f64], better: Better) -> Option<Trend> {
    if values.len() < 2 * RECENT {
        return None;
    }
    let size = |v: f64| if better == Better::Zero { v.abs() } else { v };
    let (before, recent) = values.split_at(values.len() - RECENT);
    let before = &before[before.len().saturating_sub(EARLIER)..];
    let mean = recent.iter().map(|&v| size(v)).sum::<f64>() / RECENT as f64;
    let share = |differs: &dyn Fn(f64) -> bool| {
        before.iter().filter(|&&v| differs(size(v))).count() as f64 / before.len() as f64
    };
    let grew = share(&|v| mean - v > MIN_CHANGE * v.abs()) > MIN_SHARE;
    let fell = share(&|v| v - mean > MIN_CHANGE * v.abs()) > MIN_SHARE;
    Some(match (grew, fell, better) {
        (true, true, _) | (false, false, _) => Trend::Steady,
        (true, false, Better::Neither) => Trend::Grows,
        (false, true, Better::Neither) => Trend::Falls,
        (grew, _, Better::Higher) if grew => Trend::Better,
        (grew, _, Better::Lower | Better::Zero) if !grew => Trend::Better,
        _ => Trend::Worse,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(before: f64, after: f64) -> Vec<f64> {
        [vec![before; 30], vec![after; 10]].concat()
    }

    #[test]
    fn a_change_of_more_than_a_fifth_is_one() {
        for (before, after, better, expected) in [
            (10.0, 11.0, Better::Higher, Trend::Steady),
            (10.0, 13.0, Better::Higher, Trend::Better),
            (10.0, 13.0, Better::Lower, Trend::Worse),
            (10.0, 7.0, Better::Lower, Trend::Better),
            (10.0, 7.0, Better::Higher, Trend::Worse),
            (-10.0, -7.0, Better::Zero, Trend::Better),
            (-10.0, 14.0, Better::Zero, Trend::Worse),
            (10.0, 14.0, Better::Neither, Trend::Grows),
            (10.0, 6.0, Better::Neither, Trend::Falls),
        ] {
            assert_eq!(trend(&step(before, after), better), Some(expected), "{before} {after} {better:?}");
        }
    }

    #[test]
    fn few_values_have_none_and_old_ones_do_not_count() {
        assert_eq!(trend(&[1.0; 19], Better::Lower), None);
        let old = [vec![100.0; 200], vec![10.0; 100], vec![10.0; 10]].concat();
        assert_eq!(trend(&old, Better::Lower), Some(Trend::Steady));
    }
}
