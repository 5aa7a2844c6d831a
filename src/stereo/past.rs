//! State kept from pair to pair of a sequence: the last map where mutual information starts from it, and that of the temporal
//! filter.

use super::filter::Smoothed;
use super::map::DisparityMap;
use super::params::StereoParams;

/// State of a sequence of pairs with the same size and parameters.
#[derive(Clone, Debug, Default)]
pub struct Past {
    of: Option<((usize, usize), StereoParams)>,
    /// The finished left map of the pair before, where the parameters start from it.
    pub last: Option<DisparityMap>,
    /// State of the temporal filter.
    pub smoothed: Option<Smoothed>,
}

impl Past {
    /// Drops the state unless it belongs to pairs of this size with these parameters.
    pub fn follow(&mut self, size: (usize, usize), params: &StereoParams) {
        let belongs = self.of.as_ref().is_some_and(|(old_size, old)| *old_size == size && old == params);
        if !belongs {
            *self = Self { of: Some((size, params.clone())), ..Self::default() };
        }
    }
}
