//! Times of the last results with unchanged parameters.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;
use stereopsis_frame::engine::Output;
use stereopsis_stereo::StereoParams;

/// Number of results whose times count.
const MAX_TIMES: usize = 15;

/// Median of times of results, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MedianTime {
    /// Median.
    pub time: Duration,
    /// Number of results.
    pub results: usize,
}

/// Times of the last results of one engine; another size or other parameters start anew.
#[derive(Debug, Default)]
pub(super) struct Times {
    newest: Weak<Output>,
    of: Option<(Arc<StereoParams>, (usize, usize))>,
    recent: VecDeque<Duration>,
    pub(super) noted: u64,
}

impl Times {
    /// Records the newest result, once.
    pub(super) fn note(&mut self, output: &Arc<Output>) {
        if std::ptr::eq(self.newest.as_ptr(), Arc::as_ptr(output)) {
            return;
        }
        self.newest = Arc::downgrade(output);
        let (params, size) = (&output.job.params, output.job.frame.size());
        if self.of.as_ref().is_none_or(|(known, of_size)| **known != **params || *of_size != size) {
            self.of = Some((Arc::clone(params), size));
            self.recent.clear();
        }
        if self.recent.len() == MAX_TIMES {
            self.recent.pop_front();
        }
        self.recent.push_back(output.compute_time);
        self.noted += 1;
    }

    pub(super) fn len(&self) -> usize {
        self.recent.len()
    }

    /// Returns the median; `None` before the first result.
    pub(super) fn median(&self) -> Option<MedianTime> {
        let mut sorted: Vec<_> = self.recent.iter().copied().collect();
        sorted.sort_unstable();
        let time = *sorted.get(sorted.len().saturating_sub(1) / 2)?;
        Some(MedianTime { time, results: sorted.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_cpu::CpuEngine;
    use stereopsis_frame::engine::{Job, run};
    use stereopsis_frame::{Frame, SceneOptions};
    use stereopsis_scene::render;

    fn output(p1: u32, ms: u64) -> Arc<Output> {
        let options = SceneOptions { width: 32, height: 16, ..SceneOptions::default() };
        let frame = Arc::new(Frame::of_raw(Arc::new(render(&options, 0, false))));
        let params = Arc::new(StereoParams { p1, num_disparities: 4, ..StereoParams::default() });
        let job = Job { frame, params, read_back: true, wants_right: false };
        let output = run(&mut CpuEngine::new(Some(1)), job).unwrap();
        Arc::new(Output { compute_time: Duration::from_millis(ms), ..output })
    }

    #[test]
    fn one_slow_result_of_many_does_not_count_and_other_parameters_begin_anew() {
        let mut times = Times::default();
        assert_eq!(times.median(), None);
        let outputs: Vec<_> = [700, 29, 31, 30, 30].map(|ms| output(14, ms)).into();
        for output in &outputs {
            times.note(output);
            times.note(output);
        }
        assert_eq!(times.median(), Some(MedianTime { time: Duration::from_millis(30), results: 5 }));
        for _ in 0..2 * MAX_TIMES {
            times.note(&output(14, 50));
        }
        assert_eq!(times.median(), Some(MedianTime { time: Duration::from_millis(50), results: MAX_TIMES }));
        times.note(&output(15, 9));
        assert_eq!(times.median(), Some(MedianTime { time: Duration::from_millis(9), results: 1 }));
    }
}
