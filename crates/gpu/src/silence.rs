//! Detection of a device that hangs silently: it has work, and finishes none of it.

use super::device::Gpu;
use std::time::{Duration, Instant};
use stereopsis_frame::engine::EngineError;

/// Maximum time in which a device with work may finish nothing. Submissions take some milliseconds ([`super::pace`]), and the first one
/// of a large image on a small GPU some tenths of a second.
const LIMIT: Duration = Duration::from_secs(5);
/// Maximum time between two checks that counts: the machine may have slept, or this thread may have waited for something else.
const MAX_GAP: Duration = Duration::from_secs(1);

/// Progress of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    /// Number of the oldest job that is not done.
    pub(super) job: u64,
    pub(super) submissions: u64,
}

/// Time in which the device has finished nothing of its work.
#[derive(Debug)]
pub(super) struct Silence {
    /// Limit of the time; `None` for software, which depends on the load of the machine.
    limit: Option<Duration>,
    waited: Duration,
    last_look: Option<(Instant, Progress)>,
}

impl Silence {
    pub(super) fn new(software: bool) -> Self {
        Self { limit: (!software).then_some(LIMIT), waited: Duration::ZERO, last_look: None }
    }

    /// Checks that a device that works on a pair of this size does not hang.
    ///
    /// # Errors
    /// The device hangs; it is marked as lost.
    pub(super) fn check(
        &mut self,
        gpu: &Gpu,
        (width, height): (usize, usize),
        progress: Progress,
    ) -> Result<(), EngineError> {
        let Some(silent) = self.too_long(Instant::now(), progress) else { return Ok(()) };
        let s = silent.as_secs();
        Err(gpu.mark_hung(&format!("it has finished nothing of a pair of {width}x{height} for {s} s")))
    }

    /// Records the progress of a device with work. Returns the time without progress, if that is too long.
    fn too_long(&mut self, now: Instant, progress: Progress) -> Option<Duration> {
        match self.last_look {
            Some((at, before)) if before == progress => self.waited += now.saturating_duration_since(at).min(MAX_GAP),
            _ => self.waited = Duration::ZERO,
        }
        self.last_look = Some((now, progress));
        self.limit.is_some_and(|limit| self.waited >= limit).then_some(self.waited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GpuEngine;
    use std::sync::Arc;
    use stereopsis_frame::engine::{Engine as _, Job};
    use stereopsis_frame::{Frame, SceneOptions};
    use stereopsis_scene::render;

    /// Checks every 100 ms from `from_s` to `to_s`; returns the time of the first check that finds too long a silence.
    fn first_too_long(silence: &mut Silence, [from_s, to_s]: [u64; 2], finished: impl Fn(u64) -> u64) -> Option<u64> {
        let start = Instant::now();
        let mut looks = (10 * from_s..=10 * to_s).map(|tenths| 100 * tenths);
        let progress = |ms| Progress { job: from_s, submissions: finished(ms) };
        looks.find(|&ms| silence.too_long(start + Duration::from_millis(ms), progress(ms)).is_some())
    }

    #[test]
    fn device_without_progress_is_silent_after_five_seconds() {
        assert_eq!(first_too_long(&mut Silence::new(false), [0, 9], |_| 7), Some(5000));
        // two submissions of 4 s each; the third does not end
        let finished = |ms| if ms < 8000 { ms / 4000 } else { 2 };
        assert_eq!(first_too_long(&mut Silence::new(false), [0, 20], finished), Some(13000));
        assert_eq!(first_too_long(&mut Silence::new(false), [0, 60], |ms| ms / 4900), None, "slow, and alive");
    }

    #[test]
    fn time_without_work_or_checks_does_not_count() {
        let mut silence = Silence::new(false);
        assert_eq!(first_too_long(&mut silence, [0, 4], |_| 7), None);
        assert_eq!(first_too_long(&mut silence, [60, 64], |_| 7), None, "another pair, after a while");

        let (start, progress) = (Instant::now(), Progress { job: 0, submissions: 7 });
        assert_eq!(silence.too_long(start, progress), None);
        assert_eq!(silence.too_long(start + Duration::from_hours(8), progress), None, "the machine has slept");
        assert_eq!(silence.too_long(start, progress), None, "a clock that goes back");
    }

    #[test]
    fn software_has_no_limit() {
        assert_eq!(first_too_long(&mut Silence::new(true), [0, 600], |_| 7), None);
    }

    #[test]
    fn silent_device_is_lost_with_the_reason() {
        let Some(gpu) = Gpu::for_test() else { return };
        let mut engine = GpuEngine::new(gpu.clone()).unwrap();
        engine.silence = Silence { limit: Some(Duration::ZERO), ..Silence::new(true) };
        let options = SceneOptions { width: 320, height: 240, ..SceneOptions::default() };
        let frame = Arc::new(Frame::of_raw(Arc::new(render(&options, 0, false))));
        let job = Job { frame, params: Arc::default(), read_back: true, wants_right: false };
        engine.submit(job.clone()).unwrap();
        let err = engine.collect().map(drop).unwrap_err();
        let text = err.to_string();
        assert!(matches!(err, EngineError::DeviceLost(_)), "{text}");
        assert!(text.contains("finished nothing of a pair of 320x240 for 0 s"), "{text}");
        assert!(gpu.lost().is_some(), "a window that draws with it has to know");
        assert!(matches!(engine.submit(job), Err(EngineError::DeviceLost(_))));
        // its pair is still computed, and the driver of software crashes where the process ends meanwhile
        gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    }
}
