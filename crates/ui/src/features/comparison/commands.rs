//! Comparison of two settings: its engine and its results.

use crate::core::{Action, Command, CompareState, CompareStep, Core, Feature};
use egui::Context;
use std::sync::Arc;
use std::time::Instant;
use stereopsis_base::threads::drop_elsewhere;
use stereopsis_live::Comparison;

/// Comparison with its engine; its results are in the core.
#[derive(Default)]
pub(crate) struct Comparer(Option<Comparison>);

impl Comparer {
    fn keep_as_a(&mut self, core: &mut Core) {
        let Some(options) = core.engine_in_use() else {
            return core.notices.news("no result yet to compare with");
        };
        let kept = core.setup();
        let comparison = self.0.as_ref().filter(|comparison| comparison.is_by(&options));
        if let (Some(comparison), Some(state)) = (comparison, &mut core.comparison) {
            comparison.set_params(kept.params.clone());
            state.kept = kept;
            return;
        }
        self.end(core);
        let wake = core.waker.clone();
        match Comparison::start(kept.params.clone(), options, core.live.source_engine(), Arc::new(move || wake.wake()))
        {
            Ok(comparison) => {
                self.0 = Some(comparison);
                core.comparison = Some(CompareState::new(kept));
                core.notices.news("A is kept: the sliders change B; drag the line, or flip with T");
            }
            Err(why) => core.notices.error(format!("no thread for a comparison: {why}")),
        }
    }

    /// Ends the comparison on another thread, because the engine may be computing.
    fn end(&mut self, core: &mut Core) {
        core.comparison = None;
        if let Some(comparison) = self.0.take() {
            drop_elsewhere("old comparison", comparison);
        }
    }
}

impl Feature for Comparer {
    fn execute(&mut self, core: &mut Core, command: Command, _ctx: &Context) -> Result<(), Command> {
        match command {
            Command::Compare(CompareStep::SetWiper(at)) => {
                if let Some(state) = &mut core.comparison {
                    state.wiper = at.clamp(0.0, 1.0);
                }
            }
            Command::Compare(CompareStep::Exchange) => {
                let Some(kept) = core.comparison.as_ref().map(|state| state.kept.clone()) else { return Ok(()) };
                self.keep_as_a(core);
                core.take_setup(core.setup().matched_as(&kept));
            }
            Command::Action(Action::KeepAsA) => self.keep_as_a(core),
            Command::Action(Action::EndComparison) => self.end(core),
            command => return Err(command),
        }
        Ok(())
    }

    /// Takes the newest results of both settings.
    fn update(&mut self, core: &mut Core, _now: Instant) {
        if core.comparison.is_none() {
            self.end(core);
        }
        let (Some(comparison), Some(state)) = (&mut self.0, &mut core.comparison) else { return };
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
}
