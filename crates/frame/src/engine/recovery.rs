//! Policy for a lost GPU, shared by the engine thread and the window: a state machine of events and decisions, without devices.
//!
//! A lost GPU is opened again once, [`RETRY_DELAY`] after the loss, about the time of a driver's reset or a machine's wake-up. A GPU
//! that is lost again within [`PROBATION`] stays closed until the user chooses an engine.

use super::EngineError;
use std::time::{Duration, Instant};

/// Delay from a loss to the attempt to open the GPU again.
const RETRY_DELAY: Duration = Duration::from_secs(5);
/// Time for which a GPU must work after a recovery before its next loss counts as a first one.
const PROBATION: Duration = Duration::from_mins(1);

/// Losses and attempts so far; reset to [`Recovery::default`] when the user chooses an engine.
#[derive(Debug, Default)]
pub struct Recovery {
    retry_at: Option<Instant>,
    recovered_at: Option<Instant>,
}

/// Decision after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Retry: the GPU is opened again when [`Recovery::take_due`] returns true.
    Retry,
    /// End of retries: the GPU was lost again, this long after the last recovery. The CPU computes until the user chooses an engine.
    GiveUp(Duration),
}

impl Recovery {
    /// Records a loss of the GPU.
    pub fn lost(&mut self, now: Instant) -> Decision {
        let since_recovery = self.recovered_at.map(|at| now.duration_since(at)).filter(|since| *since < PROBATION);
        self.retry_at = since_recovery.is_none().then(|| now + RETRY_DELAY);
        since_recovery.map_or(Decision::Retry, Decision::GiveUp)
    }

    /// Records that a GPU computes again, or is about to: its probation begins.
    pub fn recovered(&mut self, now: Instant) {
        self.recovered_at = Some(now);
    }

    /// Returns the time to open the GPU again.
    pub fn due(&self) -> Option<Instant> {
        self.retry_at
    }

    /// Whether the GPU is to be opened now; true once for each loss.
    pub fn take_due(&mut self, now: Instant) -> bool {
        self.retry_at.take_if(|at| *at <= now).is_some()
    }
}

impl Decision {
    /// Returns the message about `loss`: `meanwhile` computes until `retried`, if given, is opened again.
    pub fn message(self, loss: &EngineError, meanwhile: &str, retried: Option<&str>) -> String {
        match (self, retried) {
            (Self::GiveUp(since), _) => format!(
                "{loss} again, {:.0} s after it was opened again; the CPU computes instead until an engine is chosen again",
                since.as_secs_f64()
            ),
            (Self::Retry, Some(gpu)) => {
                format!("{loss}; {meanwhile}, and {gpu} is tried again in {} s", RETRY_DELAY.as_secs())
            }
            (Self::Retry, None) => format!("{loss}; {meanwhile}"),
        }
    }
}

/// Returns the message about a GPU that could not be opened again.
pub fn not_recovered(lost: &str, why: &str, meanwhile: &str) -> String {
    format!("{lost} and cannot be opened again: {why}; {meanwhile} until an engine is chosen again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_retried_once_unless_lost_within_its_probation() {
        let start = Instant::now();
        let at = |s| start + Duration::from_secs(s);
        let mut recovery = Recovery::default();
        assert!(!recovery.take_due(at(0)));
        assert_eq!(recovery.lost(at(0)), Decision::Retry);
        assert_eq!(recovery.due(), Some(at(5)));
        assert!(!recovery.take_due(at(4)), "too early");
        assert!(recovery.take_due(at(6)));
        recovery.recovered(at(6));
        assert!(!recovery.take_due(at(7)), "once");

        assert_eq!(recovery.lost(at(20)), Decision::GiveUp(Duration::from_secs(14)));
        assert!(!recovery.take_due(at(99)));
        assert_eq!(recovery.lost(at(100)), Decision::Retry, "it has worked for long enough");
        assert!(recovery.take_due(at(106)));
    }

    #[test]
    fn messages_name_the_engine_and_the_next_step() {
        let loss = EngineError::DeviceLost("reset".into());
        let cpu = "the CPU computes instead";
        assert_eq!(
            Decision::Retry.message(&loss, cpu, Some("the GPU")),
            "the GPU was lost (reset); the CPU computes instead, and the GPU is tried again in 5 s"
        );
        assert_eq!(Decision::Retry.message(&loss, cpu, None), "the GPU was lost (reset); the CPU computes instead");
        assert_eq!(
            Decision::GiveUp(Duration::from_secs(14)).message(&loss, cpu, Some("the GPU")),
            "the GPU was lost (reset) again, 14 s after it was opened again; the CPU computes instead until an engine is chosen \
             again"
        );
        assert_eq!(
            not_recovered(&loss.to_string(), "no such GPU", cpu),
            "the GPU was lost (reset) and cannot be opened again: no such GPU; the CPU computes instead until an engine is \
             chosen again"
        );
    }
}
