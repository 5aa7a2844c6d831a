//! Which of two settings is the better one, by a margin and on every pair: what suits these pairs shall suit others too.

use super::trial::{Run, Trial};

/// A better setting lowers the mean loss by this share at least.
pub(super) const MARGIN: f64 = 0.05;

/// Whether `next` is better than `now`, both tried on all samples: it is worse on none of them, and its mean loss is clearly lower. Of
/// changes that gained on several pairs, those that lost on one have lost on one of three further ones.
pub(super) fn is_better(next: &Trial, now: &Trial) -> bool {
    let means = next.loss.zip(now.loss).filter(|_| next.samples == now.samples);
    means.is_some_and(|(next, now)| next <= now * (1.0 - MARGIN)) && !is_worse_somewhere(next, now)
}

/// Whether `next` is worse on one of its samples, so that it cannot be better.
pub(super) fn is_worse_somewhere(next: &Trial, now: &Trial) -> bool {
    first_loss(next, now).is_some()
}

/// Whether the mean loss of `next` is lower, both tried on all samples.
pub(super) fn has_lower_loss(next: &Trial, now: &Trial) -> bool {
    next.loss.zip(now.loss).is_some_and(|(next, now)| next < now)
}

/// The first sample on which `next` is worse than `now`, from 0.
pub(super) fn first_loss(next: &Trial, now: &Trial) -> Option<usize> {
    next.runs.iter().zip(&now.runs).position(|pair| both(pair).is_none_or(|(next, now)| next > now))
}

fn both((next, now): (&Run, &Run)) -> Option<(f64, f64)> {
    next.loss.zip(now.loss)
}

/// Trials that no other one beats in both loss and time, the quickest first. Those that were abandoned do not count.
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
    use crate::stereo::StereoParams;
    use std::sync::Arc;

    /// With these losses of the samples.
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
    fn the_front_has_what_nothing_beats() {
        let all = [(5.0, 9.0), (3.0, 10.0), (4.0, 12.0), (7.0, 8.0), (8.0, 8.0)];
        let mut trials: Vec<_> = all.iter().map(|&(ms, loss)| trial(ms, &[loss, loss])).collect();
        trials.push(trial(1.0, &[1.0]));
        let found: Vec<_> = front(&trials, 2).iter().map(|trial| (trial.time_ms, trial.loss.unwrap())).collect();
        assert_eq!(found, [(3.0, 10.0), (5.0, 9.0), (7.0, 8.0)]);
    }
}
