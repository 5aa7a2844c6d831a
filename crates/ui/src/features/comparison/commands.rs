//! Comparison of two settings: its engine and its results.

use crate::core::Core;
use crate::core::{CompareState, CompareStep, Setup};
use std::sync::Arc;
use stereopsis_live::Comparison;

pub(crate) fn keep_as_a(core: &mut Core) {
    let Some(options) = core.engine_in_use() else {
        return core.notices.news("no result yet to compare with");
    };
    let kept = Setup::of(core);
    let comparison = core.comparing.as_ref().filter(|comparison| comparison.is_by(&options));
    if let (Some(comparison), Some(state)) = (comparison, &mut core.comparison) {
        comparison.set_params(kept.params.clone());
        state.kept = kept;
        return;
    }
    end(core);
    let wake = core.waker.clone();
    match Comparison::start(kept.params.clone(), options, core.live.source_engine(), Arc::new(move || wake.wake())) {
        Ok(comparison) => {
            core.comparing = Some(comparison);
            core.comparison = Some(CompareState::new(kept));
            core.notices.news("A is kept: the sliders change B; drag the line, or flip with T");
        }
        Err(why) => core.notices.error(format!("no thread for a comparison: {why}")),
    }
}

pub(crate) fn execute(core: &mut Core, step: CompareStep) {
    match step {
        CompareStep::SetWiper(at) => {
            if let Some(state) = &mut core.comparison {
                state.wiper = at.clamp(0.0, 1.0);
            }
        }
        CompareStep::Exchange => {
            let Some(kept) = core.comparison.as_ref().map(|state| state.kept.clone()) else { return };
            keep_as_a(core);
            core.take_setup(Setup::of(core).matched_as(&kept));
        }
    }
}

/// Ends the comparison on another thread, because the engine may be computing.
pub(crate) fn end(core: &mut Core) {
    core.comparison = None;
    if let Some(comparison) = core.comparing.take() {
        let ending = std::thread::Builder::new().name("old comparison".into()).spawn(move || drop(comparison));
        if let Err(err) = ending {
            log::warn!("no thread to end a comparison: {err}");
        }
    }
}

/// Takes the newest results of both settings; called once per frame.
pub(crate) fn update(core: &mut Core) {
    if core.comparison.is_none() {
        end(core);
    }
    let (Some(comparison), Some(state)) = (&mut core.comparing, &mut core.comparison) else { return };
    let Some(newest) = core.live.latest() else { return };
    if let Some(both) = comparison.update(&newest).filter(|[_, b]| b.map.is_some()) {
        state.shown = Some(both);
    }
    if !core.pipeline.is_live() {
        comparison.time_held(&core.live);
    }
    state.times = comparison.times();
    state.judged = comparison.judged();
    state.rate_hz = comparison.rate_hz();
    state.error = comparison.error();
}
