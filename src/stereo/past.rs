//! What is remembered from pair to pair of one sequence: nothing, unless mutual information starts from the last map, or the
//! temporal filter is on.

use super::filter::Smoothed;
use super::map::DisparityMap;
use super::params::StereoParams;

/// The past of a sequence whose pairs have the same size and parameters; anything else begins anew.
#[derive(Clone, Debug, Default)]
pub struct Past {
    of: Option<((usize, usize), StereoParams)>,
    /// The finished left map of the pair before, where the parameters start from it.
    pub last: Option<DisparityMap>,
    /// What the temporal filter remembers.
    pub smoothed: Option<Smoothed>,
}

impl Past {
    /// Forgets what does not belong to a pair like this.
    pub fn follow(&mut self, size: (usize, usize), params: &StereoParams) {
        let belongs = self.of.as_ref().is_some_and(|(old_size, old)| *old_size == size && old == params);
        if !belongs {
            *self = Self { of: Some((size, params.clone())), ..Self::default() };
        }
    }
}
