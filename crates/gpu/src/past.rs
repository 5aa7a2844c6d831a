//! The sequence that the state on the device belongs to, see [`crate::stereo::Past`].
//!
//! Several jobs are in flight, but the queue runs them in order: the state that one job leaves is there for the next. Whether
//! there is any travels in the job's uniform, `has_past`.

use crate::stereo::StereoParams;
use std::sync::Arc;

/// A sequence of pairs of the same size and parameters.
#[derive(Default)]
pub(super) struct Past {
    sequence: Option<((usize, usize), Arc<StereoParams>)>,
    /// Whether a job of the sequence was submitted.
    has_pairs: bool,
}

impl Past {
    /// The next job begins a sequence.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Whether a job continues the sequence; if not, it begins one.
    pub(super) fn follow(&mut self, size: (usize, usize), params: &Arc<StereoParams>) -> bool {
        let continues = self.sequence.as_ref().is_some_and(|(old_size, old)| *old_size == size && old == params);
        if !continues {
            *self = Self { sequence: Some((size, Arc::clone(params))), has_pairs: false };
        }
        self.has_pairs
    }

    /// The job that was followed last is submitted.
    pub(super) fn remember(&mut self) {
        self.has_pairs = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_is_of_one_size_and_parameters_until_it_is_forgotten() {
        let mut past = Past::default();
        let params = Arc::new(StereoParams::default());
        let other = Arc::new(StereoParams { p1: 3, ..StereoParams::default() });
        assert!(!past.follow((4, 3), &params));
        assert!(!past.follow((4, 3), &params), "no job was submitted");
        past.remember();
        assert!(past.follow((4, 3), &Arc::new(StereoParams::default())), "the same values, elsewhere");
        for (size, params) in [((3, 4), &params), ((4, 3), &params), ((4, 3), &other)] {
            assert!(!past.follow(size, params));
            past.remember();
            assert!(past.follow(size, params));
        }
        past.forget();
        assert!(!past.follow((4, 3), &other));
    }
}
