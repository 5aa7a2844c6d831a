//! Tests of searches with a meter that follows a rule.

use super::error::JournalError;
use super::fake::{FakeMeter, time_ms};
use super::judge::Judge;
use super::meter::Failure;
use super::plan::{Budget, EarlierTrials, Plan, SearchLimits};
use super::progress::{MIN_PAIRS_FOR_CHANGES, SearchProgress};
use super::strategy::find;
use super::trial::{Trial, key};
use super::watcher::Watcher;
use super::why_not::RejectionReason;
use std::collections::BTreeSet;
use std::time::Duration;
use stereopsis_stereo::{Fill, Median, Preset, StereoParams};

fn plan(judge: Judge, max_ms: Option<f64>) -> Plan {
    let limits = SearchLimits { max_ms, budget: Budget::Trials(1000) };
    Plan { judge, start: StereoParams::default(), limits }
}

fn truth() -> Plan {
    plan(Judge::Truth, None)
}

fn of(preset: Preset) -> StereoParams {
    let mut params = StereoParams::default();
    preset.apply(&mut params);
    params
}

/// Observer that stores trials and stops the search after some.
#[derive(Default)]
struct Recorder {
    kept: Vec<Trial>,
    stops_after: Option<usize>,
}

impl Watcher for Recorder {
    fn is_stopped(&self) -> bool {
        self.stops_after.is_some_and(|most| self.kept.len() >= most)
    }

    fn tried(&mut self, trial: &Trial, _: Duration) -> Result<(), JournalError> {
        self.kept.push(trial.clone());
        Ok(())
    }
}

type Loss = fn(&StereoParams, usize) -> f64;

/// Runs a search on this number of samples, and returns the measured settings too.
fn run(plan: &Plan, samples: usize, loss: Loss, known: EarlierTrials) -> (SearchProgress, FakeMeter) {
    let mut fake = FakeMeter { loss, ..FakeMeter::new() };
    let found = find(plan, samples, known, &mut fake, &mut Recorder::default()).unwrap();
    (found, fake)
}

fn found(plan: &Plan, samples: usize, loss: Loss) -> Option<StereoParams> {
    run(plan, samples, loss, EarlierTrials::default()).0.best.map(|best| (*best.params).clone())
}

fn keys(progress: &SearchProgress) -> Vec<String> {
    progress.trials.iter().map(|trial| key(&trial.params)).collect()
}

/// Losses that rise with the time, in contrast to the presets' quality.
const MISLEADING: Loss = |params, _| time_ms(params);

#[test]
fn without_truth_the_slowest_allowed_preset_is_proposed() {
    for (max_ms, preset) in [
        (None, Some(Preset::Best)),
        (Some(20.0), Some(Preset::Accurate)),
        (Some(15.0), Some(Preset::Balanced)),
        (Some(5.0), Some(Preset::Fast)),
        (Some(1.0), None),
    ] {
        let plan = plan(Judge::WithoutTruth, max_ms);
        assert_eq!(found(&plan, 8, MISLEADING), preset.map(of), "{max_ms:?}");
        // from any start, with its filling
        let start = StereoParams { p2: 90, fill: Fill::Background, ..of(Preset::Accurate) };
        let filled = preset.map(|preset| StereoParams { fill: Fill::Background, ..of(preset) });
        assert_eq!(found(&Plan { start, ..plan }, 8, MISLEADING), filled, "{max_ms:?}");
    }
    let progress = run(&plan(Judge::WithoutTruth, None), 8, MISLEADING, EarlierTrials::default()).0;
    assert_eq!(progress.trials.len(), 4, "nothing but the presets is tried");
    assert!(progress.keeps_to_presets().unwrap().contains("without truth"));
}

