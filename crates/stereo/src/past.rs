//! State kept from pair to pair of a sequence: the last map, for mutual information or the learned choice, and that of the temporal
//! filter.

use super::filter::Smoothed;
use super::map::DisparityMap;
use super::params::StereoParams;
use super::params::words::{MiStart, Temporal};

/// State of a sequence of pairs with the same size and parameters.
#[derive(Clone, Debug, Default)]
pub struct Past {
    key: Option<((usize, usize), StereoParams)>,
    /// Finished left map of the pair before, where the parameters need it.
    pub last: Option<DisparityMap>,
    /// State of the temporal filter.
    pub smoothed: Option<Smoothed>,
}

impl Past {
    /// Drops the state unless it belongs to pairs of this size with these parameters.
    pub fn follow(&mut self, size: (usize, usize), params: &StereoParams) {
        let belongs = self.key.as_ref().is_some_and(|(old_size, old)| *old_size == size && old == params);
        if !belongs {
            *self = Self { key: Some((size, params.clone())), ..Self::default() };
        }
    }

    /// Keeps the parts of a finished left map that the next pair needs.
    pub fn remember(&mut self, left: &DisparityMap, params: &StereoParams) {
        self.last = (params.starts_from_last() || params.chooses_from_last()).then(|| left.clone());
    }

    /// Returns the map from which mutual information starts.
    pub fn start(&self, params: &StereoParams) -> Option<&DisparityMap> {
        self.last.as_ref().filter(|_| params.starts_from_last())
    }

    /// Returns the past of a level of half the size.
    #[must_use]
    pub fn coarser(start: Option<&DisparityMap>) -> Self {
        Self { last: start.map(DisparityMap::halved), ..Self::default() }
    }
}

impl StereoParams {
    /// Whether the learned choice uses the map of the pair before.
    pub fn chooses_from_last(&self) -> bool {
        self.choice && self.smooths_over_time()
    }

    /// Whether mutual information starts from the pair before.
    pub fn starts_from_last(&self) -> bool {
        self.cost.is_learned() && self.mi_start == MiStart::LastFrame
    }

    /// Whether disparities are smoothed over the pairs; false for [`Temporal::Auto`], see [`Self::of_source`].
    pub fn smooths_over_time(&self) -> bool {
        self.temporal == Temporal::On
    }

    /// Returns these parameters with [`Temporal::Auto`] resolved for a source: on for cameras, else off.
    #[must_use]
    pub fn of_source(&self, is_camera: bool) -> Self {
        let temporal = match self.temporal {
            Temporal::Auto if is_camera => Temporal::On,
            Temporal::Auto => Temporal::Off,
            decided => decided,
        };
        Self { temporal, ..self.clone() }
    }

    /// Whether a map depends on earlier pairs.
    pub fn remembers(&self) -> bool {
        self.smooths_over_time() || self.starts_from_last()
    }
}
