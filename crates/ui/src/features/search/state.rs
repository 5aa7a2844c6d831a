//! Choices and progress of background trials of settings.

use crate::capture::Frame;
use crate::search::{Cell, Judge, Sample, SearchProgress, SweepProgress};
use crate::stereo::StereoParams;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Largest number of pairs that are tried together.
pub(crate) const MAX_PAIRS: usize = 8;
/// Rates on offer, pairs per second; 0 for any.
pub(crate) const RATES_HZ: RangeInclusive<f64> = 0.0..=240.0;
/// Time limits of a search on offer, s.
pub(crate) const SEARCH_S: RangeInclusive<f64> = 5.0..=3600.0;

/// Change of a sweep or a search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SearchStep {
    /// Adds the shown pair to those on which settings are tried.
    AddPair,
    /// Tries settings on the shown pair alone.
    ForgetPairs,
    /// Sets the parameter along (0) or across (1) the rows of the map, by its name.
    SetAxis(usize, &'static str),
    StartSweep,
    StopSweep,
    /// Applies the two values of a cell, by its column and row.
    TakeCell(usize, usize),
    SetWishes(SearchWishes),
    StartSearch,
    StopSearch,
    /// Keeps the present settings as A, and applies these.
    TakeAsB(Box<StereoParams>),
}

/// Limits of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SearchWishes {
    /// Smallest rate on this machine, pairs per second; 0 for any.
    pub(crate) rate_hz: f64,
    /// Time limit of the search, s.
    pub(crate) seconds: f64,
}

/// Choices and progress of sweep and search.
pub(crate) struct SearchState {
    /// Added pairs; empty for the shown one.
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
    /// Returns whether a sweep runs.
    pub(crate) fn is_sweeping(&self) -> bool {
        self.sweep.as_ref().is_some_and(|sweep| !sweep.ended)
    }

    /// Returns whether a search runs.
    pub(crate) fn is_searching(&self) -> bool {
        self.search.as_ref().is_some_and(|search| !search.ended)
    }

    /// Returns the pairs on which settings are tried, including the shown one.
    pub(crate) fn samples(&self, shown: &Arc<Frame>) -> Vec<Sample> {
        let frames = if self.pairs.is_empty() { std::slice::from_ref(shown) } else { &self.pairs[..] };
        frames.iter().map(|frame| Sample::of(Arc::clone(frame))).collect()
    }

    /// Returns the present settings with the two values of a cell of the map; `None` where it was not tried.
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

/// Returns why settings cannot be judged on these pairs, if so.
pub(crate) fn cannot_judge(judge: Judge, params: &StereoParams) -> Option<&'static str> {
    (judge == Judge::WithoutTruth && params.left_right.is_none())
        .then_some("The score without truth needs the left-right check: switch it on.")
}
