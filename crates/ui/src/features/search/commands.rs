//! Sweep and search of settings in the background.

use crate::core::{Action, Command, Core, Feature, MAX_PAIRS, Step, cannot_judge};
use egui::Context;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_search::{Budget, Judge, Search, SearchAxis, SearchLimits, Sweep};
use stereopsis_stereo::StereoParams;

#[derive(Clone, Debug)]
pub(crate) enum SearchStep {
    /// Adds the shown pair to those on which settings are tried.
    AddPair,
    ForgetPairs,
    /// Sets the parameter along (0) or across (1) the rows of the map, by its name.
    SetAxis(usize, &'static str),
    StartSweep,
    StopSweep,
    /// Applies the two values of the cell at this column and row.
    TakeCell(usize, usize),
    SetWishes(crate::core::SearchWishes),
    StartSearch,
    StopSearch,
    /// Keeps the present settings as A and applies these as B.
    TakeAsB(Box<StereoParams>),
}

impl Step for SearchStep {}

/// Sweep and search in the background, which stop when dropped.
#[derive(Default)]
pub(crate) struct BackgroundTrials {
    sweep: Option<Sweep>,
    search: Option<Search>,
}

impl Feature for BackgroundTrials {
    fn execute(&mut self, core: &mut Core, command: Command, _ctx: &Context) -> Result<(), Command> {
        execute(self, core, command.step()?);
        Ok(())
    }

    fn update(&mut self, core: &mut Core, _now: Instant) {
        let trials = self;
        let state = &mut core.search;
        if let Some(sweep) = &trials.sweep {
            state.sweep = Some(sweep.progress());
        }
        if let Some(search) = &trials.search {
            state.search = Some(search.progress());
        }
        if !state.is_sweeping() {
            trials.sweep = None;
        }
        if !state.is_searching() {
            trials.search = None;
        }
    }
}

fn execute(trials: &mut BackgroundTrials, core: &mut Core, step: SearchStep) {
    let state = &mut core.search;
    match step {
        SearchStep::AddPair => add_pair(core),
        SearchStep::ForgetPairs => state.pairs.clear(),
        SearchStep::SetAxis(which, name) => {
            // both axes must differ, so the other one takes the old name
            if state.axes[1 - which] == name {
                state.axes[1 - which] = state.axes[which];
            }
            state.axes[which] = name;
        }
        SearchStep::StartSweep => start_sweep(trials, core),
        SearchStep::StopSweep => {
            trials.sweep = None;
            if let Some(sweep) = &mut state.sweep {
                Arc::make_mut(sweep).ended = true;
            }
        }
        SearchStep::TakeCell(x, y) => {
            if let Some(params) = state.params_of_cell(&core.matching.params, (x, y)) {
                core.set_params(params);
            }
        }
        SearchStep::SetWishes(wishes) => state.wishes = wishes,
        SearchStep::StartSearch => start_search(trials, core),
        SearchStep::StopSearch => {
            trials.search = None;
            if let Some(search) = &mut state.search {
                Arc::make_mut(search).ended = true;
            }
        }
        SearchStep::TakeAsB(params) => {
            if core.comparison.is_none() {
                core.send(Action::KeepAsA);
            }
            core.send(Command::SetParams(*params));
        }
    }
}

fn add_pair(core: &mut Core) {
    let Some(output) = core.output() else { return };
    let frame = Arc::clone(&output.job.frame);
    let state = &mut core.search;
    if state.pairs.iter().any(|known| Arc::ptr_eq(known, &frame)) {
        core.notices.news("this pair is among them already");
    } else if state.pairs.len() >= MAX_PAIRS {
        core.notices.news(format!("{MAX_PAIRS} pairs are enough"));
    } else {
        state.pairs.push(frame);
    }
}

fn start_sweep(trials: &mut BackgroundTrials, core: &mut Core) {
    let (Some(output), Some(engine)) = (core.output(), core.engine_in_use()) else { return };
    let base = core.matching.params.clone();
    let samples = core.search.samples(&output.job.frame);
    let judge = Judge::of(&samples);
    let [Some(x), Some(y)] = core.search.axes.map(|name| SearchAxis::of(name, &base)) else {
        return core.notices.news("one of the two parameters has no effect beside the others");
    };
    if cannot_judge(judge, &base).is_some() {
        return;
    }
    let wake = core.waker.clone();
    match Sweep::start(samples, base, [x, y], judge, engine, Arc::new(move || wake.wake())) {
        Ok(sweep) => {
            core.search.sweep = Some(sweep.progress());
            trials.sweep = Some(sweep);
        }
        Err(why) => core.notices.error(format!("no thread for a sweep: {why}")),
    }
}

fn start_search(trials: &mut BackgroundTrials, core: &mut Core) {
    let (Some(output), Some(engine)) = (core.output(), core.engine_in_use()) else { return };
    let start = core.matching.params.clone();
    let samples = core.search.samples(&output.job.frame);
    let judge = Judge::of(&samples);
    if cannot_judge(judge, &start).is_some() {
        return;
    }
    let wishes = core.search.wishes;
    let max_ms = (wishes.rate_hz > 0.0).then(|| 1e3 / wishes.rate_hz);
    let limits = SearchLimits { max_ms, budget: Budget::Time(Duration::from_secs_f64(wishes.seconds)) };
    let wake = core.waker.clone();
    match Search::start(samples, judge, start, limits, engine, Arc::new(move || wake.wake())) {
        Ok(search) => {
            core.search.search = Some(search.progress());
            trials.search = Some(search);
        }
        Err(why) => core.notices.error(format!("no thread for a search: {why}")),
    }
}
