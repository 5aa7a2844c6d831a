//! History of settings: changes with their times, undo and redo.

use crate::core::{SettingChange, Setup, words_of};
use std::time::{Duration, Instant, SystemTime};

/// Largest number of steps, beyond which the oldest are dropped.
const MAX_STEPS: usize = 500;
/// Settings of which each choice is a separate step.
const CHOSEN: [&str; 4] = ["Source", "Engine", "Preset", "Calibration"];
/// Interval below which changes of one setting, as by a slider, are merged into one step.
const SAME_STEP: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) at: SystemTime,
    /// Description, as "P1 14 → 22".
    pub(crate) words: String,
    names: Vec<&'static str>,
    setup: Setup,
}

/// Steps of this run of the program.
#[derive(Default)]
pub(crate) struct History {
    /// Settings before the first step; `None` before the start.
    start: Option<Setup>,
    steps: Vec<Step>,
    /// Number of steps in force; those after it can be redone.
    position: usize,
    now: Option<Setup>,
    /// Whether older settings were restored, so that the next difference is no step.
    is_going: bool,
    /// Time of the last change to the newest step, and the number of the pointer's press during it.
    newest: Option<(Instant, Option<u64>)>,
}

impl History {
    /// Records the present settings once per frame; `press` numbers the present press of the pointer.
    pub(crate) fn note(&mut self, setup: Setup, now: Instant, press: Option<u64>) {
        let Some(before) = &self.now else {
            (self.start, self.now) = (Some(setup.clone()), Some(setup));
            return;
        };
        if *before == setup {
            self.is_going = false;
            return;
        }
        self.now = Some(setup.clone());
        if std::mem::take(&mut self.is_going) {
            return;
        }
        self.steps.truncate(self.position);
        let names = |changes: &[SettingChange]| changes.iter().map(|change| change.name).collect::<Vec<_>>();
        let changes = self.in_force(self.position).map(|from| from.changes_to(&setup)).unwrap_or_default();
        let is_chosen = changes.iter().any(|change| CHOSEN.contains(&change.name));
        let is_same_step = self.newest.is_some_and(|(at, of_press)| {
            let follows = !is_chosen && now.saturating_duration_since(at) < SAME_STEP;
            (press.is_some() && press == of_press) || follows
        }) && self.steps.last().is_some_and(|last| last.names == names(&changes));
        if is_same_step {
            self.steps.pop();
        }
        self.newest = Some((now, press));
        let changes = self.in_force(self.steps.len()).map(|from| from.changes_to(&setup)).unwrap_or_default();
        if !changes.is_empty() {
            let (names, words) = (names(&changes), words_of(&changes));
            self.steps.push(Step { at: SystemTime::now(), words, names, setup });
        }
        if self.steps.len() > MAX_STEPS {
            self.start = Some(self.steps.remove(0).setup);
        }
        self.position = self.steps.len();
    }

