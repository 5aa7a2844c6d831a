//! Choices and progress of background trials of settings.

use std::ops::RangeInclusive;
use std::sync::Arc;
use stereopsis_frame::Frame;
use stereopsis_search::{Cell, Judge, Sample, SearchProgress, SweepProgress};
use stereopsis_stereo::StereoParams;

pub(crate) const MAX_PAIRS: usize = 8;
/// Rates on offer, pairs/s; 0 for any.
pub(crate) const RATES_HZ: RangeInclusive<f64> = 0.0..=240.0;
/// Time limits of a search on offer, s.
pub(crate) const SEARCH_S: RangeInclusive<f64> = 5.0..=3600.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SearchWishes {
    /// Smallest rate on this machine, pairs/s; 0 for any.
    pub(crate) rate_hz: f64,
    pub(crate) seconds: f64,
}

pub(crate) struct SearchState {
    /// Added pairs, or none for the shown one.
    pub(crate) pairs: Vec<Arc<Frame>>,
    /// Names of the parameters along and across the rows of the map.
    pub(crate) axes: [&'static str; 2],
    pub(crate) sweep: Option<Arc<SweepProgress>>,
    pub(crate) wishes: SearchWishes,
    pub(crate) search: Option<Arc<SearchProgress>>,
}

impl Default for SearchState {
    fn default() -> Self {
        let wishes = SearchWishes { rate_hz: 30.0, seconds: 60.0 };
        Self { pairs: Vec::new(), axes: ["p1", "p2"], sweep: None, wishes, search: None }
    }
}

impl SearchState {
    pub(crate) fn is_sweeping(&self) -> bool {
        self.sweep.as_ref().is_some_and(|sweep| !sweep.ended)
    }

    pub(crate) fn is_searching(&self) -> bool {
        self.search.as_ref().is_some_and(|search| !search.ended)
    }

    /// Returns the pairs on which settings are tried, including the shown one.
    pub(crate) fn samples(&self, shown: &Arc<Frame>) -> Vec<Sample> {
        let frames = if self.pairs.is_empty() { std::slice::from_ref(shown) } else { &self.pairs[..] };
        frames.iter().map(|frame| Sample::of(Arc::clone(frame))).collect()
    }

    /// Returns the present settings with the two values of a cell of the map, or `None` for an untried cell.
    pub(crate) fn params_of_cell(&self, present: &StereoParams, (x, y): (usize, usize)) -> Option<StereoParams> {
        let sweep = self.sweep.as_ref()?;
        let Cell::Tried(_) = sweep.cell(x, y) else { return None };
        let mut params = present.clone();
        for (axis, place) in sweep.axes.iter().zip([x, y]) {
            params.set(axis.parameter(), axis.values()[place]);
        }
        params.repair(|name| sweep.axes.iter().any(|axis| axis.parameter().name == name));
        Some(params)
    }
}

/// Returns the reason why settings cannot be judged on these pairs.
pub(crate) fn cannot_judge(judge: Judge, params: &StereoParams) -> Option<&'static str> {
    (judge == Judge::WithoutTruth && params.left_right.is_none())
        .then_some("The score without truth needs the left-right check: switch it on.")
}
