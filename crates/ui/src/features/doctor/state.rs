//! State of the examination of this machine.

use crate::core::jobs::Job;
use stereopsis_doctor::Check;

/// Job of an examination, which ends without being stopped because its probes have time limits.
pub(crate) const EXAMINE: Job = Job::stoppable("examining this machine");

#[derive(Clone, Debug, Default)]
pub(crate) struct DoctorState {
    /// Checks of the last examination; empty before the first.
    pub(crate) checks: Vec<Check>,
}
