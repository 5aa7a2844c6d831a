//! Settings that are tried in the background: a sweep over two parameters, and a search for better ones.

use crate::capture::Frame;
use crate::search::{Cell, Judge, Sample, SearchProgress, SweepProgress};
use crate::stereo::StereoParams;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Number of pairs that can be tried together.
pub(crate) const MAX_PAIRS: usize = 8;
/// Rates that can be asked for, pairs per second; 0 for any.
pub(crate) const RATES_HZ: RangeInclusive<f64> = 0.0..=240.0;
/// Times that a search may take, s.
pub(crate) const SEARCH_S: RangeInclusive<f64> = 5.0..=3600.0;

/// A change of what is tried.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SearchStep {
    /// Tries settings on this pair too.
    AddPair,
    /// Tries settings on the pair that is shown, and on no other.
    ForgetPairs,
    /// Sets the parameter along (0) or across (1) the rows of the map, by its name.
    SetAxis(usize, &'static str),
    StartSweep,
    StopSweep,
    /// Takes the two values of a cell, by its column and row.
    TakeCell(usize, usize),
    SetWishes(SearchWishes),
    StartSearch,
    StopSearch,
    /// Keeps the present settings as A, and takes these.
    TakeAsB(Box<StereoParams>),
}

/// What a search is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SearchWishes {
    /// Pairs per second at least, on this machine; 0 for any.
    pub(crate) rate_hz: f64,
    /// How long it searches, s.
    pub(crate) seconds: f64,
}

/// What is tried, and how far it is.
pub(crate) struct SearchState {
    /// The pairs that were added; none for the one that is shown.
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
    /// Whether cells are being tried.
    pub(crate) fn is_sweeping(&self) -> bool {
        self.sweep.as_ref().is_some_and(|sweep| !sweep.ended)
    }

    /// Whether a search runs.
    pub(crate) fn is_searching(&self) -> bool {
        self.search.as_ref().is_some_and(|search| !search.ended)
    }

    /// The pairs on which settings are tried, with the one that is shown.
    pub(crate) fn samples(&self, shown: &Arc<Frame>) -> Vec<Sample> {
        let frames = if self.pairs.is_empty() { std::slice::from_ref(shown) } else { &self.pairs[..] };
        frames.iter().map(|frame| Sample::of(Arc::clone(frame))).collect()
    }

    /// The present settings with the two values of a cell of the map; `None` where it was not tried.
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

/// Why settings cannot be judged on these pairs, if so.
pub(crate) fn cannot_judge(judge: Judge, params: &StereoParams) -> Option<&'static str> {
    (judge == Judge::WithoutTruth && params.left_right.is_none())
        .then_some("The score without truth needs the left-right check: switch it on.")
}
