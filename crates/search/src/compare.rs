//! Comparison of two settings by a margin and on every pair, because a setting that suits these pairs must suit others too.

use super::trial::{Run, Trial};

/// Smallest share by which a better setting lowers the mean loss.
pub(super) const MIN_GAIN: f64 = 0.05;
/// Largest increase of the error on one sample by a preset that replaces another one, percentage points.
const MAX_INCREASE_PERCENT: f64 = 0.2;

/// Returns whether `next` is better than `now`, with a clearly lower mean loss on all samples and no higher loss on any.
///
/// Changes that gained on several pairs but lost on one also lost on one of three further pairs.
pub(super) fn is_better(next: &Trial, now: &Trial) -> bool {
    let means = next.loss.zip(now.loss).filter(|_| next.samples == now.samples);
    means.is_some_and(|(next, now)| next <= now * (1.0 - MIN_GAIN)) && !is_worse_somewhere(next, now)
}

/// Returns whether `next` is worse on one of its samples and so cannot be better.
pub(super) fn is_worse_somewhere(next: &Trial, now: &Trial) -> bool {
    largest_loss(next, now).is_some()
}

/// Returns whether a preset may replace `now` by errors against truth: lower in the mean, and nearly as low on each sample.
///
/// Presets that lost more on one sample were worse on other pairs ten times as often.
pub(super) fn may_replace(next: &Trial, now: &Trial) -> bool {
    let loses = |pair| both(pair).is_none_or(|(next, now)| next > now + MAX_INCREASE_PERCENT);
    has_lower_loss(next, now) && !next.runs.iter().zip(&now.runs).any(loses)
}

/// Returns whether the mean loss of `next` over all samples is lower.
pub(super) fn has_lower_loss(next: &Trial, now: &Trial) -> bool {
    next.loss.zip(now.loss).is_some_and(|(next, now)| next < now)
}

/// Returns the index of the sample with the largest increase of the loss from `now` to `next`.
pub(super) fn largest_loss(next: &Trial, now: &Trial) -> Option<usize> {
    let by = next.runs.iter().zip(&now.runs).map(|pair| both(pair).map_or(f64::INFINITY, |(next, now)| next - now));
    let worse = by.enumerate().filter(|(_, by)| *by > 0.0);
    worse.rev().max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(at, _)| at) // the first of equal ones
}

fn both((next, now): (&Run, &Run)) -> Option<(f64, f64)> {
    next.loss.zip(now.loss)
}

/// Returns the complete trials that no other one beats in both loss and time, the quickest first.
pub(super) fn front(trials: &[std::sync::Arc<Trial>], samples: usize) -> Vec<std::sync::Arc<Trial>> {
    let mut whole: Vec<_> = trials.iter().filter(|t| t.samples == samples && t.loss.is_some()).cloned().collect();
    let order = |a: &std::sync::Arc<Trial>, b: &std::sync::Arc<Trial>| {
        a.time_ms.total_cmp(&b.time_ms).then(a.loss.unwrap_or(f64::NAN).total_cmp(&b.loss.unwrap_or(f64::NAN)))
    };
    whole.sort_by(order);
    let mut least = f64::INFINITY;
    whole.retain(|trial| {
        let loss = trial.loss.unwrap_or(f64::INFINITY);
        let stays = loss < least;
        least = least.min(loss);
        stays
    });
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use stereopsis_stereo::StereoParams;

    fn trial(time_ms: f64, losses: &[f64]) -> Arc<Trial> {
        let run = |loss: &f64| Run { loss: Some(*loss), measured_percent: 90.0, time_ms, pixels: 1 };
        Arc::new(Trial::of(Arc::new(StereoParams::default()), losses.iter().map(run).collect()))
    }

    #[test]
    fn a_gain_counts_by_a_margin_and_on_every_sample() {
        let better = |next: &[f64], now: &[f64]| is_better(&trial(1.0, next), &trial(1.0, now));
        let now = [10.0, 10.0, 10.0, 10.0];
        assert!(better(&[9.0, 9.0, 9.0, 9.0], &now));
        assert!(better(&[7.0, 10.0, 10.0, 10.0], &now));
        assert!(!better(&[9.6, 9.6, 9.6, 9.6], &now), "no margin");
        assert!(!better(&[7.0, 7.0, 7.0, 10.1], &now), "it loses one of four");
        assert!(!better(&[9.0, 9.0], &now), "not tried on all");
        assert!(is_worse_somewhere(&trial(1.0, &[9.0, 10.1]), &trial(1.0, &now)), "the rest cannot mend it");
        assert!(!is_worse_somewhere(&trial(1.0, &[10.0, 9.0]), &trial(1.0, &now)));
    }

    #[test]
    fn a_preset_is_better_in_the_mean_and_nearly_as_good_on_each_sample() {
        let now = trial(1.0, &[10.0, 10.0]);
        let may = |next: &[f64]| may_replace(&trial(1.0, next), &now);
        assert!(may(&[10.15, 9.8]) && !may(&[10.0, 10.0]) && !may(&[10.3, 5.0]) && !may(&[10.15, 9.9]));
        assert_eq!(largest_loss(&trial(1.0, &[10.1, 10.3]), &now), Some(1));
    }

    #[test]
    fn the_front_has_what_nothing_beats() {
        let all = [(5.0, 9.0), (3.0, 10.0), (4.0, 12.0), (7.0, 8.0), (8.0, 8.0)];
        let mut trials: Vec<_> = all.iter().map(|&(ms, loss)| trial(ms, &[loss, loss])).collect();
        trials.push(trial(1.0, &[1.0]));
        let found: Vec<_> = front(&trials, 2).iter().map(|trial| (trial.time_ms, trial.loss.unwrap())).collect();
        assert_eq!(found, [(3.0, 10.0), (5.0, 9.0), (7.0, 8.0)]);
    }
}
