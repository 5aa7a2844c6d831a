//! How long changed parameters take to their first result, for the log.

use crate::stereo::StereoParams;
use std::sync::Arc;
use std::time::Instant;

/// The last change of parameters.
#[derive(Default)]
pub(super) struct Change {
    wanted: Option<Arc<StereoParams>>,
    since: Option<Instant>,
    taken: Option<Instant>,
}

impl Change {
    /// Takes in what is wanted now.
    pub(super) fn see(&mut self, wanted: &Arc<StereoParams>) {
        if self.wanted.as_ref().is_none_or(|last| last != wanted) {
            *self = Self { wanted: Some(Arc::clone(wanted)), since: Some(Instant::now()), taken: None };
        }
    }

    /// Takes in that the engine starts with these parameters: what they lack is compiled.
    pub(super) fn note_start(&mut self, params: &Arc<StereoParams>) {
        if self.wanted.as_ref() == Some(params) {
            self.taken.get_or_insert_with(Instant::now);
        }
    }

    /// Takes in a result, and writes the first one with what is wanted into the log.
    pub(super) fn note_result(&mut self, params: &Arc<StereoParams>) {
        if self.wanted.as_ref() == Some(params)
            && let (Some(since), Some(taken)) = (self.since.take(), self.taken)
        {
            let ms = |from: Instant, to: Instant| 1e3 * to.saturating_duration_since(from).as_secs_f64();
            log::debug!(
                "changed parameters: first result after {:.0} ms, the engine took them up after {:.0} ms",
                ms(since, Instant::now()),
                ms(since, taken)
            );
        }
    }
}
