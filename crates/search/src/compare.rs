//! Which of two settings is the better one, by a margin and not by a single pair: what suits these pairs shall suit others too.

use super::trial::{Run, Trial};

/// A better setting lowers the mean loss by this share at least.
const MARGIN: f64 = 0.01;
/// One of so many samples may be lost: none of nine.
const SAMPLES_FOR_LOST: usize = 10;
/// A sample is lost where its loss is higher by more than this share.
const LOST: f64 = 0.02;
/// A setting leads where its mean loss is lower by this share.
const STEP: f64 = 0.002;
/// A loss that is higher by a smaller share is as good.
const TIE: f64 = 0.005;
/// Of the pixels that a better setting adds to the right ones, so many may be matched by as many new wrong ones.
const WRONG_FOR_RIGHT: f64 = 0.25;

/// Whether `next` is better than `now`, both tried on all samples:
///
/// - its mean loss is lower by 1 per cent,
/// - of ten samples it loses one at most, of fewer none,
/// - it also wins where the sample on which it gains most is left out,
/// - and at most one of five pixels that it adds has a wrong disparity: a check that is switched off wins nothing.
pub(super) fn is_better(next: &Trial, now: &Trial) -> bool {
    let pairs: Option<Vec<_>> = next.runs.iter().zip(&now.runs).map(both).collect();
    let Some(pairs) = pairs.filter(|_| next.runs.len() == now.runs.len()) else { return false };
    let gains: Vec<f64> = pairs.iter().map(|(next, now)| now - next).collect();
    let (total, sum_now) = (gains.iter().sum::<f64>(), pairs.iter().map(|(_, now)| now).sum::<f64>());
    let largest = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    total > 0.0
        && total >= MARGIN * sum_now
        && !loses_too_many(next, now, pairs.len())
        && (gains.len() == 1 || total - largest > 0.0)
        && adds_right(next, now)
}

/// Whether the mean loss of `next` is lower, on whichever samples.
pub(super) fn is_lower(next: &Trial, now: &Trial) -> bool {
    next.loss.zip(now.loss).is_some_and(|(next, now)| next < now * (1.0 - STEP)) && adds_right(next, now)
}

/// Whether at most one of five pixels that `next` adds has a wrong disparity; without truth that is not known.
pub(super) fn adds_right(next: &Trial, now: &Trial) -> bool {
    let gain = next.runs.iter().zip(&now.runs).filter_map(both).map(|(next, now)| now - next).sum::<f64>();
    wrong(next).zip(wrong(now)).is_none_or(|(next, now)| next - now <= WRONG_FOR_RIGHT * gain.max(0.0))
}

/// Whether so many of `samples` are lost that `next` is not better.
fn loses_too_many(next: &Trial, now: &Trial, samples: usize) -> bool {
    let pairs = next.runs.iter().zip(&now.runs).filter_map(both);
    let lost = pairs.filter(|(next, now)| next - now > LOST * now.abs()).count();
    lost > samples / SAMPLES_FOR_LOST
}

/// Whether `next`, which is nearer to what is known, is as good as `now`.
pub(super) fn is_as_good(next: &Trial, now: &Trial) -> bool {
    let is_whole = next.samples == now.samples;
    let wrong_fits = wrong(next).zip(wrong(now)).is_none_or(|(next, now)| next <= now * (1.0 + MARGIN));
    is_whole && wrong_fits && next.loss.zip(now.loss).is_some_and(|(next, now)| next <= now * (1.0 + TIE))
}

/// Whether the first samples of `next` are so bad that the rest cannot mend it.
pub(super) fn is_hopeless(next: &Trial, now: &Trial) -> bool {
    if next.runs.iter().any(|run| run.loss.is_none()) {
        return true;
    }
    let pairs: Vec<_> = next.runs.iter().zip(&now.runs).filter_map(both).collect();
    let (sum_next, sum_now) = pairs.iter().fold((0.0, 0.0), |sums, pair| (sums.0 + pair.0, sums.1 + pair.1));
    sum_next > sum_now * (1.0 + 0.1 / (pairs.len().max(1) as f64).sqrt())
}

fn both((next, now): (&Run, &Run)) -> Option<(f64, f64)> {
    next.loss.zip(now.loss)
}

