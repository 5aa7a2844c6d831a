//! Searches with a meter that knows where the optimum is.

use super::fake::{Fake, loss, optimum};
use super::judge::Judge;
use super::meter::Failure;
use super::plan::{Budget, Known, Limits, Plan};
use super::progress::SearchProgress;
use super::strategy::find;
use super::trial::{Trial, key};
use super::watcher::Watcher;
use crate::stereo::{Fill, Preset, StereoParams};
use std::collections::BTreeSet;
use std::time::Duration;

const SAMPLES: usize = 3;

fn plan(trials: usize, seed: u64) -> Plan {
    let limits = Limits { max_ms: None, budget: Budget::Trials(trials) };
    Plan { judge: Judge::Truth, start: StereoParams::default(), limits, seed }
}

/// Keeps trials, and stops after some reports.
#[derive(Default)]
struct Recorder {
    kept: Vec<Trial>,
    reports: usize,
    stops_after: Option<usize>,
}

impl Watcher for Recorder {
    fn is_stopped(&self) -> bool {
        self.stops_after.is_some_and(|most| self.kept.len() >= most)
    }

    fn tried(&mut self, trial: &Trial, _: Duration) -> Result<(), String> {
        self.kept.push(trial.clone());
        Ok(())
    }

    fn reached(&mut self, _: SearchProgress) {
        self.reports += 1;
    }
}

fn run(plan: &Plan, known: Known) -> (SearchProgress, Fake) {
    let mut fake = Fake::new();
    let found = find(plan, SAMPLES, known, &mut fake, &mut Recorder::default()).unwrap();
    (found, fake)
}

fn keys(progress: &SearchProgress) -> Vec<String> {
    progress.trials.iter().map(|trial| key(&trial.params)).collect()
}

#[test]
fn a_known_optimum_is_found_and_nothing_else_is_changed() {
    for seed in 1..4 {
        let (found, _) = run(&plan(400, seed), Known::default());
        let best = found.best.unwrap();
        assert!(loss(&best.params) < 10.3, "{seed}: {} {:?}", loss(&best.params), best.params);
        let StereoParams { cost, paths, median, subpixel, left_right, .. } = optimum();
        let found = &best.params;
        assert_eq!(
            (found.cost, found.paths, found.median, found.subpixel, found.left_right),
            (cost, paths, median, subpixel, left_right)
        );
        // without an effect on the loss
        let start = StereoParams::default();
        assert_eq!((found.spatial, found.speckle_size, found.fill), (start.spatial, start.speckle_size, Fill::None));
    }
}

#[test]
fn presets_and_the_present_setting_come_first_and_the_front_falls() {
    let (found, _) = run(&plan(100, 1), Known::default());
    assert_eq!(key(&found.trials[0].params), key(&StereoParams::default()));
    assert_eq!(found.presets.iter().map(|(preset, _)| *preset).collect::<Vec<_>>(), Preset::ALL);
    assert_eq!(found.trials.len(), 100);
    assert!(found.ended && found.error.is_none());
    assert!(found.front.is_sorted_by(|a, b| a.time_ms < b.time_ms && a.loss > b.loss), "{:?}", found.front);
    assert!(found.front.len() > 1);
}

#[test]
fn one_seed_gives_one_sequence() {
    let (first, again, other) = (
        run(&plan(120, 1), Known::default()),
        run(&plan(120, 1), Known::default()),
        run(&plan(120, 2), Known::default()),
    );
    assert_eq!(keys(&first.0), keys(&again.0));
    assert_ne!(keys(&first.0), keys(&other.0));
}

#[test]
fn nothing_is_tried_twice() {
    let (found, fake) = run(&plan(150, 1), Known::default());
    let keys = keys(&found);
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
    let measured: BTreeSet<_> = fake.calls.iter().map(|(params, sample)| (key(params), *sample)).collect();
    assert_eq!(measured.len(), fake.calls.len(), "each setting once on each sample");
    // hopeless ones were abandoned after their first sample
    assert!(fake.calls.len() < 150 * SAMPLES * 9 / 10, "{} of {}", fake.calls.len(), 150 * SAMPLES);
}

#[test]
fn a_search_that_goes_on_ends_as_if_it_had_not_been_stopped() {
    let whole = run(&plan(90, 5), Known::default()).0;
    for stopped_at in [1, 7, 40, 89] {
        let mut recorder = Recorder { stops_after: Some(stopped_at), ..Recorder::default() };
        let mut fake = Fake::new();
        let stopped = find(&plan(90, 5), SAMPLES, Known::default(), &mut fake, &mut recorder);
        assert_eq!(stopped.unwrap_err(), Failure::Stopped);
        assert_eq!(recorder.kept.len(), stopped_at);
        let before: BTreeSet<_> = recorder.kept.iter().map(|trial| key(&trial.params)).collect();
        let (resumed, fake) = run(&plan(90, 5), Known { trials: recorder.kept, elapsed: Duration::from_secs(3) });
        assert_eq!(keys(&resumed), keys(&whole));
        assert_eq!(resumed.best.unwrap().params, whole.best.as_ref().unwrap().params);
        assert!(resumed.elapsed >= Duration::from_secs(3));
        assert!(fake.calls.iter().all(|(params, _)| !before.contains(&key(params))), "none is repeated");
    }
    // one that is finished measures nothing
    let known = Known { trials: whole.trials.iter().map(|trial| (**trial).clone()).collect(), ..Known::default() };
    let (again, fake) = run(&plan(90, 5), known);
    assert_eq!((keys(&again), fake.calls.len()), (keys(&whole), 0));
}

#[test]
fn time_that_earlier_runs_took_counts() {
    let limits = Limits { max_ms: None, budget: Budget::Time(Duration::from_mins(1)) };
    let known = Known { trials: Vec::new(), elapsed: Duration::from_secs(61) };
    let (found, fake) = run(&Plan { limits, ..plan(1, 1) }, known);
    assert!(fake.calls.is_empty() && found.ended && found.best.is_none());
}

#[test]
fn a_limit_of_the_time_is_kept() {
    let limits = Limits { max_ms: Some(5.0), budget: Budget::Trials(150) };
    let (found, _) = run(&Plan { limits, ..plan(1, 1) }, Known::default());
    let best = found.best.unwrap();
    assert!(best.time_ms <= 5.0 && best.params.paths == 4, "{:?}", best.params);
    let limits = Limits { max_ms: Some(0.5), ..limits };
    assert!(run(&Plan { limits, ..plan(1, 1) }, Known::default()).0.best.is_none(), "nothing is as quick");
}

#[test]
fn a_lost_engine_ends_the_search_and_a_refused_setting_does_not() {
    let mut fake = Fake { lost_at: Some(50), ..Fake::new() };
    let ended = find(&plan(90, 1), SAMPLES, Known::default(), &mut fake, &mut Recorder::default());
    assert_eq!(ended.unwrap_err(), Failure::Lost("the GPU was lost".into()));
    let (found, _) = run(&plan(60, 1), Known::default());
    let (_, refused) = found.presets.iter().find(|(preset, _)| *preset == Preset::Frommholz2020).unwrap();
    assert_eq!((refused.samples, refused.loss), (0, None));
}
