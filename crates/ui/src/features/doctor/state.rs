//! State of the examination of this machine.

use crate::doctor::Check;
use crate::jobs::Job;

/// Job of an examination. Its probes have time limits, so it ends without being stopped.
pub(crate) const EXAMINE: Job = Job::stoppable("examining this machine");

/// Results of examinations.
#[derive(Clone, Debug, Default)]
pub(crate) struct DoctorState {
    /// Checks of the last examination; empty before the first.
    pub(crate) checks: Vec<Check>,
}
