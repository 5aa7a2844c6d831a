//! Examination of this machine.

mod commands;
mod panel;

use crate::core::{Job, Step};
use stereopsis_doctor::Check;

/// Job of an examination, which ends without being stopped because its probes have time limits.
const EXAMINE: Job = Job::stoppable("examining this machine");

#[derive(Clone)]
pub(crate) enum DoctorStep {
    Examine,
    Take(Vec<Check>),
}

impl Step for DoctorStep {}

#[derive(Default)]
pub(crate) struct Doctor {
    /// Checks of the last examination; empty before the first.
    checks: Vec<Check>,
    was_open: bool,
}