#[test]
fn with_truth_a_proposed_preset_loses_on_no_pair() {
    let few = MIN_PAIRS_FOR_CHANGES - 1;
    // both lose on every second pair, and are better in the mean
    let gains: Loss = |params, sample| if params.choice { [10.1, 8.0][sample % 2] } else { 10.0 };
    let loses: Loss = |params, sample| if params.choice { [10.5, 8.0][sample % 2] } else { 10.0 };
    for (max_ms, loss, preset) in [
        (None, gains, Some(Preset::Best)),
        (None, loses, Some(Preset::Balanced)),
        (None, MISLEADING, Some(Preset::Fast)),
        (Some(20.0), (|params, _| 40.0 - time_ms(params)) as Loss, Some(Preset::Accurate)),
        (Some(6.0), gains, Some(Preset::Fast)),
        (Some(1.0), gains, None),
    ] {
        let plan = plan(Judge::Truth, max_ms);
        let progress = run(&plan, few, loss, EarlierTrials::default()).0;
        assert_eq!(progress.best.as_ref().map(|best| (*best.params).clone()), preset.map(of), "{max_ms:?}");
        assert_eq!(progress.trials.len(), 4, "nothing but the presets is tried");
        let fitting = progress.presets.iter().map(|(_, trial)| trial).filter(|trial| progress.fits(trial));
        let mut better = fitting.filter(|trial| trial.loss < progress.best.as_ref().unwrap().loss);
        let is_named = |trial: &_| {
            progress.why_not(trial) == Some(RejectionReason::LosesOnPair { pair: 1, loss: 10.5, proposed: 10.0 })
        };
        assert!(better.all(|trial| is_named(trial)), "{max_ms:?}");
    }
    // a preset that is no better does not replace the present setting
    let start = StereoParams { p2: 90, ..StereoParams::default() };
    assert_eq!(found(&Plan { start: start.clone(), ..truth() }, few, |_, _| 10.0), Some(start));
}

#[test]
fn every_rejected_better_setting_has_a_reason() {
    let reasons = |progress: &SearchProgress| -> Vec<_> {
        progress.presets.iter().map(|(preset, trial)| (*preset, progress.why_not(trial))).collect()
    };
    let loss: Loss = |params, _| 40.0 - time_ms(params);
    let limited = run(&plan(Judge::Truth, Some(9.0)), 2, loss, EarlierTrials::default()).0;
    let [(_, fast), (_, balanced), (_, accurate), (_, best)] = reasons(&limited)[..] else { panic!("{limited:?}") };
    assert_eq!((fast, balanced), (None, None), "one has a higher loss, the other is the proposal");
    assert_eq!(accurate, Some(RejectionReason::OverLimit { time_ms: 16.0, max_ms: 9.0 }));
    assert_eq!(
        best,
        Some(RejectionReason::OverLimit { time_ms: 24.0, max_ms: 9.0 }),
        "it was abandoned, because it is slow"
    );
    let blind = run(&plan(Judge::WithoutTruth, None), 2, MISLEADING, EarlierTrials::default()).0;
    let blind = reasons(&blind);
    assert!(blind[..3].iter().all(|(_, why)| *why == Some(RejectionReason::ScoreDecidesNothing)), "{blind:?}");
    assert_eq!(blind[3], (Preset::Best, None));
    let start = StereoParams { gating: Some(6), ..StereoParams::default() };
    let refused = run(&Plan { start, ..truth() }, 2, |_, _| 10.0, EarlierTrials::default()).0;
    assert_eq!(refused.why_not(refused.start.as_ref().unwrap()), Some(RejectionReason::Refused));
    // one change gains 3 %, another one loses on the last of all pairs
    let changes: Loss = |params, sample| match () {
        () if params.median == Median::Five => 9.7 * 0.9,
        () if params.p1 == 35 && params.p2 == 180 => [1.0, 9.1][usize::from(sample == MIN_PAIRS_FOR_CHANGES - 1)],
        () if params.choice => 9.0,
        () => 10.0,
    };
    let passed =
        run(&Plan { start: of(Preset::Best), ..truth() }, MIN_PAIRS_FOR_CHANGES, changes, EarlierTrials::default()).0;
    assert_eq!(*passed.best.as_ref().unwrap().params, of(Preset::Best));
    let trials = |is: fn(&RejectionReason) -> bool| {
        passed.trials.iter().filter(|trial| passed.why_not(trial).as_ref().is_some_and(is)).count()
    };
    assert_eq!(trials(|why| matches!(why, RejectionReason::SmallGain { percent } if (percent - 3.0).abs() < 1e-9)), 1);
    let lost = RejectionReason::LosesOnPair { pair: MIN_PAIRS_FOR_CHANGES, loss: 9.1, proposed: 9.0 };
    let named: Vec<_> = passed.passed_over().into_iter().map(|(_, why)| why).collect();
    assert_eq!(named, [lost], "the quickest that nothing beats");
    // an early end names the untried presets
    let limits = SearchLimits { max_ms: None, budget: Budget::Trials(3) };
    let short = run(&Plan { limits, ..truth() }, 2, loss, EarlierTrials::default()).0;
    assert!(short.untried().unwrap().ends_with(": best.") && limited.untried().is_none(), "{:?}", short.untried());
}

