//! The comparison of two settings: its engine, and what it has of both.

use super::Session;
use crate::live::Comparison;
use crate::state::{CompareState, CompareStep, Setup};
use std::sync::Arc;

impl Session {
    /// Keeps the present settings as A, which B is compared with from now on.
    pub(super) fn keep_as_a(&mut self) {
        let Some(options) = self.engine_in_use() else {
            return self.state.notices.news("no result yet to compare with");
        };
        let kept = Setup::of(&self.state.matching, &self.state.source.spec);
        if let (Some(comparison), Some(state)) = (&self.comparison, &mut self.state.comparison) {
            comparison.set_params(kept.params.clone());
            state.kept = kept;
            return;
        }
        let wake = self.waker.clone();
        match Comparison::start(kept.params.clone(), options, self.live.remote_rig(), Arc::new(move || wake.wake())) {
            Ok(comparison) => {
                self.comparison = Some(comparison);
                self.state.comparison = Some(CompareState::new(kept));
                self.state.notices.news("A is kept: the sliders change B; drag the line, or flip with T");
            }
            Err(why) => self.state.notices.error(format!("no thread for a comparison: {why}")),
        }
    }

    pub(super) fn compare(&mut self, step: CompareStep) {
        match step {
            CompareStep::SetWiper(at) => {
                if let Some(state) = &mut self.state.comparison {
                    state.wiper = at.clamp(0.0, 1.0);
                }
            }
            CompareStep::Exchange => {
                let Some(kept) = self.state.comparison.as_ref().map(|state| state.kept.clone()) else { return };
                self.keep_as_a();
                self.take_setup(Setup { source: self.state.source.spec.clone(), ..kept });
            }
        }
    }

    /// Ends it. The engine may be computing: not on the window's thread.
    pub(super) fn end_comparison(&mut self) {
        self.state.comparison = None;
        if let Some(comparison) = self.comparison.take() {
            let ending = std::thread::Builder::new().name("old comparison".into()).spawn(move || drop(comparison));
            if let Err(err) = ending {
                log::warn!("no thread to end a comparison: {err}");
            }
        }
    }

    /// Takes the newest results of both settings; called once per frame.
    pub(super) fn update_comparison(&mut self) {
        let (Some(comparison), Some(state)) = (&mut self.comparison, &mut self.state.comparison) else { return };
        let Some(newest) = self.live.latest() else { return };
        if let Some(both) = comparison.update(&newest).filter(|[_, b]| b.map.is_some()) {
            state.shown = Some(both);
        }
        state.judged = comparison.judged();
        state.rate_hz = comparison.rate_hz();
        state.error = comparison.error();
    }
}
