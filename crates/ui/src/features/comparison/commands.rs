//! Comparison of two settings: its engine and its results.

use crate::features::{history, search};
use crate::session::Session;
use crate::state::{CompareState, CompareStep, Setup};
use std::sync::Arc;
use stereopsis_live::Comparison;

pub(crate) fn keep_as_a(session: &mut Session) {
    let Some(options) = search::commands::engine_in_use(session) else {
        return session.state.notices.news("no result yet to compare with");
    };
    let kept = Setup::of(&session.state);
    let comparison = session.comparison.as_ref().filter(|comparison| comparison.is_by(&options));
    if let (Some(comparison), Some(state)) = (comparison, &mut session.state.comparison) {
        comparison.set_params(kept.params.clone());
        state.kept = kept;
        return;
    }
    end(session);
    let wake = session.waker.clone();
    match Comparison::start(kept.params.clone(), options, session.live.source_engine(), Arc::new(move || wake.wake())) {
        Ok(comparison) => {
            session.comparison = Some(comparison);
            session.state.comparison = Some(CompareState::new(kept));
            session.state.notices.news("A is kept: the sliders change B; drag the line, or flip with T");
        }
        Err(why) => session.state.notices.error(format!("no thread for a comparison: {why}")),
    }
}

pub(crate) fn execute(session: &mut Session, step: CompareStep) {
    match step {
        CompareStep::SetWiper(at) => {
            if let Some(state) = &mut session.state.comparison {
                state.wiper = at.clamp(0.0, 1.0);
            }
        }
        CompareStep::Exchange => {
            let Some(kept) = session.state.comparison.as_ref().map(|state| state.kept.clone()) else { return };
            keep_as_a(session);
            history::commands::take_setup(session, Setup::of(&session.state).matched_as(&kept));
        }
    }
}

/// Ends the comparison on another thread, because the engine may be computing.
pub(crate) fn end(session: &mut Session) {
    session.state.comparison = None;
    if let Some(comparison) = session.comparison.take() {
        let ending = std::thread::Builder::new().name("old comparison".into()).spawn(move || drop(comparison));
        if let Err(err) = ending {
            log::warn!("no thread to end a comparison: {err}");
        }
    }
}

/// Takes the newest results of both settings; called once per frame.
pub(crate) fn update(session: &mut Session) {
    let (Some(comparison), Some(state)) = (&mut session.comparison, &mut session.state.comparison) else { return };
    let Some(newest) = session.live.latest() else { return };
    if let Some(both) = comparison.update(&newest).filter(|[_, b]| b.map.is_some()) {
        state.shown = Some(both);
    }
    if !session.state.pipeline.is_live() {
        comparison.time_held(&session.live);
    }
    state.times = comparison.times();
    state.judged = comparison.judged();
    state.rate_hz = comparison.rate_hz();
    state.error = comparison.error();
}