fn is_smoother(params: &StereoParams) -> bool {
    params.p2 == 252 && params.p2_min == 52
}

/// Returns whether P1 of `best` was lowered, for any P2.
fn follows_slants(params: &StereoParams) -> bool {
    (params.p1, params.p2_min) == (35, 52)
}

/// Returns the factor of the loss by which `best` is the best preset.
fn dearest(params: &StereoParams) -> f64 {
    if params.choice { 1.0 } else { 1.01 }
}

#[test]
fn truth_of_many_pairs_permits_changes_with_clear_gains() {
    let loss: Loss = |params, sample| {
        let smooth = if is_smoother(params) { 0.9 } else { 1.0 };
        let slanted = if !follows_slants(params) {
            1.0
        } else if sample == 3 {
            1.2
        } else {
            0.5
        };
        let median = if params.median == Median::Five { 0.97 } else { 1.0 };
        dearest(params) * (10.0 + sample as f64) * smooth * slanted * median
    };
    let best = of(Preset::Best);
    assert_eq!(found(&truth(), MIN_PAIRS_FOR_CHANGES, loss), Some(StereoParams { p2: 252, ..best.clone() }));
    assert_eq!(found(&truth(), MIN_PAIRS_FOR_CHANGES - 1, loss), Some(best.clone()));
    assert_eq!(found(&plan(Judge::WithoutTruth, None), MIN_PAIRS_FOR_CHANGES, loss), Some(best));
    // a cheaper preset needs no margin
    assert_eq!(found(&truth(), MIN_PAIRS_FOR_CHANGES, MISLEADING), Some(of(Preset::Fast)));
    let best = Plan { start: of(Preset::Best), ..truth() };
    assert_eq!(found(&best, MIN_PAIRS_FOR_CHANGES, MISLEADING), Some(of(Preset::Fast)));
}

#[test]
fn a_proposal_stays_near_a_preset() {
    let loss: Loss = |params, _| {
        let factor = |is_changed: bool| if is_changed { 0.8 } else { 1.0 };
        10.0 * dearest(params)
            * factor(is_smoother(params))
            * factor(follows_slants(params))
            * factor(params.median == Median::Five)
    };
    let found = found(&truth(), MIN_PAIRS_FOR_CHANGES, loss).unwrap();
    let best = of(Preset::Best);
    let changes = StereoParams::table().iter().filter(|parameter| (parameter.get)(&found) != (parameter.get)(&best));
    assert_eq!(changes.count(), 2, "{found:?}");
}

#[test]
fn start_and_presets_come_first_and_the_front_falls() {
    let start = StereoParams { p2: 90, ..StereoParams::default() };
    let (found, _) =
        run(&Plan { start: start.clone(), ..truth() }, 8, |p, _| 50.0 - time_ms(p), EarlierTrials::default());
    let first: Vec<_> = found.trials[..5].iter().map(|trial| (*trial.params).clone()).collect();
    let presets = [Preset::Fast, Preset::Balanced, Preset::Accurate, Preset::Best];
    assert_eq!(first, [vec![start], presets.map(of).to_vec()].concat());
    assert_eq!(found.presets.iter().map(|(preset, _)| *preset).collect::<Vec<_>>(), presets);
    assert!(found.ended && found.error.is_none() && found.trials.len() > 5);
    assert!(found.front.is_sorted_by(|a, b| a.time_ms < b.time_ms && a.loss > b.loss), "{:?}", found.front);
    assert!(found.front.len() > 1);
}

