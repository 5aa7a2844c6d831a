//! When a lost GPU is opened again without anybody asking for it: once, some seconds after the loss, which is about what a
//! driver needs to reset itself and a machine to wake up.
//!
//! A GPU that is lost again soon after that is left alone until somebody chooses it: nothing here goes round in circles.

use crate::engine::{EngineChoice, EngineError, OpenOptions};
use std::time::{Duration, Instant};

/// From a loss to the attempt.
const PAUSE: Duration = Duration::from_secs(5);
/// An engine that was opened again proves itself by working for so long.
const PROBATION: Duration = Duration::from_mins(1);

/// A GPU that is to be opened again.
pub(super) struct Attempt {
    due: Instant,
    pub(super) options: OpenOptions,
    /// Why it was lost.
    pub(super) why: String,
}

#[derive(Default)]
pub(super) struct Comeback {
    planned: Option<Attempt>,
    last: Option<Instant>,
}

impl Comeback {
    /// Takes in that the engine opened by `options` is lost, and plans an attempt where there shall be one. Gives what to
    /// tell the user. A window's device is the window's to open again.
    pub(super) fn lost(&mut self, err: &EngineError, options: Option<OpenOptions>, now: Instant) -> String {
        let is_own = |options: &OpenOptions| options.gpu.is_none() && options.choice != EngineChoice::Cpu;
        let Some(options) = options.filter(is_own) else {
            return format!("{err}; the CPU computes instead");
        };
        if let Some(last) = self.last.filter(|last| now.duration_since(*last) < PROBATION) {
            let after = now.duration_since(last).as_secs_f64();
            return format!(
                "{err} again, {after:.0} s after it was opened anew; the CPU computes instead until an engine is chosen again"
            );
        }
        self.planned = Some(Attempt { due: now + PAUSE, options, why: err.to_string() });
        format!("{err}; the CPU computes instead, and the GPU is tried again in {} s", PAUSE.as_secs())
    }

    /// The attempt that is due. What comes of it is the caller's.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Attempt> {
        let attempt = self.planned.take_if(|attempt| attempt.due <= now)?;
        self.last = Some(now);
        Some(attempt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::gpu::AdapterChoice;

    fn gpu() -> OpenOptions {
        let adapter = AdapterChoice::Name("some".into());
        OpenOptions { choice: EngineChoice::Gpu, adapter, ..OpenOptions::default() }
    }

    #[test]
    fn a_gpu_is_tried_once_after_each_loss_and_not_again_where_that_was_in_vain() {
        let err = EngineError::DeviceLost("reset".into());
        let start = Instant::now();
        let at = |s| start + Duration::from_secs(s);
        let mut comeback = Comeback::default();
        assert!(comeback.take_due(at(0)).is_none());
        let told = comeback.lost(&err, Some(gpu()), at(0));
        assert!(told.contains("reset") && told.contains("CPU computes instead") && told.contains("in 5 s"), "{told}");
        assert!(comeback.take_due(at(4)).is_none(), "too early");
        let attempt = comeback.take_due(at(6)).unwrap();
        assert_eq!(attempt.options.adapter, AdapterChoice::Name("some".into()));
        assert!(comeback.take_due(at(7)).is_none(), "once");

        let told = comeback.lost(&err, Some(gpu()), at(20));
        assert!(told.contains("14 s after") && told.contains("chosen again"), "{told}");
        assert!(comeback.take_due(at(99)).is_none());
        comeback.lost(&err, Some(gpu()), at(100));
        assert!(comeback.take_due(at(106)).is_some(), "it had worked for long enough");
    }

    #[test]
    fn what_cannot_be_opened_again_here_is_not_tried() {
        let err = EngineError::DeviceLost("reset".into());
        let start = Instant::now();
        let mut comeback = Comeback::default();
        for options in [None, Some(OpenOptions { choice: EngineChoice::Cpu, ..OpenOptions::default() })] {
            let told = comeback.lost(&err, options, start);
            assert!(told.ends_with("the CPU computes instead"), "{told}");
            assert!(comeback.take_due(start + Duration::from_hours(1)).is_none());
        }
    }
}
