//! The examination of this machine.

use crate::doctor::Check;
use crate::jobs::Job;

/// The job of an examination. Its probes have limits of their own, so it ends by itself.
pub(crate) const EXAMINE: Job = Job::stoppable("examining this machine");

/// What examinations have found.
#[derive(Clone, Debug, Default)]
pub(crate) struct DoctorState {
    /// The checks of the last examination; none before the first.
    pub(crate) checks: Vec<Check>,
}