#[test]
fn losing_settings_are_abandoned_and_none_is_tried_twice() {
    let (found, fake) =
        run(&truth(), 8, |params, _| f64::from(params.p1) + f64::from(params.p2), EarlierTrials::default());
    let keys = keys(&found);
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
    let measured: BTreeSet<_> = fake.calls.iter().map(|(params, sample)| (key(params), *sample)).collect();
    assert_eq!(measured.len(), fake.calls.len(), "each setting once on each sample");
    let abandoned = found.trials.iter().filter(|trial| trial.samples == 1).count();
    assert!(abandoned > 3, "{abandoned}");
    let slow = run(&plan(Judge::WithoutTruth, Some(6.0)), 8, MISLEADING, EarlierTrials::default()).0;
    let samples: Vec<_> = slow.presets.iter().map(|(_, trial)| trial.samples).collect();
    assert_eq!(samples, [8, 8, 1, 1], "the present setting is tried whole, and presets that are far too slow once");
}

#[test]
fn resumed_search_ends_like_an_uninterrupted_one() {
    let loss: Loss = |params, _| 100.0 / f64::from(params.p1) + 9.0 / f64::from(params.arms);
    let whole = run(&truth(), 8, loss, EarlierTrials::default()).0;
    assert!(whole.trials.len() > 12);
    for stopped_at in [1, 3, 7, whole.trials.len() - 1] {
        let mut recorder = Recorder { stops_after: Some(stopped_at), ..Recorder::default() };
        let mut fake = FakeMeter { loss, ..FakeMeter::new() };
        let stopped = find(&truth(), 8, EarlierTrials::default(), &mut fake, &mut recorder);
        assert!(matches!(stopped, Err(Failure::Stopped)), "{stopped:?}");
        assert_eq!(recorder.kept.len(), stopped_at);
        let before: BTreeSet<_> = recorder.kept.iter().map(|trial| key(&trial.params)).collect();
        let known = EarlierTrials { trials: recorder.kept, elapsed: Duration::from_secs(3) };
        let (resumed, fake) = run(&truth(), 8, loss, known);
        assert_eq!(keys(&resumed), keys(&whole));
        assert_eq!(resumed.best.unwrap().params, whole.best.as_ref().unwrap().params);
        assert!(resumed.elapsed >= Duration::from_secs(3));
        assert!(fake.calls.iter().all(|(params, _)| !before.contains(&key(params))), "none is repeated");
    }
    // a finished search measures nothing
    let known = EarlierTrials {
        trials: whole.trials.iter().map(|trial| (**trial).clone()).collect(),
        ..EarlierTrials::default()
    };
    let (again, fake) = run(&truth(), 8, loss, known);
    assert_eq!((keys(&again), fake.calls.len()), (keys(&whole), 0));
}

#[test]
fn a_budget_is_kept_and_earlier_runs_count() {
    let limits = SearchLimits { max_ms: None, budget: Budget::Trials(3) };
    let found = run(&Plan { limits, ..truth() }, 8, |_, _| 10.0, EarlierTrials::default()).0;
    assert_eq!((found.trials.len(), &*found.best.unwrap().params), (3, &of(Preset::Balanced)), "none is better");
    let limits = SearchLimits { max_ms: None, budget: Budget::Time(Duration::from_mins(1)) };
    let known = EarlierTrials { trials: Vec::new(), elapsed: Duration::from_secs(61) };
    let (found, fake) = run(&Plan { limits, ..truth() }, 8, |_, _| 10.0, known);
    assert!(fake.calls.is_empty() && found.ended && found.best.is_none());
}

#[test]
fn only_a_lost_engine_ends_the_search() {
    let mut fake = FakeMeter { lost_at: Some(20), ..FakeMeter::new() };
    let ended = find(&truth(), 8, EarlierTrials::default(), &mut fake, &mut Recorder::default());
    assert!(matches!(ended, Err(Failure::Lost(_))), "{ended:?}");
    let start = StereoParams { gating: Some(6), ..StereoParams::default() };
    let found = run(&Plan { start, ..truth() }, 8, |_, _| 10.0, EarlierTrials::default()).0;
    assert_eq!(found.start.as_ref().map(|start| (start.samples, start.loss)), Some((0, None)));
    assert_eq!(*found.best.unwrap().params, of(Preset::Fast), "none is better than the first one that works");
}
