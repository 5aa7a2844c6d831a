//! Sweep and search of settings in the background.

use crate::features::comparison;
use crate::session::Session;
use crate::state::{MAX_PAIRS, SearchStep, cannot_judge};
use std::sync::Arc;
use std::time::Duration;
use stereopsis_engine::OpenOptions;
use stereopsis_frame::engine::{EngineChoice, EngineKind};
use stereopsis_search::{Budget, Judge, Search, SearchAxis, SearchLimits, Sweep};

/// Sweep and search in the background, which stop when dropped.
#[derive(Default)]
pub(crate) struct BackgroundTrials {
    sweep: Option<Sweep>,
    search: Option<Search>,
}

pub(crate) fn execute(session: &mut Session, step: SearchStep) {
    let state = &mut session.state.search;
    match step {
        SearchStep::AddPair => add_pair(session),
        SearchStep::ForgetPairs => state.pairs.clear(),
        SearchStep::SetAxis(which, name) => {
            // both axes must differ, so the other one takes the old name
            if state.axes[1 - which] == name {
                state.axes[1 - which] = state.axes[which];
            }
            state.axes[which] = name;
        }
        SearchStep::StartSweep => start_sweep(session),
        SearchStep::StopSweep => {
            session.tried.sweep = None;
            if let Some(sweep) = &mut state.sweep {
                Arc::make_mut(sweep).ended = true;
            }
        }
        SearchStep::TakeCell(x, y) => {
            if let Some(params) = state.params_of_cell(&session.state.matching.params, (x, y)) {
                session.set_params(params);
            }
        }
        SearchStep::SetWishes(wishes) => state.wishes = wishes,
        SearchStep::StartSearch => start_search(session),
        SearchStep::StopSearch => {
            session.tried.search = None;
            if let Some(search) = &mut state.search {
                Arc::make_mut(search).ended = true;
            }
        }
        SearchStep::TakeAsB(params) => {
            if session.state.comparison.is_none() {
                comparison::commands::keep_as_a(session);
            }
            session.set_params(*params);
        }
    }
}

fn add_pair(session: &mut Session) {
    let Some(output) = session.state.output() else { return };
    let frame = Arc::clone(&output.job.frame);
    let state = &mut session.state.search;
    if state.pairs.iter().any(|known| Arc::ptr_eq(known, &frame)) {
        session.state.notices.news("this pair is among them already");
    } else if state.pairs.len() >= MAX_PAIRS {
        session.state.notices.news(format!("{MAX_PAIRS} pairs are enough"));
    } else {
        state.pairs.push(frame);
    }
}

/// Returns the options of the engine in use, with `auto` resolved.
pub(crate) fn engine_in_use(session: &Session) -> Option<OpenOptions> {
    let choice = match session.live.latest()?.engine.kind {
        EngineKind::Cpu => EngineChoice::Cpu,
        EngineKind::Gpu => EngineChoice::Gpu,
        EngineKind::Network => EngineChoice::Auto,
        EngineKind::Model => EngineChoice::Model,
    };
    let mut options = session.state.matching.engine.clone();
    options.settings.choice = choice;
    Some(options)
}

fn start_sweep(session: &mut Session) {
    let (Some(output), Some(engine)) = (session.state.output(), engine_in_use(session)) else { return };
    let base = session.state.matching.params.clone();
    let samples = session.state.search.samples(&output.job.frame);
    let judge = Judge::of(&samples);
    let [Some(x), Some(y)] = session.state.search.axes.map(|name| SearchAxis::of(name, &base)) else {
        return session.state.notices.news("one of the two parameters has no effect beside the others");
    };
    if cannot_judge(judge, &base).is_some() {
        return;
    }
    let wake = session.waker.clone();
    match Sweep::start(samples, base, [x, y], judge, engine, Arc::new(move || wake.wake())) {
        Ok(sweep) => {
            session.state.search.sweep = Some(sweep.progress());
            session.tried.sweep = Some(sweep);
        }
        Err(why) => session.state.notices.error(format!("no thread for a sweep: {why}")),
    }
}

fn start_search(session: &mut Session) {
    let (Some(output), Some(engine)) = (session.state.output(), engine_in_use(session)) else { return };
    let start = session.state.matching.params.clone();
    let samples = session.state.search.samples(&output.job.frame);
    let judge = Judge::of(&samples);
    if cannot_judge(judge, &start).is_some() {
        return;
    }
    let wishes = session.state.search.wishes;
    let max_ms = (wishes.rate_hz > 0.0).then(|| 1e3 / wishes.rate_hz);
    let limits = SearchLimits { max_ms, budget: Budget::Time(Duration::from_secs_f64(wishes.seconds)) };
    let wake = session.waker.clone();
    match Search::start(samples, judge, start, limits, engine, Arc::new(move || wake.wake())) {
        Ok(search) => {
            session.state.search.search = Some(search.progress());
            session.tried.search = Some(search);
        }
        Err(why) => session.state.notices.error(format!("no thread for a search: {why}")),
    }
}

pub(crate) fn update(session: &mut Session) {
    let state = &mut session.state.search;
    if let Some(sweep) = &session.tried.sweep {
        state.sweep = Some(sweep.progress());
    }
    if let Some(search) = &session.tried.search {
        state.search = Some(search.progress());
    }
    if !state.is_sweeping() {
        session.tried.sweep = None;
    }
    if !state.is_searching() {
        session.tried.search = None;
    }
}
