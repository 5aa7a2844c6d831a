//! Trend of a number: comparison of its last values with earlier ones.

use super::quantity::Better;
use stereopsis_base::parameter::choices;

/// Number of last values whose mean is compared.
const RECENT: usize = 10;
/// Largest number of earlier values.
const EARLIER: usize = 100;
/// Smallest change that counts, as a share of a value.
const MIN_CHANGE: f64 = 0.2;
/// Share of the earlier values from which the mean has to differ.
const MIN_SHARE: f64 = 0.4;
/// Smallest change that counts: numbers are shown with three digits after the point.
const MIN_VISIBLE: f64 = 1e-3;
/// Smallest difference of the means, standard errors: about one of 100 steady numbers exceeds it by chance.
const MIN_ERRORS: f64 = 3.0;

choices! {
    /// Trend of a number.
    pub enum Trend {
        /// Improvement.
        Better = "better",
        /// Deterioration.
        Worse = "worse",
        /// Increase of a quantity without a desirable direction.
        Grows = "grows",
        /// Decrease of a quantity without a desirable direction.
        Falls = "falls",
        /// No change.
        Steady = "steady",
    }
}

/// Returns the trend of values in temporal order; `None` below 20 values.
///
/// The mean of the last 10 must differ by more than 20 % from more than 40 % of the up to 100 earlier values, the rule of RealSense's
/// Depth Quality Tool. It must also differ from their mean by more than the scatter of both and by a visible digit, as must the last value
/// in the same direction.
pub fn trend(values: &[f64], better: Better) -> Option<Trend> {
    if values.len() < 2 * RECENT {
        return None;
    }
    let size = |v: f64| if better == Better::Zero { v.abs() } else { v };
    let (before, recent) = values.split_at(values.len() - RECENT);
    let before = &before[before.len().saturating_sub(EARLIER)..];
    let (mean, error) = mean_and_error(recent.iter().map(|&v| size(v)));
    let (mean_before, error_before) = mean_and_error(before.iter().map(|&v| size(v)));
    let change = mean - mean_before;
    let last = size(recent[RECENT - 1]) - mean_before;
    let is_visible = change.abs().min(change.signum() * last) >= MIN_VISIBLE;
    if !is_visible || change.abs() < MIN_ERRORS * error.hypot(error_before) {
        return Some(Trend::Steady);
    }
    let share = |differs: &dyn Fn(f64) -> bool| {
        before.iter().filter(|&&v| differs(size(v))).count() as f64 / before.len() as f64
    };
    let grew = change > 0.0 && share(&|v| mean - v > MIN_CHANGE * v.abs()) > MIN_SHARE;
    let fell = change < 0.0 && share(&|v| v - mean > MIN_CHANGE * v.abs()) > MIN_SHARE;
    Some(match (grew, fell, better) {
        (false, false, _) => Trend::Steady,
        (true, _, Better::Neither) => Trend::Grows,
        (false, _, Better::Neither) => Trend::Falls,
        (true, _, Better::Higher) | (false, _, Better::Lower | Better::Zero) => Trend::Better,
        _ => Trend::Worse,
    })
}

fn mean_and_error(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let variance = values.map(|v| (v - mean) * (v - mean)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
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
    fn a_change_that_the_digits_do_not_show_is_none() {
        assert_eq!(trend(&step(1e-9, 4e-4), Better::Lower), Some(Trend::Steady), "0.000 before and after");
        assert_eq!(trend(&step(1e-4, 0.002), Better::Lower), Some(Trend::Worse));
        let mut back = step(0.0, 0.01);
        *back.last_mut().unwrap() = 0.0;
        assert_eq!(trend(&back, Better::Lower), Some(Trend::Steady), "the number that is shown is 0.000");
        // the mean of ten has fallen, and the last value is larger than before
        let mut up = step(10.0, 6.0);
        *up.last_mut().unwrap() = 11.0;
        assert_eq!(trend(&up, Better::Lower), Some(Trend::Steady));
    }

    #[test]
    fn a_change_within_the_scatter_is_none() {
        // every third value is large, and four instead of three of the last ten
        let scattered: Vec<f64> = (0..40).map(|i| if i % 3 == 0 { 9.0 } else { 1.0 }).collect();
        assert_eq!(trend(&scattered, Better::Lower), Some(Trend::Steady));
        let moved: Vec<f64> = scattered.iter().enumerate().map(|(i, v)| if i < 30 { *v } else { v + 9.0 }).collect();
        assert_eq!(trend(&moved, Better::Lower), Some(Trend::Worse));
    }

    #[test]
    fn few_values_have_none_and_old_ones_do_not_count() {
        assert_eq!(trend(&[1.0; 19], Better::Lower), None);
        let old = [vec![100.0; 200], vec![10.0; 100], vec![10.0; 10]].concat();
        assert_eq!(trend(&old, Better::Lower), Some(Trend::Steady));
    }
}
