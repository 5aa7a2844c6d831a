//! Settings that are tried in the background.

use super::Session;
use crate::engine::{EngineChoice, EngineKind, OpenOptions};
use crate::search::{Axis, Budget, Judge, Limits, Search, Sweep};
use crate::state::{MAX_PAIRS, SearchStep, cannot_judge};
use std::sync::Arc;
use std::time::Duration;

/// What runs in the background; dropping it ends it.
#[derive(Default)]
pub(super) struct Tried {
    sweep: Option<Sweep>,
    search: Option<Search>,
}

impl Session {
    pub(super) fn search(&mut self, step: SearchStep) {
        let state = &mut self.state.search;
        match step {
            SearchStep::AddPair => self.add_pair(),
            SearchStep::ForgetPairs => state.pairs.clear(),
            SearchStep::SetAxis(which, name) => {
                // the other one gives way: they differ
                if state.axes[1 - which] == name {
                    state.axes[1 - which] = state.axes[which];
                }
                state.axes[which] = name;
            }
            SearchStep::StartSweep => self.start_sweep(),
            SearchStep::StopSweep => {
                self.tried.sweep = None;
                if let Some(sweep) = &mut state.sweep {
                    Arc::make_mut(sweep).ended = true;
                }
            }
            SearchStep::TakeCell(x, y) => {
                if let Some(params) = state.params_of_cell(&self.state.matching.params, (x, y)) {
                    self.set_params(params);
                }
            }
            SearchStep::SetWishes(wishes) => state.wishes = wishes,
            SearchStep::StartSearch => self.start_search(),
            SearchStep::StopSearch => {
                self.tried.search = None;
                if let Some(search) = &mut state.search {
                    Arc::make_mut(search).ended = true;
                }
            }
            SearchStep::TakeAsB(params) => {
                if self.state.comparison.is_none() {
                    self.keep_as_a();
                }
                self.set_params(*params);
            }
        }
    }

    fn add_pair(&mut self) {
        let Some(output) = self.state.output() else { return };
        let frame = Arc::clone(&output.job.frame);
        let state = &mut self.state.search;
        if state.pairs.iter().any(|known| Arc::ptr_eq(known, &frame)) {
            self.state.notices.news("this pair is among them already");
        } else if state.pairs.len() >= MAX_PAIRS {
            self.state.notices.news(format!("{MAX_PAIRS} pairs are enough"));
        } else {
            state.pairs.push(frame);
        }
    }

    /// The engine that matches now: `auto` has decided already.
    pub(super) fn engine_in_use(&self) -> Option<OpenOptions> {
        let choice = match self.live.latest()?.engine.kind {
            EngineKind::Cpu => EngineChoice::Cpu,
            EngineKind::Gpu => EngineChoice::Gpu,
            EngineKind::Network => EngineChoice::Auto,
        };
        Some(OpenOptions { choice, ..self.state.matching.engine.clone() })
    }

    fn start_sweep(&mut self) {
        let (Some(output), Some(engine)) = (self.state.output(), self.engine_in_use()) else { return };
        let base = self.state.matching.params.clone();
        let samples = self.state.search.samples(&output.job.frame);
        let judge = Judge::of(&samples);
        let [Some(x), Some(y)] = self.state.search.axes.map(|name| Axis::of(name, &base)) else {
            return self.state.notices.news("one of the two parameters has no effect beside the others");
        };
        if cannot_judge(judge, &base).is_some() {
            return;
        }
        let wake = self.waker.clone();
        match Sweep::start(samples, base, [x, y], judge, engine, Arc::new(move || wake.wake())) {
            Ok(sweep) => {
                self.state.search.sweep = Some(sweep.progress());
                self.tried.sweep = Some(sweep);
            }
            Err(why) => self.state.notices.error(format!("no thread for a sweep: {why}")),
        }
    }

    fn start_search(&mut self) {
        let (Some(output), Some(engine)) = (self.state.output(), self.engine_in_use()) else { return };
        let start = self.state.matching.params.clone();
        let samples = self.state.search.samples(&output.job.frame);
        let judge = Judge::of(&samples);
        if cannot_judge(judge, &start).is_some() {
            return;
        }
        let wishes = self.state.search.wishes;
        let max_ms = (wishes.rate_hz > 0.0).then(|| 1e3 / wishes.rate_hz);
        let limits = Limits { max_ms, budget: Budget::Time(Duration::from_secs_f64(wishes.seconds)) };
        let wake = self.waker.clone();
        match Search::start(samples, judge, start, limits, engine, Arc::new(move || wake.wake())) {
            Ok(search) => {
                self.state.search.search = Some(search.progress());
                self.tried.search = Some(search);
            }
            Err(why) => self.state.notices.error(format!("no thread for a search: {why}")),
        }
    }

    /// Reads how far sweep and search are; called once per frame.
    pub(super) fn update_search(&mut self) {
        let state = &mut self.state.search;
        if let Some(sweep) = &self.tried.sweep {
            state.sweep = Some(sweep.progress());
        }
        if let Some(search) = &self.tried.search {
            state.search = Some(search.progress());
        }
        if !state.is_sweeping() {
            self.tried.sweep = None;
        }
        if !state.is_searching() {
            self.tried.search = None;
        }
    }
}