/// Wrong pixels of all samples, as a sum of per cents; `None` without truth.
fn wrong(trial: &Trial) -> Option<f64> {
    trial.runs.iter().map(|run| run.wrong_percent).sum()
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

    /// Losses and wrong pixels of samples.
    fn trial(time_ms: f64, losses: &[f64], wrong: &[f64]) -> Arc<Trial> {
        let run = |(loss, wrong): (&f64, &f64)| Run {
            loss: Some(*loss),
            wrong_percent: Some(*wrong),
            measured_percent: 90.0,
            time_ms,
            pixels: 1,
        };
        Arc::new(Trial::of(Arc::new(StereoParams::default()), losses.iter().zip(wrong).map(run).collect()))
    }

    #[test]
    fn a_gain_counts_by_a_margin_and_on_more_than_one_sample() {
        let better = |next: &[f64], now: &[f64]| is_better(&trial(1.0, next, &[3.0; 4]), &trial(1.0, now, &[3.0; 4]));
        let now = [10.0, 10.0, 10.0, 10.0];
        assert!(better(&[9.0, 9.0, 9.0, 9.0], &now));
        assert!(!better(&[9.92, 9.92, 9.92, 9.92], &now), "no margin");
        assert!(!better(&[2.0, 10.0, 10.0, 10.0], &now), "a single sample");
        assert!(better(&[8.0, 8.0, 10.03, 10.03], &now));
        assert!(!better(&[7.0, 7.0, 7.0, 10.3], &now), "it loses one of four");
        let (many, lost) = (vec![10.0; 20], [vec![8.0; 18], vec![11.0; 2]].concat());
        let of = |losses: &[f64]| trial(1.0, losses, &vec![3.0; losses.len()]);
        assert!(is_better(&of(&lost), &of(&many)), "two of twenty");
        assert!(!better(&[9.0, 9.0], &now), "not tried on all");
        assert!(is_better(&trial(1.0, &[9.0], &[3.0]), &trial(1.0, &[10.0], &[3.0])), "one sample has no others");
    }

    #[test]
    fn pixels_that_are_added_have_to_be_right() {
        let now = trial(1.0, &[20.0, 20.0], &[5.0, 5.0]);
        assert!(is_better(&trial(1.0, &[18.0, 18.0], &[5.4, 5.4]), &now));
        // as where a check is switched off
        assert!(!is_better(&trial(1.0, &[16.0, 16.0], &[9.0, 9.0]), &now));
    }

    #[test]
    fn what_is_nearer_may_be_a_little_worse() {
        let now = trial(1.0, &[10.0, 10.0], &[3.0, 3.0]);
        assert!(is_as_good(&trial(1.0, &[10.0, 10.05], &[3.0, 3.0]), &now));
        assert!(!is_as_good(&trial(1.0, &[10.2, 10.2], &[3.0, 3.0]), &now));
        assert!(!is_as_good(&trial(1.0, &[10.0, 10.0], &[4.0, 4.0]), &now));
    }

    #[test]
    fn hopeless_is_far_worse_on_the_first_samples() {
        let now = trial(1.0, &[10.0, 20.0, 30.0], &[3.0; 3]);
        assert!(is_hopeless(&trial(1.0, &[11.5], &[3.0]), &now));
        assert!(!is_hopeless(&trial(1.0, &[10.8], &[3.0]), &now));
        assert!(
            is_hopeless(&trial(1.0, &[11.0, 22.0, 33.0], &[3.0; 3]), &now),
            "the more samples, the less is forgiven"
        );
    }

    #[test]
    fn the_front_has_what_nothing_beats() {
        let all = [(5.0, 9.0), (3.0, 10.0), (4.0, 12.0), (7.0, 8.0), (8.0, 8.0)];
        let mut trials: Vec<_> = all.iter().map(|&(ms, loss)| trial(ms, &[loss, loss], &[1.0; 2])).collect();
        trials.push(trial(1.0, &[1.0], &[1.0]));
        let found: Vec<_> = front(&trials, 2).iter().map(|trial| (trial.time_ms, trial.loss.unwrap())).collect();
        assert_eq!(found, [(3.0, 10.0), (5.0, 9.0), (7.0, 8.0)]);
    }
}
