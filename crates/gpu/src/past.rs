//! The sequence to which the state on the device belongs, see [`stereopsis_stereo::Past`].
//!
//! Several jobs are in flight, but the queue runs them in order: the state that one job leaves exists for the next. A job's uniform
//! contains whether there is any, `has_past`.

use std::sync::Arc;
use stereopsis_stereo::StereoParams;

#[derive(Default)]
pub(super) struct Past {
    sequence: Option<((usize, usize), Arc<StereoParams>)>,
    /// Whether a job of the sequence was submitted.
    has_pairs: bool,
}

impl Past {
    /// Ends the sequence: the next job begins another one.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Returns whether a job continues the sequence; if not, it begins one.
    pub(super) fn follow(&mut self, size: (usize, usize), params: &Arc<StereoParams>) -> bool {
        let continues = self.sequence.as_ref().is_some_and(|(old_size, old)| *old_size == size && old == params);
        if !continues {
            *self = Self { sequence: Some((size, Arc::clone(params))), has_pairs: false };
        }
        self.has_pairs
    }

    /// Records that the job of the last `follow` is submitted.
    pub(super) fn remember(&mut self) {
        self.has_pairs = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_has_one_size_and_parameters_until_forgotten() {
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