    /// Records colours fitted because of the step in force, so that undo and redo include them.
    pub(crate) fn note_colours(&mut self, range_m: Option<(f64, f64)>) {
        let in_force = match self.position.checked_sub(1) {
            None => self.start.as_mut(),
            Some(last) => self.steps.get_mut(last).map(|step| &mut step.setup),
        };
        for setup in in_force.into_iter().chain(&mut self.now) {
            setup.depth_range_m = range_m;
        }
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the number of steps in force.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Goes to this number of steps and returns the settings to apply; `None` if the number is too large or nothing changes.
    pub(crate) fn go(&mut self, position: usize) -> Option<Setup> {
        let setup = self.in_force(position)?.clone();
        if position == self.position {
            return None;
        }
        (self.position, self.is_going, self.newest) = (position, true, None);
        Some(setup)
    }

    /// Returns the settings after this number of steps.
    fn in_force(&self, position: usize) -> Option<&Setup> {
        match position.checked_sub(1) {
            None => self.start.as_ref(),
            Some(last) => self.steps.get(last).map(|step| &step.setup),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Calibration;
    use fastrand::Rng;
    use stereopsis_frame::SourceSpec;
    use stereopsis_frame::engine::EngineChoice;
    use stereopsis_settings::rig::{CalibrationChoice, RectifyChoice};
    use stereopsis_stereo::{CostKind, Preset, StereoParams, Subpixel};

    fn setup() -> Setup {
        let (params, source) = (StereoParams::default(), SourceSpec::Scene);
        let (preset, engine) = (Preset::Balanced, EngineChoice::Auto);
        let (calibration, depth_range_m) = (Calibration::default(), None);
        Setup { params, preset, own: None, engine, source, calibration, depth_range_m }
    }

    fn with_p1(p1: u32) -> Setup {
        let params = StereoParams { p1, p2: 90, ..StereoParams::default() };
        Setup { params, ..setup() }
    }

    fn words(history: &History) -> Vec<&str> {
        history.steps().iter().map(|step| step.words.as_str()).collect()
    }

    #[test]
    fn a_drag_is_one_step_and_two_drags_are_two() {
        let (mut history, start) = (History::default(), Instant::now());
        let after = |ms: u64| start + Duration::from_millis(ms);
        history.note(with_p1(14), after(0), None);
        for (i, p1) in [15, 18, 22].into_iter().enumerate() {
            // the pointer rests for seconds between two changes and stays pressed
            history.note(with_p1(p1), after(3000 * i as u64), Some(7));
        }
        assert_eq!(words(&history), ["P1 14 → 22"]);
        history.note(with_p1(30), after(9000), Some(8));
        assert_eq!(words(&history), ["P1 14 → 22", "P1 22 → 30"]);
        history.note(with_p1(31), after(9500), None);
        assert_eq!(words(&history), ["P1 14 → 22", "P1 22 → 31"], "keys that follow quickly are one step");
        history.note(with_p1(22), after(9600), None);
        assert_eq!(words(&history), ["P1 14 → 22"], "a change that is taken back at once is none");
    }

    #[test]
    fn other_settings_are_other_steps_and_have_their_words() {
        let (mut history, now) = (History::default(), Instant::now());
        history.note(setup(), now, None);
        let mut preset = Setup { preset: Preset::Fast, ..setup() };
        Preset::Fast.apply(&mut preset.params);
        history.note(preset.clone(), now, None);
        assert_eq!(words(&history), ["Preset balanced → fast"], "its parameters are not named");
        let source = Setup { source: SourceSpec::Folder("pairs".into()), ..preset.clone() };
        history.note(source.clone(), now, None);
        assert_eq!(words(&history)[1], "Source scene → pairs");
        let mut cost = source;
        cost.params.set_cost(CostKind::Sad);
        history.note(cost, now, None);
        assert!(
            words(&history)[2].starts_with("Cost ") && words(&history)[2].contains(", P1 "),
            "{:?}",
            words(&history)
        );
    }

    #[test]
    fn colours_that_follow_a_step_come_and_go_with_it() {
        let (mut history, start) = (History::default(), Instant::now());
        let after = |s: u64| start + Duration::from_secs(10 * s);
        let with = |p1: u32, range_m| Setup { depth_range_m: range_m, ..with_p1(p1) };
        let [first, second, own] = [Some((0.5, 3.0)), Some((2.0, 4.5)), Some((1.0, 9.0))];
        history.note(with(10, None), after(0), None);
        history.note_colours(first);
        history.note(with(10, first), after(1), None);
        assert!(words(&history).is_empty(), "the first fit is no step");
        history.note(with(11, first), after(2), None);
        history.note_colours(second);
        history.note(with(11, second), after(3), None);
        history.note(with(11, own), after(4), None);
        assert_eq!(words(&history), ["P1 10 → 11", "Colours 2.00 to 4.50 m → 1.00 to 9.00 m"]);
        assert_eq!((history.go(1), history.go(0)), (Some(with(11, second)), Some(with(10, first))));
    }

    #[test]
    fn a_calibration_is_a_step_with_words() {
        let (mut history, now) = (History::default(), Instant::now());
        history.note(setup(), now, None);
        let choice = CalibrationChoice { rectify: Some(RectifyChoice::Auto), ..CalibrationChoice::default() };
        let estimated = Setup { calibration: Calibration { choice, ..Calibration::default() }, ..setup() };
        history.note(estimated.clone(), now + Duration::from_secs(10), None);
        let mut measured = estimated;
        measured.calibration.choice.baseline_m = Some(0.193);
        measured.calibration.choice.fov_deg = Some(36.24);
        history.note(measured, now + Duration::from_secs(20), None);
        assert_eq!(
            words(&history),
            ["Calibration none → estimated", "Calibration estimated → estimated 36.2° 0.193 m"]
        );
    }

    #[test]
    fn a_new_change_after_going_back_replaces_what_was_undone() {
        let (mut history, now) = (History::default(), Instant::now());
        let note = |history: &mut History, setup: Setup, s: u64| {
            history.note(setup, now + Duration::from_secs(10 * s), None);
        };
        for (s, p1) in (0..).zip([10, 11, 12]) {
            note(&mut history, with_p1(p1), s);
        }
        assert_eq!(history.go(1), Some(with_p1(11)));
        note(&mut history, with_p1(11), 3);
        assert_eq!((history.position(), history.steps().len()), (1, 2), "what was undone can be done again");
        assert_eq!((history.go(5), history.go(1)), (None, None));
        note(&mut history, with_p1(40), 4);
        assert_eq!(words(&history), ["P1 10 → 11", "P1 11 → 40"]);
    }

    #[test]
    fn settings_that_cannot_be_taken_are_no_step() {
        let (mut history, now) = (History::default(), Instant::now());
        let away = Setup { source: SourceSpec::Folder("pairs".into()), ..setup() };
        history.note(away.clone(), now, None);
        history.note(setup(), now, None);
        assert_eq!(history.go(0), Some(away));
        // the source stays, since the folder is gone
        history.note(setup(), now, None);
        assert_eq!((words(&history).len(), history.position()), (1, 0));
    }

    #[test]
    fn any_way_back_leads_to_the_same_settings() {
        let mut rng = Rng::with_seed(6);
        let (mut history, start) = (History::default(), Instant::now());
        let mut setups = vec![with_p1(20)];
        history.note(setups[0].clone(), start, None);
        let mut current = 0;
        for s in 1..400 {
            if rng.bool() {
                let to = rng.usize(..setups.len());
                let taken = history.go(to);
                assert_eq!(taken, (to != current).then(|| setups[to].clone()));
                current = to;
                history.note(setups[to].clone(), start + Duration::from_secs(10 * s), None);
            } else {
                let mut next = setups[current].clone();
                match rng.u32(..3) {
                    0 => next.params.p1 = 10 + (next.params.p1 + 1 + rng.u32(..5)) % 30,
                    1 => next.params.subpixel = Subpixel::ALL[(next.params.subpixel as usize + 1) % 3],
                    _ => next.params.num_disparities = 16 + (next.params.num_disparities + 16) % 128,
                }
                setups.truncate(current + 1);
                setups.push(next.clone());
                current += 1;
                history.note(next, start + Duration::from_secs(10 * s), None);
            }
            assert_eq!((history.position(), history.steps().len()), (current, setups.len() - 1));
        }
    }

    #[test]
    fn the_oldest_steps_are_forgotten() {
        let (mut history, start) = (History::default(), Instant::now());
        for i in 0..=MAX_STEPS as u64 + 5 {
            history.note(with_p1(10 + i as u32 % 50), start + Duration::from_secs(10 * i), None);
        }
        assert_eq!(history.steps().len(), MAX_STEPS);
        assert_eq!(history.go(0), Some(with_p1(15)));
    }
}
